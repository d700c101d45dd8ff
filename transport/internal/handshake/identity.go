package handshake

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
)

const (
	// MaxName is the longest job and version, in bytes: a frame's size is fixed.
	MaxName = 64
	// DefaultTimeout is a handshake's when Identity.Timeout is 0.
	DefaultTimeout = 5 * time.Second
	// minSecret is the shortest secret, in bytes, that is taken for one.
	minSecret = 16
)

// An Identity is who a rank says it is, and what it proves that with. It is not
// changed here, and Secret is not kept.
type Identity struct {
	// Secret is what the ranks of the job, and nobody else, know: random bytes, at
	// least 16.
	Secret []byte
	// Job and Version are names that both ends must agree on, at most MaxName bytes
	// each. They are no secret: refusals carry them.
	Job, Version string
	Rank, Size   int
	// Encrypt: the connection is TLS 1.3. Both ends must want it.
	Encrypt bool
	// Timeout bounds one handshake, connecting included; 0: DefaultTimeout.
	Timeout time.Duration
}

// check returns what is wrong with the identity, so that nothing later can fail
// because of it.
func (id Identity) check() error {
	if len(id.Secret) < minSecret {
		return fmt.Errorf("a secret of %d bytes, at least %d are needed", len(id.Secret), minSecret)
	}
	if err := checkName("version", id.Version); err != nil {
		return err
	}
	if err := checkName("job", id.Job); err != nil {
		return err
	}
	if id.Rank < 0 || id.Rank >= id.Size || id.Size > 1<<31-1 {
		return fmt.Errorf("rank %d of %d does not exist", id.Rank, id.Size)
	}
	if id.Timeout < 0 {
		return fmt.Errorf("a timeout of %v", id.Timeout)
	}
	return nil
}

func checkName(what, name string) error {
	if len(name) > MaxName || strings.IndexByte(name, 0) >= 0 {
		return fmt.Errorf("the %s %q does not fit into %d bytes without a zero", what, name, MaxName)
	}
	return nil
}

func (id Identity) timeout() time.Duration {
	if id.Timeout == 0 {
		return DefaultTimeout
	}
	return id.Timeout
}

// derive returns 32 bytes for one purpose. What is derived for one purpose tells
// nothing about the secret or about what is derived for another.
func (id Identity) derive(purpose string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, id.Secret, nil, "golaunch tcp 1 "+purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("deriving the key for the %s: %w", purpose, err)
	}
	return key, nil
}
