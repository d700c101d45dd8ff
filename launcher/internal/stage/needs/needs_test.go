package needs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// An image describes an ELF file to be made.
type image struct {
	class, data byte
	kind        uint16 // ET_...
	machine     uint16
	interp      string // with its NUL
	segments    int
}

func (i image) order() binary.AppendByteOrder {
	if i.data == bigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// bytes makes the file: header, program headers of which the last is PT_INTERP,
// the interpreter's path.
func (i image) bytes() []byte {
	o := i.order()
	head, entry := 52, 32
	word := func(b []byte, v int) []byte { return o.AppendUint32(b, uint32(v)) }
	if i.class == class64 {
		head, entry = 64, 56
		word = func(b []byte, v int) []byte { return o.AppendUint64(b, uint64(v)) }
	}
	b := append([]byte("\x7fELF"), i.class, i.data, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = o.AppendUint16(o.AppendUint16(b, i.kind), i.machine)
	b = o.AppendUint32(b, 1)
	b = word(word(word(b, 0x1000), head), 0) // entry, program headers, sections
	b = o.AppendUint32(b, 0)
	for _, v := range []int{head, entry, i.segments, 0, 0, 0} {
		b = o.AppendUint16(b, uint16(v))
	}
	at := head + i.segments*entry
	for s := range i.segments {
		p := make([]byte, 0, entry)
		kind := uint32(1) // PT_LOAD
		if s == i.segments-1 && i.interp != "" {
			kind = 3
		}
		p = o.AppendUint32(p, kind)
		if i.class == class64 {
			p = o.AppendUint32(p, 0)
		}
		p = word(word(word(p, at), 0), 0)
		p = word(word(p, len(i.interp)), 0)
		b = append(b, append(p, make([]byte, entry-len(p))...)...)
	}
	return append(b, i.interp...)
}

func (i image) with(change func(*image)) image { change(&i); return i }

var native, _ = Of(runtime.GOARCH)

func nativeImage() image {
	return image{class64, littleEndian, 2, native.Machine, "", 2}
}

func inspect(b []byte) (Needs, error) { return Inspect(bytes.NewReader(b), int64(len(b))) }

func TestInspect(t *testing.T) {
	for _, class := range []byte{class32, class64} {
		for _, order := range []byte{littleEndian, bigEndian} {
			for _, interp := range []string{"", "/lib/ld.so\x00"} {
				i := image{class, order, 3, 183, interp, 3}
				n, err := inspect(i.bytes())
				want := Needs{Platform{183, class, order}, strings.TrimSuffix(interp, "\x00")}
				if err != nil || n != want {
					t.Errorf("%+v: %+v %v", i, n, err)
				}
				if err := n.Check(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	for text, want := range map[string]string{
		"#!/bin/sh\nexit": "/bin/sh", "#! /bin/sh -e\n": "/bin/sh", "#!\t/usr/bin/env\tpython3": "/usr/bin/env",
		"#!/x" + strings.Repeat(" y", 500): "/x",
	} {
		if n, err := inspect([]byte(text)); err != nil || n != (Needs{Interpreter: want}) {
			t.Errorf("%.40q: %+v %v", text, n, err)
		}
	}
}

func TestInspectRefuses(t *testing.T) {
	whole := nativeImage().with(func(i *image) { i.interp = "/lib/ld.so\x00" })
	change := func(at int, v byte) []byte { b := whole.bytes(); b[at] = v; return b }
	for why, b := range map[string][]byte{
		"empty":                      {},
		`begins with "MZ\x90\x00"`:   []byte("MZ\x90\x00\x03"),
		"neither an ELF":             []byte("echo hi\n"),
		"cut off":                    whole.bytes()[:12],
		"its header at byte 0":       whole.bytes()[:40],
		"program headers at byte 64": whole.bytes()[:100],
		"its interpreter at byte":    whole.bytes()[:180],
		"class 3":                    change(4, 3),
		"byte order 0":               change(5, 0),
		"ET_REL":                     change(16, 1),
		"ET_CORE":                    change(16, 4),
		"headers of 57 bytes":        change(54, 57),
		"no segments":                change(56, 0),
		"headers at byte":            change(35, 0xff),
		"does not end":               whole.with(func(i *image) { i.interp = "/lib/ld.so" }).bytes(),
		"has 5000 bytes":             whole.with(func(i *image) { i.interp = strings.Repeat("/", 5000) }).bytes(),
		"has 1 bytes":                whole.with(func(i *image) { i.interp = "\x00" }).bytes(),
		"not an absolute":            whole.with(func(i *image) { i.interp = "ld.so\x00" }).bytes(),
		"contains a NUL":             whole.with(func(i *image) { i.interp = "/ld\x00so\x00" }).bytes(),
		"names no interpreter":       []byte("#! \n/bin/sh"),
		`"sh" is not an absolute`:    []byte("#!sh\n"),
		"longer than 253":            []byte("#!/" + strings.Repeat("x", 400)),
	} {
		if n, err := inspect(b); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%+v %v, want %s", n, err, why)
		}
	}
}

func TestThisProgram(t *testing.T) {
	f, err := openProgram("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := inspectFile(f)
	if err != nil || n.Platform != native {
		t.Fatalf("%+v %v", n, err)
	}
	if err := n.CheckHere("here", "test"); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, root, name string, mode os.FileMode, content []byte) {
	t.Helper()
	at := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, content, mode); err != nil {
		t.Fatal(err)
	}
}

func TestCheckHere(t *testing.T) {
	root := t.TempDir()
	foreign := image{class32, bigEndian, 2, 8, "", 1}
	put(t, root, "/bin/sh", 0o755, nativeImage().bytes())
	put(t, root, "/bin/mips", 0o755, foreign.bytes())
	put(t, root, "/bin/text", 0o755, []byte("hello"))
	put(t, root, "/bin/plain", 0o644, nativeImage().bytes())
	put(t, root, "/bin/again", 0o755, []byte("#!/bin/again\n"))
	put(t, root, "/bin/script", 0o755, []byte("#!/bin/sh\n"))
	put(t, root, "/bin/dir/x", 0o755, nil)
	put(t, root, "/lib/ld.so", 0o755, nativeImage().bytes())
	for _, good := range []Needs{
		{Platform: native}, {native, "/lib/ld.so"}, {Interpreter: "/bin/sh"}, {Interpreter: "/bin/script"},
	} {
		if err := good.checkUnder(root, "h", "prog", maxNesting); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for want, n := range map[string]Needs{
		"h: prog needs MIPS, 32 bits, big-endian, the host has " + native.String(): {Platform: Platform{8, 1, 2}},
		"h: prog needs ELF machine 999, 64 bits, the host has":                     {Platform: Platform{999, 2, 1}},
		"h: prog needs the interpreter /lib/ld-musl.so, the host has no such file": {native, "/lib/ld-musl.so"},
		"needs the interpreter /bin/plain, the host has a file that cannot be":     {Interpreter: "/bin/plain"},
		"needs the interpreter /bin/dir, the host has a file that cannot be":       {Interpreter: "/bin/dir"},
		"needs the interpreter /bin/text, the host has there: neither":             {Interpreter: "/bin/text"},
		"h: /bin/mips needs MIPS, 32 bits, big-endian":                             {Interpreter: "/bin/mips"},
		"needs more than 4 interpreters":                                           {Interpreter: "/bin/again"},
	} {
		err := n.checkUnder(root, "h", "prog", maxNesting)
		var unmet *Unmet
		if !errors.As(err, &unmet) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestCheckArch(t *testing.T) {
	arm, _ := Of("arm64")
	if err := (Needs{Platform: arm}).CheckArch("h", "prog", "arm64"); err != nil {
		t.Error(err)
	}
	err := Needs{Platform: arm}.CheckArch("node-b", "prog", "amd64")
	if want := "node-b: prog needs aarch64, 64 bits, the host has x86-64, 64 bits"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := (Needs{Platform: arm}).CheckArch("h", "prog", "riscv64"); err == nil {
		t.Error("arm runs on riscv")
	}
	if err := (Needs{Interpreter: "/bin/sh"}).CheckArch("h", "prog", "riscv64"); err != nil {
		t.Error(err)
	}
}

func TestCheckOfWhatPeersSay(t *testing.T) {
	for _, bad := range []Needs{{}, {Platform: Platform{1, 0, 1}}, {Platform: Platform{1, 1, 3}}, {Interpreter: "sh"}, {native, "/" + strings.Repeat("x", 5000)}} {
		if bad.Check() == nil {
			t.Errorf("%.80v is accepted", bad)
		}
	}
}

// A reader counts what is read.
type reader struct {
	*bytes.Reader
	read int
}

func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.Reader.ReadAt(p, off)
	r.read += len(p)
	return n, err
}

func FuzzInspect(f *testing.F) {
	for _, class := range []byte{class32, class64} {
		for _, order := range []byte{littleEndian, bigEndian} {
			f.Add(image{class, order, 3, 62, "/lib64/ld.so\x00", 3}.bytes())
		}
	}
	f.Add([]byte("#!/bin/sh -e\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &reader{Reader: bytes.NewReader(b)}
		n, err := Inspect(r, int64(len(b)))
		if r.read > 2*MaxInterpreter+maxSegments {
			t.Fatalf("%d bytes are read", r.read)
		}
		if err != nil {
			return
		}
		if err := n.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
