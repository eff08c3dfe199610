package quantisation

import "github.com/lathe-gpu/lathe/tensor"

// place is a row of a, or a column of b, of a matrix of them.
type place struct{ matrix, line int }

// perLine returns a function that finds the number of a row or a column in h, where matrices have that many. Without h, or
// if it is empty, numbers are 0.
func perLine(h *tensor.Host, count int) func(place) float64 {
	if h == nil || h.Elems() == 0 {
		return func(place) float64 { return 0 }
	}
	v := h.Floats()
	return func(p place) float64 {
		switch {
		case len(v) == 1:
			return v[0]
		case len(h.Shape) == 1:
			return v[p.line]
		}
		return v[p.matrix*count+p.line]
	}
}

// integerProducts returns what result makes of the elements of the product of two factors, which are integers of 32 bits that
// wrap, and of the row and the column they come from.
func integerProducts(shape []int, a, b, aZero, bZero *tensor.Host, result func(sum float64, row, column place) float64) []float64 {
	m, n, k := shape[len(shape)-2], shape[len(shape)-1], a.Shape[len(a.Shape)-1]
	left, right := a.Floats(), b.Floats()
	zeroOf := perLine(aZero, m)
	for i := range left {
		left[i] -= zeroOf(place{i / k / m, i / k % m})
	}
	zeroOf = perLine(bZero, n)
	for i := range right {
		right[i] -= zeroOf(place{i / n / k, i % n})
	}
	batch, count := shape[:len(shape)-2], 1
	for _, d := range batch {
		count *= d
	}
	// matrixOf is the number of the matrix of an operand that matrix i of the result comes from.
	matrixOf := func(i int, own []int) int {
		at, step := 0, 1
		for d := len(batch) - 1; d >= len(batch)-len(own); d-- {
			size := own[d-len(batch)+len(own)]
			if size > 1 {
				at += i % batch[d] * step
			}
			step *= size
			i /= batch[d]
		}
		return at
	}
	var out []float64
	for i := range count {
		x, y := matrixOf(i, a.Shape[:len(a.Shape)-2]), matrixOf(i, b.Shape[:len(b.Shape)-2])
		for row := range m {
			for column := range n {
				sum := 0.0 // Products of integers of 9 bits are exact, and so are sums of 2^35 of them.
				for j := range k {
					sum += left[(x*m+row)*k+j] * right[(y*k+j)*n+column]
				}
				out = append(out, result(float64(int32(int64(sum))), place{x, row}, place{y, column}))
			}
		}
	}
	return out
}
