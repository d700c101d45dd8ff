package roster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testConfig() Config {
	return Config{
		Self: "me", SelfAddr: "10.0.0.1:1", First: Second, Last: 8 * Second, Heal: 30 * Second,
		Forget: 1000 * Second, MaxGone: 3, Random: func(n int) int { return n - 1 },
	}
}

func upOf(name string, life uint64) Up {
	return Up{Name: name, Addr: "10.0.0." + name + ":1", Life: life, Meta: "m"}
}

// told is what there is to tell, in short.
func told(todo []Action) string {
	var words []string
	for _, a := range todo {
		switch a := a.(type) {
		case Tell:
			words = append(words, fmt.Sprintf("%s %v (%v)", a.Entry.Name, a.Change, a.Entry.State))
		case Pass:
			words = append(words, "pass "+a.Name)
		}
	}
	return strings.Join(words, ", ")
}

// The table of the package's comment.
func TestTransitions(t *testing.T) {
	history := map[string][]Event{
		"none":  nil,
		"alive": {upOf("7", 1)},
		"dead":  {upOf("7", 1), Down{"7"}},
		"left":  {upOf("7", 1), Goodbye{"7", 1}, Down{"7"}},
		"bye":   {upOf("7", 1), Goodbye{"7", 1}},
	}
	news := upOf("7", 1)
	news.Meta = "n"
	for _, tt := range []struct {
		state string
		event Event
		want  string
	}{
		{"none", upOf("7", 1), "7 joined (alive)"},
		{"none", Down{"7"}, ""},
		{"none", Goodbye{"7", 1}, ""},
		{"alive", upOf("7", 1), ""},
		{"alive", news, "7 updated (alive)"},
		{"alive", upOf("7", 2), "7 restarted (alive)"},
		{"alive", Down{"7"}, "7 died (dead)"},
		{"alive", Goodbye{"7", 1}, "pass 7"},
		{"alive", Goodbye{"7", 2}, ""},
		{"bye", Goodbye{"7", 1}, ""},
		{"bye", news, "7 updated (alive)"},
		{"bye", Down{"7"}, "7 left (left)"},
		{"dead", upOf("7", 1), "7 joined (alive)"},
		{"dead", upOf("7", 2), "7 joined (alive)"},
		{"dead", Down{"7"}, ""},
		{"dead", Goodbye{"7", 1}, "pass 7, 7 left (left)"},
		{"dead", Goodbye{"7", 2}, ""},
		{"left", upOf("7", 2), "7 joined (alive)"},
		{"left", Down{"7"}, ""},
		{"left", Goodbye{"7", 1}, ""},
	} {
		r := New(testConfig(), 0)
		for _, e := range history[tt.state] {
			r.Handle(e, 1)
		}
		if got := told(r.Handle(tt.event, 2)); got != tt.want {
			t.Errorf("%s, %#v: %q, want %q", tt.state, tt.event, got, tt.want)
		}
	}
}

// A life that has said goodbye does not make the next one's death a departure.
func TestGoodbyeIsOfOneLife(t *testing.T) {
	r := New(testConfig(), 0)
	for _, e := range []Event{upOf("7", 1), Goodbye{"7", 1}, upOf("7", 2)} {
		r.Handle(e, 1)
	}
	if got := told(r.Handle(Down{"7"}, 2)); got != "7 died (dead)" {
		t.Error(got)
	}
}

func TestClashesAreToldOnce(t *testing.T) {
	r := New(testConfig(), 0)
	r.Handle(upOf("7", 1), 0)
	c := Clash{"7", "10.9.9.9:1"}
	var times []Instant
	for now := Instant(0); now < 2*reclash; now += Second {
		for _, a := range r.Handle(c, now) {
			if tell, ok := a.(Tell); ok && tell.Change == Clashed {
				times = append(times, now)
				if tell.Entry.Addr != "10.9.9.9:1" || tell.Entry.Name != "7" {
					t.Errorf("%+v", tell.Entry)
				}
			}
		}
	}
	if want := []Instant{0, reclash}; !slices.Equal(times, want) {
		t.Errorf("told at %v, want %v", times, want)
	}
	if e, _ := r.Entry("7"); e.Addr != "10.0.0.7:1" {
		t.Errorf("the name went to %s", e.Addr)
	}
}

func TestTheGoneAreForgotten(t *testing.T) {
	r := New(testConfig(), 0)
	for i, name := range []string{"1", "2", "3", "4"} {
		r.Handle(upOf(name, 1), Instant(i))
		r.Handle(Down{name}, Instant(i))
	}
	if n := len(r.Entries()); n != 3 {
		t.Errorf("%d are remembered, want 3", n)
	}
	if _, ok := r.Entry("1"); ok {
		t.Error("the longest gone was not forgotten first")
	}
	if got := told(r.Handle(Tick{}, 2+1000*Second)); got != "2 forgotten (dead), 3 forgotten (dead)" {
		t.Error(got)
	}
	if _, ok := r.Deadline(); !ok {
		t.Error("the last one is never forgotten")
	}
}

