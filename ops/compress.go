package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Compress keeps the slices along a dimension for which condition is true. Condition, Bool [m], is at most as long as
// the dimension. Slices after its end are left out. Output out has m slices: those that are kept in their order,
// and zeros in what is left. Output count, [1], says how many are kept. It is on the device: Device.Find reads it, and
// returns the slices that count, as Compress of ONNX. Compress of ONNX without an axis is Compress with Flatten.
// The condition has at most 2^30 elements, and the input has fewer than 2^32−1 rows: the sizes up to Axis, multiplied.
type Compress struct {
	Axis    int  `attr:"axis" onnx:"axis" doc:"the dimension; a negative number counts from the end"`
	Flatten bool `attr:"flatten" doc:"the elements in row-major order are one dimension, whatever the shape; axis must be 0"`
}

// Spec returns the declaration.
func (Compress) Spec() *spec.Op { return compressOp.Op() }

// Gradient declares the gradient of the input: a slice that was kept has the slice of dy to which it went, which the number of slices kept before it says. The others have
// zeros, and so have those behind the end of the condition.
func (c Compress) Gradient(t *spec.Tape) {
	dy, condition := t.Gradient(0), t.In(1)
	if dy == spec.NoValue || !t.Needs(0) {
		return
	}
	in := t.Desc(t.In(0))
	shape, k, err := c.view(in)
	m := t.Shape(condition)[0]
	if err != nil || m == 0 || in.Elems() == 0 {
		t.SetGradient(0, t.Expand(t.Scalar(0, dy), in.Shape...))
		return
	}
	before := t.Call(CumSum{Dim: 0, Exclusive: true}, t.Call(Cast{To: tensor.I32}, condition))
	kept := slices.Repeat([]int{1}, len(shape))
	kept[k] = m
	dx := t.Call(Where{}, t.Reshape(condition, kept...), t.Call(Gather{Axis: k}, dy, before), t.Scalar(0, dy))
	if m < shape[k] {
		pads := make([]int, 2*len(shape))
		pads[len(shape)+k] = shape[k] - m
		dx = t.Call(PadTensor{Pads: pads}, dx)
	}
	t.SetGradient(0, t.Reshape(dx, in.Shape...))
}

// view returns the shape of an input, which Flatten changes, and the dimension, counted from 0.
func (c Compress) view(in tensor.Desc) (shape []int, k int, err error) {
	if c.Flatten {
		if c.Axis != 0 {
			return nil, 0, planner.Invalid("axis %d with flatten (want 0)", c.Axis)
		}
		return []int{in.Elems()}, 0, nil
	}
	k, err = planner.Axis(c.Axis, len(in.Shape))
	return slices.Clone(in.Shape), k, err
}

var compressOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	spirv.LinkReduce()
	return spec.Define(spec.Definition[*Compress]{
		Name: "compress", Group: "move",
		Doc: "Keeps the slices along a dimension for which a condition is true, and counts them.",
		In: []spec.Arg{
			{Name: "in", Doc: "any dtype, and at least one dimension unless flatten is set"},
			{Name: "condition", Doc: "[m] with m at most the size of the dimension", DTypes: []tensor.DType{tensor.Bool}},
		},
		Out: []spec.Arg{
			{Name: "out", Doc: "the slices that are kept, then zeros, with size m along the dimension"},
			{Name: "count", Doc: "[1], i32: how many slices are kept"},
		},
		Traits:    spec.Traits{Class: spec.Indexing, ONNX: []string{"Compress"}},
		Defaults:  &Compress{},
		Kernels:   indexing.CompressKernels(),
		WritesAll: true,
		Counts: func(c *Compress, in []tensor.Desc) int {
			_, k, _ := c.view(in[0]) // Shape refuses others.
			return k
		},
		Shape: func(c *Compress, in []tensor.Desc) ([]tensor.Desc, error) {
			shape, k, err := c.view(in[0])
			if err != nil {
				return nil, err
			}
			if len(in[1].Shape) != 1 || in[1].Shape[0] > shape[k] {
				return nil, planner.Invalid("input condition is %v (want one dimension of at most %d elements, for %v)", in[1], shape[k], in[0])
			}
			shape[k] = in[1].Shape[0]
			return []tensor.Desc{tensor.Contiguous(in[0].DType, shape...), tensor.Contiguous(tensor.I32, 1)}, nil
		},
		Plan: func(c *Compress, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			shape, k, err := c.view(in[0])
			if err != nil {
				return nil, err
			}
			return indexing.PlanCompress(t, planner.ViewAxis(shape, k), in[1].Elems(), out[0])
		},
		Reference: func(c *Compress, in, out []*tensor.Host) {
			shape, k, err := c.view(in[0].Desc)
			if err != nil {
				return // Shape refuses it.
			}
			to, found := make(map[int]int), 0
			for i, v := range in[1].Floats() {
				if v != 0 {
					to[i] = found
					found++
				}
			}
			clear(out[0].Data)
			index, strides, size := make([]int, len(shape)), out[0].ElementStrides(), in[0].DType.Size()
			in[0].Each(func(_ []int, from int) {
				if place, ok := to[index[k]]; ok {
					at := place * strides[k]
					for d, i := range index {
						if d != k {
							at += i * strides[d]
						}
					}
					copy(out[0].Data[at*size:(at+1)*size], in[0].Data[from*size:])
				}
				for d := len(shape) - 1; d >= 0; d-- { // the next index in row-major order
					if index[d]++; index[d] < shape[d] {
						break
					}
					index[d] = 0
				}
			})
			out[1].SetFloats([]float64{float64(found)})
		},
		Tolerance: func(*Compress, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "bits are moved"}
		},
		Cost: func(_ *Compress, in []tensor.Desc) spec.Cost { return spec.Cost{Bytes: 2 * in[0].Bytes()} },
		Cases: spec.CasesOf[*Compress]{
			DTypes: tensor.DTypes(), Calls: []*Compress{{}, {Axis: 1}, {Axis: -1}, {Flatten: true}},
			Invalid: []*Compress{{Axis: 3}, {Axis: -4}, {Axis: 1, Flatten: true}},
			Low:     -100, High: 100,
			Range: func(_ *Compress, i int, in []tensor.Desc) (float64, float64) {
				switch d := in[i].DType; d {
				case tensor.Bool:
					return 0, 1
				case tensor.U8, tensor.U16, tensor.U32, tensor.U64:
					return 0, 255
				}
				return -100, 100
			},
			Dims:  []spec.Dim{{Name: "condition"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4}}},
			Sizes: [][]int{{66_001, 1, 1}, {2, 1, 9_001}},
			Inputs: func(c *Compress, d tensor.DType, dims []int) []tensor.Desc {
				shape := []int{dims[1], 2, dims[2]}
				if c.Axis == 0 && dims[2] == 1 {
					shape = []int{dims[1]}
				}
				m := dims[0]
				if c.Flatten {
					m = min(m, tensor.Contiguous(d, shape...).Elems())
				} else {
					shape[(c.Axis+len(shape))%len(shape)] = m + dims[1]%3 // sometimes longer than the condition
				}
				if in := tensor.Contiguous(d, shape...); max(m, in.Elems()) <= indexing.MostFound {
					return []tensor.Desc{in, tensor.Contiguous(tensor.Bool, m)}
				}
				return nil
			},
			Bench: planner.BenchCalls(func(d tensor.DType, rows, columns int) (spec.Call, []tensor.Desc) {
				return Compress{}, []tensor.Desc{tensor.Contiguous(d, rows, columns), tensor.Contiguous(tensor.Bool, rows)}
			}),
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.Bool, 4)}, {tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.Bool, 3, 1)},
				{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.U8, 3)}, {tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.Bool, 1)},
			},
		},
	})
}}
