package handshake

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
)

// A channel is what carries the frames.
type channel struct {
	// binding is the same at both ends of one TLS connection, and different for any
	// two connections; zero without encryption.
	binding [sha256.Size]byte
	// trusted: the other end proved in TLS that it knows the secret, or there is no
	// TLS.
	trusted bool
}

// A transcript is what both ends must have seen alike. Every byte that was said
// goes into every proof, so that whoever changes one, replays one or carries one
// to another connection, rank or job makes the proofs wrong.
type transcript struct {
	key              []byte
	binding          [sha256.Size]byte
	hello, challenge []byte // whole frames, of fixed sizes
}

func (t *transcript) code(k kind) []byte {
	mac := hmac.New(sha256.New, t.key)
	mac.Write([]byte{byte(k)})
	mac.Write(t.hello)
	mac.Write(t.challenge)
	mac.Write(t.binding[:])
	return mac.Sum(nil)
}

func (t *transcript) prove(k kind) []byte { return encodeProof(k, t.code(k)) }

// verify takes constant time for all frames that are of the kind.
func (t *transcript) verify(k kind, frame []byte) error {
	if _, err := expect(k, frame); err != nil {
		return err
	}
	if !hmac.Equal(frame[headerSize:], t.code(k)) {
		return ErrSecret
	}
	return nil
}

// dialing is the dialer's side of one handshake, frame by frame, without I/O:
// hello, challenged, accepted. An error ends it.
type dialing struct {
	me      Identity
	peer    int
	trusted bool
	t       transcript
}

func newDialing(me Identity, key []byte, ch channel, peer int, nonce [nonceSize]byte) *dialing {
	m := hello{
		encrypt: me.Encrypt,
		from:    uint32(me.Rank), to: uint32(peer), size: uint32(me.Size),
		nonce:   nonce,
		version: me.Version, job: me.Job,
	}
	return &dialing{me: me, peer: peer, trusted: ch.trusted, t: transcript{key: key, binding: ch.binding, hello: m.encode()}}
}

func (d *dialing) hello() []byte { return d.t.hello }

// challenged takes the listener's challenge and returns the proof to send.
func (d *dialing) challenged(frame []byte) ([]byte, error) {
	if _, err := expect(kindChallenge, frame); err != nil {
		return nil, err
	}
	if !d.trusted {
		return nil, d.unproved()
	}
	d.t.challenge = append([]byte(nil), frame...)
	return d.t.prove(kindProof), nil
}

// accepted takes the listener's proof, after which the peer is known, and
// returns the confirmation to send if this is the connection to be used.
func (d *dialing) accepted(frame []byte) ([]byte, error) {
	if err := d.t.verify(kindAccept, frame); errors.Is(err, ErrSecret) {
		return nil, d.unproved()
	} else if err != nil {
		return nil, err
	}
	return d.t.prove(kindConfirm), nil
}

func (d *dialing) unproved() error {
	return fmt.Errorf("does not prove the secret of job %q: %w", d.me.Job, ErrSecret)
}

// answering is the listener's side: begun, greeted, proved, confirmed. An error
// ends it; where it is a refusal the dialer is told.
type answering struct {
	me      Identity
	trusted bool
	peer    int // valid once proved has returned no error
	t       transcript
}

func newAnswering(me Identity, key []byte, ch channel) *answering {
	return &answering{me: me, trusted: ch.trusted, t: transcript{key: key, binding: ch.binding}}
}

// begun takes the header of what a dialer sends first. It may be the dialer of
// another protocol, of which nothing but the header is understood.
func (a *answering) begun(head []byte) error {
	if h, err := decodeHeader(head); err != nil {
		return err
	} else if h.protocol != Protocol {
		return a.refuse(reasonProtocol)
	} else if h.kind != kindHello {
		return fmt.Errorf("a %v where a %v belongs", h.kind, kindHello)
	}
	return nil
}

// greeted takes the hello and returns the challenge to send.
func (a *answering) greeted(frame []byte, nonce [nonceSize]byte) ([]byte, error) {
	m, err := decodeHello(frame)
	if err != nil {
		return nil, err
	}
	if why := a.objection(m); why != 0 {
		return nil, a.refuse(why)
	}
	a.peer = int(m.from)
	a.t.hello = append([]byte(nil), frame...)
	a.t.challenge = encodeChallenge(nonce)
	return a.t.challenge, nil
}

// objection returns what keeps a from talking to whoever claims m, 0: nothing.
// What the dialer can do least about comes first.
func (a *answering) objection(m hello) reason {
	switch {
	case m.version != a.me.Version:
		return reasonVersion
	case m.job != a.me.Job:
		return reasonJob
	case m.size != uint32(a.me.Size):
		return reasonSize
	case m.encrypt != a.me.Encrypt:
		return reasonEncryption
	case m.to != uint32(a.me.Rank) || m.from >= m.size:
		return reasonRank
	case !a.trusted:
		return reasonSecret
	}
	return 0
}

// proved takes the dialer's proof, after which the peer is known, and returns
// the listener's own.
func (a *answering) proved(frame []byte) ([]byte, error) {
	if err := a.t.verify(kindProof, frame); errors.Is(err, ErrSecret) {
		return nil, a.refuse(reasonSecret)
	} else if err != nil {
		return nil, err
	}
	return a.t.prove(kindAccept), nil
}

// confirmed takes the dialer's confirmation: this connection is the one.
func (a *answering) confirmed(frame []byte) error {
	return a.t.verify(kindConfirm, frame)
}

func (a *answering) refuse(why reason) error {
	return refusal{
		protocol: Protocol, reason: why,
		rank: uint32(a.me.Rank), size: uint32(a.me.Size),
		version: a.me.Version, job: a.me.Job,
	}
}
