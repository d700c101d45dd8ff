package tree

import (
	"fmt"
	"testing"
)

// attached attaches a host to the root over a link.
func attached(t *testing.T, r *Root, l Link, host ID, n uint64, below ...Fact) {
	t.Helper()
	for _, f := range []Frame{{Kind: Greet, Protocol: Protocol, Host: host}, {Kind: Facts, Facts: below}, {Kind: Attach, N: n}} {
		if err := r.FromChild(l, f, fmt.Sprint("address of ", host)); err != nil {
			t.Fatal(err)
		}
	}
}

// told lists what the root has told since the last call, and which frames of a kind
// it has sent.
func told(r *Root, kind Kind) (events, frames []string) {
	for _, e := range r.Events() {
		events = append(events, fmt.Sprint([]string{"", "joined", "came", "lost"}[e.Kind], " ", e.Host, " ", e.Text, " ", e.Dead))
	}
	for _, o := range r.Out() {
		if o.Frame.Kind == kind {
			frames = append(frames, fmt.Sprint("link ", o.Link, ", host ", o.Frame.Host, ": ", o.Frame.Text))
		}
	}
	return events, frames
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// Host 2 is below host 1, which is not heard of any more.
func TestHostsAreLost(t *testing.T) {
	r := NewRoot(100, 50)
	r.Tick(1000)
	attached(t, r, 1, 1, 1, Fact{Host: 2, Parent: 1, N: 1, Text: "address of 2"})
	events, _ := told(r, Resync)
	same(t, "two join", events, "joined 2 address of 2 false", "joined 1 address of 1 false")
	r.Dead(1)
	r.Tick(1020)
	r.Ended(1, false, "it was silent")
	r.Tick(1069)
	events, _ = told(r, Resync)
	same(t, "they have time", events)
	r.Tick(1070)
	events, _ = told(r, Resync)
	same(t, "their time is over", events, "lost 1 it was silent false",
		"lost 2 the host it was attached to was lost, and it has not attached to another false")
	attached(t, r, 2, 1, 2)
	_, frames := told(r, Reject)
	same(t, "one comes back", frames, "link 2, host 1: it was given up: it was silent")
}

func TestHostThatDies(t *testing.T) {
	r := NewRoot(100, 50)
	attached(t, r, 1, 1, 1, Fact{Host: 2, Parent: 1, N: 1})
	told(r, Resync)
	r.Ended(1, true, "EOF")
	events, _ := told(r, Resync)
	same(t, "it is lost at once", events, "lost 1 EOF true")
	attached(t, r, 2, 2, 2)
	events, frames := told(r, Resync)
	same(t, "the other is spared", events)
	same(t, "the other is found", frames, "link 2, host 2: ")
	if r.Tick(1000); r.Apart() {
		t.Error("somebody is apart")
	}
}

// Gossip may shorten the wait for a host that there is no way to, and do nothing else.
func TestConfirmedDeath(t *testing.T) {
	r := NewRoot(100, 50)
	attached(t, r, 1, 1, 1)
	told(r, Resync)
	r.Dead(1)
	events, _ := told(r, Resync)
	same(t, "there is a way to it", events)
	r.Ended(1, false, "it was silent")
	r.Dead(1)
	events, _ = told(r, Resync)
	same(t, "there is none", events, "lost 1 it was silent false")
}

// A death that is reported late, of an attachment that is over, is none.
func TestLateReport(t *testing.T) {
	r := NewRoot(100, 50)
	attached(t, r, 1, 1, 1)
	attached(t, r, 2, 2, 1, Fact{Host: 1, Parent: 2, N: 2})
	told(r, Resync)
	r.Ended(1, true, "EOF")
	events, _ := told(r, Resync)
	same(t, "it is elsewhere", events)
}

func TestFullAndClosed(t *testing.T) {
	r := NewRoot(100, 50)
	attached(t, r, 1, 1, 1)
	r.Full()
	attached(t, r, 2, 2, 1)
	events, frames := told(r, Reject)
	same(t, "one is taken", events, "joined 1 address of 1 false")
	same(t, "one is not", frames, "link 2, host 2: the job has its hosts")
	r.Close(1)
	r.Send(1, []byte("x"))
	r.SendAll([]byte("y"))
	_, frames = told(r, Reject)
	same(t, "it is over for one", frames, "link 1, host 1: ")
	if n := r.Unacknowledged(1); n != 0 {
		t.Errorf("%d records wait for nobody", n)
	}
}

// What peers say that cannot be ends their link, and no more.
func TestNonsense(t *testing.T) {
	for _, frames := range [][]Frame{
		{{Kind: Attach, N: 1}},
		{{Kind: Greet, Protocol: Protocol + 1, Host: 1}},
		{{Kind: Greet, Protocol: Protocol, Host: RootID}},
		{{Kind: Greet, Protocol: Protocol, Host: 1}, {Kind: Greet, Protocol: Protocol, Host: 2}},
		{{Kind: Greet, Protocol: Protocol, Host: 1}, {Kind: Attach, N: 0}},
		{{Kind: Greet, Protocol: Protocol, Host: 1}, {Kind: Attach, N: 1}, {Kind: Attach, N: 2}},
		{{Kind: Greet, Protocol: Protocol, Host: 1}, {Kind: Attach, N: 1}, {Kind: Up, Host: 1, Ack: 1}},
		{{Kind: Resync}}, {{Kind: All}}, {{Kind: Down}}, {{Kind: Break}}, {{Kind: Reject}}, {{Kind: Accept}}, {{Kind: Refuse}},
	} {
		r := NewRoot(100, 50)
		var err error
		for _, f := range frames {
			err = r.FromChild(1, f, "")
		}
		if err == nil {
			t.Errorf("%+v passes", frames)
		}
		r.Ended(1, true, "")
	}
	for _, f := range []Frame{{Kind: Up}, {Kind: Attach}, {Kind: Facts}, {Kind: Down, Host: 1, Ack: 1}, {Kind: Resync, Host: 1, Seq: 1, Path: []Hop{{1, 1}}}} {
		n := NewNode(1)
		n.Attach()
		if err := n.FromParent(f); err == nil {
			t.Errorf("from the parent: %+v passes", f)
		}
	}
	n := NewNode(1)
	if err := n.FromChild(1, Frame{Kind: All}, ""); err == nil {
		t.Error("a child may speak to all")
	}
}

// Rings of facts lead nowhere.
func TestRing(t *testing.T) {
	r := NewRoot(100, 50)
	attached(t, r, 1, 1, 1, Fact{Host: 2, Parent: 3, N: 1}, Fact{Host: 3, Parent: 2, N: 1})
	r.Send(2, []byte("x"))
	if events, _ := told(r, Resync); len(events) != 3 {
		t.Errorf("%q", events)
	}
}

// Long jobs do not keep what everybody has.
func TestBacklogIsDropped(t *testing.T) {
	r := NewRoot(100, 50)
	attached(t, r, 1, 1, 1)
	for i := range uint64(10 * minTidy) {
		r.SendAll([]byte("news"))
		if err := r.FromChild(1, Frame{Kind: Up, Host: 1, Ack: i + 1}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.backlog.records); n > 2*minTidy {
		t.Errorf("%d records are kept", n)
	}
}

// What is longer than a record is one to those who listen.
func TestLongData(t *testing.T) {
	r := NewRoot(100, 50)
	attached(t, r, 1, 1, 1)
	r.Out()
	r.Send(1, make([]byte, 2*MaxData+1))
	r.SendAll([]byte{1})
	var sizes []int
	for _, o := range r.Out() {
		sizes = append(sizes, len(o.Frame.Data))
	}
	if fmt.Sprint(sizes) != fmt.Sprint([]int{MaxData, MaxData, 1, 1}) {
		t.Error(sizes)
	}
}
