package address

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func tried(mine, theirs Offer) []string {
	var all []string
	for _, a := range Order(mine, theirs) {
		all = append(all, strings.TrimSuffix(a.String(), ":4000"))
	}
	return all
}

func TestOrder(t *testing.T) {
	const here, there, unknown = 1, 2, 0
	for name, c := range map[string]struct {
		mine, theirs Offer
		want         []string
	}{
		"loopback first on one host": {
			offer(here, "10.0.0.1/24", "127.0.0.1/8", "::1/128"),
			offer(here, "10.0.0.1/24", "127.0.0.1/8", "::1/128"),
			[]string{"127.0.0.1", "[::1]", "10.0.0.1"},
		},
		"no loopback to another host": {
			offer(here, "10.0.0.1/24", "127.0.0.1/8"),
			offer(there, "10.0.0.2/24", "127.0.0.1/8", "::1/128"),
			[]string{"10.0.0.2"},
		},
		"loopback last if nobody knows": {
			offer(here, "10.0.0.1/24"),
			offer(unknown, "127.0.0.1/8", "169.254.1.1/16", "10.0.0.2/24"),
			[]string{"10.0.0.2", "169.254.1.1", "127.0.0.1"},
		},
		"nothing but loopback, and nobody knows": {
			offer(unknown, "127.0.0.1/8"), offer(unknown, "127.0.0.1/8"), []string{"127.0.0.1"},
		},
		"a forced interface on one host": {
			offer(here, "10.0.0.1/24"), offer(here, "10.0.0.1/24"), []string{"10.0.0.1"},
		},
		"my own address is not another host's": {
			offer(here, "10.0.0.1/24", "b 172.17.0.1/16", "b 192.168.122.1/24"),
			offer(there, "b 172.17.0.1/16", "b 192.168.122.1/24", "10.0.0.2/24"),
			[]string{"10.0.0.2"},
		},
		"neighbours before everything, also private ones": {
			offer(here, "203.0.113.5/24", "192.168.7.3/24"),
			offer(there, "198.51.100.9/24", "192.168.7.4/24"),
			[]string{"192.168.7.4", "198.51.100.9"},
		},
		"a subnet is one for both": {
			offer(here, "10.0.0.1/8"),
			offer(there, "10.9.0.2/24", "10.200.0.2/8"),
			[]string{"10.200.0.2", "10.9.0.2"},
		},
		"bridges after what goes out": {
			offer(here, "10.1.0.1/24", "b 172.18.0.1/16"),
			offer(there, "b 172.18.0.2/16", "b 172.19.0.1/16", "172.17.0.5/16", "10.2.0.1/24", "2001:db8::2/64"),
			[]string{"10.2.0.1", "[2001:db8::2]", "172.18.0.2", "172.19.0.1", "172.17.0.5"},
		},
		"172.17 is a network like any other if I am in it": {
			offer(here, "172.17.0.9/16"), offer(there, "10.0.0.2/24", "172.17.0.5/16"),
			[]string{"172.17.0.5", "10.0.0.2"},
		},
		"bridges only": {
			offer(here, "b 10.77.0.1/24"), offer(there, "b 10.78.0.2/24", "b 10.77.0.2/24"),
			[]string{"10.77.0.2", "10.78.0.2"},
		},
		"IPv6 behind IPv4 of its class": {
			offer(here, "10.0.0.1/24", "2001:db8::1/64"),
			offer(there, "2001:db8:9::2/64", "2001:db8::2/64", "192.0.2.9/24", "10.0.0.2/24"),
			[]string{"10.0.0.2", "[2001:db8::2]", "192.0.2.9", "[2001:db8:9::2]"},
		},
		"the longer prefix in common": {
			offer(here, "10.1.2.3/24"),
			offer(there, "203.0.113.1/24", "10.9.0.1/24", "10.1.9.1/24"),
			[]string{"10.1.9.1", "10.9.0.1", "203.0.113.1"},
		},
		"link-local behind bridges": {
			offer(here, "10.0.0.1/24", "169.254.9.9/16"),
			offer(there, "169.254.1.1/16", "b 172.18.0.1/16"),
			[]string{"172.18.0.1", "169.254.1.1"},
		},
		"as offered, otherwise": {
			offer(here), offer(there, "192.0.2.2/24", "192.0.2.1/24"), []string{"192.0.2.2", "192.0.2.1"},
		},
		"nowhere to go": {offer(here), offer(there, "127.0.0.1/8"), nil},
	} {
		if diff := cmp.Diff(c.want, tried(c.mine, c.theirs)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Whatever the order in which a host lists its interfaces, the classes come out
// the same.
func TestOrderDoesNotDependOnTheOffers(t *testing.T) {
	mine := offer(1, "10.0.0.1/24", "b 172.18.0.1/16", "2001:db8::1/64")
	theirs := offer(2, "10.0.0.2/24", "2001:db8::2/64", "203.0.113.9/24", "2001:db8:7::1/64", "b 172.18.0.2/16", "169.254.1.1/16")
	want := tried(mine, theirs)
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		random.Shuffle(len(theirs.Addrs), func(i, j int) {
			theirs.Addrs[i], theirs.Addrs[j] = theirs.Addrs[j], theirs.Addrs[i]
		})
		before := slices.Clone(theirs.Addrs)
		if diff := cmp.Diff(want, tried(mine, theirs)); diff != "" {
			t.Fatal(diff)
		}
		if !slices.Equal(before, theirs.Addrs) {
			t.Fatal("Order changes the offer")
		}
	}
}
