package litmus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/collectives"
)

// Random operations on a few words are linearisable, word for word: each takes effect at one
// moment between its call and its return. That is more than sequential consistency.
func TestHistories(t *testing.T) {
	for _, l := range layouts() {
		t.Run(l.String(), func(t *testing.T) {
			seed := uint64(time.Now().UnixNano())
			out := launch(t, l, ranks, order{
				Program: "history", Kinds: sequentialKinds(), Seed: seed, Budget: budget(150*time.Millisecond, 5*time.Second),
			})
			results := 0
			for lines := json.NewDecoder(bytes.NewReader(out)); ; results++ {
				var r historyResult
				if err := lines.Decode(&r); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("seed %d: %v in %s", seed, err, out)
				}
				if r.Operations == 0 || r.Bad != "" {
					t.Errorf("seed %d, by %s: %d operations in %d histories\n%s", seed, r.Kind, r.Operations, r.Histories, r.Bad)
				}
				t.Logf("%s: %d operations in %d histories", r.Kind, r.Operations, r.Histories)
			}
			if want := len(sequentialKinds()); results != want {
				t.Errorf("%d results, want %d", results, want)
			}
		})
	}
}

func sequentialKinds() (names []string) {
	for _, k := range kinds {
		if k.model == sequential {
			names = append(names, k.name)
		}
	}
	return names
}

// A historyResult is a line of rank 0.
type historyResult struct {
	Kind                  string
	Histories, Operations int
	Bad                   string // a history that is not linearisable
}

// A call is one operation on a word, of the integers that ranks can send each other.
type call struct {
	Rank, Word, Do  int64
	Value, Expected int64 // what is stored or added; what a swap expects
	Found           int64 // by a load, an add; 1: swapped
	Begin, End      int64 // by the machine's clock
}

// What a call does; action has the first ones.
const swap = int64(add) + 1

func (c call) String() string {
	names := []string{"load", "store", "add", "swap"}
	return fmt.Sprintf("rank %d, word %d: %s %d (expects %d) finds %d, from %d to %d", c.Rank, c.Word, names[c.Do], c.Value, c.Expected, c.Found, c.Begin, c.End)
}

// register is a word.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var parts [words][]porcupine.Operation
		for _, o := range history {
			word := o.Input.(call).Word
			parts[word] = append(parts[word], o)
		}
		return parts[:]
	},
	Init: func() any { return int64(0) },
	Step: func(state, input, _ any) (bool, any) {
		value, c := state.(int64), input.(call)
		switch c.Do {
		case int64(load):
			return c.Found == value, value
		case int64(store):
			return true, c.Value
		case int64(add):
			return c.Found == value, value + c.Value
		}
		if swapped := value == c.Expected; swapped {
			return c.Found == 1, c.Value
		}
		return c.Found == 0, value
	},
}

// checkHistory is an error if a history is not linearisable.
func checkHistory(history []call) error {
	var operations []porcupine.Operation
	for _, c := range history {
		operations = append(operations, porcupine.Operation{ClientId: int(c.Rank), Input: c, Call: c.Begin, Return: c.End})
	}
	if porcupine.CheckOperationsTimeout(register, operations, 10*time.Second) != porcupine.Illegal {
		return nil
	}
	slices.SortFunc(history, func(a, b call) int { return int(a.Begin - b.Begin) })
	text := "not linearisable:"
	for _, c := range history {
		text += "\n" + c.String()
	}
	return errors.New(text)
}

