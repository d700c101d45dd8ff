package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every rank prints lines in pieces, and some without an end for a while.
func TestLinesStayWhole(t *testing.T) {
	t.Parallel()
	const script = `
		i=0
		while [ $i -lt 200 ]; do
			printf "rank $GOLAUNCH_RANK line $i "; printf "goes on and "; echo "ends $GOLAUNCH_RANK"
			i=$((i+1))
		done`
	for _, flags := range []string{"-n 4", "-n 4 --tag-output"} {
		r := launch(t, with(flags, sh(script)...)...)
		lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
		if r.code != 0 || len(lines) != 800 {
			t.Fatalf("%s: code %d, %d lines", flags, r.code, len(lines))
		}
		next := map[int]int{}
		for _, line := range lines {
			var rank, i, end int
			line, tag := strings.TrimLeft(line, "[0123] "), line
			if _, err := fmt.Sscanf(line, "rank %d line %d goes on and ends %d", &rank, &i, &end); err != nil || rank != end || i != next[rank] {
				t.Fatalf("%s: %q after %v", flags, line, next)
			}
			if strings.Contains(flags, "tag") && !strings.HasPrefix(tag, fmt.Sprintf("[%d] rank", rank)) {
				t.Fatalf("%q", tag)
			}
			next[rank]++
		}
	}
}

func TestLongLinesStayWhole(t *testing.T) {
	t.Parallel()
	r := launch(t, with("-n 2", sh("head -c 3000000 /dev/zero | tr '\\000' $GOLAUNCH_RANK; echo")...)...)
	lines := strings.Split(r.stdout, "\n")
	if len(lines) != 3 || len(lines[0]) != 3_000_000 || len(lines[1]) != 3_000_000 || lines[0][0] == lines[1][0] {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines[:2] {
		if strings.Trim(line, line[:1]) != "" {
			t.Error("a line is mixed")
		}
	}
}

// A prompt is shown although its line is not complete, and what is typed reaches
// the rank.
func TestPrompt(t *testing.T) {
	t.Parallel()
	r := start(t, with("-n 2 --stdin 1", sh(`[ $GOLAUNCH_RANK = 0 ] && exit; printf "name? "; read name; echo "hello $name"`)...)...)
	prompt := make([]byte, 6)
	if _, err := r.stdout.Read(prompt); err != nil || string(prompt) != "name? " {
		t.Fatal(string(prompt), err)
	}
	fmt.Fprintln(r.stdin, "you")
	r.wait().expect(t, result{0, "hello you\n", ""})
}

func TestBinaryOfASingleRankIsNotTouched(t *testing.T) {
	t.Parallel()
	data := make([]byte, 3_000_000)
	rand.NewChaCha8([32]byte{1}).Read(data)
	r := launchWith(t, func(cmd *exec.Cmd) { cmd.Stdin = bytes.NewReader(data) }, "-n", "1", "cat")
	if sha256.Sum256([]byte(r.stdout)) != sha256.Sum256(data) {
		t.Errorf("%d bytes went in, %d came out, or different ones", len(data), len(r.stdout))
	}
}

func TestStdinOfGolaunch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ who, want string }{
		{"0", "[0] in\n[1] end\n[2] end\n[0] end\n"}, {"2", "[2] in\n"}, {"none", "[0] end\n"}, {"all", "in\n"},
	} {
		t.Run(tt.who, func(t *testing.T) {
			t.Parallel()
			r := launchWith(t, func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader("in\n") },
				with("-n 3 --tag-output --stdin "+tt.who, sh("cat; echo end")...)...)
			readers := map[string]int{"none": 0, "all": 3}[tt.who]
			if readers == 0 && tt.who != "none" {
				readers = 1
			}
			if count(r.stdout, "in\n") != readers || count(r.stdout, "end\n") != 3 {
				t.Errorf("%s", r.stdout)
			}
			if readers == 1 && !strings.Contains(r.stdout, "["+tt.who+"] in\n") {
				t.Errorf("%s", r.stdout)
			}
		})
	}
}

// A rank that does not want it leaves golaunch's stdin to others.
func TestStdinIsNotTakenFromOthers(t *testing.T) {
	t.Parallel()
	inner := golaunch(t, "--stdin", "none", "true")
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `"$@"; cat`, "sh"}, inner.Args...)...)
	cmd.Env, cmd.Stdin = inner.Env, strings.NewReader("still here\n")
	if out, err := cmd.Output(); err != nil || string(out) != "still here\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestOutputDir(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "out")
	r := launch(t, with("-n 2 --output-dir "+dir, sh("printf out$GOLAUNCH_RANK; [ $GOLAUNCH_RANK = 0 ] || { sleep 0.1; echo err >&2; exit 3; }")...)...)
	r.expect(t, result{3, "", "  | err\n"})
	if r.stdout != "" {
		t.Errorf("stdout: %s", r.stdout)
	}
	for name, want := range map[string]string{"rank-0.out": "out0", "rank-0.err": "", "rank-1.out": "out1", "rank-1.err": "err\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

// golaunch ... | head: whoever reads has had enough.
func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	r := start(t, "-n", "3", "yes")
	r.lines(10, "y")
	r.stdout.Reset(strings.NewReader(""))
	r.pipe.Close()
	got := r.wait()
	if got.code != 141 || got.stderr != "" {
		t.Errorf("%+v", got)
	}
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, script := range []string{"echo x", "yes"} { // the loss is seen at the end, and before
		r := launchWith(t, func(cmd *exec.Cmd) { cmd.Stdout = full }, with("-n 2", sh(script)...)...)
		r.expect(t, result{1, "", "golaunch: cannot write output: write /dev/stdout: no space left on device\n"})
	}
}
