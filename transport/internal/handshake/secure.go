package handshake

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync/atomic"
	"time"
)

// readBudget is how many bytes a TLS connection may receive before its other end
// is known. A whole handshake takes less than 4 KiB; crypto/tls would buffer far
// more for a stranger.
const readBudget = 16 << 10

var errBudget = errors.New("says too much before it has proved anything")

// A budget is a TCP connection from which only so much can be read until lift.
type budget struct {
	*net.TCPConn
	spoke  func() bool // asked when something has come; false: give up
	left   int         // the reader's
	lifted atomic.Bool
}

func (b *budget) lift() { b.lifted.Store(true) }

func (b *budget) Read(p []byte) (int, error) {
	if b.lifted.Load() {
		return b.TCPConn.Read(p)
	}
	if b.left == 0 {
		return 0, errBudget
	}
	n, err := b.TCPConn.Read(p[:min(len(p), b.left)])
	if n > 0 && b.left == readBudget && !b.spoke() {
		return 0, errDropped
	}
	b.left -= n
	return n, err
}

// lift lets conn, whose other end is known now, receive without a limit.
func lift(conn net.Conn) {
	if t, is := conn.(*tls.Conn); is {
		t.NetConn().(*budget).lift()
	}
}

// secureConfig returns the TLS both ends use, nil without encryption. Every rank
// of the job derives the same key and certificate from the secret, and takes no
// other: there is no authority and no name to check.
//
// The certificate is not checked during the TLS handshake but right behind it:
// what differs (version, job) can then be said by name.
func secureConfig(id Identity) (*tls.Config, error) {
	if !id.Encrypt {
		return nil, nil
	}
	cert, err := jobCertificate(id)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:                  tls.VersionTLS13,
		Certificates:                []tls.Certificate{cert},
		ClientAuth:                  tls.RequireAnyClientCert,
		InsecureSkipVerify:          true, // see channelOf
		SessionTicketsDisabled:      true, // every connection proves the secret anew
		DynamicRecordSizingDisabled: true,
		NextProtos:                  []string{fmt.Sprintf("golaunch-tcp/%d", Protocol)},
	}, nil
}

func jobCertificate(id Identity) (tls.Certificate, error) {
	seed, err := id.derive("certificate")
	if err != nil {
		return tls.Certificate{}, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "golaunch job"},
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the job's certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// channelOf describes a TLS connection whose handshake is complete. The other
// end then holds the private key of its certificate; it is trusted if that is the
// job's own.
func channelOf(conn *tls.Conn, config *tls.Config) (channel, error) {
	state := conn.ConnectionState()
	binding, err := state.ExportKeyingMaterial("EXPORTER-golaunch-tcp", nil, 32)
	if err != nil {
		return channel{}, fmt.Errorf("binding the handshake to TLS: %w", err)
	}
	ch := channel{binding: [32]byte(binding)}
	if len(state.PeerCertificates) > 0 {
		mine := config.Certificates[0].Certificate[0]
		ch.trusted = subtle.ConstantTimeCompare(state.PeerCertificates[0].Raw, mine) == 1
	}
	return ch, nil
}

// errPlain: the other end does not speak TLS, but this handshake.
var errPlain = errors.New("speaks without encryption")

// overTLS puts TLS over a connection if the job encrypts. side is tls.Server for
// one that somebody opened, tls.Client for one that was dialled; spoke is asked
// when the other end has said something.
func overTLS(tcp *net.TCPConn, config *tls.Config, side func(net.Conn, *tls.Config) *tls.Conn, spoke func() bool) (net.Conn, channel, error) {
	if config == nil {
		return tcp, channel{trusted: true}, nil
	}
	conn := side(&budget{TCPConn: tcp, spoke: spoke, left: readBudget}, config)
	err := conn.Handshake()
	if other, is := errors.AsType[tls.RecordHeaderError](err); is && bytes.HasPrefix(other.RecordHeader[:], []byte(magic)) {
		return nil, channel{}, errPlain
	}
	if err != nil {
		return nil, channel{}, err
	}
	ch, err := channelOf(conn, config)
	return conn, ch, err
}
