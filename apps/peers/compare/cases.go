package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

// program is one of the programs that every contender has.
type program int

const (
	oneSided program = iota
	collective
	idle
	twoSided
	programs
)

// A benchCase is a short run of one program. Cases are short so that the
// contenders' turns lie close together in time.
type benchCase struct {
	name    string
	program program
	ranks   int
	ops     []string
	sizes   []int
	buffers []string // this project's
	network bool     // over TCP on the loopback interface
	bare    bool     // this project also times bare system calls
	divide  int      // batches are smaller by this; 0: not
	memory  bool     // ask for private memory, once; else, of idle, for the wall time
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

func cases() []benchCase {
	heap, both := []string{report.Heap}, []string{report.Arena, report.Heap}
	sum := []string{"allreduce_f64"}
	all := []benchCase{
		{name: "rma-small", program: oneSided, ranks: 2, buffers: heap, sizes: []int{8, kib},
			ops: []string{"put", "get", "fetch_add", "lock_put_unlock", "fence"}},
		{name: "rma-large", program: oneSided, ranks: 2, buffers: heap, sizes: []int{64 * kib, mib, 16 * mib},
			ops: []string{"put", "get"}},
		{name: "coll-small", program: collective, ranks: 2, buffers: heap, sizes: []int{8, kib},
			ops: []string{"barrier", "allreduce_f64"}},
		{name: "coll-medium", program: collective, ranks: 2, buffers: both, sizes: []int{64 * kib, mib}, ops: sum},
		{name: "coll-large", program: collective, ranks: 2, buffers: both, sizes: []int{16 * mib, 64 * mib}, ops: sum},
	}
	all = append(all, benchCase{name: "p2p", program: twoSided, ranks: 2, buffers: heap,
		sizes: []int{8, kib, 64 * kib, mib, 16 * mib}, ops: pingpong})
	all = append(all, networkCases()...)
	for _, ranks := range report.CrowdedRanks {
		all = append(all, benchCase{name: fmt.Sprintf("crowd-%d", ranks), program: collective, ranks: ranks,
			buffers: heap, sizes: []int{8}, ops: sum})
	}
	return append(all,
		benchCase{name: "launch", program: idle, ranks: report.LaunchRanks},
		benchCase{name: "memory", program: idle, ranks: report.LaunchRanks, memory: true})
}

var pingpong = []string{"pingpong"}

// networkCases have smaller batches: an operation takes a thousand times as long as
// over shared memory.
func networkCases() []benchCase {
	heap := []string{report.Heap}
	over := func(name string, p program, divide int, sizes []int, ops ...string) benchCase {
		return benchCase{name: name, program: p, ranks: 2, buffers: heap, network: true, divide: divide, sizes: sizes, ops: ops}
	}
	messages := over("tcp-p2p", twoSided, 4, []int{8, 64 * kib, mib, 16 * mib}, pingpong...)
	messages.bare = true
	return []benchCase{
		over("tcp-rma-small", oneSided, 10, []int{8}, "put", "get", "fetch_add", "fence"),
		over("tcp-rma-large", oneSided, 0, []int{mib, 16 * mib}, "put", "get"),
		over("tcp-coll-small", collective, 5, []int{8}, "barrier", "allreduce_f64"),
		over("tcp-coll-large", collective, 0, []int{mib, 16 * mib}, "allreduce_f64"),
		messages,
	}
}

func caseNames() []string {
	var names []string
	for _, c := range cases() {
		names = append(names, c.name)
	}
	return names
}

// chosen are the cases that the command line asks for.
func (o options) chosen() []benchCase {
	return slices.DeleteFunc(cases(), func(c benchCase) bool {
		return len(o.only) > 0 && !slices.Contains(o.only, c.name)
	})
}

// args are the program's arguments, which all contenders share.
func (c benchCase) args(o options) []string {
	if c.program == idle {
		if c.memory {
			return []string{"--memory"}
		}
		return nil
	}
	sizes := make([]string, len(c.sizes))
	for i, size := range c.sizes {
		sizes[i] = strconv.Itoa(size)
	}
	args := []string{"--ops=" + strings.Join(c.ops, ","), "--sizes=" + strings.Join(sizes, ","), fmt.Sprintf("--batches=%d", o.batches)}
	if divide := max(o.divide, c.divide); divide > 0 {
		args = append(args, fmt.Sprintf("--divide=%d", divide))
	}
	return args
}

// results is how many a run must print, with buffers of so many kinds.
func (c benchCase) results(kinds int) int {
	if c.program == idle {
		if c.memory {
			return 1
		}
		return 0
	}
	n := 0
	for _, op := range c.ops {
		switch op {
		case "put", "get", "allreduce_f64", "pingpong":
			n += len(c.sizes) * kinds
		case "lock_put_unlock":
			n += kinds
		default:
			n++
		}
	}
	return n
}
