package handshake

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// readFrame reads a whole frame of the wanted kind into buf and returns it. It
// reads exactly that many bytes, so that what follows stays with the connection.
// begun, when not nil, sees the header before anything more is read.
func readFrame(r io.Reader, buf *[maxFrame]byte, want kind, begun func(head []byte) error) ([]byte, error) {
	if _, err := io.ReadFull(r, buf[:headerSize]); err != nil {
		return nil, err
	}
	if begun != nil {
		if err := begun(buf[:headerSize]); err != nil {
			return nil, err
		}
	}
	h, err := decodeHeader(buf[:headerSize])
	if err != nil {
		return nil, err
	}
	if h.kind != want && h.kind != kindRefusal {
		return nil, fmt.Errorf("a %v where a %v belongs", h.kind, want)
	}
	frame := buf[:h.kind.size()]
	_, err = io.ReadFull(r, frame[headerSize:])
	return frame, err
}

// A proved connection has shown that the right rank of the right job is at its
// other end. It becomes the one in use by confirm, or is closed.
type proved struct {
	net.Conn
	confirmation []byte
}

// confirm tells the listener that this is the one, and closes it otherwise.
func (p proved) confirm() error {
	_, err := p.Write(p.confirmation)
	if err == nil {
		err = p.SetDeadline(time.Time{})
	}
	if err != nil {
		p.Close()
	}
	return err
}

// introduce is the dialer's side of the frames on conn.
func introduce(conn net.Conn, me Identity, key []byte, ch channel, peer int) (proved, error) {
	var buf [maxFrame]byte
	d := newDialing(me, key, ch, peer, freshNonce())
	if _, err := conn.Write(d.hello()); err != nil {
		return proved{}, err
	}
	challenge, err := d.read(conn, &buf, kindChallenge)
	if err != nil {
		return proved{}, err
	}
	proof, err := d.challenged(challenge)
	if err != nil {
		return proved{}, err
	}
	if _, err := conn.Write(proof); err != nil {
		return proved{}, err
	}
	accept, err := d.read(conn, &buf, kindAccept)
	if err != nil {
		return proved{}, err
	}
	confirmation, err := d.accepted(accept)
	return proved{conn, confirmation}, err
}

// read reads the listener's next frame; a refusal becomes the error it means.
func (d *dialing) read(conn net.Conn, buf *[maxFrame]byte, want kind) ([]byte, error) {
	frame, err := readFrame(conn, buf, want, nil)
	switch {
	case errors.Is(err, errMagic) && bytes.HasPrefix(buf[:], []byte(tlsAlert)):
		return nil, encryptionDiffers(d.me)
	case errors.Is(err, errMagic):
		return nil, fmt.Errorf("answers %q, which is no rank's handshake", buf[:headerSize])
	case err != nil:
		return nil, err
	}
	if kind(frame[6]) != kindRefusal {
		return frame, nil
	}
	r, err := decodeRefusal(frame)
	if err != nil {
		return nil, err
	}
	return nil, r.explain(d.me, d.peer)
}

// How records of TLS begin that a rank without encryption may see.
const (
	tlsHandshake = "\x16\x03"
	tlsAlert     = "\x15\x03"
)

// An answerer is what a listener does with a connection that somebody opened.
type answerer struct {
	me     Identity
	key    []byte
	secure *tls.Config // nil: no encryption
}

// A progress is told how far a handshake has come. false: give it up.
type progress interface {
	spoke() bool   // something was said
	greeted() bool // the dialer's claims agree with what this rank is
	proved() bool  // it knows the secret
}

// answer is the listener's side: it returns the connection to use and the rank
// at its other end, or an error, after a refusal where one is due. The caller
// closes tcp then.
func (w answerer) answer(tcp *net.TCPConn, p progress) (net.Conn, int, error) {
	conn, ch, err := overTLS(tcp, w.secure, tls.Server, p.spoke)
	a := newAnswering(w.me, w.key, ch)
	if errors.Is(err, errPlain) {
		conn, err = tcp, a.refuse(reasonEncryption)
	} else if err == nil {
		err = a.converse(conn, p)
	}
	if why, is := errors.AsType[refusal](err); is {
		refuse(conn, why)
	}
	if err != nil {
		return nil, -1, err
	}
	lift(conn)
	return conn, a.peer, nil
}

// converse takes the frames in their order; see the package's documentation.
func (a *answering) converse(conn net.Conn, p progress) error {
	var buf [maxFrame]byte
	hello, err := readFrame(conn, &buf, kindHello, func(head []byte) error {
		if !p.spoke() {
			return errDropped
		}
		return a.begunEither(head)
	})
	if err != nil {
		return err
	}
	challenge, err := a.greeted(hello, freshNonce())
	if err := passOn(conn, challenge, err, p.greeted); err != nil {
		return err
	}
	proof, err := readFrame(conn, &buf, kindProof, nil)
	if err != nil {
		return err
	}
	accept, err := a.proved(proof)
	if err := passOn(conn, accept, err, p.proved); err != nil {
		return err
	}
	confirm, err := readFrame(conn, &buf, kindConfirm, nil)
	if err != nil {
		return err
	}
	return a.confirmed(confirm)
}

// passOn sends the next frame if there is one, err being nil, and if the
// handshake may go on.
func passOn(conn net.Conn, frame []byte, err error, may func() bool) error {
	if err != nil {
		return err
	}
	if !may() {
		return errDropped
	}
	_, err = conn.Write(frame)
	return err
}

// begunEither is begun, and recognises a dialer that would encrypt.
func (a *answering) begunEither(head []byte) error {
	if bytes.HasPrefix(head, []byte(tlsHandshake)) {
		return a.refuse(reasonEncryption)
	}
	return a.begun(head)
}

// refuse tells the dialer, and waits for it to hang up: closing with bytes of
// its unread would reset the connection and could take the refusal with it. Like
// all else it ends at the connection's deadline.
func refuse(conn net.Conn, why refusal) {
	if _, err := conn.Write(why.encode()); err != nil {
		return
	}
	if half, is := conn.(interface{ CloseWrite() error }); !is || half.CloseWrite() != nil {
		return
	}
	// What it said is of no interest, nor how it ends.
	_, _ = io.CopyN(io.Discard, conn, readBudget)
}

func freshNonce() (n [nonceSize]byte) {
	rand.Read(n[:]) // never fails: it ends the process rather
	return n
}
