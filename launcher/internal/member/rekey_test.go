package member

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hashicorp/memberlist"
)

// A cluster changes its key while it runs, one member after the other, in any order:
// everybody stays alive for everybody, and the old key is worth nothing afterwards.
func TestRotation(t *testing.T) {
	t.Parallel()
	var members []*Cluster
	var events []<-chan Event
	for i := range 4 {
		var known []*Cluster
		if i > 0 {
			known = members[:1]
		}
		c := start(t, fmt.Sprint("m", i), nil, known...)
		members = append(members, c)
		e, cancel := c.Watch()
		defer cancel()
		events = append(events, e)
	}
	awaitList(t, "m0 m1 m2 m3", members...)
	slots := uint32(0)
	for _, ring := range []string{"ba", "b"} {
		for _, i := range rand.Perm(len(members)) {
			if err := members[i].Rekey(keyOf(t, ring)); err != nil {
				t.Fatal(err)
			}
			// Everybody hears everybody: news of one reach all, and nobody dies.
			slots++
			members[i].Update(Meta{Slots: slots})
			for j, e := range events {
				for {
					got := <-e
					if got.Change == Died {
						t.Fatalf("%s sees the death of %s", members[j].o.Name, got.Member.Name)
					}
					if got.Member.Meta.Slots == slots {
						break
					}
				}
			}
		}
	}
	for _, c := range members {
		await(t, c, "the new key", func([]Member) bool {
			return string(c.ring.GetPrimaryKey()) == string(c.gossip.keys[0]) && len(c.ring.GetKeys()) == 1
		})
	}
	late := start(t, "late", func(o *Options) { o.Keys = keyOf(t, "b") }, members[0])
	awaitList(t, "late m0 m1 m2 m3", append(members, late)...)
	start(t, "stale", func(o *Options) { o.Keys = keyOf(t, "a") }, members...)
	awaitList(t, "late m0 m1 m2 m3", members...)
}

// A member with a new key in front joins those who have never heard of it.
func TestJoiningWithANewerFile(t *testing.T) {
	t.Parallel()
	a := start(t, "a", nil)
	b := start(t, "b", nil, a)
	awaitList(t, "a b", a, b)
	c := start(t, "c", func(o *Options) { o.Keys = keyOf(t, "xya") }, a)
	awaitList(t, "a b c", a, b, c)
}

func TestChoose(t *testing.T) {
	g := gossipKeys{short: []uint32{10, 20, 30}, used: 2}
	for _, tt := range []struct {
		known [][4]uint32
		want  int
	}{
		{[][4]uint32{{10, 30}, {30, 10}}, 0},
		{[][4]uint32{{20, 30}, {30, 10, 20}}, 1},
		{[][4]uint32{{30}, {30, 10, 20}}, 2},
		{[][4]uint32{{10}, {20}}, 2},
		{[][4]uint32{{10}, {}}, 2},
	} {
		if got := g.choose(tt.known); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.known, got, tt.want)
		}
	}
}

// Whatever rings follow each other, the keyring has the keys of the last, in front the
// one in use, and a slice that somebody still reads does not change.
func TestInstall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := "abcdef"
	first, err := newGossipKeys(keyOf(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := memberlist.NewKeyring(first.keys, first.keys[0])
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		var names string
		for _, i := range r.Perm(len(letters))[:1+r.IntN(len(letters))] {
			names += letters[i : i+1]
		}
		g, err := newGossipKeys(keyOf(t, names))
		if err != nil {
			t.Fatal(err)
		}
		g.used = r.IntN(len(g.keys))
		held := ring.GetKeys()
		copied := fmt.Sprint(held)
		if err := install(ring, g); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(held) != copied {
			t.Fatal("a slice in use was changed")
		}
		if got := ring.GetKeys(); len(got) != len(g.keys) || string(got[0]) != string(g.keys[g.used]) {
			t.Fatalf("%d keys of %d, or the wrong one in front", len(got), len(g.keys))
		}
	}
}
