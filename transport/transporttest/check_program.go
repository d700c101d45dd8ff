package transporttest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
)

var programChecks = []check{
	{"random programs leave the same memory through Conn, mapped memory, both at once, and the model", 4, randomPrograms},
}

// seedVariable repeats a run: the seed is in its log.
const seedVariable = "GOLAUNCH_TEST_SEED"

// Seed returns the seed of a randomised test, and logs it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("%s=%d repeats this run", seedVariable, seed)
	return seed
}

const programSteps = 400

func randomPrograms(t *testing.T, nodes []*node) {
	start(nodes...)
	random := rand.New(rand.NewPCG(Seed(t), 1))
	for range 3 {
		programs := make([][]step, len(nodes))
		for origin := range programs {
			programs[origin] = drawProgram(random, len(nodes), programSteps)
		}
		comparePrograms(t, nodes, programs)
	}
}

// comparePrograms runs the same programs in every way, the origins at once.
func comparePrograms(t *testing.T, nodes []*node, programs [][]step) {
	memory, digests := runModel(t, programs)
	for name, choose := range waysOf(nodes) {
		regions := shareRegions(t, nodes)
		got := make([]uint64, len(nodes))
		parallel(t, len(nodes), func(origin int) (err error) {
			w, err := choose(nodes[origin], regions)
			if err != nil {
				return err
			}
			if got[origin], err = execute(w, origin, programs[origin]); err != nil {
				return err
			}
			return flushAll(nodes[origin])
		})
		for rank := range nodes {
			compareRank(t, name, rank, nodes[rank], regions[rank], memory[rank], got[rank], digests[rank])
		}
	}
}

func runModel(t *testing.T, programs [][]step) (plainWay, []uint64) {
	memory, digests := make(plainWay, len(programs)), make([]uint64, len(programs))
	for rank := range memory {
		memory[rank] = make([]byte, regionBytes(len(programs)))
	}
	for origin, program := range programs {
		digest, err := execute(memory, origin, program)
		ok(t, err)
		digests[origin] = digest
	}
	return memory, digests
}

// compareRank reads a rank's memory through its connection to itself.
func compareRank(t *testing.T, name string, rank int, n *node, s shared, want []byte, digest, wantDigest uint64) {
	t.Helper()
	got := make([]byte, len(want))
	ok(t, n.get(rank, got, s.remote))
	if !bytes.Equal(got, want) {
		t.Errorf("%s: memory of rank %d differs from the model at byte %d", name, rank, mismatch(got, want))
	}
	if digest != wantDigest {
		t.Errorf("%s: origin %d has read other values than the model", name, rank)
	}
}

func shareRegions(t *testing.T, nodes []*node) []shared {
	regions := make([]shared, len(nodes))
	for rank, n := range nodes {
		var err error
		regions[rank], err = n.share(regionBytes(len(nodes)))
		ok(t, err)
	}
	return regions
}

func flushAll(n *node) error {
	for target := range n.conns {
		if err := n.flush(target); err != nil {
			return err
		}
	}
	return nil
}

type chooseWay func(n *node, regions []shared) (way, error)

// waysOf returns how the endpoints can carry out a program: mapped memory only
// where there is a Mapper.
func waysOf(nodes []*node) map[string]chooseWay {
	byConn := func(n *node, regions []shared) (way, error) { return connWay{n, regions}, nil }
	ways := map[string]chooseWay{"Conn": byConn}
	if _, has := nodes[0].endpoint.(transport.Mapper); has {
		ways["mapped memory"] = mapAll
		ways["both at once"] = func(n *node, regions []shared) (way, error) {
			if n.rank%2 == 0 {
				return mapAll(n, regions)
			}
			return byConn(n, regions)
		}
	}
	return ways
}

func mapAll(n *node, regions []shared) (way, error) {
	w := make(mappedWay, len(regions))
	for rank, s := range regions {
		mem, mapped := n.endpoint.(transport.Mapper).Map(rank, s.remote)
		if !mapped {
			return nil, fmt.Errorf("rank %d: the region of rank %d is not mapped", n.rank, rank)
		}
		w[rank] = mem
	}
	return w, nil
}
