package far

import "fmt"

// The address of a Far: the length of that of its device's endpoint (1 byte), which
// is 0 if there is none, that address, and the one of TCP.

// MaxAddress is the longest address in bytes: where there is room for so many, nothing is
// left out.
const MaxAddress = 1 + 2*256

// Addr is the address, of at most room bytes. Where both do not fit, a host with very
// many interfaces, it is TCP's alone.
func (f *Far) Addr(room int) []byte {
	var verbs, tcp []byte
	if f.verbs != nil {
		verbs = f.verbs.Addr()
	}
	if f.tcp != nil {
		tcp = f.tcp.Addr()
	}
	if tcp != nil && 1+len(verbs)+len(tcp) > room {
		verbs = nil
	}
	return append(append([]byte{byte(len(verbs))}, verbs...), tcp...)
}

func split(b []byte) (verbs, tcp []byte, err error) {
	if len(b) == 0 || 1+int(b[0]) > len(b) {
		return nil, nil, fmt.Errorf("an address for other hosts of %d bytes makes no sense", len(b))
	}
	n := 1 + int(b[0])
	return b[1:n:n], b[n:], nil
}
