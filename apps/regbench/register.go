package main

import (
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/runtime/arena"
)

// registers registers a buffer of the arena and ends that, every time.
func (s *suite) registers(size int) error {
	return s.alone(func() error {
		mem, err := arena.Alloc[byte](s.comm.Arena(), size)
		if err != nil {
			return err
		}
		err = s.measure(register, bench.Arena, size, registrations(size), func() error {
			end, err := s.registering(mem)
			if err != nil {
				return err
			}
			return end()
		})
		return errors.Join(err, arena.Free(s.comm.Arena(), mem))
	})
}

// preRegister has the arena registered, unless it is. Ranks that share memory reach it
// without.
func (s *suite) preRegister() error {
	if s.transport == "shm" {
		return nil
	}
	err := s.comm.Arena().Register(s.registrar)
	if errors.Is(err, arena.ErrRegistered) {
		return nil
	}
	return err
}

// steady is an error if anything is registered while do runs.
func (s *suite) steady(do func() error) error {
	before := s.comm.Arena().Usage().Registrations
	if err := do(); err != nil {
		return err
	}
	if n := s.comm.Arena().Usage().Registrations - before; n != 0 {
		return fmt.Errorf("%d registrations where there should be none", n)
	}
	return nil
}

// allocates gets a registered buffer of the arena and gives it back, every time. It
// is zeroed in between, which is what large ones cost.
func (s *suite) allocates(size int) error {
	return s.alone(func() error {
		a := s.comm.Arena()
		one := func() error {
			mem, err := arena.Alloc[byte](a, size)
			if err != nil {
				return err
			}
			return errors.Join(s.isRegistered(mem), arena.Free(a, mem))
		}
		if err := errors.Join(s.preRegister(), one()); err != nil {
			return err
		}
		return s.steady(func() error { return s.measure(allocate, bench.Arena, size, 10*registrations(size), one) })
	})
}

// remotes asks for the key of a buffer of the arena.
func (s *suite) remotes(size int) error {
	return s.alone(func() error {
		if err := s.preRegister(); err != nil {
			return err
		}
		mem, err := arena.Alloc[byte](s.comm.Arena(), size)
		if err != nil {
			return err
		}
		err = s.steady(func() error {
			return s.measure(remote, bench.Arena, size, 10_000, func() error { return s.isRegistered(mem) })
		})
		return errors.Join(err, arena.Free(s.comm.Arena(), mem))
	})
}

// isRegistered asks for what peers need in order to reach mem.
func (s *suite) isRegistered(mem []byte) error {
	if s.transport == "shm" {
		if _, ok := s.comm.Arena().Locate(mem); !ok {
			return fmt.Errorf("%d bytes are not of the arena", len(mem))
		}
		return nil
	}
	if r, ok := s.comm.Arena().Remote(mem); !ok || r.Len != int64(len(mem)) {
		return fmt.Errorf("%d bytes of the arena are not registered", len(mem))
	}
	return nil
}
