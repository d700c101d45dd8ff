package placement

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// three are hosts of a small cluster.
func three() []Host {
	return []Host{
		{Name: "c", Slots: 2, Free: 2, Cores: 2, Load: 2, Labels: map[string]string{"rack": "1", "gpu": "yes"}},
		{Name: "a", Slots: 4, Free: 4, Cores: 4, Load: 1, Labels: map[string]string{"rack": "1"}},
		{Name: "b", Slots: 8, Free: 3, Cores: 8, Load: 0, Labels: map[string]string{"rack": "2"}},
	}
}

func TestPlace(t *testing.T) {
	for name, tt := range map[string]struct {
		wish Wish
		want string
	}{
		"slot":                     {Wish{Ranks: 5, Policy: Slot}, "a 4 b 1"},
		"slot, all":                {Wish{Ranks: 9, Policy: Slot}, "a 4 b 3 c 2"},
		"host":                     {Wish{Ranks: 4, Policy: Even}, "a 2 b 1 c 1"},
		"host, a small one":        {Wish{Ranks: 8, Policy: Even}, "a 3 b 3 c 2"},
		"host, one rank":           {Wish{Ranks: 1, Policy: Even}, "a 1"},
		"load":                     {Wish{Ranks: 3, Policy: Load}, "a 2 b 1"},
		"load, all":                {Wish{Ranks: 9, Policy: Load}, "a 4 b 3 c 2"},
		"ppn":                      {Wish{Ranks: 5, Policy: Slot, PerHost: 2}, "a 2 b 2 c 1"},
		"hosts in their order":     {Wish{Ranks: 3, Policy: Slot, Hosts: []string{"c", "a"}}, "c 2 a 1"},
		"label":                    {Wish{Ranks: 3, Policy: Even, Labels: map[string]string{"rack": "1"}}, "a 2 c 1"},
		"two labels":               {Wish{Ranks: 2, Policy: Slot, Labels: map[string]string{"rack": "1", "gpu": "yes"}}, "c 2"},
		"oversubscribe, no need":   {Wish{Ranks: 9, Policy: Slot, Oversubscribe: true}, "a 4 b 3 c 2"},
		"oversubscribe":            {Wish{Ranks: 20, Policy: Slot, Oversubscribe: true}, "a 8 b 11 c 1"},
		"oversubscribe one":        {Wish{Ranks: 7, Policy: Slot, Oversubscribe: true, Hosts: []string{"c"}}, "c 7"},
		"oversubscribe, host":      {Wish{Ranks: 10, Policy: Even, Oversubscribe: true}, "a 4 b 3 c 3"},
		"oversubscribe within ppn": {Wish{Ranks: 12, Policy: Slot, Oversubscribe: true, PerHost: 4}, "a 4 b 4 c 4"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Place(tt.wish, three())
			if err != nil {
				t.Fatal(err)
			}
			var text []string
			for _, b := range got {
				text = append(text, b.Host, fmt.Sprint(b.Ranks))
			}
			if s := strings.Join(text, " "); s != tt.want {
				t.Errorf("%s, want %s", s, tt.want)
			}
		})
	}
}

func TestWhatIsLacking(t *testing.T) {
	hosts := append(three(), Host{Name: "d", Slots: 64, Free: 64, Lacks: "is arm64, and prog is amd64"})
	for _, tt := range []struct {
		wish Wish
		want string
	}{
		{Wish{Ranks: 10, Policy: Slot}, "10 ranks cannot be placed, there is room for 9:\n  a: 4 of 4 slots free\n  b: 3 of 8 slots free\n  c: 2 of 2 slots free\n  d: is arm64, and prog is amd64"},
		{Wish{Ranks: 5, Policy: Even, PerHost: 1}, "a: 4 of 4 slots free, and no more than 1 rank to a host\n"},
		{Wish{Ranks: 4, Policy: Even, PerHost: 1, Oversubscribe: true}, "there is room for 3:"},
		{Wish{Ranks: 3, Policy: Slot, Hosts: []string{"c"}}, "a: not asked for\n  b: not asked for\n  c: 2 of 2"},
		{Wish{Ranks: 3, Policy: Slot, Labels: map[string]string{"gpu": "no"}}, "a: has no label gpu\n  b: has no label gpu\n  c: has label gpu=yes and not no\n"},
		{Wish{Ranks: 3, Policy: Slot, Hosts: []string{"x"}}, "there is no host x: the hosts are a, b, c, d"},
		{Wish{Ranks: 3, Policy: Slot, Hosts: []string{"a", "a"}}, "host a is named twice"},
		{Wish{Ranks: 3, Policy: "spread"}, `"spread" is no way to place ranks: it is one of [slot host load]`},
		{Wish{Ranks: 0, Policy: Slot}, "there are 0 ranks to be placed"},
		{Wish{Ranks: 1, Policy: Slot, PerHost: -1}, "a host may have -1 ranks"},
	} {
		if _, err := Place(tt.wish, hosts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v\nwant %s", tt.wish, err, tt.want)
		}
	}
	if _, err := Place(Wish{Ranks: 1, Policy: Slot}, nil); err == nil || !strings.Contains(err.Error(), "there is no host") {
		t.Error(err)
	}
}

