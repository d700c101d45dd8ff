package join

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"time"
)

// The length of a key in bytes.
const (
	minKey = 16
	maxKey = 4096
)

// ReadKeyFile reads a key from a file that nobody but its owner may read.
func ReadKeyFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: others may read it (mode %04o): chmod 600 %s", path, info.Mode().Perm(), path)
	}
	key, err := ReadKey(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// ReadKey reads a key to the end. White space at its ends does not belong to it.
func ReadKey(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxKey+1))
	if err != nil {
		return nil, err
	}
	key := bytes.TrimSpace(b)
	switch {
	case len(b) > maxKey:
		return nil, fmt.Errorf("it is longer than %d bytes", maxKey)
	case len(key) < minKey:
		return nil, fmt.Errorf("a key of %d bytes is too short: want %d at least, at random", len(key), minKey)
	}
	return key, nil
}

// A role is an end of the connection.
type role string

const (
	front      role = "front"
	supervisor role = "supervisor"
)

func (r role) other() role {
	if r == front {
		return supervisor
	}
	return front
}

// protocol is what both ends agree on speaking over TLS.
const protocol = "golaunch-control/1"

// identity derives a role's key.
func identity(key []byte, r role) (ed25519.PrivateKey, error) {
	seed, err := hkdf.Key(sha256.New, key, nil, protocol+" "+string(r), ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("deriving the %s's key: %w", r, err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

var errOtherKey = errors.New("it holds another key")

// config returns the TLS that one end speaks.
func config(key []byte, r role) (*tls.Config, error) {
	own, err := identity(key, r)
	if err != nil {
		return nil, err
	}
	other, err := identity(key, r.other())
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, own.Public(), own)
	if err != nil {
		return nil, fmt.Errorf("making the %s's certificate: %w", r, err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{protocol},
		Certificates:           []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: own}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // there is no authority and no name: VerifyConnection compares the key itself
		SessionTicketsDisabled: true,
		VerifyConnection:       func(s tls.ConnectionState) error { return holds(s, other.Public().(ed25519.PublicKey)) },
	}, nil
}

// holds checks that the other end has shown the right key. That it owns it is
// TLS's business.
func holds(s tls.ConnectionState, want ed25519.PublicKey) error {
	if s.NegotiatedProtocol != protocol || len(s.PeerCertificates) != 1 {
		return errOtherKey
	}
	got, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok || subtle.ConstantTimeCompare(got, want) != 1 {
		return errOtherKey
	}
	return nil
}
