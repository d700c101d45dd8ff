package schedule

import (
	"errors"
	"strings"
	"testing"
)

// exchange is a pair of ranks that swap two elements, altered by change.
func exchange(change func(a, b *Schedule)) []Schedule {
	rank := func(me int) Schedule {
		return Schedule{Rank: me, Size: 2, In: 2, Out: 2, InAt: NoAlias, Steps: []Step{
			{Kind: Send, Peer: 1 - me, From: Ref{In, 0}, Len: 2},
			{Kind: Recv, Peer: 1 - me, Into: Ref{Out, 0}, Len: 2},
		}}
	}
	all := []Schedule{rank(0), rank(1)}
	change(&all[0], &all[1])
	return all
}

func swap(s *Schedule) { s.Steps[0], s.Steps[1] = s.Steps[1], s.Steps[0] }

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(a, b *Schedule)
		kind   error
		text   string
	}{
		{"sound", func(a, b *Schedule) {}, nil, ""},
		{"both send before they receive", func(a, b *Schedule) {
			a.Steps[1].After, b.Steps[1].After = []int{0}, []int{0}
		}, ErrCycle, "rank 0: step 0 (send 1: in[0:2]): it can never be done without buffering"},
		{"one sends first, the other receives first", func(a, b *Schedule) {
			swap(b)
			a.Steps[1].After, b.Steps[1].After = []int{0}, []int{0}
		}, nil, ""},
		{"both receive before they send", func(a, b *Schedule) {
			swap(a)
			swap(b)
			a.Steps[1].After, b.Steps[1].After = []int{0}, []int{0}
		}, ErrCycle, "rank 0: step 0 (recv 1: out[0:2] = received)"},
		{"lengths differ", func(a, b *Schedule) { b.Steps[1].Len = 1 }, ErrUnmatched,
			"rank 0: step 0 (send 1: in[0:2]): step 1 of rank 1 receives 1 elements"},
		{"nobody receives", func(a, b *Schedule) { b.Steps = b.Steps[:1] }, ErrUnmatched,
			"rank 0 sends 1 messages to rank 1, which receives 0"},
		{"nobody sends", func(a, b *Schedule) { b.Steps = b.Steps[1:] }, ErrUnmatched,
			"rank 1 sends 0 messages to rank 0, which receives 1"},
		{"in place without order", func(a, b *Schedule) { a.InAt = 0 }, ErrConflict,
			"rank 0: step 1 (recv 1: out[0:2] = received): it is not ordered after step 0 (send 1: in[0:2])"},
		{"in outside out", func(a, b *Schedule) { a.InAt = 1 }, ErrRange, "rank 0: in[0:2] at 1 of out[0:2]"},
		{"too long for the buffer", func(a, b *Schedule) { a.Out = 1 }, ErrRange, "out has 1 elements"},
		{"ranks mixed up", func(a, b *Schedule) { *a, *b = *b, *a }, ErrUnmatched, "schedule of rank 1 of 2 stands at place 0 of 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Check(exchange(c.change))
			if !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, want %v: %s", err, c.kind, c.text)
			}
		})
	}
}

// Two streams cross: the order within each is what makes the circle.
func TestCheckFindsCirclesThroughStreams(t *testing.T) {
	recv := func(peer, at int, after ...int) Step {
		return Step{Kind: Recv, Peer: peer, Into: Ref{Out, at}, Len: 1, After: after}
	}
	send := func(peer int) Step { return Step{Kind: Send, Peer: peer, From: Ref{In, 0}, Len: 1} }
	all := []Schedule{
		{Rank: 0, Size: 2, In: 1, InAt: NoAlias, Steps: []Step{send(1), send(1)}},
		// Its second message is to be taken before the first.
		{Rank: 1, Size: 2, Out: 2, InAt: NoAlias, Steps: []Step{recv(0, 0), recv(0, 1)}},
	}
	if err := Check(all); err != nil {
		t.Fatal(err)
	}
	three := []Schedule{
		{Rank: 0, Size: 3, In: 1, Out: 1, InAt: NoAlias, Steps: []Step{recv(2, 0), {Kind: Send, Peer: 1, From: Ref{In, 0}, Len: 1, After: []int{0}}}},
		{Rank: 1, Size: 3, In: 1, Out: 1, InAt: NoAlias, Steps: []Step{recv(0, 0), {Kind: Send, Peer: 2, From: Ref{In, 0}, Len: 1, After: []int{0}}}},
		{Rank: 2, Size: 3, In: 1, Out: 1, InAt: NoAlias, Steps: []Step{recv(1, 0), {Kind: Send, Peer: 0, From: Ref{In, 0}, Len: 1, After: []int{0}}}},
	}
	if err := Check(three); !errors.Is(err, ErrCycle) {
		t.Errorf("%v, want %v", err, ErrCycle)
	}
}
