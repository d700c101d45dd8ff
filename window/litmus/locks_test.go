package litmus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/relax"
)

// Locks built on a window guard two words of different ranks: whoever has the lock finds
// them equal, and no addition is lost. The lock and the words are accessed by kinds of
// their own.
func TestLocks(t *testing.T) {
	for _, l := range layouts() {
		t.Run(l.String(), func(t *testing.T) {
			out := launch(t, l, ranks, order{
				Program: "locks", Budget: budget(30*time.Millisecond, 2*time.Second),
			})
			results := 0
			for lines := json.NewDecoder(bytes.NewReader(out)); ; results++ {
				var r lockResult
				if err := lines.Decode(&r); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%v in %s", err, out)
				}
				if err := r.check(); err != nil {
					t.Error(err)
				}
				t.Logf("%s", r)
			}
			if want := len(lockNames) * len(guards()); results != want {
				t.Errorf("%d results, want %d", results, want)
			}
		})
	}
}

// A guard is how a lock is accessed, and how what it guards.
type guard struct{ lock, data string }

// guards are pairs of kinds on the same kind of window, where the lock is sequentially
// consistent.
func guards() (all []guard) {
	for _, lock := range kinds {
		for _, data := range kinds {
			if lock.model == sequential && lock.coherent == data.coherent {
				all = append(all, guard{lock.name, data.name})
			}
		}
	}
	return all
}

// A lockResult is a line of rank 0.
type lockResult struct {
	Lock, LockKind, DataKind string
	Rounds                   int64 // of all ranks together
	Words                    [2]int64
	Unequal                  int64 // rounds in which the words were not equal
}

func (r lockResult) String() string {
	return fmt.Sprintf("%s lock by %s, words by %s: %d rounds, words %v, unequal %d times", r.Lock, r.LockKind, r.DataKind, r.Rounds, r.Words, r.Unequal)
}

func (r lockResult) check() error {
	if r.Rounds == 0 || r.Words != [2]int64{r.Rounds, r.Rounds} || r.Unequal != 0 {
		return errors.New(r.String())
	}
	return nil
}

func TestLockCheckCanFail(t *testing.T) {
	for _, r := range []lockResult{
		{},
		{Rounds: 3, Words: [2]int64{3, 2}},
		{Rounds: 3, Words: [2]int64{2, 2}},
		{Rounds: 3, Words: [2]int64{3, 3}, Unequal: 1},
	} {
		if r.check() == nil {
			t.Errorf("%s passes", r)
		}
	}
	if err := (lockResult{Rounds: 3, Words: [2]int64{3, 3}}).check(); err != nil {
		t.Error(err)
	}
}

// A lock is built of words of rank 0.
type lock interface {
	lock(m memory)
	unlock(m memory)
}

var lockNames = []string{"spin", "ticket"}

func newLock(name string, disp int) lock {
	if name == "spin" {
		return &spinLock{disp}
	}
	return &ticketLock{next: disp, serving: disp + 1}
}

type spinLock struct{ disp int }

func (l *spinLock) lock(m memory) {
	for m.err() == nil && !m.swap(0, l.disp, 0, 1) {
		runtime.Gosched()
		relax.Yield()
	}
}

func (l *spinLock) unlock(m memory) { m.store(0, l.disp, 0) }

type ticketLock struct {
	next, serving int
	mine          int64
}

func (l *ticketLock) lock(m memory) {
	l.mine = m.add(0, l.next, 1)
	for m.err() == nil && m.load(0, l.serving) != l.mine {
		runtime.Gosched()
		relax.Yield()
	}
}

func (l *ticketLock) unlock(m memory) { m.store(0, l.serving, l.mine+1) }

// page is how many elements one has.
const page = 512

func locksProgram(r *rank) error {
	for _, g := range guards() {
		for _, name := range lockNames {
			result, err := r.guard(name, g)
			if err == nil {
				err = r.tell(result)
			}
			if err != nil {
				return fmt.Errorf("%s lock by %s, words by %s: %w", name, g.lock, g.data, err)
			}
		}
	}
	return nil
}

// guard adds to the words, with the lock held, until the budget is used up.
func (r *rank) guard(name string, g guard) (result lockResult, err error) {
	lockKind, err1 := kindNamed(g.lock)
	dataKind, err2 := kindNamed(g.data)
	if err := errors.Join(err1, err2); err != nil {
		return result, err
	}
	w, locked, err := lockKind.open(r, 2*page)
	if err != nil {
		return result, err
	}
	words, err := dataKind.access(w, r.comm)
	if err != nil {
		return result, err
	}
	rounds, unequal := r.rounds(newLock(name, 0), locked, words)
	sums := []int64{rounds, unequal}
	if err := errors.Join(locked.err(), words.err(), w.Fence(r.ctx)); err != nil {
		return result, err
	}
	if err := collectives.Allreduce(r.ctx, r.comm, sums, sums, collectives.Sum); err != nil {
		return result, err
	}
	result = lockResult{Lock: name, LockKind: g.lock, DataKind: g.data, Rounds: sums[0], Unequal: sums[1]}
	if r.me() == 0 {
		for i := range result.Words {
			result.Words[i] = words.load(r.word(i))
		}
	}
	return result, errors.Join(words.err(), w.Free(r.ctx))
}

// word is where word i is: behind the lock's page, at the first rank and the last.
func (r *rank) word(i int) (rank, disp int) { return i * (r.ranks() - 1), page }

func (r *rank) rounds(l lock, locked, words memory) (rounds, unequal int64) {
	for end := time.Now().Add(r.Budget); time.Now().Before(end) && locked.err() == nil && words.err() == nil; rounds++ {
		l.lock(locked)
		var values [2]int64
		for i := range values {
			values[i] = words.load(r.word(i))
		}
		if values[0] != values[1] {
			unequal++
		}
		for i, v := range values {
			rank, disp := r.word(i)
			words.store(rank, disp, v+1)
		}
		l.unlock(locked)
	}
	return rounds, unequal
}
