// Package digest names content: by its SHA-256.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// A Sum is the SHA-256 of a blob, and its name. As text it is 64 lower-case
// hexadecimal digits, in JSON too.
type Sum [sha256.Size]byte

// Of is the sum of some bytes.
func Of(b []byte) Sum { return sha256.Sum256(b) }

// Read is the sum and the length of what r holds, to its end.
func Read(r io.Reader) (Sum, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return Sum(h.Sum(nil)), n, err
}

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// Short is the beginning of the name, for messages.
func (s Sum) Short() string { return s.String()[:12] }

// Parse reads a name. One sum has one name: upper case is refused.
func Parse(text string) (Sum, error) {
	var s Sum
	err := s.UnmarshalText([]byte(text))
	return s, err
}

// MarshalText writes the name.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name. What it refuses leaves s as it was.
func (s *Sum) UnmarshalText(text []byte) error {
	var read Sum
	if len(text) != hex.EncodedLen(len(read)) {
		return fmt.Errorf("%.80q is no SHA-256: want %d hexadecimal digits", text, hex.EncodedLen(len(read)))
	}
	if _, err := hex.Decode(read[:], text); err != nil || read.String() != string(text) {
		return fmt.Errorf("%q is no SHA-256: want lower-case hexadecimal digits", text)
	}
	*s = read
	return nil
}
