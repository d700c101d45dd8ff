package tcp

import (
	"context"
	"fmt"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/internal/address"
	"github.com/golaunch/golaunch/transport/internal/handshake"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// DefaultTimeout is a Provider's when Timeout is 0.
const DefaultTimeout = 10 * time.Second

// A Provider makes endpoints that reach each other over TCP. All ranks of a job
// use the same Secret, Job, Version and Encrypt.
type Provider struct {
	// Secret is what the job's ranks prove to each other before a byte of the job's
	// data is accepted: at least 16 random bytes.
	Secret []byte
	// Job and Version are names in which all ranks of the job agree; a rank of
	// another job or version is refused with a message that has both.
	Job, Version string
	// Interface is the only network interface to be used; "": all.
	Interface string
	// Loopback offers loopback addresses only, for jobs that do not leave the machine.
	Loopback bool
	// Encrypt: connections are TLS 1.3. Otherwise who listens on the network can read
	// and change what the ranks say to each other once they have proved themselves.
	Encrypt bool
	// Timeout is after how long without an answer, or a sign of life, a peer has
	// failed; connecting may take as long. 0: DefaultTimeout.
	Timeout time.Duration

	// What tests set; 0: what everybody uses.
	pieceBytes int // longest payload of one frame
	family     int // 4 or 6: the only family of addresses offered
}

// Name returns "tcp".
func (Provider) Name() string { return "tcp" }

// Open begins to listen and starts the endpoint's goroutines, which end with
// Close.
func (p Provider) Open(cfg transport.Config) (transport.Endpoint, error) {
	e, err := p.open(cfg)
	if err != nil {
		return nil, fmt.Errorf("tcp: rank %d: open: %w", cfg.Rank, err)
	}
	return e, nil
}

func (p Provider) open(cfg transport.Config) (*endpoint, error) {
	if p.Timeout == 0 {
		p.Timeout = DefaultTimeout
	}
	if p.pieceBytes == 0 {
		p.pieceBytes = wire.MaxPiece
	}
	inline := inlineBytes
	if p.Encrypt {
		p.pieceBytes, inline = min(p.pieceBytes, encryptedPiece), encryptedPiece
	}
	e := newEndpoint(cfg, p)
	e.inlineBytes = min(inline, p.pieceBytes)
	if err := e.listen(p); err != nil {
		return nil, err
	}
	if err := e.watcher.open(e); err != nil {
		_ = e.listener.Close()
		return nil, err
	}
	e.watcher.clock.tick = time.Now().Add(e.timeout / 4)
	e.watcher.setDeadline()
	e.running.Add(2)
	go e.watcher.run()
	go e.accept()
	return e, nil
}

func newEndpoint(cfg transport.Config, p Provider) *endpoint {
	e := &endpoint{cfg: cfg, timeout: p.Timeout, encrypt: p.Encrypt, pieceBytes: p.pieceBytes}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.me = handshake.Identity{
		Secret: p.Secret, Job: p.Job, Version: p.Version, Rank: cfg.Rank, Size: cfg.Size,
		Encrypt: p.Encrypt, Timeout: p.Timeout,
	}
	e.peers = makePeers(cfg.Size)
	e.sendBuffers.size, e.chunks.size = bufferBytes, chunkBytes
	e.poll.scratch = make([]byte, scratchBytes)
	e.regions.open, e.regions.last = make(map[uint64][]byte), firstKey
	return e
}

// listen opens the sockets that peers connect to, and makes up the address.
func (e *endpoint) listen(p Provider) error {
	at, offer, err := address.Local(p.Interface, p.Loopback)
	if err != nil {
		return err
	}
	at, offer = onlyFamily(p.family, at, offer)
	if e.listener, err = handshake.Listen(e.me, at); err != nil {
		return err
	}
	offer.Port = e.listener.Addrs()[0].Port()
	e.offer = offer
	if e.address, err = address.EncodeEndpoint(e.cfg.Rank, offer); err != nil {
		_ = e.listener.Close()
	}
	return err
}
