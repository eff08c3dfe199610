package indexing

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Gather describes an operation that reads the elements of a tensor that indices name, with
// attributes of type A. Its inputs are data, of any dtype, and indices.
type Gather[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Indices and Out document the second input and the output.
	Indices, Out string
	Defaults     A
	// Address returns how the indices name elements.
	Address func(a A, in []tensor.Desc) (Addressing, error)
	// Origin returns the index in data of the element at an index of the output. at returns
	// an element of the indices, which it makes a number from 0 to size-1. The reference uses it.
	Origin func(a A, in []*tensor.Host, at func(size int, index ...int) int, index []int) []int
	// Cases has the calls, sizes and inputs.
	Cases spec.CasesOf[A]
}

// Addressing says how indices name the elements of a tensor. The tensor is a table, and an index
// means a row of it.
type Addressing struct {
	// Shape is the shape of the output.
	Shape  []int
	places places
	// elems is the number of elements of a row.
	elems int
}

// AxisIndices is the addressing of an operation whose indices, of any shape, are those of a dimension.
// Errors: ErrInvalidArgument.
func AxisIndices(data, indices []int, axis int) (Addressing, error) {
	k, err := planner.Axis(axis, len(data))
	if err != nil {
		return Addressing{}, err
	}
	v := planner.ViewAxis(data, k)
	w := Addressing{Shape: slices.Concat(data[:k], indices, data[k+1:]), elems: v.Inner}
	w.places = places{
		rows: v.Outer * v.N, blocks: v.Outer, run: product(indices), sizes: []int{v.N}, factors: []int{1},
		n: []int{v.Outer, product(indices)}, steps: []int{v.N, 0}, block: product(indices), tableBlock: v.N,
	}
	return w, w.check(data)
}

// ElementIndices is the addressing of an operation whose indices replace one index of their place.
// Errors: ErrInvalidArgument.
func ElementIndices(data, indices []int, axis int) (Addressing, error) {
	k, err := planner.Axis(axis, len(data))
	if err != nil {
		return Addressing{}, err
	}
	if len(indices) != len(data) {
		return Addressing{}, planner.Invalid("input indices has shape %v, data %v (want the same number of dimensions)", indices, data)
	}
	same := true // in the dimensions before axis
	for d, n := range indices {
		if d != k && n > data[d] {
			return Addressing{}, planner.Invalid("input indices has shape %v, data %v (want none larger but dimension %d)", indices, data, k)
		}
		same = same && (d >= k || n == data[d])
	}
	strides := rowMajor(data)
	w := Addressing{Shape: slices.Clone(indices), elems: 1}
	w.places = places{
		rows: product(data), blocks: 1, run: product(indices), sizes: []int{data[k]}, factors: []int{strides[k]},
		n: slices.Clone(indices), steps: slices.Clone(strides),
	}
	w.places.steps[k] = 0
	switch {
	case same && k > 0:
		w.places.block, w.places.tableBlock = product(indices[k:]), product(data[k:])
	case k > 0:
		w.places.block, w.places.tableBlock = product(indices[1:]), product(data[1:])
	}
	return w, w.check(data)
}

// FlatIndices is the addressing of an operation whose indices are numbers of elements of the whole data.
// Errors: ErrInvalidArgument.
func FlatIndices(data, indices []int) (Addressing, error) {
	w, err := AxisIndices([]int{product(data)}, []int{product(indices)}, 0)
	w.Shape = slices.Clone(indices)
	return w, err
}

// TupleIndices is the addressing of an operation whose indices have several components along their last
// dimension. The first batch dimensions of data and indices are the same.
// Errors: ErrInvalidArgument.
func TupleIndices(data, indices []int, batch int) (Addressing, error) {
	last := len(indices) - 1
	if last < 0 || batch < 0 || batch > last || batch >= len(data) || !slices.Equal(data[:batch], indices[:batch]) {
		return Addressing{}, planner.Invalid("input data has shape %v, indices %v (want the same in the first %d dimensions)", data, indices, batch)
	}
	k := indices[last]
	if k < 1 || batch+k > len(data) {
		return Addressing{}, planner.Invalid("input data has shape %v, indices %v (want 1 to %d numbers along the last dimension)", data, indices, len(data)-batch)
	}
	sizes := data[batch : batch+k]
	w := Addressing{Shape: slices.Concat(indices[:last], data[batch+k:]), elems: product(data[batch+k:])}
	b, m := product(data[:batch]), product(indices[batch:last])
	w.places = places{
		rows: b * product(sizes), blocks: 1, run: b * m, sizes: sizes, factors: rowMajor(sizes),
		n: []int{b, m}, steps: []int{product(sizes), 0}, block: m, tableBlock: product(sizes),
	}
	return w, w.check(data)
}

// check refuses indices into dimensions without elements, and results that are too large.
func (w Addressing) check(data []int) error {
	if err := tensor.Contiguous(tensor.F64, w.Shape...).Check(); err != nil {
		return err
	}
	if w.places.run > 0 && slices.Contains(w.places.sizes, 0) {
		return planner.Invalid("indices into a tensor of shape %v (want a dimension with elements)", data)
	}
	return nil
}

