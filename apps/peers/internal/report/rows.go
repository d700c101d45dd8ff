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
	Network bool    // over TCP on the loopback interface, each rank on a host of its own
	Bare    bool    // AtMost is of bare system calls, not of the best peer
}

// The groups of rows, in their order.
const (
	oneSided   = "One-sided, 2 ranks"
	together   = "Synchronisation, 2 ranks"
	reductions = "Allreduce of float64 sums, 2 ranks"
	crowded    = "Allreduce with more ranks than cores"
	starting   = "Launch, join, barrier, exit"
	messages   = "Messages, 2 ranks, half a round trip"
	apart      = "Between hosts: TCP on the loopback interface, 2 ranks"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// LaunchRanks is how many ranks the launch benchmark starts.
const LaunchRanks = 32

// CrowdedRanks are the ranks of the oversubscribed Allreduces.
var CrowdedRanks = []int{8, 16}

func row(group, label, op string, bytes int64, ranks int, buffers string, atMost float64) Row {
	return Row{Group: group, Label: label, Op: op, Bytes: bytes, Ranks: ranks, Buffers: buffers, AtMost: atMost}
}

// Rows returns every line of the comparison.
func Rows() []Row {
	var rows []Row
	rows = append(rows, transferRows()...)
	rows = append(rows,
		row(oneSided, "fetch_add", "fetch_add", 8, 2, Arena, 0.25),
		row(together, "lock, put 8 B, unlock", "lock_put_unlock", 8, 2, Heap, 0.5),
		row(together, "fence", "fence", 0, 2, Arena, 0.5),
		row(together, "barrier", "barrier", 0, 2, Arena, 0.5))
	rows = append(rows, allreduceRows()...)
	for _, ranks := range CrowdedRanks {
		rows = append(rows, row(crowded, fmt.Sprintf("allreduce 8 B, %d ranks", ranks), "allreduce_f64", 8, ranks, Heap, 0.5))
	}
	rows = append(rows, messageRows()...)
	rows = append(rows, networkRows()...)
	privateMemory := row(starting, fmt.Sprintf("private memory of a rank, %d ranks", LaunchRanks), PrivateMemory, 0, LaunchRanks, "", 0)
	privateMemory.Limit = 64 * 1000 * 1000
	return append(rows,
		row(starting, fmt.Sprintf("%d ranks, whole command", LaunchRanks), Launch, 0, LaunchRanks, "", 0.15),
		privateMemory)
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
			rows = append(rows, row(oneSided, op+" "+size.name, op, size.bytes, 2, Heap, size.atMost))
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
		rows = append(rows, row(reductions, "allreduce "+r.name+", "+r.buffers, "allreduce_f64", r.bytes, 2, r.buffers, r.atMost))
	}
	return rows
}

// messageRows are ping-pongs over shared memory.
func messageRows() []Row {
	var rows []Row
	for _, size := range []struct {
		bytes  int64
		name   string
		atMost float64
	}{{8, "8 B", 0.8}, {kib, "1 KiB", 0}, {64 * kib, "64 KiB", 0.7}, {mib, "1 MiB", 0.7}, {16 * mib, "16 MiB", 0.7}} {
		rows = append(rows, row(messages, "ping-pong "+size.name, "pingpong", size.bytes, 2, Heap, size.atMost))
	}
	return rows
}

// networkRows are operations between ranks that share no memory.
func networkRows() []Row {
	var rows []Row
	add := func(label, op string, bytes int64, buffers string, atMost float64) {
		r := row(apart, label, op, bytes, 2, buffers, atMost)
		r.Network = true
		rows = append(rows, r)
	}
	add("TCP put + flush 8 B", "put", 8, Heap, 0.9)
	add("TCP get 8 B", "get", 8, Heap, 0)
	add("TCP fetch_add", "fetch_add", 8, Arena, 0.9)
	add("TCP fence", "fence", 0, Arena, 0.9)
	add("TCP barrier", "barrier", 0, Arena, 0.9)
	add("TCP allreduce 8 B", "allreduce_f64", 8, Heap, 0.9)
	add("TCP ping-pong 8 B", "pingpong", 8, Heap, 0.95)
	add("TCP ping-pong 8 B, beside bare calls", "pingpong", 8, Heap, 1.15)
	rows[len(rows)-1].Bare = true
	add("TCP ping-pong 64 KiB", "pingpong", 64*kib, Heap, 0)
	for _, size := range []struct {
		bytes int64
		name  string
	}{{mib, "1 MiB"}, {16 * mib, "16 MiB"}} {
		add("TCP put "+size.name, "put", size.bytes, Heap, 0.8)
		add("TCP get "+size.name, "get", size.bytes, Heap, 0.8)
		add("TCP ping-pong "+size.name, "pingpong", size.bytes, Heap, 0.8)
		add("TCP allreduce "+size.name, "allreduce_f64", size.bytes, Heap, 0.8)
	}
	return rows
}
