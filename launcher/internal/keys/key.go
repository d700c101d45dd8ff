package keys

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
)

// The length of a key in bytes.
const (
	minKey = 16
	maxKey = 4096
	newKey = 32 // of a generated one
)

// maxKeys is how many keys a ring holds at most.
const maxKeys = 8

// A Key is a secret of the cluster.
type Key struct{ secret []byte }

// New makes a key of what was agreed on elsewhere: at least 16 bytes, at random.
func New(secret []byte) (Key, error) {
	switch {
	case len(secret) < minKey:
		return Key{}, fmt.Errorf("a key of %d bytes is too short: want %d at least, at random", len(secret), minKey)
	case len(secret) > maxKey:
		return Key{}, fmt.Errorf("a key of %d bytes is too long: want %d at most", len(secret), maxKey)
	}
	return Key{bytes.Clone(secret)}, nil
}

func (k Key) derive(purpose string, n int) ([]byte, error) {
	b, err := hkdf.Key(sha256.New, k.secret, nil, purpose, n)
	if err != nil {
		return nil, fmt.Errorf("deriving a key for %q: %w", purpose, err)
	}
	return b, nil
}

// Gossip is the key under which members gossip: 32 bytes.
func (k Key) Gossip() ([]byte, error) { return k.derive("golaunch-gossip/1", 32) }

// Role is the key with which an end of the control protocol proves its role.
func (k Key) Role(protocol, role string) (ed25519.PrivateKey, error) {
	seed, err := k.derive(protocol+" "+role, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// Job is the key of a job: 32 bytes.
func (k Key) Job(job string) ([]byte, error) { return k.derive("golaunch-job/1 "+job, 32) }

// Name tells keys apart: 16 hex digits that anybody may see.
func (k Key) Name() string {
	b, err := k.derive("golaunch-name/1", 8)
	if err != nil {
		return "nameless"
	}
	return hex.EncodeToString(b)
}

// String is the key's name.
func (k Key) String() string { return "key " + k.Name() }

// GoString is the key's name, so that %#v does not show it either.
func (k Key) GoString() string { return k.String() }

// LogValue is the key's name.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.Name()) }

func (k Key) equal(other Key) bool { return bytes.Equal(k.secret, other.secret) }