// DefineGather declares an operation that reads elements by indices.
func DefineGather[A spec.Call](g Gather[A]) *spec.Op {
	spirv.LinkMove()
	cases := g.Cases
	cases.DTypes, cases.Low, cases.High = tensor.DTypes(), -100, 100
	cases.Range = func(a A, i int, in []tensor.Desc) (float64, float64) {
		if i == 0 {
			return valuesOf(in[0].DType)
		}
		return indexRange(g.Address(a, in))
	}
	return spec.Define(spec.Definition[A]{
		Name: g.Name, Group: "move", Doc: g.Doc,
		In: []spec.Arg{
			{Name: "data", Doc: "a tensor of any dtype"},
			{Name: "indices", Doc: g.Indices, DTypes: DTypes},
		},
		Out:      []spec.Arg{{Name: "out", Doc: g.Out}},
		Traits:   spec.Traits{Class: spec.Indexing, ONNX: g.ONNX},
		Defaults: g.Defaults,
		Kernels:  slices.Concat(CheckKernels(), LookupKernels(), axisKernels(), []spec.Kernel{{Name: numbersKernel, Params: numbersParams{}}}),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			w, err := g.Address(a, in)
			return []tensor.Desc{tensor.Contiguous(in[0].DType, w.Shape...)}, err
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			plan := &spec.Plan{}
			w, err := g.Address(a, in)
			if err != nil || out[0].Elems() == 0 {
				return plan, err
			}
			if rows := w.axisBatch(t, in[0].DType, in[1].DType); rows > 0 {
				return plan, w.addAxis(plan, t, in[1].DType, rows)
			}
			l := lookup{
				numberSize: 4, rows: w.places.total(), table: spec.In(0), tableRows: w.places.rows, bytes: w.elems * in[0].DType.Size(),
				out: spec.Out(0), block: w.places.block, tableBlock: w.places.tableBlock,
			}
			if l.numbers, l.status, err = addNumbers(plan, t, spec.In(1), in[1].DType, w.places); err != nil {
				return nil, err
			}
			return plan, addLookup(plan, t, l)
		},
		Reference: func(a A, in, out []*tensor.Host) {
			size, own := out[0].DType.Size(), make([]int, len(out[0].Shape))
			at := func(size int, index ...int) int {
				v := int(in[1].At(index...))
				if v < 0 {
					v += size
				}
				return v
			}
			out[0].Each(func(index []int, to int) {
				copy(own, index) // Origin may change it
				from := 0
				for d, i := range g.Origin(a, in, at, own) {
					from += i * in[0].ElementStrides()[d]
				}
				copy(out[0].Data[to*size:(to+1)*size], in[0].Data[from*size:])
			})
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "bits are moved"}
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			w, err := g.Address(a, in)
			if err != nil {
				return spec.Cost{}
			}
			return spec.Cost{Bytes: int64(in[1].Elems()*in[1].DType.Size()) + 2*int64(product(w.Shape)*in[0].DType.Size())}
		},
		Cases: cases,
	})
}

// valuesOf returns values that tensors of dtype d can hold.
func valuesOf(d tensor.DType) (low, high float64) {
	switch d {
	case tensor.Bool:
		return 0, 1
	case tensor.U8, tensor.U16, tensor.U32, tensor.U64:
		return 0, 255
	}
	return -100, 100
}

// indexRange returns the indices that are right for all components.
func indexRange(w Addressing, err error) (low, high float64) {
	if err != nil || w.places.run == 0 {
		return 0, 0
	}
	n := float64(slices.Min(w.places.sizes))
	return -n, n - 1
}

// BadIndices are inputs for spec.CasesOf.Faults: data and indices of a shape that has at
// least two elements, of which one is wrong. size is the number of right indices from 0 on.
func BadIndices(data []int, indices []int, size int) func(tensor.DType) [][]*tensor.Host {
	return func(d tensor.DType) [][]*tensor.Host {
		var sets [][]*tensor.Host
		n := float64(size)
		for _, bad := range []struct {
			index tensor.DType
			value float64
		}{
			{tensor.I32, n}, {tensor.I32, -n - 1}, {tensor.I32, math.MinInt32}, {tensor.I32, math.MaxInt32},
			{tensor.I64, n}, {tensor.I64, -n - 1}, {tensor.I64, 1 << 32}, {tensor.I64, 1<<40 + 1}, {tensor.I64, -1 << 32}, {tensor.I64, math.MinInt64},
		} {
			h := tensor.NewHost(tensor.Contiguous(bad.index, indices...))
			values := make([]float64, h.Elems())
			values[0], values[len(values)-1] = -1, bad.value
			h.SetFloats(values)
			sets = append(sets, []*tensor.Host{tensor.NewHost(tensor.Contiguous(d, data...)), h})
		}
		return sets
	}
}
