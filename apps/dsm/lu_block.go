package main

// The arithmetic of lu on blocks, row by row. Products are converted so that they
// are not fused, here or there, with sums.

// startBlock fills block (i, k) of a matrix of n rows: small numbers, and a diagonal that
// outweighs its row.
func startBlock(block []float64, i, k, n int) {
	for at := range block {
		row, col := i*side+at/side, k*side+at%side
		h := uint32(row*n+col)*2654435761 + 12345
		block[at] = float64(h>>8) / (1 << 24)
		if row == col {
			block[at] += float64(n)
		}
	}
}

// factorise makes a block its own two triangles. The lower one has ones on its diagonal,
// which are not stored.
func factorise(a []float64) {
	for k := range side {
		for i := k + 1; i < side; i++ {
			a[i*side+k] /= a[k*side+k]
			subtractRow(a[i*side+k+1:(i+1)*side], a[k*side+k+1:(k+1)*side], a[i*side+k])
		}
	}
}

// divideRight multiplies a with the inverse of the upper triangle of diagonal, from the
// right.
func divideRight(a, diagonal []float64) {
	for i := range side {
		row := a[i*side:][:side]
		for k := range side {
			row[k] /= diagonal[k*side+k]
			subtractRow(row[k+1:], diagonal[k*side+k+1:(k+1)*side], row[k])
		}
	}
}

// divideLeft multiplies a with the inverse of the lower triangle of diagonal, from the
// left.
func divideLeft(a, diagonal []float64) {
	for k := range side {
		for i := k + 1; i < side; i++ {
			subtractRow(a[i*side:][:side], a[k*side:][:side], diagonal[i*side+k])
		}
	}
}

// subtractProduct subtracts left times right from a.
func subtractProduct(a, left, right []float64) {
	for i := range side {
		row := a[i*side:][:side]
		for k, factor := range left[i*side:][:side] {
			subtractRow(row, right[k*side:][:side], factor)
		}
	}
}

// subtractRow subtracts factor times src from dst.
func subtractRow(dst, src []float64, factor float64) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] -= float64(factor * v)
	}
}
