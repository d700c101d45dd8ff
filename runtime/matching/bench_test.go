package matching

import (
	"fmt"
	"testing"
)

// BenchmarkPosted matches a message to one of many posted receives, and posts it
// again.
func BenchmarkPosted(b *testing.B) {
	for _, posted := range []int{1, 100, 10000} {
		for _, wild := range []bool{false, true} {
			b.Run(fmt.Sprintf("receives=%d/wild=%v", posted, wild), func(b *testing.B) {
				m := New[*int, *int]()
				for i := range posted {
					m.Post(Envelope{Source: 1, Tag: int32(i)}, nil)
				}
				if wild {
					m.Post(Envelope{Source: AnySource, Tag: -5}, nil)
				}
				b.ReportAllocs()
				tag := int32(0)
				for b.Loop() {
					e := Envelope{Source: 1, Tag: tag}
					if _, ok := m.Arrive(e); !ok {
						b.Fatal("no match")
					}
					m.Post(e, nil)
					if tag++; int(tag) == posted {
						tag = 0
					}
				}
			})
		}
	}
}

// BenchmarkUnexpected keeps a message and takes it, among many others.
func BenchmarkUnexpected(b *testing.B) {
	for _, kept := range []int{1, 10000} {
		b.Run(fmt.Sprintf("messages=%d", kept), func(b *testing.B) {
			m := New[*int, *int]()
			for i := range kept {
				m.Keep(Envelope{Source: 1, Tag: int32(i)}, nil)
			}
			b.ReportAllocs()
			tag := int32(0)
			for b.Loop() {
				e := Envelope{Source: 1, Tag: tag}
				if _, _, ok := m.Take(e); !ok {
					b.Fatal("no match")
				}
				m.Keep(e, nil)
				if tag++; int(tag) == kept {
					tag = 0
				}
			}
		})
	}
}
