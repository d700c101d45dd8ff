package matching

// AnySource and AnyTag match every source and every tag. They stand in patterns
// only.
const (
	AnySource = -1
	AnyTag    = -1
)

// An Envelope is what messages and receives are matched by. A receive's is called
// a pattern and may hold AnySource and AnyTag.
type Envelope struct {
	Comm   uint32 // a communicator of the receiving rank
	Source int32  // rank in that communicator
	Tag    int32
}

// A kind says which parts of a pattern are wild: bit 0 the tag, bit 1 the source.
type kind int

const kinds = 4

func (e Envelope) kind() kind {
	var k kind
	if e.Tag == AnyTag {
		k |= 1
	}
	if e.Source == AnySource {
		k |= 2
	}
	return k
}

// pattern is the pattern of kind k that matches a message with envelope e.
func (e Envelope) pattern(k kind) Envelope {
	if k&1 != 0 {
		e.Tag = AnyTag
	}
	if k&2 != 0 {
		e.Source = AnySource
	}
	return e
}

// matches reports whether the pattern e matches a message.
func (e Envelope) matches(message Envelope) bool {
	return e == message.pattern(e.kind())
}

// hash mixes so that any bits of the result make an index: neighbouring ranks and
// tags are the common case.
func (e Envelope) hash() uint32 {
	h := uint64(e.Comm)<<32 | uint64(uint32(e.Source))
	h = (h ^ uint64(uint32(e.Tag))*0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93
	return uint32(h>>32) ^ uint32(h)
}