// calls collects the rounds of calls until an instant; nobody answers, and a round
// takes no time.
func calls(r *Roster, until Instant) (rounds []string) {
	for now, ok := r.Deadline(); ok && now <= until; now, ok = r.Deadline() {
		for _, a := range r.Handle(Tick{}, now) {
			if c, ok := a.(Call); ok {
				slices.Sort(c.Addrs)
				rounds = append(rounds, fmt.Sprintf("%d %s", now/Second, strings.Join(c.Addrs, " ")))
				r.Handle(Called{}, now)
			}
		}
	}
	return rounds
}

func TestCallsWhenAlone(t *testing.T) {
	c := testConfig()
	c.Seeds = []string{"s", c.SelfAddr}
	c.Remembered = []string{"old"}
	r := New(c, 0)
	r.Handle(upOf("me", 1), 0)
	want := []string{"0 old s", "1 old s", "3 old s", "7 old s", "15 old s", "23 old s"}
	// The first Up is what begins the first round.
	r.Handle(Called{}, 0)
	if diff := cmp.Diff(want[1:], calls(r, 24*Second)); diff != "" {
		t.Error(diff)
	}
}

func TestNobodyToCall(t *testing.T) {
	c := testConfig()
	c.Seeds = []string{c.SelfAddr}
	r := New(c, 0)
	r.Handle(upOf("me", 1), 0)
	if got := calls(r, 100*Second); len(got) != 0 {
		t.Error(got)
	}
	r = New(testConfig(), 0)
	r.Handle(upOf("me", 1), 0)
	if d, ok := r.Deadline(); ok {
		t.Errorf("there is something to do at %d", d)
	}
}

func TestCallsInCompany(t *testing.T) {
	c := testConfig()
	c.Seeds = []string{"s"}
	r := New(c, 0)
	r.Handle(upOf("me", 1), 0)
	r.Handle(Called{Answered: []string{"s"}}, 0)
	r.Handle(upOf("2", 1), 0)
	r.Handle(upOf("3", 1), 0)
	r.Handle(upOf("4", 1), 0)
	if got := calls(r, 100*Second); len(got) != 0 {
		t.Errorf("everybody is there, and is called: %v", got)
	}
	r.Handle(Down{"2"}, 100*Second)
	r.Handle(Goodbye{"3", 1}, 100*Second)
	r.Handle(Down{"3"}, 100*Second)
	want := []string{"130 10.0.0.2:1", "160 10.0.0.2:1"}
	if diff := cmp.Diff(want, calls(r, 170*Second)); diff != "" {
		t.Error(diff)
	}
}

// However many members there are, a dead host is called about perRound times in Heal.
func TestDeadHostsAreNotStormed(t *testing.T) {
	for _, n := range []int{2, 50, 1000} {
		const heals = 10_000
		c := testConfig()
		c.Forget = 2 * heals * c.Heal
		r := New(c, 0)
		r.Handle(upOf("me", 1), 0)
		for i := range n {
			r.Handle(upOf(fmt.Sprint(i), 1), 0)
		}
		if at, _ := r.Deadline(); len(r.Handle(Down{"0"}, at)) > 1 {
			t.Errorf("one of %d members calls it at once", n)
		}
		rate := float64(n*len(calls(r, heals*c.Heal))) / heals
		if rate < 1 || rate > 2*perRound {
			t.Errorf("%d members call it %.1f times in Heal", n, rate)
		}
	}
}

// Who has lost everybody calls soon, however long it had waited between rounds before.
func TestLosingEverybody(t *testing.T) {
	r := New(testConfig(), 0)
	r.Handle(upOf("me", 1), 0)
	r.Handle(upOf("2", 1), 0)
	if todo := r.Handle(Down{"2"}, 100*Second); len(todo) != 2 {
		t.Errorf("it does not call at once: %v", todo)
	}
	r.Handle(Called{}, 100*Second)
	if got := calls(r, 108*Second); len(got) != 3 {
		t.Error(got)
	}
	r.Handle(upOf("2", 1), 200*Second)
	r.Handle(upOf("3", 1), 200*Second)
	r.Handle(Down{"2"}, 200*Second)
	r.Handle(Down{"3"}, 210*Second)
	if at, _ := r.Deadline(); at > 211*Second {
		t.Errorf("it waits until %d", at/Second)
	}
}
