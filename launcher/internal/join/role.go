package join

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// A role is an end of the connection.
type role string

const (
	front      role = "front" // listens
	supervisor role = "supervisor"
	agent      role = "agent" // listens
	caller     role = "caller"
	member     role = "member" // listens
	peer       role = "peer"
)

func (r role) other() role {
	switch r {
	case front:
		return supervisor
	case supervisor:
		return front
	case agent:
		return caller
	case caller:
		return agent
	case member:
		return peer
	}
	return member
}

// protocol is what both ends agree on speaking over TLS. With a key's name behind
// it, it also says which key is to be proved; alone, the listener's current one.
const protocol = "golaunch-control/1"

func protocolOf(k keys.Key) string { return protocol + " " + k.Name() }

var errOtherKey = errors.New("it holds another key")

// A proof is how one end proves one key, and how it checks that the other does.
type proof struct {
	protocol    string
	certificate tls.Certificate
	other       ed25519.PublicKey
}

func newProof(k keys.Key, r role) (proof, error) {
	own, err := k.Role(protocol, string(r))
	if err != nil {
		return proof{}, err
	}
	other, err := k.Role(protocol, string(r.other()))
	if err != nil {
		return proof{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, own.Public(), own)
	if err != nil {
		return proof{}, err
	}
	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: own}
	return proof{protocolOf(k), certificate, other.Public().(ed25519.PublicKey)}, nil
}

// newProofs makes a proof for each key, in order. There must be one.
func newProofs(ring keys.Ring, r role) ([]proof, error) {
	if len(ring) == 0 {
		return nil, errors.New("without a key nothing is to be proved")
	}
	var proofs []proof
	for _, k := range ring {
		p, err := newProof(k, r)
		if err != nil {
			return nil, err
		}
		proofs = append(proofs, p)
	}
	return proofs, nil
}

// holds checks that the other end has shown the right key. That it owns it is
// TLS's business.
func (p *proof) holds(s tls.ConnectionState) error {
	if s.NegotiatedProtocol != protocol && s.NegotiatedProtocol != p.protocol || len(s.PeerCertificates) != 1 {
		return errOtherKey
	}
	got, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok || subtle.ConstantTimeCompare(got, p.other) != 1 {
		return errOtherKey
	}
	return nil
}

// base is what both ends say.
func base() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // there is no authority and no name: VerifyConnection compares the key itself
		SessionTicketsDisabled: true,
	}
}

// listening returns the TLS of the end that listens: with the first of its keys
// that the other end names, or else its current one.
func listening(proofs []proof) *tls.Config {
	byName := make(map[string]*tls.Config)
	for _, p := range proofs {
		c := base()
		c.NextProtos = []string{p.protocol, protocol}
		c.Certificates = []tls.Certificate{p.certificate}
		c.VerifyConnection = p.holds
		byName[p.protocol] = c
	}
	first := byName[proofs[0].protocol]
	c := first.Clone()
	c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		for _, p := range proofs {
			for _, named := range hello.SupportedProtos {
				if named == p.protocol {
					return byName[named], nil
				}
			}
		}
		return first, nil
	}
	return c
}

// calling returns the TLS of the end that connects, for one connection: it learns
// from the listener's certificate, which comes first, with which key to answer.
func calling(proofs []proof) *tls.Config {
	c := base()
	for _, p := range proofs {
		c.NextProtos = append(c.NextProtos, p.protocol)
	}
	c.NextProtos = append(c.NextProtos, protocol)
	chosen := &proofs[0]
	c.VerifyConnection = func(s tls.ConnectionState) error {
		for i := range proofs {
			if proofs[i].holds(s) == nil {
				chosen = &proofs[i]
				return nil
			}
		}
		return errOtherKey
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return &chosen.certificate, nil
	}
	return c
}
