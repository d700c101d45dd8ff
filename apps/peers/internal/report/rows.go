package report

import "fmt"

// Where this project's buffers lie in a row. The peers' are always malloc's.
const (
	Arena = "arena" // memory of arena.Alloc, or the window's own
	Heap  = "heap"
)

// A Row is one line of the comparison: a figure of each contender, and what this
// project must reach.
type Row struct {
	Group   string
	Label   string
	Op      string
	Bytes   int64
	Ranks   int
	Buffers string  // this project's
	AtMost  float64 // of the best peer; 0 where nothing is required
	Limit   int64   // bytes, for PrivateMemory
}

// The groups of rows, in their order.
const (
	oneSided   = "One-sided, 2 ranks"
	together   = "Synchronisation, 2 ranks"
	reductions = "Allreduce of float64 sums, 2 ranks"
	crowded    = "Allreduce with more ranks than cores"
	starting   = "Launch, join, barrier, exit"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// LaunchRanks is how many ranks the launch benchmark starts.
const LaunchRanks = 32

// CrowdedRanks are the ranks of the oversubscribed Allreduces.
var CrowdedRanks = []int{8, 16}

// Rows returns every line of the comparison.
func Rows() []Row {
	var rows []Row
	rows = append(rows, transferRows()...)
	rows = append(rows,
		Row{oneSided, "fetch_add", "fetch_add", 8, 2, Arena, 0.25, 0},
		Row{together, "lock, put 8 B, unlock", "lock_put_unlock", 8, 2, Heap, 0.5, 0},
		Row{together, "fence", "fence", 0, 2, Arena, 0.5, 0},
		Row{together, "barrier", "barrier", 0, 2, Arena, 0.5, 0})
	rows = append(rows, allreduceRows()...)
	for _, ranks := range CrowdedRanks {
		rows = append(rows, Row{crowded, fmt.Sprintf("allreduce 8 B, %d ranks", ranks), "allreduce_f64", 8, ranks, Heap, 0.5, 0})
	}
	return append(rows,
		Row{starting, fmt.Sprintf("%d ranks, whole command", LaunchRanks), Launch, 0, LaunchRanks, "", 0.15, 0},
		Row{starting, fmt.Sprintf("private memory of a rank, %d ranks", LaunchRanks), PrivateMemory, 0, LaunchRanks, "", 0, 64 * 1000 * 1000})
}

// transferRows has put and get side by side, size by size.
func transferRows() []Row {
	var rows []Row
	for _, size := range []struct {
		bytes  int64
		name   string
		atMost float64
	}{{8, "8 B", 0.25}, {kib, "1 KiB", 0}, {64 * kib, "64 KiB", 1.05}, {mib, "1 MiB", 1.05}, {16 * mib, "16 MiB", 1.05}} {
		for _, op := range []string{"put", "get"} {
			rows = append(rows, Row{oneSided, op + " " + size.name, op, size.bytes, 2, Heap, size.atMost, 0})
		}
	}
	return rows
}

func allreduceRows() []Row {
	var rows []Row
	for _, r := range []struct {
		bytes   int64
		name    string
		buffers string
		atMost  float64
	}{
		{8, "8 B", Heap, 0.6}, {kib, "1 KiB", Heap, 0.6},
		{64 * kib, "64 KiB", Arena, 0.4}, {64 * kib, "64 KiB", Heap, 0},
		{mib, "1 MiB", Arena, 0.4}, {mib, "1 MiB", Heap, 0},
		{16 * mib, "16 MiB", Arena, 0.5}, {16 * mib, "16 MiB", Heap, 0.8},
		{64 * mib, "64 MiB", Arena, 0.5}, {64 * mib, "64 MiB", Heap, 0.8},
	} {
		rows = append(rows, Row{reductions, "allreduce " + r.name + ", " + r.buffers, "allreduce_f64", r.bytes, 2, r.buffers, r.atMost, 0})
	}
	return rows
}
