package crossmem

import "encoding/binary"

// A Token is a word that a process lets its peers read, to find out whether they
// can and whether the process is the one they mean.
type Token struct {
	word  [8]byte
	place Publication
	at    Address
}

// NewToken publishes a value that no other process has at the same place. Close
// ends it.
func NewToken(value uint64) *Token {
	t := new(Token)
	binary.NativeEndian.PutUint64(t.word[:], value)
	t.at = t.place.Publish(t.word[:])
	return t
}

// Place is what a peer's Probe needs.
func (t *Token) Place() (at Address, value uint64) {
	return t.at, binary.NativeEndian.Uint64(t.word[:])
}

// Close ends the publication.
func (t *Token) Close() { t.place.Withdraw() }
