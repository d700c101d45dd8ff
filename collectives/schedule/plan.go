package schedule

import "fmt"

// Algorithm names one way to carry out one collective.
type Algorithm uint8

// The algorithms, each in the file of its name; those of two levels in one.
const (
	BarrierDissemination Algorithm = iota
	BcastBinomial
	BcastChain
	ReduceBinomial
	ReduceScatterGather
	AllreduceRecursiveDoubling
	AllreduceReduceScatterAllgather
	GatherDirect
	AllgatherRing
	AllreduceTwoLevel
	BcastTwoLevel
	ReduceTwoLevel
	algorithms // how many there are
)

// table has what is known of each algorithm. rooted, chunked, hosted: the plan's
// Root, Chunk, Hosts counts.
var table = [algorithms]struct {
	name                    string
	rooted, chunked, hosted bool
	build                   func(p Plan, rank int) Schedule
}{
	BarrierDissemination:            {"barrier_dissemination", false, false, false, barrierDissemination},
	BcastBinomial:                   {"bcast_binomial", true, false, false, bcastBinomial},
	BcastChain:                      {"bcast_chain", true, true, false, bcastChain},
	ReduceBinomial:                  {"reduce_binomial", true, false, false, reduceBinomial},
	ReduceScatterGather:             {"reduce_scatter_gather", true, true, false, reduceScatterGather},
	AllreduceRecursiveDoubling:      {"allreduce_recursive_doubling", false, false, false, allreduceRecursiveDoubling},
	AllreduceReduceScatterAllgather: {"allreduce_reduce_scatter_allgather", false, true, false, allreduceReduceScatterAllgather},
	GatherDirect:                    {"gather_direct", true, false, false, gatherDirect},
	AllgatherRing:                   {"allgather_ring", false, false, false, allgatherRing},
	AllreduceTwoLevel:               {"allreduce_two_level", false, true, true, allreduceTwoLevel},
	BcastTwoLevel:                   {"bcast_two_level", true, true, true, bcastTwoLevel},
	ReduceTwoLevel:                  {"reduce_two_level", true, true, true, reduceTwoLevel},
}

// Algorithms lists every algorithm.
func Algorithms() []Algorithm {
	var all []Algorithm
	for a := range algorithms {
		all = append(all, a)
	}
	return all
}

// String is the algorithm's name, which is also its file's.
func (a Algorithm) String() string {
	if a >= algorithms {
		return fmt.Sprintf("algorithm %d", uint8(a))
	}
	return table[a].name
}

// Rooted tells whether the algorithm has a root.
func (a Algorithm) Rooted() bool { return table[a].rooted }

// Chunked tells whether the algorithm cuts its messages into chunks.
func (a Algorithm) Chunked() bool { return table[a].chunked }

// Hosted tells whether the algorithm looks at where the ranks are.
func (a Algorithm) Hosted() bool { return table[a].hosted }

// Plan is all that a schedule depends on, beside the rank. Plans are comparable.
type Plan struct {
	Algorithm Algorithm
	Size      int // ranks of the communicator, at least 1
	Root      int // rank of the root; 0 where there is none
	// Count is the number of elements: of the buffer of Bcast, Reduce and
	// Allreduce, and of one rank's contribution to Gather and Allgather. A barrier
	// has none of its own and passes one element.
	Count int
	Chunk int // elements of a chunk; 0 does not cut
	Hosts Hosts
}

// Schedule gives the rank's schedule, or an error if the plan or the rank make no sense.
func (p Plan) Schedule(rank int) (Schedule, error) {
	if err := p.valid(rank); err != nil {
		return Schedule{}, err
	}
	return table[p.Algorithm].build(p, rank), nil
}

// All gives every rank's schedule.
func (p Plan) All() ([]Schedule, error) {
	var all []Schedule
	for rank := range max(p.Size, 1) {
		s, err := p.Schedule(rank)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (p Plan) valid(rank int) error {
	switch {
	case p.Algorithm >= algorithms:
		return fmt.Errorf("schedule: unknown %v", p.Algorithm)
	case p.Size < 1:
		return fmt.Errorf("schedule: %v for %d ranks", p.Algorithm, p.Size)
	case rank < 0 || rank >= p.Size:
		return fmt.Errorf("schedule: %v: rank %d outside 0..%d", p.Algorithm, rank, p.Size-1)
	case p.Root < 0 || p.Root >= p.Size:
		return fmt.Errorf("schedule: %v: root %d outside 0..%d", p.Algorithm, p.Root, p.Size-1)
	case p.Hosts != "" && len(p.hosts()) != p.Size:
		return fmt.Errorf("schedule: %v: the hosts of %d ranks, not of %d", p.Algorithm, len(p.hosts()), p.Size)
	case p.Count < 0 || p.Chunk < 0:
		return fmt.Errorf("schedule: %v: %d elements in chunks of %d", p.Algorithm, p.Count, p.Chunk)
	}
	return nil
}

// relative is the rank's distance from the root, around the ring of ranks.
func (p Plan) relative(rank int) int { return (rank - p.Root + p.Size) % p.Size }

// absolute is the rank at that distance from the root.
func (p Plan) absolute(relative int) int { return (relative + p.Root) % p.Size }
