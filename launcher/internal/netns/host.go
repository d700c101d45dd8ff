package netns

import (
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Host is a network namespace with an interface to the network.
type Host struct {
	Name string

	space  *space
	fabric *space
	port   string // the switch's end of the cable
	addrs  []netip.Prefix
}

// Addr is the host's address in the network; of its IPv4 and IPv6 addresses the
// first.
func (h *Host) Addr() netip.Addr { return h.addrs[0].Addr() }

// connect lays the cable to the switch.
func (h *Host) connect() error {
	if err := h.fabric.links.cable(h.port, h.space, Interface); err != nil {
		return fmt.Errorf("veth: %w", err)
	}
	if err := h.attach(); err != nil {
		return err
	}
	return h.space.plug(Interface, 0, h.addrs...)
}

func (h *Host) attach() error {
	index, err := h.fabric.index(bridge)
	if err != nil {
		return err
	}
	if err := h.fabric.links.attach(h.port, index); err != nil {
		return fmt.Errorf("port %s: %w", h.port, err)
	}
	return h.fabric.plug(h.port, 0)
}

// addDecoys adds interfaces that lead nowhere.
func (h *Host) addDecoys(i int, o Options) error {
	var same, near []netip.Prefix
	if !o.NoIPv4 {
		same, near = append(same, netip.MustParsePrefix("172.17.0.1/16")), append(near, numbered("10.66.0.0/24", i))
	}
	if !o.NoIPv6 {
		same, near = append(same, netip.MustParsePrefix("fd17::1/64")), append(near, numbered("fd66::/64", i))
	}
	far := fmt.Sprint("hole", i)
	if err := errors.Join(h.space.links.bridge(docker), h.fabric.links.cable(far, h.space, swallows), h.fabric.plug(far, 0)); err != nil {
		return fmt.Errorf("decoys: %w", err)
	}
	// Without ARP nobody finds out that nobody is there.
	return errors.Join(h.space.plug(docker, 0, same...), h.space.plug(swallows, unix.IFF_NOARP, near...))
}

// Do runs f in the host's network: sockets that f makes on its own goroutine
// belong to the host for good.
func (h *Host) Do(f func() error) error { return h.space.do(f) }

// Start starts a command on the host. It is killed when the network is closed.
func (h *Host) Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return h.space.do(cmd.Start)
}

// Unplug pulls the cable out of the switch: the host's interface has no carrier.
func (h *Host) Unplug() error { return h.fabric.links.change(h.port, 0, unix.IFF_UP) }

// Plug puts it back.
func (h *Host) Plug() error { return h.fabric.links.change(h.port, unix.IFF_UP, unix.IFF_UP) }

// Down switches the host's interface off, as ip link set down does: its routes
// are gone, and so are its IPv6 addresses.
func (h *Host) Down() error { return h.space.links.change(Interface, 0, unix.IFF_UP) }

// Up switches it on again.
func (h *Host) Up() error { return h.space.plug(Interface, 0, h.addrs...) }

// Isolate has the switch drop what comes from the host or goes there. The host
// notices nothing.
func (h *Host) Isolate() error { return h.fabric.links.attach(h.port, 0) }

// Rejoin ends that.
func (h *Host) Rejoin() error { return h.attach() }

// Processes returns those that are on the host.
func (h *Host) Processes() []Process { return processes(h.space) }
