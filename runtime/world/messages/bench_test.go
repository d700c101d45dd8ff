package messages

import (
	"fmt"
	"testing"
)

// BenchmarkSendRecv is all that software does for a message: both ranks are the
// same goroutine, and no cache line travels.
func BenchmarkSendRecv(b *testing.B) {
	for _, n := range []int{8, 1024} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			ranks := newRanks(b, ways["copy"], 2)
			buf, ctx := make([]byte, n), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				if err := ranks[0].box.Send(ctx, 1, 3, buf); err != nil {
					b.Fatal(err)
				}
				if _, err := ranks[1].box.Recv(ctx, 0, 3, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
