package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestParseOptions(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want options
	}{
		{nil, options{top: 20, roots: []string{}}},
		{[]string{"a", "--verify", "b"}, options{top: 20, verify: true, roots: []string{"a", "b"}}},
		{[]string{"--top=0", "--json"}, options{json: true, roots: []string{}}},
		{[]string{"--", "--top"}, options{top: 20, roots: []string{"--top"}}},
	} {
		got, err := parseOptions(tt.args, nil)
		if err != nil {
			t.Errorf("%q: %v", tt.args, err)
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(options{})); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", tt.args, diff)
		}
	}
}

func TestParseOptionsRefuses(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--topp", "3"}, "unknown flag: --topp"},
		{[]string{"--top", "many"}, "many"},
		{[]string{"--top", "-1"}, "--top -1: must lie between"},
		{[]string{"--top", "100001"}, "--top 100001: must lie between"},
		{[]string{""}, "an empty DIR"},
	} {
		if _, err := parseOptions(tt.args, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v; want an error with %q", tt.args, err, tt.want)
		}
	}
}

func TestHelpShowsExamples(t *testing.T) {
	var help strings.Builder
	if _, err := parseOptions([]string{"--help"}, &help); !errors.Is(err, pflag.ErrHelp) {
		t.Errorf("%v; want ErrHelp", err)
	}
	for _, want := range []string{"Examples:", "golaunch -n 4", "--verify"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("help lacks %q:\n%s", want, &help)
		}
	}
}
