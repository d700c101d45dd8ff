package stage

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

// A site is hosts that are joined by links of one rate, with a node on all but the
// first, who sends. They speak TLS, as agents do.
type site struct {
	t       testing.TB
	network *netns.Network
	config  *tls.Config
	peers   []*peer
	hosts   []Host
}

func newSite(t testing.TB, hosts int, rate string) *site {
	t.Helper()
	s := &site{t: t, network: netns.New(t, hosts, netns.Options{NoIPv6: true}), config: secure(t)}
	for _, h := range s.network.Hosts {
		s.limit(h, rate)
	}
	for i, h := range s.network.Hosts[1:] {
		p := servePeer(t, fmt.Sprint("host-", i+1), tls.NewListener(s.listen(h), s.config), setting{dialer: from{h, s.config}})
		s.peers, s.hosts = append(s.peers, p), append(s.hosts, p.host)
	}
	return s
}

// limit limits what a host can send. Two bands share the rate: what bulk data is in
// its queue does not hold up acknowledgements, see listen. Linux does the same for
// network cards, by fair queues, which not every kernel has.
func (s *site) limit(h *netns.Host, rate string) {
	s.t.Helper()
	path, err := exec.LookPath("tc")
	if err != nil {
		s.t.Skip("limiting the rate of a link needs tc (iproute2): ", err)
	}
	for _, args := range [][]string{
		{"root", "handle", "1:", "tbf", "rate", rate, "burst", "256kb", "latency", "50ms"},
		{"parent", "1:1", "pfifo_fast"},
	} {
		var output bytes.Buffer
		tc := exec.Command(path, append([]string{"qdisc", "add", "dev", netns.Interface}, args...)...)
		tc.Stdout, tc.Stderr = &output, &output
		if err := h.Start(tc); err != nil {
			s.t.Fatal(err)
		}
		if err := tc.Wait(); err != nil {
			s.t.Skipf("this kernel does not limit rates (sch_tbf): %v: %s", err, &output)
		}
	}
}

// listen listens on a host. What its connections send, which is acknowledgements and
// little else, goes first.
func (s *site) listen(h *netns.Host) net.Listener {
	s.t.Helper()
	const interactive = 6 // TC_PRIO_INTERACTIVE
	first := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var set error
		err := c.Control(func(fd uintptr) {
			set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PRIORITY, interactive)
		})
		return errors.Join(err, set)
	}}
	var l net.Listener
	err := h.Do(func() (err error) {
		l, err = first.Listen(s.t.Context(), "tcp", netip.AddrPortFrom(h.Addr(), 0).String())
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	return l
}

// secure is TLS between ends who trust each other.
func secure(t testing.TB) *tls.Config {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, ClientAuth: tls.RequireAnyClientCert,
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}},
	}
}

// from is a dialer on a host. It speaks TLS if it has a config.
type from struct {
	*netns.Host
	config *tls.Config
}

func (f from) Dial(ctx context.Context, to Host) (io.ReadWriteCloser, error) {
	var c net.Conn
	err := f.Do(func() (err error) { // an address, not a name: nobody else is asked
		c, err = new(net.Dialer).DialContext(ctx, "tcp", to.Addr)
		return err
	})
	if err != nil || f.config == nil {
		return c, err
	}
	return tls.Client(c, f.config), nil
}

// raw sends bytes from the first host to the second over TCP and nothing else, and
// returns how long it takes until the second has them all.
func (s *site) raw(b []byte) time.Duration {
	s.t.Helper()
	l := s.listen(s.network.Hosts[1])
	received := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = io.CopyN(io.Discard, c, int64(len(b)))
			c.Close()
		}
		received <- err
	}()
	began := time.Now()
	c, err := from{s.network.Hosts[0], nil}.Dial(s.t.Context(), Host{Addr: l.Addr().String()})
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	if _, err = c.Write(b); err == nil {
		err = <-received
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return time.Since(began)
}

// staged pushes content to all hosts and returns how long it takes until all have
// verified it.
func (s *site) staged(b []byte) time.Duration {
	s.t.Helper()
	c := contentOf(b)
	began := time.Now()
	errs := Push(s.t.Context(), from{s.network.Hosts[0], s.config}, []Content{c}, s.hosts, patient)
	took := time.Since(began)
	if err := errors.Join(errs...); err != nil {
		s.t.Fatal(err)
	}
	for _, p := range s.peers {
		if !p.has(c) {
			s.t.Fatalf("%s lacks it", p.host.Name)
		}
	}
	return took
}

// 20 MB to four hosts take little more than to one over bare TCP, in the best of a
// few rounds. The bound leaves room for a machine that does other things; a star would
// come to 0.25.
func TestFourHostsAtTheRateOfOneLink(t *testing.T) {
	const rounds, enough, bound = 5, 0.8, 0.5
	s := newSite(t, 5, "200mbit")
	best := 0.0
	for round := uint64(0); round < rounds && best < enough; round++ {
		b := random(round, 20e6)
		raw, staged := s.raw(b), s.staged(b)
		ratio := float64(raw) / float64(staged)
		best = max(best, ratio)
		t.Logf("20 MB at 200 Mbit/s: TCP to one host %v; to four hosts, verified, %v: %.2f of the rate", raw, staged, ratio)
	}
	if best < bound {
		t.Errorf("%.2f of the link's rate", best)
	}
}

func BenchmarkPush(b *testing.B) {
	const size = 20e6
	for _, rate := range []string{"100mbit", "1gbit", "40gbit"} {
		for _, hosts := range []int{1, 4, 16, 32} {
			b.Run(fmt.Sprintf("%s/hosts=%d", rate, hosts), func(b *testing.B) {
				s := newSite(b, 1+hosts, rate)
				b.SetBytes(size)
				content := random(1, size)
				var raw time.Duration
				for b.Loop() {
					b.StopTimer()
					content[0]++
					content[1] += content[0] / 255
					raw += s.raw(content)
					b.StartTimer()
					s.staged(content)
				}
				b.ReportMetric(float64(raw)/float64(b.Elapsed()), "ratio")
			})
		}
	}
}
