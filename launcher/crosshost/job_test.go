package crosshost

import (
	"slices"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

func lines(text string) []string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(all)
	return all
}

// Ranks run where they should, whatever they are.
func TestRanksAreOnTheirHosts(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, netns.Options{})
	got := c.succeed("-n", "5", "sh", "-c", `echo $GOLAUNCH_RANK $GOLAUNCH_HOST $(grep -o 'fd77[0-9a-f]*0[1-9] ' /proc/net/if_inet6)`)
	want := []string{
		"0 host-0 fd770000000000000000000000000001", "1 host-0 fd770000000000000000000000000001",
		"2 host-1 fd770000000000000000000000000002", "3 host-1 fd770000000000000000000000000002",
		"4 host-2 fd770000000000000000000000000003",
	}
	if !slices.Equal(lines(got.stdout), want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}
