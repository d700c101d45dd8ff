package arena

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPeersSeeWrites(t *testing.T) {
	a := newArena(t, Config{})
	mine := mustAlloc[byte](t, a, 10_000)
	at, _ := a.Locate(mine)
	mem, err := MapPeer(a.segments[at.Key-1].file)
	if err != nil {
		t.Fatal(err)
	}
	theirs := mem[at.Offset : at.Offset+10_000]
	mine[17], theirs[9_999] = 42, 43
	if theirs[17] != 42 || mine[9_999] != 43 {
		t.Errorf("wrote 42 and 43, read %d and %d", theirs[17], mine[9_999])
	}
	if _, ok := a.Locate(theirs); ok {
		t.Error("a peer's mapping was located")
	}
	if err := UnmapPeer(mem[:100]); err == nil {
		t.Error("part of a mapping was unmapped")
	}
	if err := UnmapPeer(mem); err != nil {
		t.Error(err)
	}
	if err := UnmapPeer(mem); err == nil {
		t.Error("unmapped twice")
	}
}

// A child process gets a segment's descriptor, reads what is there and answers
// in it; the memory outlives the arena in whoever has it mapped.
func TestAnotherProcessSeesWrites(t *testing.T) {
	a := newArena(t, Config{})
	mine := mustAlloc[uint64](t, a, 4)
	at, _ := Where(a, mine)
	mine[0] = 40
	runChild(t, "peer", a.segments[at.Key-1].file, fmt.Sprintf("OFFSET=%d", at.Offset))
	if mine[1] != 42 {
		t.Errorf("the child wrote %d", mine[1])
	}
}

func runChild(t *testing.T, what string, f *os.File, env ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), childEnv+"="+what), env...)
	if f != nil {
		cmd.ExtraFiles = []*os.File{f}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
}

func peerChild() error {
	f := os.NewFile(3, "segment")
	mem, err := MapPeer(f)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	var offset int
	if _, err := fmt.Sscan(os.Getenv("OFFSET"), &offset); err != nil {
		return err
	}
	words := elements[uint64](mem[offset:], 2)
	words[1] = words[0] + 2
	return UnmapPeer(mem)
}

func TestSegmentsAreSealed(t *testing.T) {
	a := newArena(t, Config{})
	mustAlloc[byte](t, a, 1)
	f := a.segments[0].file
	for _, size := range []int64{0, 4096, 2 << 20} {
		if err := f.Truncate(size); !errors.Is(err, unix.EPERM) {
			t.Errorf("truncating to %d bytes: %v", size, err)
		}
	}
	err := withDescriptor(f, func(fd int) error {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			return errors.New("programs that a rank starts inherit its segments")
		}
		_, added := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE)
		if !errors.Is(added, unix.EPERM) {
			return fmt.Errorf("another seal was added: %v", added)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMapPeerRefuses(t *testing.T) {
	memfd := func(size int64, seals int) *os.File {
		fd, err := unix.MemfdCreate("bad-peer", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(fd), "bad-peer")
		t.Cleanup(func() { f.Close() })
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
			t.Fatal(err)
		}
		return f
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	disk, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	closed := memfd(1<<20, seals)
	closed.Close()
	before := resources(t)
	for _, c := range []struct {
		name string
		f    *os.File
		is   error
	}{
		{"no seals", memfd(1<<20, 0), ErrSeals},
		{"not sealed against shrinking", memfd(1<<20, unix.F_SEAL_GROW|unix.F_SEAL_SEAL), ErrSeals},
		{"empty", memfd(0, seals), ErrSize},
		{"no whole pages", memfd(1000, seals), ErrSize},
		{"a pipe", r, ErrSeals},
		{"a file on disk", disk, ErrSeals},
		{"closed", closed, nil},
	} {
		mem, err := MapPeer(c.f)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || mem != nil {
			t.Errorf("%s: %d bytes, %v", c.name, len(mem), err)
		}
	}
	disk.Close()
	if after := resources(t); after.mappings != before.mappings {
		t.Errorf("%+v, before %+v", after, before)
	}
}

// With ulimit -f below a segment's size, ftruncate would end the process by SIGXFSZ.
func TestFileSizeLimit(t *testing.T) { runChild(t, "limited", nil) }

func limitedChild() error {
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 512 << 10, Max: 512 << 10}); err != nil {
		return err
	}
	_, err := Alloc[byte](New(Config{}), 1)
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("RLIMIT_FSIZE")) {
		return fmt.Errorf("the limit was not named: %v", err)
	}
	return nil
}

func TestTouchPopulates(t *testing.T) {
	s, err := newSegment(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	touch(s.mem, int64(os.Getpagesize()))
	var st unix.Stat_t
	err = withDescriptor(s.file, func(fd int) error { return unix.Fstat(fd, &st) })
	if err != nil || st.Blocks*512 != 1<<20 {
		t.Errorf("%d bytes are filled, %v", st.Blocks*512, err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}
