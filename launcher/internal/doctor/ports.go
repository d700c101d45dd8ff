package doctor

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// ports looks whether an agent can bind its ports, or if one runs, has them.
func (c *Config) ports(running bool) []Finding {
	return []Finding{
		c.port("tcp", c.GossipPort, "gossip", running),
		c.port("udp", c.GossipPort, "gossip", running),
		c.port("tcp", c.ControlPort, "control", running),
	}
}

func (c *Config) port(network string, port int, purpose string, running bool) Finding {
	check := fmt.Sprintf("port %d/%s", port, network)
	err := bind(network, net.JoinHostPort(c.Bind, strconv.Itoa(port)))
	switch {
	case err == nil && running:
		return warn(check, "golaunch doctor takes the ports and the address with --bind, as the agent does",
			"nobody listens there for %s: the agent that runs uses another", purpose)
	case err == nil:
		return ok(check, "free, for %s", purpose)
	case errors.Is(err, syscall.EADDRINUSE) && running:
		return ok(check, "in use for %s", purpose)
	case errors.Is(err, syscall.EADDRINUSE):
		return fail(check, fmt.Sprintf("ss -lnp 'sport = :%d' shows who; or --bind ADDR:PORT names another port, the same on every host", port),
			"somebody else has it")
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fail(check, "--bind names an address of this host", "%s is no address of this host", c.Bind)
	}
	return fail(check, "--bind names another address or port", "%v", err)
}

// bind binds and lets go again.
func bind(network, address string) error {
	if network == "udp" {
		c, err := net.ListenPacket(network, address)
		if err != nil {
			return err
		}
		return c.Close()
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	return l.Close()
}
