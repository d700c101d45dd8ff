package address

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// addr reads "10.0.0.1/24" or, of a bridge, "b 172.17.0.1/16".
func addr(s string) Addr {
	s, bridge := strings.CutPrefix(s, "b ")
	return Addr{Prefix: netip.MustParsePrefix(s), Bridge: bridge}
}

func offer(host byte, addrs ...string) Offer {
	o := Offer{Port: 4000, Host: Host{host}}
	for _, a := range addrs {
		o.Addrs = append(o.Addrs, addr(a))
	}
	return o
}

var sameAddr = cmp.Comparer(func(a, b Addr) bool { return a == b })

func TestOffersSurvive(t *testing.T) {
	for _, o := range []Offer{
		offer(1, "10.0.0.1/24"),
		offer(0, "127.0.0.1/8", "::1/128"),
		offer(255, "b 172.17.0.1/16", "2001:db8::7/64", "fd00::1/128", "169.254.3.4/16", "203.0.113.9/0"),
	} {
		b, err := Encode(o)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(b)
		if diff := cmp.Diff(o, back, sameAddr); err != nil || diff != "" {
			t.Errorf("%v: %v %s", o, err, diff)
		}
	}
}

// As the documentation says: 36 IPv4 addresses or 12 IPv6 ones, the first.
func TestWhatDoesNotFitIsLeftOut(t *testing.T) {
	for format, want := range map[string]int{"10.0.%d.1/24": 36, "2001:db8::%d/64": 12} {
		var o Offer
		for i := range 100 {
			o.Addrs = append(o.Addrs, addr(fmt.Sprintf(format, i)))
		}
		o.Port = 1
		b, err := Encode(o)
		if err != nil || len(b) > MaxEncoded {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		back, err := Decode(b)
		if diff := cmp.Diff(o.Addrs[:want], back.Addrs, sameAddr); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	good := offer(1, "10.0.0.1/24")
	if _, err := Encode(good); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Offer{
		"no port":         {Addrs: good.Addrs},
		"no address":      {Port: 1},
		"zero address":    {Port: 1, Addrs: []Addr{{}}},
		"link-local IPv6": offer(1, "fe80::1/64"),
		"multicast":       offer(1, "224.0.0.1/4"),
		"unspecified":     offer(1, "0.0.0.0/0"),
		"IPv4 in IPv6":    {Port: 1, Addrs: []Addr{{Prefix: netip.PrefixFrom(netip.MustParseAddr("::ffff:10.0.0.1"), 24)}}},
		"long prefix":     {Port: 1, Addrs: []Addr{{Prefix: netip.PrefixFrom(netip.MustParseAddr("10.0.0.1"), 33)}}},
	} {
		if b, err := Encode(o); err == nil {
			t.Errorf("%s is encoded: %x", name, b)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good, err := Encode(offer(1, "10.0.0.1/24", "2001:db8::7/64"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(good) {
		if o, err := Decode(good[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken: %v", n, len(good), o)
		}
	}
	change := func(at int, to ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], to)
		return b
	}
	for name, b := range map[string][]byte{
		"layout 2":        change(0, 2),
		"port 0":          change(1, 0, 0),
		"no addresses":    change(19, 0),
		"one too few":     change(19, 1),
		"one too many":    change(19, 3),
		"flags":           change(20, 4),
		"prefix too long": change(21, 33),
		"unspecified":     change(22, 0, 0, 0, 0),
		"a byte too many": append(bytes.Clone(good), 0),
		"far too long":    make([]byte, MaxEncoded+1),
	} {
		if o, err := Decode(b); err == nil {
			t.Errorf("%s is taken: %v", name, o)
		}
	}
}

// FuzzDecode: what decodes, encodes to the same bytes, and can be ordered.
func FuzzDecode(f *testing.F) {
	for _, o := range []Offer{offer(1, "10.0.0.1/24"), offer(2, "b 172.17.0.1/16", "2001:db8::7/64", "::1/128")} {
		b, err := Encode(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	mine := offer(1, "10.0.0.2/24", "2001:db8::8/64")
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Decode(b)
		if err != nil {
			return
		}
		back, err := Encode(o)
		if err != nil || !bytes.Equal(b, back) {
			t.Errorf("%x decodes to %v and back to %x, %v", b, o, back, err)
		}
		if tried := Order(mine, o); len(tried) > len(o.Addrs) {
			t.Errorf("%d addresses of %d are tried", len(tried), len(o.Addrs))
		}
	})
}
