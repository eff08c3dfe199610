package ops

import (
	"github.com/lathe-gpu/lathe/spec"
)

// productGradients sets the gradients of inputs 0 and 1 of op(a)·op(b), of which dy is the gradient.
func productGradients(t *spec.Tape, dy spec.Value, transA, transB bool) {
	if dy == spec.NoValue {
		return
	}
	a, b := t.In(0), t.In(1)
	rows, matrix, shape := len(t.Shape(a)), len(t.Shape(b)), t.Shape(dy)
	if t.Needs(0) {
		if transA {
			t.SetGradient(0, t.Call(MatMul{TransA: transB, TransB: true}, b, dy))
		} else {
			t.SetGradient(0, t.Call(MatMul{TransB: !transB}, dy, b))
		}
	}
	if !t.Needs(1) {
		return
	}
	// One matrix for a whole batch: the batch are further rows, so that no product for each is summed.
	if matrix == 2 && rows > 2 && !transA {
		n := 1 // No -1 is left to the reshape, because there may be no elements.
		for _, d := range shape[:len(shape)-1] {
			n *= d
		}
		dy = t.Reshape(dy, n, shape[len(shape)-1])
		a = t.Reshape(a, n, t.Shape(a)[rows-1])
	}
	if transB {
		t.SetGradient(1, t.Call(MatMul{TransA: true, TransB: transA}, dy, a))
	} else {
		t.SetGradient(1, t.Call(MatMul{TransA: !transA}, a, dy))
	}
}

// swapped is the order of n dimensions with the last two exchanged.
func swapped(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if n > 1 {
		order[n-2], order[n-1] = n-1, n-2
	}
	return order
}

// triangle is the gradient of a triangular matrix a in op(a)·b, or in b·op(a) if a is to the right, of which dy is the gradient.
func triangle(t *spec.Tape, dy, b spec.Value, right, upper, trans, unit bool) spec.Value {
	first, second := dy, b // dy·bᵀ
	if right != trans {
		first, second = b, dy
	}
	product := MatMul{TransB: true}
	if right {
		product = MatMul{TransA: true} // bᵀ·dy
	}
	diagonal := 0
	switch {
	case unit && upper:
		diagonal = 1
	case unit:
		diagonal = -1
	}
	return t.Call(Trilu{Lower: !upper, K: diagonal}, t.Call(product, first, second))
}
