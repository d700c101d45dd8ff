package main

// serial computes the whole plate in this process: what the ranks must find too,
// bit for bit.
func serial(p plate, steps int) []float64 {
	n := p.n
	now, next := make([]float64, n*n), make([]float64, n*n)
	spans := make([][]span, n)
	for row := range n {
		spans[row] = p.held(row)
		start(now[row*n:(row+1)*n], spans[row])
	}
	copy(next, now[:n])             // the rim above
	copy(next[n*n-n:], now[n*n-n:]) // and below
	for range steps {
		for row := 1; row < n-1; row++ {
			at := row * n
			relax(next[at:at+n], now[at-n:at], now[at:at+n], now[at+n:at+2*n], spans[row])
		}
		now, next = next, now
	}
	return now
}
