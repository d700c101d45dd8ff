package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/launcher"
)

func TestMistakesInTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	os.WriteFile(plain, nil, 0o644)
	source := filepath.Join(dir, "main.go")
	os.WriteFile(source, nil, 0o755)
	empty := filepath.Join(dir, "empty")
	os.Mkdir(empty, 0o755)
	text := filepath.Join(dir, "text")
	os.WriteFile(text, []byte("neither a binary nor a script"), 0o755)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "no program to run"},
		{[]string{"-n", "2"}, "no program to run after the flags"},
		{[]string{"-n", "0", "true"}, "-n 0: the number of ranks is 1 to 65536"},
		{[]string{"-n", "-3", "true"}, "-n -3: the number of ranks"},
		{[]string{"-n", "x", "true"}, `invalid argument "x"`},
		{[]string{"-n", "40000", "true", ":", "-n", "40000", "true"}, "80000 ranks: there can be 65536"},
		{[]string{"--tag-outptu", "true"}, "unknown flag --tag-outptu; did you mean --tag-output?"},
		{[]string{"--timeuot", "3", "true"}, "did you mean --timeout?"},
		{[]string{"--np", "3", "true"}, "unknown flag --np; did you mean -n?"},
		{[]string{"-np", "3", "true"}, "unknown flag -np; did you mean -n?"},
		{[]string{"--zzzzzzzz", "true"}, "unknown flag --zzzzzzzz (golaunch --help lists them)"},
		{[]string{"-timeout", "3", "true"}, "unknown flag -timeout; did you mean --timeout?"},
		{[]string{"--bind-to", "socket", "true"}, "it is one of none, core"},
		{[]string{"--on-failure", "panic", "true"}, "it is one of abort, continue"},
		{[]string{"--stdin", "nobody", "true"}, "it is none, all or a rank's number"},
		{[]string{"--stdin", "2", "-n", "2", "true"}, "--stdin 2: the ranks are 0 to 1"},
		{[]string{"--timeout", "soon", "true"}, "it is a positive time"},
		{[]string{"--timeout", "0", "true"}, "it is a positive time"},
		{[]string{"-x", "NO_SUCH_VARIABLE", "true"}, "-x NO_SUCH_VARIABLE: it is not set in golaunch's environment"},
		{[]string{"--wdir", "/not/there", "true"}, "--wdir /not/there: no such file or directory"},
		{[]string{"--wdir", plain, "true"}, "it is not a directory"},
		{[]string{"--output-dir", plain, "true"}, "not a directory"},
		{[]string{"true", ":"}, `no program to run after ":"`},
		{[]string{"true", ":", "--timeout", "3", "true"}, "--timeout is for the whole job: it goes before the first program"},
		{[]string{"no-such-program"}, "no-such-program: not found in PATH"},
		{[]string{"nodse"}, `nodse: not found in PATH; did you mean the command "golaunch nodes"?`},
		{[]string{"--agent", "node-a", "doctor"}, `did you mean the command "golaunch doctor"?`},
		{[]string{"agent", "--slots", "-1"}, "golaunch: agent: --slots -1: it must not be negative"},
		{[]string{"help", "agnet"}, "golaunch: help: agnet: no such command (golaunch help lists them)"},
		{[]string{"./no-such-program"}, "./no-such-program: no such file or directory"},
		{[]string{"flags.go"}, "flags.go: not found in PATH; did you mean ./flags.go?"},
		{[]string{plain}, plain + ": it is not executable"},
		{[]string{source}, "is a Go source file: name its directory"},
		{[]string{empty}, empty + " is a directory without Go files"},
		{[]string{"-n", "2", text}, "cannot run " + text + ": exec format error"},
		{[]string{"--completion", "tcsh"}, "it is one of bash, zsh, fish"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			t.Parallel()
			launch(t, tt.args...).expect(t, result{launcher.CodeUsage, "", tt.want})
		})
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"timeout", "timeuot", 1}, {"wdir", "workdir", 3}, {"abc", "abd", 1}, {"ab", "ba", 1}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	help := launch(t, "--help")
	for _, want := range []string{"Examples:", "-n, --ranks N ", "--json[=FILE]", "--bind-to none|core", "(default abort)",
		"--virtual-hosts K ", "--transport PATH ", "--interface NAME ", "--encrypt ", "--stats ",
		"--failure-timeout TIME ", "(default 10s)", "--listen ADDR ", "--hosts K ", "--secret-file FILE "} {
		help.expect(t, result{0, want, ""})
	}
	for line := range strings.Lines(help.stdout) {
		if len(line) > 111 {
			t.Errorf("a line of the help has %d columns: %s", len(line), line)
		}
	}
	launch(t, "help").expect(t, result{0, help.stdout, ""})
	for _, s := range subcommands() {
		own := launch(t, "help", s.name)
		own.expect(t, result{0, "Usage:", ""})
		own.expect(t, result{0, "Example", ""})
		help.expect(t, result{0, "  " + s.name + " ", ""})
	}
	launch(t, "--version").expect(t, result{0, "golaunch 0.1.0 (rank protocol 2, go", ""})
	launch(t, "-n", "0", "--help").expect(t, result{0, "Usage:", ""})
}

// The manual speaks of every flag.
func TestManualKnowsEveryFlag(t *testing.T) {
	t.Parallel()
	manual := ""
	for _, page := range []string{"launching.md", "cluster.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		manual += string(text)
	}
	for _, f := range append(completedFlags(), flagsOfSubcommands()...) {
		if !strings.Contains(manual, "`--"+f.Name) {
			t.Errorf("docs/launching.md and docs/cluster.md do not have --%s", f.Name)
		}
	}
}

// A program's own flags are its own.
func TestFlagsOfTheProgram(t *testing.T) {
	t.Parallel()
	launch(t, "-n", "1", "echo", "-n", "--help", "--timeout").expect(t, result{0, "--help --timeout", ""})
}
