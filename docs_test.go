package golaunch

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What README.md and docs/ show is run here, so that it stays true.
//
//	go       a program or a test: built, and run where a console block shows it
//	sh       commands: run, in an empty folder with bin/ on the PATH
//	console  commands behind "$ " with what they print: run, and their lines
//	         compared, in any order
//
// Blocks of other languages are not run.

// A block is a fenced piece of a page.
type block struct {
	page, language string
	line           int
	lines          []string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }
func (b block) text() string   { return strings.Join(b.lines, "\n") + "\n" }

func blocks(t *testing.T, page string) []block {
	t.Helper()
	f, err := os.Open(page)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []block
	var open *block
	scanner := bufio.NewScanner(f)
	for n := 1; scanner.Scan(); n++ {
		line := scanner.Text()
		switch fence, is := strings.CutPrefix(strings.TrimSpace(line), "```"); {
		case is && open == nil:
			open = &block{page: page, language: fence, line: n}
		case is:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		}
	}
	if open != nil {
		t.Errorf("%v: the block has no end", open)
	}
	return all
}

func pages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatalf("no pages found: %v", err)
	}
	return append(docs, "README.md", "CONTRIBUTING.md")
}

// builtElsewhere are commands that are not run here because the check-in itself
// runs them, or because they would install something. What they name must exist.
var builtElsewhere = []*regexp.Regexp{
	regexp.MustCompile(`^make [a-z-]+$`),
	regexp.MustCompile(`^go install github.com/golaunch/golaunch/launcher/golaunch@latest$`),
	regexp.MustCompile(`^go (tool|generate) `),
	regexp.MustCompile(`^apt-get install `),
	regexp.MustCompile(`^#`),
}

func TestDocumentedCommandsRun(t *testing.T) {
	tools := t.TempDir()
	build(t, tools)
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			switch b.language {
			case "sh":
				for _, command := range b.lines {
					runDocumented(t, b, tools, command)
				}
			case "console":
				checkConsole(t, b, tools)
			}
		}
	}
}

// build puts the command, the apps and README's program where the examples find
// them.
func build(t *testing.T, dir string) {
	t.Helper()
	run(t, ".", nil, "go", "build", "-o", dir+"/", "./launcher/golaunch", "./apps/...")
	run(t, ".", nil, "go", "build", "-o", filepath.Join(dir, "ring"), readmeProgram(t))
}

// readmeProgram is README's program as a file of this module.
func readmeProgram(t *testing.T) string {
	t.Helper()
	for _, b := range blocks(t, "README.md") {
		if b.language == "go" && strings.HasPrefix(b.text(), "package main") {
			file := filepath.Join(t.TempDir(), "ring.go")
			if err := os.WriteFile(file, []byte(b.text()), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	t.Fatal("README.md has no program")
	return ""
}

func runDocumented(t *testing.T, b block, tools, command string) string {
	t.Helper()
	if strings.TrimSpace(command) == "" {
		return ""
	}
	for _, known := range builtElsewhere {
		if known.MatchString(command) {
			checkMake(t, b, command)
			return ""
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // what it has started, too
	cmd.Dir = workplace(t, tools)
	// An agent that this host has is not that of the examples, which may start their own.
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "GOLAUNCH_AGENT=",
		"GOLAUNCH_RUNTIME="+cmd.Dir+"/run", "GOLAUNCH_STATE="+cmd.Dir+"/state", "GOLAUNCH_CACHE="+cmd.Dir+"/cache")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s: %v\n%s", b, command, err, out)
	}
	return string(out)
}

// workplace is an empty folder but for what examples start by a relative path.
func workplace(t *testing.T, tools string) string {
	t.Helper()
	dir := t.TempDir()
	for _, link := range []string{"ring", "bin"} {
		target := filepath.Join(tools, link)
		if link == "bin" {
			target = tools
		}
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkMake holds a documented make target against the Makefile.
func checkMake(t *testing.T, b block, command string) {
	t.Helper()
	if target, is := strings.CutPrefix(command, "make "); is {
		if out, err := exec.CommandContext(t.Context(), "make", "-n", target).CombinedOutput(); err != nil {
			t.Errorf("%v: %s: %v\n%s", b, command, err, out)
		}
	}
}

func checkConsole(t *testing.T, b block, tools string) {
	t.Helper()
	var command string
	var want []string
	compare := func() {
		if command == "" {
			return
		}
		got := strings.Split(strings.TrimSpace(runDocumented(t, b, tools, command)), "\n")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%v: %s prints\n%s\nnot\n%s", b, command, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, line := range b.lines {
		if next, is := strings.CutPrefix(line, "$ "); is {
			compare()
			command, want = next, nil
			continue
		}
		want = append(want, line)
	}
	compare()
}

// TestDocumentedTestRuns puts README's test beside doc.go's program, which has
// the function it calls.
func TestDocumentedTestRuns(t *testing.T) {
	const imports = `package main

import (
	"context"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

`
	var test string
	for _, b := range blocks(t, "README.md") {
		if b.language == "go" && strings.HasPrefix(b.text(), "func Test") {
			test = b.text()
		}
	}
	if test == "" {
		t.Fatal("README.md has no test")
	}
	dir := t.TempDir()
	files := map[string]string{"ring.go": packageProgram(t), "ring_test.go": imports + test}
	var names []string
	for name, text := range files {
		names = append(names, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := run(t, ".", nil, "go", append([]string{"test", "-count=1", "-v"}, names...)...)
	if !strings.Contains(out, "--- PASS: TestRing") || !strings.Contains(out, "rank 3 of 4: sum 6") {
		t.Errorf("the test did not run:\n%s", out)
	}
}

// packageProgram is the program in doc.go.
func packageProgram(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var program strings.Builder
	for line := range strings.Lines(string(text)) {
		code, is := strings.CutPrefix(line, "//\t")
		if strings.TrimSpace(line) == "//" {
			code, is = "\n", true
		}
		switch {
		case strings.HasPrefix(code, "package main"):
			program.WriteString(code)
		case program.Len() == 0:
		case !is:
			return program.String()
		default:
			program.WriteString(code)
		}
	}
	t.Fatal("doc.go has no program")
	return ""
}

func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestLinksLead checks that every relative link of a page names a file.
func TestLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(prose(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// prose is a page without its code.
func prose(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?s)```.*?```|`[^`]*`|(?m:^ {4}.*$)").ReplaceAllString(string(text), "")
}
