package member

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// memberlist's goroutines end by themselves, a probe later than Shutdown.
const probesEnd = 15 * time.Second

func TestMain(m *testing.M) {
	if options := os.Getenv(idleMember); options != "" {
		if err := runIdle(options); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if code == 0 {
		err := goleak.Find()
		for began := time.Now(); err != nil && time.Since(began) < probesEnd; {
			err = goleak.Find()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

const deadline = 40 * time.Second

// keyOf is a ring of keys that letters stand for.
func keyOf(t testing.TB, letters string) keys.Ring {
	t.Helper()
	var ring keys.Ring
	for _, c := range letters {
		k, err := keys.New([]byte(strings.Repeat(string(c), 32)))
		if err != nil {
			t.Fatal(err)
		}
		ring = append(ring, k)
	}
	return ring
}

// start starts a member on loopback that has a key and calls others.
func start(t testing.TB, name string, change func(*Options), others ...*Cluster) *Cluster {
	t.Helper()
	o := Options{Name: name, Bind: "127.0.0.1", Keys: keyOf(t, "a"), Profile: Local}
	for _, c := range others {
		o.Join = append(o.Join, c.Self().Addr.String())
	}
	if change != nil {
		change(&o)
	}
	c, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// await waits until a member sees what is wanted.
func await(t testing.TB, c *Cluster, what string, seen func([]Member) bool) {
	t.Helper()
	events, cancel := c.Watch()
	defer cancel()
	late := time.After(deadline)
	for !seen(c.Members()) {
		select {
		case _, ok := <-events:
			if !ok {
				t.Fatalf("%s: %s is closed", c.o.Name, what)
			}
		case <-late:
			t.Fatalf("%s does not see %s within %v: %s; problem: %v", c.o.Name, what, deadline, list(c.Members()), c.Problem())
		}
	}
}

// list is members in short: "a b=dead".
func list(members []Member) string {
	var words []string
	for _, m := range members {
		if m.State == Alive {
			words = append(words, m.Name)
		} else {
			words = append(words, m.Name+"="+m.State.String())
		}
	}
	return strings.Join(words, " ")
}

// awaitList waits until members see what list says.
func awaitList(t testing.TB, want string, clusters ...*Cluster) {
	t.Helper()
	for _, c := range clusters {
		await(t, c, want, func(m []Member) bool { return list(m) == want })
	}
}

// awaitEvent waits for news of a member, and returns it.
func awaitEvent(t testing.TB, events <-chan Event, change Change, name string) Event {
	t.Helper()
	late := time.After(deadline)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatalf("no more events: %s %v did not come", name, change)
			}
			if e.Change == change && e.Member.Name == name {
				return e
			}
		case <-late:
			t.Fatalf("%s %v did not come within %v", name, change, deadline)
		}
	}
}