// randomHosts and randomWish are small: what can go wrong does so with few.
func randomHosts(r *rand.Rand) (hosts []Host) {
	for i := range r.IntN(6) {
		slots := r.IntN(6)
		h := Host{Name: string(rune('a' + i)), Slots: slots, Free: r.IntN(slots + 1), Cores: r.IntN(4), Load: float64(r.IntN(30)) / 10,
			Labels: map[string]string{"k": fmt.Sprint(r.IntN(2))}}
		if r.IntN(8) == 0 {
			h.Lacks = "something"
		}
		hosts = append(hosts, h)
	}
	return hosts
}

func randomWish(r *rand.Rand, hosts []Host) Wish {
	w := Wish{Ranks: 1 + r.IntN(12), Policy: Policies[r.IntN(len(Policies))], Oversubscribe: r.IntN(3) == 0, PerHost: r.IntN(4)}
	if r.IntN(3) == 0 {
		w.Labels = map[string]string{"k": "0"}
	}
	if r.IntN(3) == 0 {
		for _, i := range r.Perm(len(hosts))[:r.IntN(len(hosts)+1)] {
			w.Hosts = append(w.Hosts, hosts[i].Name)
		}
	}
	return w
}

// Whatever is asked of whatever hosts: every rank has a place, nobody gets more than
// he may, and a refusal is justified.
func TestPropertiesOfPlaces(t *testing.T) {
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		hosts := randomHosts(r)
		w := randomWish(r, hosts)
		got, err := Place(w, hosts)
		if wrong := judge(w, hosts, got, err); wrong != "" {
			t.Fatalf("seed %d: %+v\n%+v\n%v, %v: %s", seed, w, hosts, got, err, wrong)
		}
		r.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		again, againErr := Place(w, hosts)
		if diff := cmp.Diff(got, again); diff != "" || fmt.Sprint(err) != fmt.Sprint(againErr) {
			t.Fatalf("seed %d: the order of hosts matters: %s", seed, diff)
		}
	}
}

// judge finds what is wrong with an answer.
func judge(w Wish, hosts []Host, got []Block, err error) string {
	var lack *LackError
	if err != nil {
		if !errors.As(err, &lack) {
			return "another error"
		}
		if most(w, hosts) >= w.Ranks {
			return "there is room"
		}
		return ""
	}
	placed, seen := 0, []string{}
	for _, b := range got {
		i := slices.IndexFunc(hosts, func(h Host) bool { return h.Name == b.Host })
		switch {
		case i < 0 || slices.Contains(seen, b.Host) || b.Ranks < 1:
			return "a bad block"
		case w.unfit(&hosts[i]) != "":
			return "a host that is unfit"
		case w.PerHost > 0 && b.Ranks > w.PerHost:
			return "more than --ppn"
		case !w.Oversubscribe && b.Ranks > hosts[i].Free:
			return "more than is free"
		}
		seen = append(seen, b.Host)
		placed += b.Ranks
	}
	if placed != w.Ranks {
		return "ranks were lost"
	}
	return ""
}

// most is how many ranks there is room for, worked out in the plain way.
func most(w Wish, hosts []Host) (n int) {
	for _, h := range hosts {
		if w.unfit(&h) != "" {
			continue
		}
		room := h.Free
		if w.Oversubscribe {
			room = w.Ranks
		}
		if w.PerHost > 0 {
			room = min(room, w.PerHost)
		}
		n += room
	}
	return n
}

// Blocks by host are as equal as can be: no two hosts differ by more than one unless
// the smaller is full.
func TestEvenIsEven(t *testing.T) {
	for seed := range uint64(5_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		room := make([]int, 1+r.IntN(6))
		for i := range room {
			room[i] = r.IntN(6)
		}
		if sum(room) == 0 {
			continue
		}
		ranks := 1 + r.IntN(sum(room))
		sizes := even(ranks, room)
		for i := range sizes {
			for j := range sizes {
				if sizes[i]+1 < sizes[j] && sizes[i] < room[i] || sizes[i] > room[i] {
					t.Fatalf("%d ranks in %v: %v", ranks, room, sizes)
				}
			}
		}
		if sum(sizes) != ranks {
			t.Fatalf("%d ranks in %v: %v", ranks, room, sizes)
		}
	}
}
