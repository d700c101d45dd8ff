package relay

import (
	"fmt"
	"io"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/tree"
)

// What a launch costs a host in the tree, for docs/launch-tree.md and simulations.
// depth is how many links are between the host and the root.

func chain(depth int) (places []tree.Place) {
	for i := range depth {
		places = append(places, tree.Place{Parent: i - 1})
	}
	return places
}

// A message to a host and its answer: the difference between two depths is two hops.
func BenchmarkRoundTrip(b *testing.B) {
	for depth := 1; depth <= 4; depth++ {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			f := plant(b, deadline, chain(depth))
			host, node := f.hosts[depth-1], f.nodes[depth-1]
			go io.Copy(node, node)
			message, answer := make([]byte, 64), make([]byte, 64)
			for b.Loop() {
				host.Write(message)
				if _, err := io.ReadFull(host, answer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Messages of a host pass others on their way to the root.
func BenchmarkRelayed(b *testing.B) {
	for _, size := range []int{64, 4096} {
		for depth := 1; depth <= 2; depth++ {
			b.Run(fmt.Sprintf("bytes=%d/depth=%d", size, depth), func(b *testing.B) {
				f := plant(b, deadline, chain(depth))
				host, node := f.hosts[depth-1], f.nodes[depth-1]
				const window = 1 << 20 // what is under way: credit bounds it in a job
				b.SetBytes(int64(size))
				message, sent, read := make([]byte, size), 0, 0
				buf := make([]byte, window)
				for b.Loop() {
					node.Write(message)
					for sent += size; sent-read > window; {
						n, err := host.Read(buf)
						if err != nil {
							b.Fatal(err)
						}
						read += n
					}
				}
				for read < sent {
					n, err := host.Read(buf)
					if err != nil {
						b.Fatal(err)
					}
					read += n
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			})
		}
	}
}

// One message to all, until the last of them has it: 64 bytes, 8 hosts to each.
func BenchmarkSendAll(b *testing.B) {
	for _, hosts := range []int{8, 24, 72} {
		b.Run(fmt.Sprint("hosts=", hosts), func(b *testing.B) {
			f := plant(b, deadline, tree.Topology(hosts, tree.Arity))
			message := make([]byte, 64)
			got := make([]byte, 64)
			for b.Loop() {
				f.root.SendAll(message)
				for _, n := range f.nodes {
					if _, err := io.ReadFull(n, got); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*hosts), "ns/host")
		})
	}
}

// A host attaches, says something, and leaves: what joining costs both ends together,
// without the start of a process.
func BenchmarkJoin(b *testing.B) {
	for depth := 1; depth <= 2; depth++ {
		b.Run(fmt.Sprint("depth=", depth), func(b *testing.B) {
			f := plant(b, deadline, chain(depth-1))
			parents := []string{f.root.Addr().String()}
			for _, n := range f.nodes {
				parents = append([]string{n.Addr()}, parents...)
			}
			for b.Loop() {
				n, err := NewNode("", key)
				if err != nil {
					b.Fatal(err)
				}
				if err := n.Join(b.Context(), parents); err != nil {
					b.Fatal(err)
				}
				n.Write([]byte("hello"))
				h, err := f.root.Accept()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(h, make([]byte, 5)); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				h.Close()
				n.Close()
				b.StartTimer()
			}
		})
	}
}
