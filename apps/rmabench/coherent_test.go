package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/apps/internal/bench"
)

// The op coherent has a line for each kind of hit, and where there is another host for
// each kind of miss and what stands beside it.
func TestCoherent(t *testing.T) {
	for hosts, want := range map[int]string{
		1: "coherent_get coherent_put coherent_fetch_add",
		2: "coherent_get coherent_put coherent_fetch_add coherent_get_miss_written coherent_load_miss_written" +
			" coherent_get_miss coherent_load_miss plain_get_page pager_echo" +
			" coherent_get_miss_isolated coherent_load_miss_isolated plain_get_page_isolated pager_echo_isolated",
	} {
		var got []string
		for line := range strings.Lines(runOnHosts(t, hosts, 2/hosts, options(t, "--ops=coherent", "--json", "--batches=2"))) {
			var r bench.Result
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if r.US <= 0 || r.Ranks != 2 {
				t.Errorf("%s", line)
			}
			got = append(got, r.Op)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d hosts: %v", hosts, got)
		}
	}
}
