// Package needs tells what an executable file needs of a host, and whether a host
// has it, before anything is started.
package needs

import (
	"errors"
	"fmt"
	"strings"
)

// Lengths of what a file may name, in bytes.
const (
	MaxInterpreter = 4096 // of an ELF file, as in the kernel
	MaxFirstLine   = 255  // of a script, as in the kernel
)

// Needs is what a file needs to be executed: a platform, an interpreter, or both.
type Needs struct {
	// Platform is empty for a script.
	Platform Platform `json:"platform,omitzero"`
	// Interpreter is an absolute path: of the dynamic linker, or the one that a
	// script names. Empty for static programs.
	Interpreter string `json:"interpreter,omitempty"`
}

// A Platform is what machine code runs on, as the ELF header has it.
type Platform struct {
	Machine uint16 `json:"machine"` // EM_...
	Class   uint8  `json:"class"`   // 1: 32 bits, 2: 64 bits
	Order   uint8  `json:"order"`   // 1: little-endian, 2: big-endian
}

// String says what it is in the users' words: "aarch64, 64 bits".
func (p Platform) String() string {
	machine, known := machines[p.Machine]
	if !known {
		machine = fmt.Sprintf("ELF machine %d", p.Machine)
	}
	bits := map[uint8]string{1: "32 bits", 2: "64 bits"}[p.Class]
	if p.Order == bigEndian {
		bits += ", big-endian"
	}
	return machine + ", " + bits
}

const (
	class32, class64        = 1, 2
	littleEndian, bigEndian = 1, 2
)

var machines = map[uint16]string{
	2: "SPARC", 3: "x86", 8: "MIPS", 20: "PowerPC", 21: "PowerPC", 22: "S/390", 40: "ARM",
	43: "SPARC", 62: "x86-64", 183: "aarch64", 243: "RISC-V", 258: "LoongArch",
}

// Of is the platform of a GOARCH that golaunch is built for.
func Of(goarch string) (Platform, bool) {
	machine, ok := map[string]uint16{"amd64": 62, "arm64": 183}[goarch]
	return Platform{machine, class64, littleEndian}, ok
}

// Check says what is wrong with needs that a peer names.
func (n Needs) Check() error {
	script := n.Platform == Platform{}
	switch {
	case script && n.Interpreter == "":
		return errors.New("needs: neither a platform nor an interpreter")
	case !script && (n.Platform.Class < class32 || n.Platform.Class > class64 || n.Platform.Order < littleEndian || n.Platform.Order > bigEndian):
		return fmt.Errorf("needs: ELF class %d and byte order %d: no such thing", n.Platform.Class, n.Platform.Order)
	case n.Interpreter != "":
		return checkInterpreter(n.Interpreter)
	}
	return nil
}

// checkInterpreter wants an absolute path: the kernel takes others relative to
// where the rank happens to be.
func checkInterpreter(path string) error {
	switch {
	case !strings.HasPrefix(path, "/"):
		return fmt.Errorf("interpreter %.80q is not an absolute path", path)
	case len(path) >= MaxInterpreter:
		return fmt.Errorf("interpreter %.80q... is longer than %d bytes", path, MaxInterpreter-1)
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("interpreter %.80q contains a NUL", path)
	}
	return nil
}
