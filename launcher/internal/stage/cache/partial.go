package cache

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
	"github.com/golaunch/golaunch/launcher/internal/stage/private"
)

// A Partial is a blob that is being written. Three goroutines may use it at once:
// one calls Write, one Digest and then Publish or Discard (when Write has ended),
// and any number ReadAt.
type Partial struct {
	cache *Cache
	sum   digest.Sum
	size  int64
	name  string // in the cache's directory of partial blobs

	writer *os.File
	reader *os.File // another description of the same file: in use, and outlives it
	length atomic.Int64

	over bool // published or discarded

	hash    hash.Hash
	hashed  int64
	scratch []byte
}

// A Mismatch is content that is not what its name says.
type Mismatch struct {
	Want, Got digest.Sum
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("the content is not that of blob %s: it has SHA-256 %s", m.Want.Short(), m.Got.Short())
}

func (p *Partial) open() (err error) {
	p.hash = sha256.New()
	dir := p.cache.partial
	if p.writer, err = dir.Open(p.name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600); err != nil {
		return err
	}
	if p.reader, err = dir.Open(p.name, unix.O_RDONLY, 0); err != nil {
		return err
	}
	if held, err := private.Hold(p.reader); !held || err != nil {
		return errors.Join(err, fmt.Errorf("%s was taken away", p.reader.Name()))
	}
	if a, b, err := both(p.writer, p.reader); err != nil || a.Ino != b.Ino || a.Dev != b.Dev {
		return errors.Join(err, fmt.Errorf("%s was exchanged", p.reader.Name()))
	}
	return p.allocate()
}

func both(a, b *os.File) (sa, sb unix.Stat_t, err error) {
	err = errors.Join(unix.Fstat(int(a.Fd()), &sa), unix.Fstat(int(b.Fd()), &sb))
	return sa, sb, err
}

// allocate has a full disk be known now, where the file system can.
func (p *Partial) allocate() error {
	if p.size == 0 {
		return nil
	}
	err := unix.Fallocate(int(p.writer.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, p.size)
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS || err == unix.EINTR {
		return nil
	}
	return os.NewSyscallError("fallocate", err)
}

// Write appends.
func (p *Partial) Write(b []byte) (int, error) {
	if int64(len(b)) > p.size-p.length.Load() {
		return 0, fmt.Errorf("blob %s has more than its %d bytes", p.sum.Short(), p.size)
	}
	n, err := p.writer.Write(b)
	p.length.Add(int64(n))
	return n, err
}

// ReadAt reads what was written, also after Publish, until the [Blob] that Publish
// has returned is closed.
func (p *Partial) ReadAt(b []byte, off int64) (int, error) { return p.reader.ReadAt(b, off) }

// digestStep is how many bytes are read at once to be digested: they are in the
// processor's cache then when they are.
const digestStep = 256 << 10

// Digest works on the sum of what is in the file so far. What counts is what can be
// read back, not what was to be written.
func (p *Partial) Digest() error {
	if p.scratch == nil {
		p.scratch = make([]byte, min(digestStep, p.size))
	}
	for end := p.length.Load(); p.hashed < end; {
		n, err := p.reader.ReadAt(p.scratch[:min(int64(len(p.scratch)), end-p.hashed)], p.hashed)
		p.hash.Write(p.scratch[:n])
		p.hashed += int64(n)
		if err != nil && (err != io.EOF || n == 0) {
			return fmt.Errorf("blob %s: reading back at byte %d: %w", p.sum.Short(), p.hashed, err)
		}
	}
	return nil
}

// Publish verifies the whole and puts it into the cache. Its error is a *Mismatch
// if the content is wrong; the caller then calls Discard, as after any error.
func (p *Partial) Publish() (*Blob, error) {
	if err := p.Digest(); err != nil {
		return nil, err
	}
	if p.hashed != p.size {
		return nil, fmt.Errorf("blob %s has %d bytes of %d", p.sum.Short(), p.hashed, p.size)
	}
	if got := digest.Sum(p.hash.Sum(nil)); got != p.sum {
		return nil, &Mismatch{p.sum, got}
	}
	if err := p.seal(); err != nil {
		return nil, err
	}
	c := p.cache
	if err := c.partial.Move(p.name, c.blobs, p.sum.String()); err != nil {
		return nil, err
	}
	p.over = true
	c.release(p.size)
	c.remember(p.sum, p.reader)
	return &Blob{File: p.reader, Sum: p.sum, Size: p.size}, nil
}

// sealed is when blobs were changed last. Who writes to one changes that, however
// soon after.
var sealed = time.Unix(1, 0)

// seal makes the file what a blob is.
func (p *Partial) seal() error {
	if err := p.writer.Chmod(0o500); err != nil {
		return err
	}
	err := p.closeWriter()
	return errors.Join(err, p.cache.partial.SetTimes(p.name, time.Now(), sealed))
}

// closeWriter returns when no process can write to the file any more, not even one
// that is being forked at this moment and has copies of all descriptors until it
// executes something: a program that is open for writing cannot be executed.
func (p *Partial) closeWriter() error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return p.writer.Close()
}

// Discard gives the blob up, once. It does nothing after Publish has succeeded.
func (p *Partial) Discard() error {
	if p.over {
		return nil
	}
	p.over = true
	var err error
	if p.writer != nil {
		p.writer.Close()
		err = p.cache.partial.Remove(p.name)
	}
	if p.reader != nil {
		err = errors.Join(err, p.reader.Close())
	}
	p.cache.release(p.size)
	return err
}
