package member

import (
	"encoding/binary"
	"errors"

	"github.com/hashicorp/memberlist"

	"github.com/golaunch/golaunch/launcher/internal/member/roster"
)

// goodbyeKind is the first byte of the one message that members gossip beside
// memberlist's own: memberlist does not tell who has left from who is dead.
const goodbyeKind = 1

func encodeGoodbye(g roster.Goodbye) []byte {
	return append(binary.LittleEndian.AppendUint64([]byte{goodbyeKind}, g.Life), g.Name...)
}

func decodeGoodbye(b []byte) (roster.Goodbye, error) {
	if len(b) < 9 || b[0] != goodbyeKind {
		return roster.Goodbye{}, errors.New("it is no goodbye")
	}
	g := roster.Goodbye{Life: binary.LittleEndian.Uint64(b[1:]), Name: string(b[9:])}
	return g, checkName(g.Name)
}

// A note is a goodbye under way.
type note struct {
	text []byte
	sent func() // nil, or called when it was sent often enough
}

func (n note) Invalidates(memberlist.Broadcast) bool { return false }
func (n note) Message() []byte                       { return n.text }
func (n note) Finished() {
	if n.sent != nil {
		n.sent()
	}
}
