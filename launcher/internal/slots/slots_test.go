package slots

import (
	"errors"
	"slices"
	"testing"
)

func TestReservationBecomesJob(t *testing.T) {
	h := New(4)
	want := func(free int, now Instant) {
		t.Helper()
		if got := h.Free(now); got != free {
			t.Fatalf("%d free, want %d", got, free)
		}
	}
	if err := h.Reserve(Request{Job: "j", Token: "t", Slots: 3, Until: 10}, 0); err != nil {
		t.Fatal(err)
	}
	want(1, 0)
	var full *FullError
	if err := h.Reserve(Request{Job: "k", Token: "u", Slots: 2, Until: 10}, 0); !errors.As(err, &full) || full.Error() != "2 slots are wanted, and 1 of 4 are free" {
		t.Fatal(err)
	}
	if err := h.Reserve(Request{Job: "k", Token: "t", Slots: 3, Until: 10}, 0); err == nil {
		t.Fatal("a token was taken twice")
	}
	if err := h.Reserve(Request{Job: "j", Token: "t", Slots: 3, Until: 20}, 5); err != nil {
		t.Fatal(err)
	}
	want(1, 15) // the repetition has its time anew
	if _, err := h.Start("k", "t", 15); err == nil {
		t.Fatal("another job has started with the reservation")
	}
	if n, err := h.Start("j", "t", 15); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	want(1, 100) // no time is over for a job
	h.Release("t")
	want(1, 100)
	if _, err := h.Start("j", "t", 100); err == nil {
		t.Fatal("it has started twice")
	}
	if err := h.Reserve(Request{Job: "j", Token: "v", Slots: 1, Until: 200}, 100); err == nil {
		t.Fatal("a job that runs has reserved")
	}
	if got := h.Running(); !slices.Equal(got, []string{"j"}) {
		t.Fatal(got)
	}
	h.End("j")
	want(4, 100)
	h.End("j")
	want(4, 100)
}

func TestReservationEnds(t *testing.T) {
	h := New(2)
	h.Reserve(Request{Job: "j", Token: "t", Slots: 2, Until: 10}, 0)
	if _, err := h.Start("j", "t", 10); err == nil {
		t.Error("it has started after its time")
	}
	if h.Free(10) != 2 {
		t.Error("its time is over and it holds slots")
	}
	h.Reserve(Request{Job: "j", Token: "t", Slots: 2, Until: 20}, 10)
	h.Release("t")
	if h.Free(10) != 2 {
		t.Error("it was released and holds slots")
	}
}

func TestRenewal(t *testing.T) {
	h := New(2)
	h.Reserve(Request{Job: "j", Token: "t", Slots: 2, Until: 10}, 0)
	if h.Renew("k", "t", 30, 5) || !h.Renew("j", "t", 20, 5) || h.Free(15) != 0 {
		t.Error("it was not renewed, or by somebody else")
	}
	if h.Renew("j", "t", 30, 20) || h.Free(20) != 2 {
		t.Error("it was renewed after its time")
	}
	h.Reserve(Request{Job: "j", Token: "t", Slots: 2, Until: 40}, 20)
	h.Start("j", "t", 20)
	if h.Renew("j", "t", 50, 20) {
		t.Error("a job was renewed")
	}
	h.End("j")
	if h.Renew("j", "t", 50, 20) || h.Free(20) != 2 {
		t.Error("a late renewal holds slots")
	}
}

func TestMoreThanThereIs(t *testing.T) {
	h := New(2)
	for _, job := range []string{"i", "j"} {
		if err := h.Reserve(Request{Job: job, Token: job, Slots: 3, Over: true, Until: 10}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if h.Free(0) != 0 {
		t.Error(h.Free(0))
	}
	if err := h.Reserve(Request{Job: "k", Token: "k", Slots: 1, Until: 10}, 0); err == nil {
		t.Error("it has got what is not there")
	}
	h.Adopt("old", 2)
	if h.Free(20) != 0 || h.Slots() != 2 {
		t.Error(h.Free(20), h.Slots())
	}
}
