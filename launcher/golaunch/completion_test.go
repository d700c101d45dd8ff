package main

import (
	"os/exec"
	"strings"
	"testing"
)

// complete asks bash what it would offer for a command line that ends at the
// cursor.
func complete(t *testing.T, line string) string {
	t.Helper()
	words := strings.Split(line, " ")
	script := completion("bash") + `
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _golaunch; echo ${COMPREPLY[@]}`
	out, err := exec.CommandContext(t.Context(), "bash", append([]string{"-c", script, "bash"}, words...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return " " + strings.TrimSpace(string(out)) + " "
}

func TestBashCompletion(t *testing.T) {
	for _, tt := range []struct{ line, want, not string }{
		{"golaunch --ta", " --tag-output ", "--timeout"},
		{"golaunch -n 2 --on-failure ", " abort continue ", "--"},
		{"golaunch --bind-to c", " core ", "none"},
		{"golaunch -n 2 flags.g", "  ", "flags.go"}, // no command, and no directory
		{"golaunch -n 2 ./flags.g", " ./flags.go ", ""},
		{"golaunch -n 2 cat flags.g", " flags.go ", "--"},
		{"golaunch -n 2 cat --o", "  ", "--output-dir"}, // the program's own flag
		{"golaunch -n 2 cat x : --wd", " --wdir ", ""},
		{"golaunch --wdir testda", "  ", "main"},
		{"golaunch superv", " supervise ", ""},
		{"golaunch supervise --j", " --join ", "--json"},
		{"golaunch supervise --secret-file flags.g", " flags.go ", "--"},
		{"golaunch help a", " agent ", "apps"},
		{"golaunch keygen flags.g", " flags.go ", "--"},
		{"golaunch kill --a", " --agent ", "--json"},
		{"golaunch -n 2 supervise --j", "  ", "--join"}, // a program of that name
	} {
		got := complete(t, tt.line)
		if !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%q: %q, want %q and not %q", tt.line, got, tt.want, tt.not)
		}
	}
}

// flagsOfSubcommands are those of all of them.
func flagsOfSubcommands() (list []completed) {
	for _, s := range subcommands() {
		list = append(list, completedOf(s.flagSet())...)
	}
	return list
}

// Every flag is in every shell's script.
func TestCompletionKnowsEveryFlag(t *testing.T) {
	for _, shell := range shells {
		script := completion(shell)
		for _, f := range append(completedFlags(), flagsOfSubcommands()...) {
			if !strings.Contains(script, f.Name) {
				t.Errorf("%s: no %s", shell, f.Name)
			}
		}
	}
}

// A quote that is left open breaks all of a fish script. (No fish runs here.)
func TestQuotesOfFishAreBalanced(t *testing.T) {
	for line := range strings.Lines(completion("fish")) {
		double := strings.Count(line, `"`)
		single := strings.Count(line, "'") - strings.Count(line, `\'`)
		if double%2 != 0 || double == 0 && single%2 != 0 {
			t.Error("a quote is open: ", line)
		}
	}
}

func TestCompletionIsPrinted(t *testing.T) {
	launch(t, "--completion", "bash").expect(t, result{0, "complete -o filenames -F _golaunch golaunch", ""})
}
