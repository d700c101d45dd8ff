package window

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/golaunch/golaunch/runtime/world"
)

// Rounds of the communicator's group in which its ranks agree on making or freeing a
// window. The signatures are told from those of other collective operations by their
// upper bytes.
const (
	signatureDescribe uint32 = 0x77696e00 + iota
	signatureAdmit
	signatureOffer
	signatureMapped
	signatureFree
	signatureFreed
)

// values is how many numbers a statement has.
const values = 7

// A statement is what one rank says in a round.
type statement struct {
	refused bool // text says why the rank cannot take part
	text    string
	values  [values]uint64
}

// The layout of a statement: 1 if refused, else 0, the text's length, the values, the
// text.
const statementHead = 8 + 8 + values*8

// encode writes a statement to the front of dst, which is longer than statementHead, and
// returns that part; the text is cut off where there is no room left.
func (s statement) encode(dst []byte) []byte {
	text := dst[statementHead:]
	n := copy(text, s.text)
	var refused uint64
	if s.refused {
		refused = 1
	}
	binary.LittleEndian.PutUint64(dst, refused)
	binary.LittleEndian.PutUint64(dst[8:], uint64(n))
	for i, v := range s.values {
		binary.LittleEndian.PutUint64(dst[16+8*i:], v)
	}
	return dst[:statementHead+n]
}

func decodeStatement(src []byte) (s statement, err error) {
	if len(src) < statementHead {
		return s, fmt.Errorf("a statement of %d bytes, want at least %d", len(src), statementHead)
	}
	refused, n := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
	if refused > 1 || n > uint64(len(src)-statementHead) {
		return s, fmt.Errorf("a statement of %d bytes with flags %#x and a text of %d", len(src), refused, n)
	}
	s.refused = refused == 1
	s.text = string(src[statementHead : statementHead+n])
	for i := range s.values {
		s.values[i] = binary.LittleEndian.Uint64(src[16+8*i:])
	}
	return s, nil
}

// A refusal is the error of every rank when some rank could not take part.
type refusal struct {
	rank int // in the world
	text string
}

func (e *refusal) Error() string { return fmt.Sprintf("rank %d: %s", e.rank, e.text) }

// agree is one round: every rank makes a statement and learns everybody's. If any refused,
// the first one's refusal is the error of all.
func agree(ctx context.Context, in *world.Inside, signature uint32, mine statement) ([]statement, error) {
	g := in.Group()
	g.Publish(signature, mine.encode(g.Room()))
	if err := g.WaitAll(ctx); err != nil {
		return nil, err
	}
	all := make([]statement, g.Size())
	for m := range all {
		s, err := decodeStatement(g.Payload(m))
		if err != nil {
			return nil, fmt.Errorf("rank %d: %w", in.WorldRank(m), err)
		}
		if s.refused {
			return nil, &refusal{in.WorldRank(m), s.text}
		}
		all[m] = s
	}
	return all, nil
}

// refusing is a statement that err, if it is not nil, keeps this rank from taking part.
func refusing(err error, otherwise statement) statement {
	if err == nil {
		return otherwise
	}
	return statement{refused: true, text: err.Error()}
}
