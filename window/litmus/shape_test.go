package litmus

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A shape is a litmus test: what each thread does with a few locations, which begin as 0.
type shape struct {
	name    string
	threads [][]step
	locs    []string // in the order of their first use
	regs    int
}

// A step is one access.
type step struct {
	do    action
	loc   int
	value int64 // of a store
	reg   int   // where a load or an add puts what it has found
}

type action int

const (
	load  action = iota // r0=x
	store               // x=1
	add                 // r0=x++
)

// shapes are those of the literature (Alglave, Maranget, Tautschnig: Herding Cats, 2014;
// Adve and Gharachorloo: Shared Memory Consistency Models, 1996).
var shapes = []shape{
	parse("store buffering", "x=1; r0=y | y=1; r1=x"),
	parse("message passing", "x=1; y=1 | r0=y; r1=x"),
	parse("load buffering", "r0=x; y=1 | r1=y; x=1"),
	parse("IRIW", "x=1 | y=1 | r0=x; r1=y | r2=y; r3=x"),
	parse("write to read", "x=1 | r0=x; y=1 | r1=y; r2=x"),
	parse("R", "x=1; y=1 | y=2; r0=x"),
	parse("S", "x=2; y=1 | r0=y; x=1"),
	parse("2+2W", "x=1; y=2 | y=1; x=2"),
	parse("CoRR", "x=1 | r0=x; r1=x"),
	parse("CoWW", "x=1; x=2 | r0=x; r1=x"),
	parse("CoRW", "r0=x; x=1 | x=2; r1=x"),
	parse("two readers", "x=1 | x=2 | r0=x; r1=x | r2=x; r3=x"),
	parse("adds", "r0=x++ | r1=x++ | r2=x++"),
	parse("adds as fences", "x=1; r0=z++; r1=y | y=1; r2=u++; r3=x"),
}

var stepForm = regexp.MustCompile(`^(?:(r\d)=([a-z])(\+\+)?|([a-z])=(\d))$`)

// parse reads the text of a shape. It panics where that is wrong: the texts are above.
func parse(name, text string) shape {
	s := shape{name: name}
	for thread := range strings.SplitSeq(text, "|") {
		var steps []step
		for part := range strings.SplitSeq(thread, ";") {
			m := stepForm.FindStringSubmatch(strings.TrimSpace(part))
			if m == nil {
				panic(fmt.Sprintf("%s: %q is no step", name, part))
			}
			steps = append(steps, s.step(m))
		}
		s.threads = append(s.threads, steps)
	}
	return s
}

func (s *shape) step(m []string) step {
	if m[4] != "" {
		value, _ := strconv.ParseInt(m[5], 10, 64) // a digit
		return step{do: store, loc: s.loc(m[4]), value: value}
	}
	do := load
	if m[3] != "" {
		do = add
	}
	reg, _ := strconv.Atoi(m[1][1:]) // a digit
	s.regs = max(s.regs, reg+1)
	return step{do: do, loc: s.loc(m[2]), reg: reg}
}

func (s *shape) loc(name string) int {
	if i := slices.Index(s.locs, name); i >= 0 {
		return i
	}
	s.locs = append(s.locs, name)
	return len(s.locs) - 1
}

// outcome writes the registers and what the locations hold in the end.
func (s *shape) outcome(regs, final []int64) string {
	var parts []string
	for i, v := range regs[:s.regs] {
		parts = append(parts, fmt.Sprintf("r%d=%d", i, v))
	}
	for i, v := range final[:len(s.locs)] {
		parts = append(parts, fmt.Sprintf("%s=%d", s.locs[i], v))
	}
	return strings.Join(parts, " ")
}

func TestParse(t *testing.T) {
	s := parse("p", "x=1; r0=y | r1=y++")
	want := "{p [[{1 0 1 0} {0 1 0 0}] [{2 1 0 1}]] [x y] 2}"
	if got := fmt.Sprint(s); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
