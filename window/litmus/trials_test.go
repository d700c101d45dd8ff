package litmus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/window"
)

// Every shape, by every kind of access, with its locations apart and together: nothing comes
// out that the kind's model does not allow.
func TestShapes(t *testing.T) {
	for _, l := range layouts() {
		t.Run(l.String(), func(t *testing.T) {
			for _, got := range shapeResults(t, launch(t, l, ranks, order{
				Program: "trials", Kinds: kindNames(), Budget: budget(10*time.Millisecond, 500*time.Millisecond),
				All: soaking(), Seed: rand.Uint64(),
			})) {
				k, err := kindNamed(got.Kind)
				if err != nil {
					t.Fatal(err)
				}
				if err := judge(shapes[got.Shape], k.model, got.Outcomes); err != nil {
					t.Errorf("by %s, locations %s: %v", got.Kind, got.Placement, err)
				}
				t.Logf("%s, %s, %s: %v", got.Kind, got.Placement, shapes[got.Shape].name, got.Outcomes)
			}
		})
	}
}

func kindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

func shapeResults(t *testing.T, out []byte) (all []shapeResult) {
	t.Helper()
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var r shapeResult
		switch err := lines.Decode(&r); {
		case errors.Is(err, io.EOF):
			want := len(kinds) * len(shapes)
			if soaking() {
				want *= len(placements)
			}
			if len(all) != want {
				t.Errorf("%d results, want %d", len(all), want)
			}
			return all
		case err != nil:
			t.Fatalf("%v in %s", err, out)
		}
		all = append(all, r)
	}
}

// A shapeResult is a line of rank 0.
type shapeResult struct {
	Kind, Placement string
	Shape           int
	Outcomes        map[string]int
}

// A placement says where location loc of a trial is.
type placement struct {
	name string
	at   func(trial, loc int) (rank, disp int)
}

var placements = []placement{
	// Each location is on another rank; trials are side by side.
	{"apart", func(trial, loc int) (rank, disp int) { return (trial/batch + loc) % ranks, trial }},
	// The locations of a trial are neighbours.
	{"together", func(trial, loc int) (rank, disp int) { return trial / batch % ranks, trial*maxLocs + loc }},
}

const (
	batch   = 128  // trials between two barriers
	most    = 4096 // trials of a shape
	maxLocs = 4
	maxRegs = 4
)

func trialsProgram(r *rank) error {
	for turn, name := range r.Kinds {
		k, err := kindNamed(name)
		if err != nil {
			return err
		}
		w, m, err := k.open(r, most*maxLocs)
		if err != nil {
			return err
		}
		for i := range shapes {
			if err := r.placed(w, m, name, i, turn); err != nil {
				return err
			}
		}
		if err := w.Free(r.ctx); err != nil {
			return err
		}
	}
	return nil
}

// placed tries a shape with its locations in all places, or in one of them.
func (r *rank) placed(w *window.Window[int64], m memory, kind string, shape, turn int) error {
	for i, p := range placements {
		if !r.All && (shape+turn+int(r.Seed%2))%len(placements) != i {
			continue
		}
		outcomes, err := r.try(w, m, p, shapes[shape])
		if err != nil {
			return fmt.Errorf("%s by %s: %w", shapes[shape].name, kind, err)
		}
		if err := r.tell(shapeResult{kind, p.name, shape, outcomes}); err != nil {
			return err
		}
	}
	return nil
}

// try runs a shape as often as there is time for, and returns at rank 0 how often each
// outcome was seen.
func (r *rank) try(w *window.Window[int64], m memory, p placement, s shape) (map[string]int, error) {
	if err := errors.Join(w.Put(r.me(), 0, make([]int64, w.Size(r.me()))), w.Fence(r.ctx)); err != nil {
		return nil, err
	}
	regs, end, done := make([]int64, most*maxRegs), time.Now().Add(r.Budget), 0
	for ; done < most; done += batch {
		start, err := r.together(time.Now().Before(end))
		if err != nil {
			return nil, err
		}
		if start == 0 {
			break
		}
		r.batch(m, p, s, done, start, regs)
	}
	if err := errors.Join(m.err(), w.Fence(r.ctx)); err != nil {
		return nil, err
	}
	regs = regs[:done*maxRegs]
	all := make([]int64, len(regs)) // each register is one rank's; the others have 0 there
	if err := collectives.Reduce(r.ctx, r.comm, 0, regs, all, collectives.Sum); err != nil {
		return nil, err
	}
	outcomes := map[string]int{}
	for i := 0; i < done && r.me() == 0; i++ {
		outcomes[s.outcome(all[i*maxRegs:][:maxRegs], final(m, p, s, i))]++
	}
	return outcomes, errors.Join(m.err(), w.Fence(r.ctx))
}

// final is what the locations of a trial hold.
func final(m memory, p placement, s shape, trial int) []int64 {
	var values []int64
	for loc := range s.locs {
		values = append(values, m.load(p.at(trial, loc)))
	}
	return values
}

// together is when the ranks begin the next batch, as rank 0's clock has it, or 0 if there is
// none. The hosts are one machine's.
func (r *rank) together(more bool) (int64, error) {
	start := []int64{0}
	if more {
		start[0] = time.Now().UnixNano() + 500_000
	}
	if err := collectives.Barrier(r.ctx, r.comm); err != nil {
		return 0, err
	}
	err := collectives.Bcast(r.ctx, r.comm, 0, start)
	return start[0], err
}

// periods are how many nanoseconds lie between trials, in batches that take turns: other
// accesses meet when there are many or few.
var periods = []int64{0, 300, 3_000, 30_000}

// batch runs some trials. Threads are at other ranks in each batch.
func (r *rank) batch(m memory, p placement, s shape, first int, start int64, regs []int64) {
	number := first / batch
	thread := (r.me() + ranks - number/len(placements)%ranks) % ranks
	if thread >= len(s.threads) {
		return
	}
	period := periods[number%len(periods)]
	for i := first; i < first+batch; i++ {
		if i == first || period > 0 {
			r.wait(start)
			start += period + rand.Int64N(200)
		}
		for _, step := range s.threads[thread] {
			loc, disp := p.at(i, step.loc)
			switch reg := &regs[i*maxRegs+step.reg]; step.do {
			case load:
				*reg = m.load(loc, disp)
			case store:
				m.store(loc, disp, step.value)
			case add:
				*reg = m.add(loc, disp, 1)
			}
		}
	}
}

// wait spins, so that ranks go on at the same time; where there is time it lets others have
// the core.
func (r *rank) wait(until int64) {
	for {
		left := until - time.Now().UnixNano()
		switch {
		case left <= 0:
			return
		case left > 200_000:
			runtime.Gosched()
			relax.Yield()
		}
	}
}
