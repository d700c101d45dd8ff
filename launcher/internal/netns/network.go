package netns

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Options say what the hosts of a network have.
type Options struct {
	NoIPv4 bool // but for the loopback's
	NoIPv6 bool // but for the loopback's, and link-local ones
	// Decoys gives each host interfaces that lead nowhere. The addresses of docker0
	// are the same on every host, as they are where nobody has changed docker's
	// settings. The addresses of dead0 look like those of a network that the hosts
	// share, and swallow whatever is sent there.
	Decoys bool
}

// A Network is hosts that are joined by a switch.
type Network struct {
	Hosts []*Host

	spaces []*space // of the hosts and of the switch
}

// Interface is what the hosts' interface to the network is called.
const Interface = "eth0"

const (
	bridge   = "switch"
	swallows = "dead0"
	docker   = "docker0"
)

// New makes a network of 1 to 200 hosts that ends with the test: processes that
// are still in it then fail the test and are killed.
func New(t testing.TB, hosts int, o Options) *Network {
	t.Helper()
	n, err := open(hosts, o)
	if why := lacking(err); why != "" {
		t.Skipf("netns: %s", why)
	}
	if err != nil {
		t.Fatalf("netns: %v", err)
	}
	t.Cleanup(func() {
		if err := n.close(); err != nil {
			t.Errorf("netns: %v", err)
		}
	})
	return n
}

// lacking says what this system lacks for a network, if that is what is wrong.
func lacking(err error) string {
	switch {
	case err == nil:
		return ""
	case os.Geteuid() != 0 && errors.Is(err, unix.EPERM):
		return "network namespaces need root: " + err.Error()
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return "network namespaces are not permitted here, although this is root: " + err.Error()
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EINVAL) && errors.Is(err, errMaking), errors.Is(err, unix.ENOSYS):
		return "this kernel lacks network namespaces, veth or bridge: " + err.Error()
	}
	return ""
}

// errMaking marks the system calls that a kernel without namespaces refuses.
var errMaking = errors.New("making a namespace")

func open(hosts int, o Options) (*Network, error) {
	if hosts < 1 || hosts > 200 {
		return nil, fmt.Errorf("%d hosts: want 1 to 200", hosts)
	}
	n := &Network{}
	if err := n.build(hosts, o); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (n *Network) build(hosts int, o Options) error {
	fabric, err := n.space()
	if err != nil {
		return fmt.Errorf("the switch: %w", err)
	}
	if err := fabric.links.bridge(bridge); err != nil {
		return fmt.Errorf("the switch: %w", err)
	}
	if err := fabric.plug(bridge, 0); err != nil {
		return fmt.Errorf("the switch: %w", err)
	}
	for i := range hosts {
		if err := n.host(i, fabric, o); err != nil {
			return fmt.Errorf("host %d: %w", i, err)
		}
	}
	return nil
}

func (n *Network) space() (*space, error) {
	s, err := newSpace()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMaking, err)
	}
	n.spaces = append(n.spaces, s)
	return s, nil
}

func (n *Network) host(i int, fabric *space, o Options) error {
	s, err := n.space()
	if err != nil {
		return err
	}
	h := &Host{Name: fmt.Sprintf("host-%d", i), space: s, fabric: fabric, port: fmt.Sprint("port", i)}
	if !o.NoIPv4 {
		h.addrs = append(h.addrs, numbered("10.77.0.0/24", i))
	}
	if !o.NoIPv6 {
		h.addrs = append(h.addrs, numbered("fd77::/64", i))
	}
	n.Hosts = append(n.Hosts, h)
	if err := h.connect(); err != nil {
		return err
	}
	if o.Decoys {
		return h.addDecoys(i, o)
	}
	return nil
}

// numbered is the address of host i in a subnet.
func numbered(subnet string, i int) netip.Prefix {
	p := netip.MustParsePrefix(subnet)
	b := p.Addr().AsSlice()
	b[len(b)-1] = byte(i + 1)
	a, _ := netip.AddrFromSlice(b)
	return netip.PrefixFrom(a, p.Bits())
}

// close ends the network. Its error names what was left in it.
func (n *Network) close() error {
	left, err := n.kill()
	if len(left) > 0 {
		err = errors.Join(fmt.Errorf("left behind, and killed: %v", left), err)
	}
	for _, s := range n.spaces {
		err = errors.Join(err, s.close())
	}
	return err
}
