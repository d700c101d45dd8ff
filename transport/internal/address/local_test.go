package address

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func links() []link {
	of := func(name string, up bool, addrs ...string) link {
		l := link{name: name, up: up}
		for _, a := range addrs {
			l.addrs = append(l.addrs, netip.MustParsePrefix(a))
		}
		return l
	}
	return []link{
		of("lo", true, "127.0.0.1/8", "127.0.0.53/8", "::1/128", "198.51.100.7/32"),
		of("docker0", true, "172.17.0.1/16"),
		of("eth0", true, "fd00::2/64", "fe80::1/64", "192.0.2.2/24"),
		of("eth1", false, "203.0.113.1/24"),
		of("wlan0", true, "169.254.8.8/16", "fe80::2/64"),
		of("tap0", true),
		of("tap1", true, "fe80::3/64"),
	}
}

func chosen(iface string, loopback bool) (string, error) {
	all, err := choose(links(), iface, loopback)
	var names []string
	for _, a := range all {
		name := a.String()
		if a.Bridge {
			name = "b " + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", "), err
}

func TestWhatIsOffered(t *testing.T) {
	for _, c := range []struct {
		iface    string
		loopback bool
		want     string
	}{
		{"", false, "198.51.100.7/32, 192.0.2.2/24, fd00::2/64, 127.0.0.1/8, ::1/128, b 172.17.0.1/16, 169.254.8.8/16"},
		{"", true, "127.0.0.1/8, ::1/128"},
		{"eth0", false, "192.0.2.2/24, fd00::2/64"},
		{"eth0", true, "192.0.2.2/24, fd00::2/64"},
		{"docker0", false, "b 172.17.0.1/16"},
		{"wlan0", false, "169.254.8.8/16"},
	} {
		got, err := chosen(c.iface, c.loopback)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("interface %q, loopback %v: %v %s", c.iface, c.loopback, err, diff)
		}
	}
}

func TestInterfacesThatDoNotServe(t *testing.T) {
	for iface, says := range map[string]string{
		"eth9": `"eth9" does not exist`,
		"eth1": `"eth1" is down`,
		"tap0": `"tap0" has no address for peers`,
		"tap1": `"tap1" has no address for peers`,
	} {
		_, err := chosen(iface, false)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", iface, err)
			continue
		}
		for _, l := range []string{"eth0 (fd00::2, fe80::1, 192.0.2.2)", "eth1 (down)", "tap0 (no address)"} {
			if !strings.Contains(err.Error(), l) {
				t.Errorf("%q does not list %s", err, l)
			}
		}
	}
	for _, loopback := range []bool{false, true} {
		if _, err := choose(links()[5:], "", loopback); err == nil || !strings.Contains(err.Error(), "tap0") {
			t.Errorf("a host without addresses: %v", err)
		}
	}
}

// What this machine offers encodes, and can be listened at.
func TestLocal(t *testing.T) {
	for _, loopback := range []bool{false, true} {
		listen, offer, err := Local("", loopback)
		if err != nil {
			t.Fatal(err)
		}
		offer.Port = 4000
		b, err := Encode(offer)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if order := Order(offer, theirs); len(order) == 0 || offer.Host != (Host{}) && !order[0].Addr().IsLoopback() {
			t.Errorf("a rank of the same host tries %v", order)
		}
		if loopback == listen[0].Addr().IsUnspecified() {
			t.Errorf("loopback is %v, and it listens at %v", loopback, listen)
		}
		for _, a := range offer.Addrs {
			checkListen(t, a.Addr())
		}
	}
}

func checkListen(t *testing.T, at netip.Addr) {
	t.Helper()
	l, err := net.Listen("tcp", netip.AddrPortFrom(at, 0).String())
	if at.Is6() && errors.Is(err, syscall.EADDRNOTAVAIL) {
		return // the kernel is still looking whether somebody else has it
	}
	if err != nil {
		t.Errorf("%v is offered: %v", at, err)
		return
	}
	l.Close()
}

func TestHostIsTheSameEachTime(t *testing.T) {
	a, b := thisHost(), thisHost()
	if a != b || a == (Host{}) {
		t.Errorf("one process finds itself on hosts %x and %x", a, b)
	}
}
