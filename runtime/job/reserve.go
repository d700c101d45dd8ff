package job

import (
	"fmt"

	"github.com/golaunch/golaunch/runtime/memlimit"
)

// Reserve announces that rank is about to populate bytes of memory, and refuses
// it when the host, or a control group this process is in, has less than all of
// its ranks have announced together: better an error here than the kernel's
// out-of-memory killer later. release takes it back, once the memory is populated or
// given up.
//
// Each rank adds its own announcement before it looks at the sum, so of two that
// race for the last bytes at least one sees both.
func (m *Memory) Reserve(rank int, bytes int64) (release func(), err error) {
	mine := &lineOf(m.mem, rank).reserved
	mine.Add(bytes)
	limit, err := memlimit.Available()
	if err == nil {
		err = m.admit(bytes, limit)
	}
	if err != nil {
		mine.Add(-bytes)
		return nil, err
	}
	return func() { mine.Add(-bytes) }, nil
}

// admit says how much this rank asked for and, where it differs, all together.
func (m *Memory) admit(bytes int64, limit memlimit.Limit) error {
	sum := m.reserved()
	err := limit.Admit(sum)
	if err == nil || sum == bytes {
		return err
	}
	return fmt.Errorf("%s, with the other ranks of this host %w", memlimit.Bytes(bytes), err)
}

// reserved is what all ranks have announced that are not over. Each wrote its own
// word: a negative one is nonsense and counts as nothing.
func (m *Memory) reserved() int64 {
	var sum int64
	for rank := range m.size {
		if s, _ := m.State(rank); !s.Over() {
			sum += max(lineOf(m.mem, rank).reserved.Load(), 0)
		}
	}
	return sum
}
