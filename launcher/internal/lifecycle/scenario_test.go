package lifecycle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A scenario file holds scenarios separated by blank lines: a few settings, then
// "time event [-> actions]" lines, then "= verdict". Times are milliseconds.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, scenario := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
			t.Run(fmt.Sprint(strings.TrimSuffix(filepath.Base(file), ".txt"), i), func(t *testing.T) { play(t, scenario) })
		}
	}
}

func play(t *testing.T, scenario string) {
	var c Config
	var j *Job
	for line := range strings.Lines(scenario) {
		line = strings.TrimSpace(line)
		var n, m int
		switch word, _, _ := strings.Cut(line, " "); {
		case word == "#":
			t.Log(line)
		case word == "continue":
			c.OnFailure = ContinueOnFailure
		case scan(line, "hosts %d %d", &n, &m):
			c.Hosts = []int{n, m}
		case scan(line, "ranks %d", &n):
			c.Ranks = n
		case scan(line, "timeout %d", &n):
			c.Timeout = Instant(n) * Millisecond
		case word == "=":
			if got := "= " + verdict(j); got != line || !j.Over() {
				t.Errorf("%s (over: %v), want %s", got, j.Over(), line)
			}
		default:
			if j == nil {
				j = New(c)
			}
			step(t, j, line)
		}
	}
}

func scan(line, format string, args ...any) bool {
	n, _ := fmt.Sscanf(line, format, args...)
	return n == len(args)
}

// step does one line and compares its actions.
func step(t *testing.T, j *Job, line string) {
	t.Helper()
	head, want, _ := strings.Cut(line, " -> ")
	at, event, _ := strings.Cut(head, " ")
	var ms int
	fmt.Sscan(at, &ms)
	e := parseEvent(event)
	if e == nil {
		t.Fatalf("%q is no event", event)
	}
	if got := actions(j.Handle(e, Instant(ms)*Millisecond)); got != want {
		t.Fatalf("%s: actions %q, want %q", head, got, want)
	}
}

func parseEvent(text string) Event {
	var a, b int
	switch {
	case text == "launched":
		return Launched{}
	case text == "tick":
		return Tick{}
	case text == "done":
		return Done{}
	case scan(text, "done %d", &a):
		return Done{a}
	case text == "supervisorlost":
		return SupervisorLost{}
	case scan(text, "supervisorlost %d", &a):
		return SupervisorLost{Host: a}
	case scan(text, "joined %d", &a):
		return Joined{a}
	case scan(text, "left %d", &a):
		return Left{a}
	case scan(text, "lost %d", &a):
		return Lost{a}
	case scan(text, "nostart %d", &a):
		return NotStarted{Rank: a}
	case scan(text, "badprogram %d", &a):
		return NotStarted{Rank: a, Usage: true}
	case scan(text, "trouble %d", &a):
		return Trouble{Code: a}
	case scan(text, "outputlost %d", &a):
		return OutputLost{Code: a}
	case scan(text, "interrupt %d", &a):
		return Interrupted{Signal: a, Ends: true, Quit: a == sigquit}
	case scan(text, "forward %d", &a):
		return Interrupted{Signal: a}
	case scan(text, "exit %d %d", &a, &b):
		return Exited{Rank: a, Code: b}
	case scan(text, "signal %d %d", &a, &b):
		return Exited{Rank: a, Code: -1, Signal: b}
	case scan(text, "abort %d %d", &a, &b):
		return Aborted{Rank: a, Code: b}
	}
	return nil
}

func actions(todo []Action) string {
	var words []string
	for _, a := range todo {
		switch a := a.(type) {
		case Signal:
			words = append(words, fmt.Sprint("SIGNAL ", a.Signal))
			if a.SpareLeft {
				words = append(words, "spare")
			}
		case Kill:
			words = append(words, "KILL")
		case Finish:
			words = append(words, fmt.Sprint("finish ", int64(a.Linger/Millisecond)))
		}
	}
	return strings.Join(words, " ")
}

func verdict(j *Job) string {
	v := j.Verdict()
	text := fmt.Sprintf("%v code %d", v.Outcome, v.Code)
	if v.Rank >= 0 {
		text += fmt.Sprint(" rank ", v.Rank)
	}
	if v.Stuck {
		text += " stuck"
	}
	return text
}
