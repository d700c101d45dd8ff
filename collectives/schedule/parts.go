package schedule

// span is a range of elements: n of them from off on.
type span struct{ off, n int }

// part is the p-th of size nearly equal parts of count elements: the first
// count%size parts have one element more.
func part(p, size, count int) span {
	base, more := count/size, count%size
	if p < more {
		return span{p * (base + 1), base + 1}
	}
	return span{p*base + more, base}
}

// chunks is the number of chunks of at most chunk elements in s; with chunk 0, s
// is one chunk.
func (s span) chunks(chunk int) int {
	switch {
	case s.n == 0:
		return 0
	case chunk == 0:
		return 1
	default:
		return (s.n + chunk - 1) / chunk
	}
}

// chunk is the c-th chunk of s, empty past its end.
func (s span) chunk(c, chunk int) span {
	if c < 0 || c >= s.chunks(chunk) {
		return span{}
	}
	if chunk == 0 {
		return s
	}
	off := c * chunk
	return span{s.off + off, min(chunk, s.n-off)}
}
