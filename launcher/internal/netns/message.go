package netns

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// A message is a request to the kernel's routing socket (rtnetlink(7)), under
// construction. Numbers are in the machine's own order.
type message []byte

// newMessage begins a request; its length is filled in by finish.
func newMessage(kind uint16, flags uint16) message {
	m := make(message, unix.SizeofNlMsghdr)
	binary.NativeEndian.PutUint16(m[4:], kind)
	binary.NativeEndian.PutUint16(m[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK|flags)
	return m
}

func (m *message) uint8(v uint8)   { *m = append(*m, v) }
func (m *message) uint32(v uint32) { *m = binary.NativeEndian.AppendUint32(*m, v) }

// link appends an ifinfomsg. Index 0: the name is an attribute.
func (m *message) link(index int, flags, change uint32) {
	m.uint32(unix.AF_UNSPEC) // family, padding, type
	m.uint32(uint32(index))
	m.uint32(flags)
	m.uint32(change)
}

// address appends an ifaddrmsg and the address. It counts at once: nobody waits
// for somebody else who might have it (NODAD).
func (m *message) address(index int, a netip.Prefix) {
	family := uint8(unix.AF_INET)
	if a.Addr().Is6() {
		family = unix.AF_INET6
	}
	m.uint8(family)
	m.uint8(uint8(a.Bits()))
	m.uint8(unix.IFA_F_NODAD)
	m.uint8(unix.RT_SCOPE_UNIVERSE)
	m.uint32(uint32(index))
	m.attribute(unix.IFA_LOCAL, a.Addr().AsSlice())
	m.attribute(unix.IFA_ADDRESS, a.Addr().AsSlice())
}

// attribute appends an attribute and its padding.
func (m *message) attribute(kind uint16, value []byte) {
	m.nest(kind, func() { *m = append(*m, value...) })
}

func (m *message) text(kind uint16, value string) { m.attribute(kind, append([]byte(value), 0)) }

func (m *message) number(kind uint16, value int) {
	m.attribute(kind, binary.NativeEndian.AppendUint32(nil, uint32(value)))
}

// nest appends an attribute whose value is what fill appends.
func (m *message) nest(kind uint16, fill func()) {
	start := len(*m)
	*m = append(*m, 0, 0, 0, 0)
	fill()
	binary.NativeEndian.PutUint16((*m)[start:], uint16(len(*m)-start))
	binary.NativeEndian.PutUint16((*m)[start+2:], kind)
	for len(*m)%unix.NLA_ALIGNTO != 0 {
		m.uint8(0)
	}
}

// finish fills in the header.
func (m message) finish(sequence uint32) []byte {
	binary.NativeEndian.PutUint32(m, uint32(len(m)))
	binary.NativeEndian.PutUint32(m[8:], sequence)
	return m
}
