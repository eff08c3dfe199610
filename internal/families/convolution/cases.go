package convolution

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// CaseDims are the free dimensions of the cases.
var CaseDims = []spec.Dim{
	{Name: "images"}, {Name: "channels", Tiles: []int{4}}, {Name: "results", Tiles: []int{4, 32}}, {Name: "size", Tiles: []int{16}},
	{Name: "taps", Only: []int{3, 1, 2, 5}}, {Name: "axes", Only: []int{2, 1, 3}},
}

// CaseSizes are sizes at which sums end or are split, and large pictures.
var CaseSizes = [][]int{
	{1, 700, 3, 9, 3, 2}, {1, 1366, 33, 3, 3, 1}, {2, 5, 2, 70_000, 5, 1}, {1, 65_537, 1, 3, 2, 1}, {1, 3, 70_000, 2, 1, 1},
	{70_000, 1, 2, 3, 2, 1}, {3, 64, 65, 33, 3, 2}, {1, 17, 9, 12, 3, 3},
}

// mostTaps is the largest number of taps along the first of three axes, which those after it exceed by 1 each. Large cases
// have fewer.
func mostTaps(dims []int) int {
	if slices.Max(dims[:4]) > 1<<12 {
		return 1
	}
	return 2
}

// Shapes are the inputs of a convolution for sizes of CaseDims: x, w, y and the bias. y is empty
// if the attributes do not suit the sizes. Axes but the last one have at most seven elements. If pads are none along the
// first of three axes only, the taps lie in one plane.
func Shapes(a Attributes, d tensor.DType, dims []int) (x, w, y, bias tensor.Desc, ok bool) {
	rank := dims[5]
	for _, list := range [][]int{a.Strides, a.Dilations} {
		if len(list) > 0 {
			rank = len(list)
		}
	}
	if len(a.Pads) > 0 {
		rank = len(a.Pads) / 2
	}
	in, taps := extent{1, 1, 1}, extent{1, 1, 1}
	for i := 3 - rank; i < 3; i++ {
		in[i], taps[i] = min(dims[3], 4+i), min(dims[4], mostTaps(dims)+i)
	}
	in[2], taps[2] = dims[3], dims[4]
	if rank == 3 && len(a.Pads) == 6 && a.Pads[0]+a.Pads[3] == 0 && a.Pads[1] > 0 {
		taps[0] = 1
	}
	v, err := a.over(in, taps, rank)
	if err != nil {
		return x, w, y, bias, false
	}
	p := problem{window: v, channels: channels{dims[0], dims[1], dims[2]}, rank: rank}
	x, w, y = p.shapes(d)
	return x, w, y, tensor.Contiguous(d, a.Group*dims[2]), true
}

// BenchSizes are images, channels, results, size and taps of square pictures that networks have.
var BenchSizes = [][]int{{1, 16, 16, 32, 3}, {1, 64, 64, 56, 3}, {1, 256, 256, 14, 3}, {1, 256, 64, 56, 1}, {8, 64, 128, 56, 3}}

// GPUBenchSizes are those that are measured on GPUs besides BenchSizes.
var GPUBenchSizes = [][]int{{32, 256, 256, 56, 1}, {32, 256, 256, 56, 3}}

// BenchShapes returns the inputs of BenchSizes for two axes, and pads that keep the size.
func BenchShapes(d tensor.DType, s []int) (x, w, y, bias tensor.Desc, pads []int) {
	pad := s[4] / 2
	return tensor.Contiguous(d, s[0], s[1], s[3], s[3]), tensor.Contiguous(d, s[2], s[1], s[4], s[4]),
		tensor.Contiguous(d, s[0], s[2], s[3], s[3]), tensor.Contiguous(d, s[2]), []int{pad, pad, pad, pad}
}

// GradDims and GradSizes are the free dimensions of the cases whose calls say the spatial sizes.
var (
	GradDims  = []spec.Dim{{Name: "images"}, {Name: "channels", Tiles: []int{4, 32}}, {Name: "results", Tiles: []int{4}}, {Name: "taps", Only: []int{3, 1, 2, 5}}}
	GradSizes = [][]int{{2, 3, 700, 3}, {1, 33, 1366, 3}, {70_000, 1, 2, 2}, {1, 3, 65_537, 1}, {1, 20_000, 3, 2}}
)

// GradShapes are x, w and y for a size of x and sizes of GradDims.
func GradShapes(a Attributes, size []int, d tensor.DType, dims []int) (x, w, y tensor.Desc, ok bool) {
	rank := len(size)
	in, err := axes("size", size, rank, 1, 1, mostSize)
	taps := extent{1, 1, dims[3]}
	for i := 3 - rank; i < 2; i++ {
		taps[i] = min(dims[3], 1+i)
	}
	if err != nil {
		return x, w, y, false
	}
	v, err := a.over(in, taps, rank)
	if err != nil {
		return x, w, y, false
	}
	x, w, y = problem{window: v, channels: channels{dims[0], dims[1], dims[2]}, rank: rank}.shapes(d)
	return x, w, y, true
}

// FilterGradShapes are x and y for a size of the filter. The last of dims is the size of x.
func FilterGradShapes(a Attributes, taps []int, d tensor.DType, dims []int) (x, y tensor.Desc, ok bool) {
	rank := len(taps)
	r, err := axes("kernel_shape", taps, rank, 1, 1, mostSize)
	in := extent{1, 1, dims[3]}
	for i := 3 - rank; i < 2; i++ {
		in[i] = min(dims[3], 4+i)
	}
	if err != nil {
		return x, y, false
	}
	v, err := a.over(in, r, rank)
	if err != nil {
		return x, y, false
	}
	x, _, y = problem{window: v, channels: channels{dims[0], dims[1], dims[2]}, rank: rank}.shapes(d)
	return x, y, true
}

// TransposedShapes are the inputs of a transposed convolution for sizes of CaseDims. w is empty if
// the attributes do not suit the sizes.
func TransposedShapes(a Attributes, padding, shape []int, d tensor.DType, dims []int) (x, w, bias tensor.Desc, ok bool) {
	rank := dims[5]
	if n := max(len(a.Strides), len(a.Dilations), len(a.Pads)/2); n > 0 {
		rank = n
	}
	in, taps := extent{1, 1, dims[3]}, extent{1, 1, dims[4]}
	for i := 3 - rank; i < 2; i++ {
		in[i], taps[i] = min(dims[3], 4+i), min(dims[4], mostTaps(dims)+i)
	}
	_, err := a.transposed(in, taps, rank, padding, shape)
	return shapeOf(d, dims[0], a.Group*dims[1], in, rank), shapeOf(d, a.Group*dims[1], dims[2], taps, rank), tensor.Contiguous(d, a.Group*dims[2]), err == nil
}
