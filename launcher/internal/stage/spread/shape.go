// Package spread decides who passes what is sent on to whom, and what is done when a
// host on the way is lost, fails, or is slow. It is pure.
package spread

// MaxChain is how many hosts are reached one behind the other. With more, every
// host passes on to two: each then gets half of what a link carries, but the last
// is log2(n) hosts away instead of n.
//
// A chain takes size/rate + n*hop, the tree 2*size/rate + log2(n)*hop. A hop costs
// 2 ms, most of it for connecting; so for 20 MB at 1 Gbit/s, which take 160 ms, the
// chain is ahead up to 80 hosts, at 10 Gbit/s up to 8, where either takes less than
// 0.1 s. Beyond 32 hosts what a chain gains is also what one slow host in it costs.
const MaxChain = 32

// MaxDepth is more than any plan is deep.
const MaxDepth = 64

// Shape plans for n hosts. The host at position i is sent to by the one at
// position Shape(n)[i], which is less than i, or by the sender if it is -1.
func Shape(n int) []int {
	parents := make([]int, n)
	for i := range parents {
		if n <= MaxChain {
			parents[i] = i - 1
		} else {
			parents[i] = i/2 - 1 // 0 and 1 are the sender's
		}
	}
	return parents
}

// Subtree returns the positions below and including head, in order, and their
// plan: parents as positions in the subtree, -1 for head.
func Subtree(parents []int, head int) (members, plan []int) {
	at := map[int]int{head: 0}
	members, plan = []int{head}, []int{-1}
	for i := head + 1; i < len(parents); i++ {
		if p, in := at[parents[i]]; in {
			at[i] = len(members)
			members, plan = append(members, i), append(plan, p)
		}
	}
	return members, plan
}

// Heads are the positions whose parent is given; -1: the sender's.
func Heads(parents []int, parent int) []int {
	var heads []int
	for i, p := range parents {
		if p == parent {
			heads = append(heads, i)
		}
	}
	return heads
}

// Valid reports whether parents is a plan with one head, at position 0.
func Valid(parents []int) bool {
	depth := make([]int, len(parents))
	for i, p := range parents {
		switch {
		case i == 0:
			if p != -1 {
				return false
			}
		case p < 0 || p >= i || depth[p]+1 >= MaxDepth:
			return false
		default:
			depth[i] = depth[p] + 1
		}
	}
	return len(parents) > 0
}
