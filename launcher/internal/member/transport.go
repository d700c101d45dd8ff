package member

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/keys"
)

const (
	// maxStreams is how many streams others may have open here: each lasts for one
	// exchange.
	maxStreams = 128
	// receiveBuffer is how many bytes of packets the kernel is asked to hold for us.
	receiveBuffer = 2 << 20
	portTries     = 10
)

// A transport carries memberlist's packets and streams. It is not memberlist's own,
// because that hears streams of strangers for 20 MB each and as many as come, and
// allocates 64 KiB for each packet. Here a stream is TLS on which both ends have proved a
// key (package join), unless there is no key; packets are encrypted by memberlist.
type transport struct {
	addr    netip.AddrPort // that others are told
	listen  streamListener
	packets *net.UDPConn
	keys    atomic.Pointer[keys.Ring]
	timeout time.Duration

	arrived  chan *memberlist.Packet
	accepted chan net.Conn
	ctx      context.Context // done when it is shut down
	stop     context.CancelFunc
	running  sync.WaitGroup

	sent, received atomic.Uint64 // bytes, of packets and streams

	mu   sync.Mutex
	open map[*stream]bool // true: others opened it
}

type streamListener interface {
	Accept() (net.Conn, error)
	Close() error
	Addr() net.Addr
}

// newTransport binds the same port for packets and streams, any if it is 0.
func newTransport(bind netip.Addr, port int, ring keys.Ring, timeout time.Duration) (*transport, error) {
	t := &transport{
		timeout: timeout, open: make(map[*stream]bool),
		arrived: make(chan *memberlist.Packet), accepted: make(chan net.Conn),
	}
	t.keys.Store(&ring)
	t.ctx, t.stop = context.WithCancel(context.Background())
	var err error
	for range portTries {
		if err = t.bind(bind, port); err == nil || port != 0 {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	t.running.Go(t.accept)
	t.running.Go(t.receive)
	return t, nil
}

func (t *transport) bind(bind netip.Addr, port int) error {
	host := ""
	if bind.IsValid() {
		host = bind.String()
	}
	listen, err := t.listenAt(net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	tcp := listen.Addr().(*net.TCPAddr)
	packets, err := net.ListenUDP("udp", &net.UDPAddr{IP: tcp.IP, Port: tcp.Port, Zone: tcp.Zone})
	if err != nil {
		listen.Close()
		return fmt.Errorf("gossip: %w", err)
	}
	packets.SetReadBuffer(receiveBuffer) // less will do
	t.listen, t.packets = listen, packets
	return nil
}

func (t *transport) listenAt(address string) (streamListener, error) {
	if ring := *t.keys.Load(); len(ring) > 0 {
		return join.ListenGossip(address, ring, t.timeout)
	}
	return net.Listen("tcp", address)
}

func (t *transport) port() uint16 { return uint16(t.packets.LocalAddr().(*net.UDPAddr).Port) }

// setKeys changes the keys that streams are to prove from now on.
func (t *transport) setKeys(ring keys.Ring) error {
	if err := t.listen.(*join.Listener).SetKeys(ring); err != nil {
		return err
	}
	t.keys.Store(&ring)
	return nil
}

// receive hands packets to memberlist.
func (t *transport) receive() {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := t.packets.ReadFrom(buf)
		if t.ctx.Err() != nil {
			return
		}
		if err != nil || n == 0 {
			continue // of one packet: an ICMP error, for instance
		}
		t.received.Add(uint64(n))
		p := &memberlist.Packet{Buf: append([]byte(nil), buf[:n]...), From: from, Timestamp: time.Now()}
		select {
		case t.arrived <- p:
		case <-t.ctx.Done():
			return
		}
	}
}

// accept hands streams that others open to memberlist.
func (t *transport) accept() {
	for {
		conn, err := t.listen.Accept()
		if t.ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return
		}
		if err != nil {
			select {
			case <-time.After(10 * time.Millisecond): // out of descriptors, for instance
			case <-t.ctx.Done():
			}
			continue
		}
		if s := t.enter(conn, true); s != nil {
			select {
			case t.accepted <- s:
			case <-t.ctx.Done():
				s.Close()
			}
		}
	}
}

// enter makes a stream of a connection; nil: there are too many, or no more are wanted.
func (t *transport) enter(conn net.Conn, theirs bool) *stream {
	s := &stream{Conn: conn, t: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, accepted := range t.open {
		if accepted {
			n++
		}
	}
	if t.ctx.Err() != nil || theirs && n >= maxStreams {
		conn.Close()
		return nil
	}
	t.open[s] = theirs
	return s
}

// A stream is a connection that is closed with the transport, and counts bytes.
type stream struct {
	net.Conn
	t *transport
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.t.received.Add(uint64(n))
	return n, err
}

func (s *stream) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	s.t.sent.Add(uint64(n))
	return n, err
}

func (s *stream) Close() error {
	s.t.mu.Lock()
	delete(s.t.open, s)
	s.t.mu.Unlock()
	return s.Conn.Close()
}

// FinalAdvertiseAddr is where others find this member.
func (t *transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return net.IP(t.addr.Addr().AsSlice()), int(t.addr.Port()), nil
}

// WriteTo sends a packet.
func (t *transport) WriteTo(b []byte, addr string) (time.Time, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return time.Time{}, err
	}
	n, err := t.packets.WriteToUDPAddrPort(b, netip.AddrPortFrom(to.Addr().Unmap(), to.Port()))
	t.sent.Add(uint64(n))
	return time.Now(), err
}

// WriteToAddress sends a packet.
func (t *transport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return t.WriteTo(b, a.Addr)
}

// DialTimeout opens a stream.
func (t *transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(t.ctx, timeout)
	defer cancel()
	conn, err := t.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	if s := t.enter(conn, false); s != nil {
		return s, nil
	}
	return nil, net.ErrClosed
}

// DialAddressTimeout opens a stream.
func (t *transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return t.DialTimeout(a.Addr, timeout)
}

func (t *transport) dial(ctx context.Context, addr string) (net.Conn, error) {
	if ring := *t.keys.Load(); len(ring) > 0 {
		return join.CallGossip(ctx, addr, ring, t.timeout)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", addr)
}

// PacketCh is where packets arrive.
func (t *transport) PacketCh() <-chan *memberlist.Packet { return t.arrived }

// StreamCh is where streams arrive.
func (t *transport) StreamCh() <-chan net.Conn { return t.accepted }

// Shutdown ends everything, streams that memberlist holds included.
func (t *transport) Shutdown() error {
	t.stop()
	t.listen.Close()
	t.packets.Close()
	t.mu.Lock()
	for s := range t.open {
		s.Conn.Close()
	}
	t.mu.Unlock()
	t.running.Wait()
	return nil
}
