package arena

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// Unmapping is lazy: freeing keeps pages and registration, for whoever allocates
// next. Under pressure, which is when the kernel or Config.Reserve refuses more
// memory or a transport more registrations, all segments of which nothing is in use
// or quarantined are put to sleep in one batch: deregistered first (no page that is
// registered may leave its file: the NIC would go on with the old one), then
// emptied. Their address range stays, so nothing else can ever be mapped where a
// peer's late write would go; their keys stay, so they wake without being published
// again.

// Relieve gives the kernel back the pages and registrations of what is free, as far
// as whole segments are, and returns how many bytes that was. The arena does it by
// itself before it fails to allocate; Relieve is for when somebody else is short.
func (a *Arena) Relieve() (int64, error) {
	a.growing.Lock()
	defer a.growing.Unlock()
	a.bury()
	return a.relieve()
}

// relieve is Relieve with growing held.
func (a *Arena) relieve() (returned int64, err error) {
	for _, s := range a.takeIdle() {
		held := s.ready
		if failed := a.rest(s); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		returned += held
	}
	return returned, err
}

// takeIdle takes all blocks of segments that are idle off the arena's books: from
// then on nobody can get at them.
func (a *Arena) takeIdle() []*segment {
	a.mu.Lock()
	defer a.mu.Unlock()
	var batch []*segment
	for _, s := range a.segments {
		if s.busy == 0 && s.next > 0 {
			batch = append(batch, s)
		}
	}
	if batch == nil {
		return nil
	}
	idle := func(b *block) bool { return slices.Contains(batch, b.segment) }
	a.usage.Free -= a.free.remove(idle)
	maps.DeleteFunc(a.blocks, func(_ uintptr, b *block) bool { return idle(b) })
	a.open = slices.DeleteFunc(a.open, func(s *segment) bool { return slices.Contains(batch, s) })
	if slices.Contains(batch, a.slab.segment) {
		a.slab = slab{}
	}
	for _, s := range batch {
		s.next = 0
	}
	return batch
}

// rest deregisters and empties a segment that has no blocks. If that fails the
// segment is not used again. growing is held.
func (a *Arena) rest(s *segment) error {
	if err := errors.Join(a.deregister(s), s.punch()); err != nil {
		return a.errorf("giving segment %d back: %w", s.key, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.usage.Populated -= s.ready
	a.usage.Returned += s.ready
	s.ready = 0
	a.asleep = append(a.asleep, s)
	return nil
}

// punch takes all pages of a segment, also out of the peers' mappings.
func (s *segment) punch() error {
	const mode = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	err := withDescriptor(s.file, func(fd int) error { return unix.Fallocate(fd, mode, 0, int64(len(s.mem))) })
	if err != nil {
		return fmt.Errorf("fallocate to take %d bytes out: %w", len(s.mem), err)
	}
	return nil
}

// sleeper is the smallest segment that sleeps and has room for need bytes. growing
// is held.
func (a *Arena) sleeper(need int64) *segment {
	var best *segment
	for _, s := range a.asleep {
		if size := int64(len(s.mem)); size >= need && (best == nil || size < int64(len(best.mem))) {
			best = s
		}
	}
	return best
}

// wake populates a segment again. It is emptied before, once more: a peer that
// breaks the rules may have written to it in its sleep, and blocks are cut zeroed.
func (a *Arena) wake(s *segment, need int64) error {
	whole := int64(len(s.mem))
	need = roundUp(need, a.classes.page)
	if a.registrar != nil {
		need = whole
	}
	err := a.reserved(a.filled(need, whole), need, func(bytes int64) error {
		if err := s.punch(); err != nil {
			return err
		}
		if err := populate(s.mem[:bytes], a.classes.page); err != nil {
			return errors.Join(err, s.punch())
		}
		s.ready = bytes
		return nil
	})
	if err != nil {
		return err
	}
	a.asleep = slices.DeleteFunc(a.asleep, func(other *segment) bool { return other == s })
	a.mu.Lock()
	a.usage.Populated += s.ready
	a.mu.Unlock()
	return nil
}
