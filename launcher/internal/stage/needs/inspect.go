package needs

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Inspect reads what an executable file of some size needs. It reads a few KiB at
// most, whatever the file claims.
func Inspect(r io.ReaderAt, size int64) (Needs, error) {
	head := make([]byte, min(size, MaxFirstLine+1))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return Needs{}, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("#!")):
		return script(head)
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return binaryOf(file{r, size}, head)
	case size == 0:
		return Needs{}, errors.New("the file is empty")
	}
	return Needs{}, fmt.Errorf("neither an ELF program nor a script (#!): it begins with %q", head[:min(4, len(head))])
}

// script reads the first line as Linux does: what comes after the interpreter and
// blanks is its argument.
func script(head []byte) (Needs, error) {
	line, _, ended := bytes.Cut(head[2:], []byte("\n"))
	words := bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 {
		return Needs{}, errors.New("the first line, #!, names no interpreter")
	}
	if !ended && len(head) > MaxFirstLine && len(words) == 1 {
		return Needs{}, fmt.Errorf("the script's interpreter is longer than %d bytes", MaxFirstLine-2)
	}
	n := Needs{Interpreter: string(words[0])}
	return n, checkInterpreter(n.Interpreter)
}

// A file is what must not be read past its end.
type file struct {
	io.ReaderAt
	size int64
}

// read reads n bytes at an offset that the file itself gave.
func (f file) read(what string, off uint64, n int) ([]byte, error) {
	if off > uint64(f.size) || uint64(n) > uint64(f.size)-off {
		return nil, fmt.Errorf("damaged ELF program: %s at byte %d is past its end at %d", what, off, f.size)
	}
	b := make([]byte, n)
	_, err := f.ReadAt(b, int64(off))
	if err == io.EOF {
		err = nil // at the very end; a file that has shrunk leaves zeroes
	}
	return b, err
}

// binaryOf reads the ELF header and the interpreter's segment. Sections are not
// looked at, as the kernel does not look at them.
func binaryOf(f file, head []byte) (Needs, error) {
	l, err := layoutOf(head)
	if err != nil {
		return Needs{}, err
	}
	h, err := f.read("its header", 0, l.header)
	if err != nil {
		return Needs{}, err
	}
	if t := elf.Type(l.order.Uint16(h[16:])); t != elf.ET_EXEC && t != elf.ET_DYN {
		return Needs{}, fmt.Errorf("an ELF file that is no program: %v", t)
	}
	n := Needs{Platform: Platform{Machine: l.order.Uint16(h[18:]), Class: head[elf.EI_CLASS], Order: head[elf.EI_DATA]}}
	n.Interpreter, err = l.interpreter(f, h)
	return n, err
}

// A layout is where things stand in an ELF file of one class and byte order.
type layout struct {
	order  binary.ByteOrder
	wide   bool
	header int // length of the header
	table  int // of one program header
}

func layoutOf(head []byte) (layout, error) {
	if len(head) < elf.EI_NIDENT {
		return layout{}, errors.New("damaged ELF program: its header is cut off")
	}
	l := layout{order: binary.LittleEndian, header: 52, table: 32}
	switch head[elf.EI_CLASS] {
	case class64:
		l.wide, l.header, l.table = true, 64, 56
	case class32:
	default:
		return layout{}, fmt.Errorf("damaged ELF program: class %d", head[elf.EI_CLASS])
	}
	switch head[elf.EI_DATA] {
	case bigEndian:
		l.order = binary.BigEndian
	case littleEndian:
	default:
		return layout{}, fmt.Errorf("damaged ELF program: byte order %d", head[elf.EI_DATA])
	}
	return l, nil
}

// at is an address-sized number: at byte narrow of 32-bit files, else at wide.
func (l layout) at(b []byte, narrow, wide int) uint64 {
	if l.wide {
		return l.order.Uint64(b[wide:])
	}
	return uint64(l.order.Uint32(b[narrow:]))
}

// maxSegments is how many program headers the kernel takes: 64 KiB of them.
const maxSegments = 65536

// interpreter finds PT_INTERP; "" for a static program.
func (l layout) interpreter(f file, h []byte) (string, error) {
	counts := h[l.header-10:] // e_phentsize, e_phnum
	entry, segments := int(l.order.Uint16(counts)), int(l.order.Uint16(counts[2:]))
	if segments == 0 {
		return "", errors.New("an ELF file that is no program: it has no segments")
	}
	if entry != l.table || segments*entry > maxSegments {
		return "", fmt.Errorf("damaged ELF program: %d program headers of %d bytes", segments, entry)
	}
	table, err := f.read("its program headers", l.at(h, 28, 32), segments*entry)
	if err != nil {
		return "", err
	}
	for p := table; len(p) > 0; p = p[entry:] {
		if elf.ProgType(l.order.Uint32(p)) == elf.PT_INTERP {
			return readInterpreter(f, l.at(p, 4, 8), l.at(p, 16, 32))
		}
	}
	return "", nil
}

func readInterpreter(f file, off, length uint64) (string, error) {
	if length < 2 || length > MaxInterpreter {
		return "", fmt.Errorf("damaged ELF program: the path of its interpreter has %d bytes", length)
	}
	b, err := f.read("its interpreter", off, int(length))
	if err != nil {
		return "", err
	}
	path, ok := bytes.CutSuffix(b, []byte{0})
	if !ok {
		return "", errors.New("damaged ELF program: the path of its interpreter does not end")
	}
	return string(path), checkInterpreter(string(path))
}
