package gemm

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Tile returns the size of the part of an m × n product that one workgroup computes, and how much of k is
// summed in one go, for the kernels that a target has for contiguous matrices of F32. No size is larger
// than that of the product, which is not empty.
func Tile(t *spec.Target, m, n, k int) (rows, cols, depth int) {
	in := []tensor.Desc{tensor.Contiguous(tensor.F32, m, k), tensor.Contiguous(tensor.F32, k, n)}
	g, _, _ := transposes{}.product(t, &spec.Plan{}, in, tensor.Contiguous(tensor.F32, m, n))
	tile := g.tile()
	rows, cols = tile.rows, tile.cols
	if g.swapped() {
		rows, cols = cols, rows
	}
	return min(rows, m), min(cols, n), planner.CeilDiv(k, g.parts)
}