func TestHistoryCheckCanFail(t *testing.T) {
	one := call{Rank: 0, Do: int64(store), Value: 1, Begin: 1, End: 2}
	for name, c := range map[string]struct {
		call call
		good bool
	}{
		"load of what was stored":       {call{Rank: 1, Do: int64(load), Found: 1, Begin: 3, End: 4}, true},
		"stale load":                    {call{Rank: 1, Do: int64(load), Found: 0, Begin: 3, End: 4}, false},
		"load meanwhile":                {call{Rank: 1, Do: int64(load), Found: 0, Begin: 1, End: 4}, true},
		"invented value":                {call{Rank: 1, Do: int64(load), Found: 7, Begin: 1, End: 4}, false},
		"another word":                  {call{Rank: 1, Word: 1, Do: int64(load), Found: 0, Begin: 3, End: 4}, true},
		"lost store":                    {call{Rank: 1, Do: int64(add), Value: 5, Found: 0, Begin: 3, End: 4}, false},
		"swap of what is not there":     {call{Rank: 1, Do: swap, Expected: 0, Value: 9, Found: 1, Begin: 3, End: 4}, false},
		"swap that should have swapped": {call{Rank: 1, Do: swap, Expected: 1, Value: 9, Found: 0, Begin: 3, End: 4}, false},
		"swap":                          {call{Rank: 1, Do: swap, Expected: 1, Value: 9, Found: 1, Begin: 3, End: 4}, true},
	} {
		if err := checkHistory([]call{one, c.call}); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const (
	words  = 3
	length = 60 // calls of a rank in one history
)

// wordPlaces are where the words are: two side by side, one elsewhere.
var wordPlaces = [words][2]int{{0, 0}, {0, 1}, {ranks - 1, page}}

func historyProgram(r *rank) error {
	for _, name := range r.Kinds {
		result, err := r.histories(name)
		if err == nil {
			err = r.tell(result)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *rank) histories(name string) (result historyResult, err error) {
	result.Kind = name
	k, err := kindNamed(name)
	if err != nil {
		return result, err
	}
	w, m, err := k.open(r, 2*page)
	if err != nil {
		return result, err
	}
	random := rand.New(rand.NewPCG(r.Seed, uint64(r.me())))
	for end := time.Now().Add(r.Budget); ; result.Histories++ {
		if start, err := r.together(time.Now().Before(end)); err != nil {
			return result, err
		} else if start == 0 {
			return result, errors.Join(m.err(), w.Free(r.ctx))
		}
		history, err := r.gather(r.call(m, random))
		if err != nil {
			return result, err
		}
		if err := checkHistory(history); err != nil {
			result.Bad = err.Error()
		}
		result.Operations += len(history)
		if err := errors.Join(m.err(), w.Put(r.me(), 0, make([]int64, 2*page)), w.Fence(r.ctx)); err != nil {
			return result, err
		}
	}
}

// call makes random calls.
func (r *rank) call(m memory, random *rand.Rand) []call {
	var history []call
	var known [words]int64 // found last
	for i := range length {
		c := call{Rank: int64(r.me()), Word: random.Int64N(words), Do: random.Int64N(4), Value: int64(r.me()+1)<<32 | int64(i+1)}
		c.Expected = known[c.Word]
		rank, disp := wordPlaces[c.Word][0], wordPlaces[c.Word][1]
		c.Begin = clock()
		switch c.Do {
		case int64(load):
			c.Found = m.load(rank, disp)
			known[c.Word] = c.Found
		case int64(store):
			m.store(rank, disp, c.Value)
		case int64(add):
			c.Found = m.add(rank, disp, c.Value)
			known[c.Word] = c.Found + c.Value
		case swap:
			if m.swap(rank, disp, c.Expected, c.Value) {
				c.Found = 1
			}
		}
		c.End = clock()
		history = append(history, c)
	}
	return history
}

// gather brings everybody's calls to rank 0.
func (r *rank) gather(mine []call) ([]call, error) {
	all := make([]call, len(mine)*r.ranks())
	err := collectives.Gather(r.ctx, r.comm, 0, mine, all)
	if r.me() != 0 {
		all = nil
	}
	return all, err
}

// clock is the machine's, which is the same for every process.
func clock() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // the clock exists
	}
	return t.Nano()
}
