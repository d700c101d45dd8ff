package main

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/arena/foreign"
)

// firstTouches has a mapped file registered by an operation that finds it is not, and
// forgotten again.
func (s *suite) firstTouches(size int) error {
	return s.onFile(size, func(c *foreign.Cache, mem []byte) error {
		return s.measure(firstTouch, file, size, registrations(size), func() error {
			return errors.Join(c.Adopt(mem), use(c, mem), c.Invalidate(mem))
		})
	})
}

// cacheHits finds it registered.
func (s *suite) cacheHits(size int) error {
	return s.onFile(size, func(c *foreign.Cache, mem []byte) error {
		if err := errors.Join(c.Adopt(mem), use(c, mem)); err != nil {
			return err
		}
		err := s.measure(cacheHit, file, size, 10_000, func() error { return use(c, mem) })
		if f := c.Figures(); err == nil && f.Misses != 1 {
			return fmt.Errorf("%d registrations where there should be one", f.Misses)
		}
		return err
	})
}

func use(c *foreign.Cache, mem []byte) error {
	u, ok, err := c.Acquire(mem)
	if err != nil {
		return err
	}
	if !ok || u.Remote().Len != int64(len(mem)) {
		return fmt.Errorf("%d bytes of a file are not registered", len(mem))
	}
	return u.Release()
}

// onFile runs do with a mapped file, each page of it touched, unless the transport
// takes memory of the arena only.
func (s *suite) onFile(size int, do func(c *foreign.Cache, mem []byte) error) error {
	if s.transport == "shm" {
		return nil
	}
	return s.alone(func() error {
		mem, err := mapFile(size)
		if err != nil {
			return err
		}
		c := foreign.New(foreign.Config{Registrar: s.registrar, Limit: math.MaxInt64})
		err = do(c, mem[:size])
		return errors.Join(err, c.Close(), unix.Munmap(mem))
	})
}

func mapFile(size int) ([]byte, error) {
	fd, err := unix.MemfdCreate("regbench", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return nil, fmt.Errorf("ftruncate: %w", err)
	}
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	for i := range mem {
		mem[i] = 1
	}
	return mem, nil
}
