package member

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

const (
	resolveWait = 5 * time.Second
	maxAnswers  = 8 // addresses of one name that are called in a round
)

// splitAddress takes "host", "host:port", "address" and "[address]:port" apart.
func splitAddress(s string) (host string, port uint16, err error) {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.String(), DefaultPort, nil
	}
	if !strings.Contains(s, ":") {
		s = net.JoinHostPort(s, strconv.Itoa(DefaultPort))
	}
	host, text, err := net.SplitHostPort(s)
	if err != nil || host == "" {
		return "", 0, fmt.Errorf("%q is not a host with or without a port", s)
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("%s: port %q is not 1 to 65535", s, text)
	}
	return host, uint16(n), nil
}

// resolve returns the addresses that s stands for, some at random if they are many.
func resolve(ctx context.Context, s string) ([]netip.AddrPort, error) {
	host, port, err := splitAddress(s)
	if err != nil {
		return nil, err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(a.Unmap(), port)}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveWait)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	var list []netip.AddrPort
	for _, a := range addrs[:min(len(addrs), maxAnswers)] {
		list = append(list, netip.AddrPortFrom(a.Unmap(), port))
	}
	return list, nil
}
