package schedule

// none stands for "no step": what adding a step of no elements gives, and what
// is left out of a list of dependencies.
const none = -1

// builder gathers the steps of one rank. Steps of no elements are dropped, so a
// schedule for zero elements has no steps at all.
type builder struct {
	Schedule
	deps []int // backing of the After lists
}

func newBuilder(rank, size, in, out int) *builder {
	return &builder{Schedule: Schedule{Rank: rank, Size: size, In: in, Out: out, InAt: NoAlias}}
}

// temp reserves n more elements of Temp.
func (b *builder) temp(n int) Ref {
	r := Ref{Temp, b.Temp}
	b.Temp += n
	return r
}

// add appends a step and returns its index, or none if it has no elements.
func (b *builder) add(s Step, after []int) int {
	if s.Len == 0 {
		return none
	}
	s.After = b.after(after)
	b.Steps = append(b.Steps, s)
	return len(b.Steps) - 1
}

// after keeps the real steps among the given ones, each once.
func (b *builder) after(steps []int) []int {
	start := len(b.deps)
	for _, s := range steps {
		if s != none && !contains(b.deps[start:], s) {
			b.deps = append(b.deps, s)
		}
	}
	return b.deps[start:len(b.deps):len(b.deps)]
}

func contains(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

func (b *builder) send(peer int, from Ref, n int, after ...int) int {
	return b.add(Step{Kind: Send, Peer: peer, From: from, Len: n}, after)
}

func (b *builder) recv(peer int, into Ref, n int, after ...int) int {
	return b.add(Step{Kind: Recv, Peer: peer, Into: into, Len: n}, after)
}

// recvReduce: into = from op received.
func (b *builder) recvReduce(peer int, into, from Ref, n int, after ...int) int {
	return b.add(Step{Kind: RecvReduce, Peer: peer, Into: into, From: from, Len: n}, after)
}

// recvReduceLeft: into = received op from.
func (b *builder) recvReduceLeft(peer int, into, from Ref, n int, after ...int) int {
	return b.add(Step{Kind: RecvReduce, Left: true, Peer: peer, Into: into, From: from, Len: n}, after)
}

func (b *builder) copy(into, from Ref, n int, after ...int) int {
	return b.add(Step{Kind: Copy, Into: into, From: from, Len: n}, after)
}

// reduce: into = left op right.
func (b *builder) reduce(into, left, right Ref, n int, after ...int) int {
	return b.add(Step{Kind: Reduce, Into: into, From: left, With: right, Len: n}, after)
}
