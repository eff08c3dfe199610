package indexing

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Scatter describes an operation that changes the elements of a tensor that indices name, with
// attributes of type A. Its inputs are data, indices and updates. Without data the
// tensor is zero before, and updates are added, or replace zeros.
type Scatter[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Indices, Updates and Out document inputs and the output.
	Indices, Updates, Out string
	Defaults              A
	// Reduction returns the name of the reduction. Nil means that there are no data.
	Reduction func(A) string
	// Replaces says, if there are no data, that updates replace zeros. The inputs are then the
	// updates and the indices.
	Replaces bool
	// Data, if there are no data, returns the shape of the output for the shapes of indices and
	// updates.
	Data func(a A, indices, updates []int) ([]int, error)
	// Address returns how the indices name elements of data.
	Address func(a A, data, indices []int) (Addressing, error)
	// Origin returns the index in data for an index of updates, as that of a Gather does.
	Origin func(a A, in []*tensor.Host, at func(size int, index ...int) int, index []int) []int
	// Cases has the calls, sizes and inputs.
	Cases spec.CasesOf[A]
}

// DefineScatter declares an operation that changes elements by indices.
func DefineScatter[A spec.Call](o Scatter[A]) *spec.Op {
	spirv.LinkMove()
	hasData, indices, updates := o.Reduction != nil, 1, 2
	args := []spec.Arg{
		{Name: "data", Doc: "any dtype; not bool for a reduction"},
		{Name: "indices", Doc: o.Indices, DTypes: DTypes},
		{Name: "updates", Doc: o.Updates},
	}
	switch {
	case o.Replaces:
		args, updates = []spec.Arg{args[2], args[1]}, 0
	case !hasData:
		args, indices, updates = args[1:], 0, 1
		args[updates].DTypes = Reduced
	}
	// kindOf returns the number of a reduction.
	kindOf := func(a A) (int, error) {
		if o.Replaces {
			return -1, nil
		}
		if !hasData {
			return 0, nil
		}
		name := o.Reduction(a)
		if Replaces(name) {
			return -1, nil
		}
		if k := slices.Index(reductions, name); k >= 0 {
			return k, nil
		}
		return 0, planner.Invalid("reduction %q (want none, add, mul, min or max)", name)
	}
	// resolve returns the shape of data, and how the indices name its elements.
	resolve := func(a A, in []tensor.Desc) (data []int, w Addressing, err error) {
		data = in[0].Shape
		if !hasData {
			if data, err = o.Data(a, in[indices].Shape, in[updates].Shape); err != nil {
				return nil, w, err
			}
			if err := tensor.Contiguous(in[updates].DType, data...).Check(); err != nil {
				return nil, w, err
			}
		}
		w, err = o.Address(a, data, in[indices].Shape)
		return data, w, err
	}
	cases := o.Cases
	cases.Low, cases.High, cases.Specials = -2, 2, true
	cases.Range = func(a A, i int, in []tensor.Desc) (float64, float64) {
		if i == indices {
			_, w, err := resolve(a, in)
			return indexRange(w, err)
		}
		switch d := in[i].DType; {
		case d == tensor.U32 || d == tensor.U64: // numbers that have no sign, and would be less than others with one
			return planner.IntegerRange(d)
		case !slices.Contains(planner.Floats, d):
			return valuesOf(d)
		}
		return -2, 2
	}
	return spec.Define(spec.Definition[A]{
		Name: o.Name, Group: "move", Doc: o.Doc,
		In:       args,
		Out:      []spec.Arg{{Name: "out", Doc: o.Out}},
		Traits:   spec.Traits{Class: spec.Indexing, ONNX: o.ONNX},
		Defaults: o.Defaults,
		Kernels:  scatterKernels(hasData || o.Replaces, !o.Replaces),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			kind, err := kindOf(a)
			if err != nil {
				return nil, err
			}
			data, w, err := resolve(a, in)
			if err != nil {
				return nil, err
			}
			d := in[updates].DType
			if hasData && in[0].DType != d {
				return nil, planner.Invalid("input updates is %v, data %v (want the same dtype)", in[2], in[0])
			}
			if kind >= 0 && !slices.Contains(Reduced, d) {
				return nil, planner.Unsupported("%v (want one of %v for a reduction)", d, Reduced)
			}
			if got := in[updates]; !slices.Equal(got.Shape, w.Shape) {
				return nil, planner.Invalid("input updates is %v (want shape %v)", got, w.Shape)
			}
			return []tensor.Desc{tensor.Contiguous(d, data...)}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			_, w, err := resolve(a, in)
			if err != nil {
				return nil, err
			}
			s := scatter{indices: spec.In(indices), index: in[indices].DType, updates: spec.In(updates), dtype: out[0].DType, Addressing: w}
			if hasData {
				s.data = spec.In(0)
			}
			if s.kind, err = kindOf(a); err != nil {
				return nil, err
			}
			if s.kind >= 0 {
				if err := planner.CheckTarget(t, out[0]); err != nil {
					return nil, err
				}
			}
			return s.plan(t)
		},
		Reference: func(a A, in, out []*tensor.Host) {
			all := in
			if !hasData {
				all = []*tensor.Host{tensor.NewHost(out[0].Desc), in[indices], in[updates]}
			}
			kind, _ := kindOf(a)
			scatterReference(kind, all, out[0], func(at func(int, ...int) int, index []int) []int { return o.Origin(a, all, at, index) })
		},
		Tolerance: func(_ A, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Abs: planner.Tiny(d), Why: "the reference rounds in the same order; subnormal numbers may be 0"}
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			data, _, err := resolve(a, in)
			if err != nil {
				return spec.Cost{}
			}
			u := in[updates]
			bytes := u.Bytes() + in[indices].Bytes() + int64(product(data))*int64(u.DType.Size())
			if hasData {
				bytes += in[0].Bytes()
			}
			return spec.Cost{Flops: int64(u.Elems()), Bytes: bytes}
		},
		Cases: cases,
	})
}

// scatterReference changes elements one after the other. The inputs are data, indices and
// updates.
func scatterReference(kind int, in []*tensor.Host, out *tensor.Host, origin func(at func(int, ...int) int, index []int) []int) {
	d, size := out.DType, out.DType.Size()
	at := func(size int, index ...int) int {
		v := int(in[1].At(index...))
		if v < 0 {
			v += size
		}
		return v
	}
	own := make([]int, len(in[2].Shape))
	strides := out.ElementStrides()
	each := func(f func(update, to int)) {
		in[2].Each(func(index []int, update int) {
			copy(own, index)
			to := 0
			for k, i := range origin(at, own) {
				to += i * strides[k]
			}
			f(update, to)
		})
	}
	if kind < 0 {
		values := out.Data
		in[0].Each(func(index []int, from int) {
			to := 0
			for k, i := range index {
				to += i * strides[k]
			}
			copy(values[to*size:(to+1)*size], in[0].Data[from*size:])
		})
		each(func(update, to int) { copy(values[to*size:(to+1)*size], in[2].Data[update*size:]) })
		return
	}
	updates := make(map[int]float64)
	k, list := 0, in[2].Floats()
	in[2].Each(func(_ []int, update int) { updates[update] = list[k]; k++ })
	if !slices.Contains(planner.Floats, d) {
		values := make([]int64, out.Elems())
		for i, v := range in[0].Floats() {
			values[i] = planner.Whole(d, v)
		}
		each(func(update, to int) {
			a, b := values[to], planner.Whole(d, updates[update])
			least, most := min(a, b), max(a, b)
			if d == tensor.U64 {
				least, most = int64(min(uint64(a), uint64(b))), int64(max(uint64(a), uint64(b)))
			}
			a = [...]int64{a + b, a * b, least, most}[kind]
			values[to] = planner.Wrap(d, a)
		})
		for i, v := range values {
			for k := range size {
				out.Data[size*i+k] = byte(v >> (8 * k))
			}
		}
		return
	}
	values := in[0].Floats()
	each(func(update, to int) {
		a, b := values[to], updates[update]
		a = [...]float64{a + b, a * b, min(a, b), max(a, b)}[kind]
		if d != tensor.F64 {
			a = float64(float32(a))
		}
		values[to] = a
	})
	out.SetFloats(values)
}

// BadUpdates are inputs for spec.CasesOf.Faults: those of BadIndices, and updates of a shape.
// Without data there are only the other two.
func BadUpdates(data, indices, updates []int, size int, hasData bool) func(tensor.DType) [][]*tensor.Host {
	return func(d tensor.DType) [][]*tensor.Host {
		sets := BadIndices(data, indices, size)(d)
		for i := range sets {
			sets[i] = append(sets[i], tensor.NewHost(tensor.Contiguous(d, updates...)))
			if !hasData {
				sets[i] = sets[i][1:]
			}
		}
		return sets
	}
}

// ScatterData is the shape of a tensor whose dimension axis, of that size, the indices are for.
// The updates have the shape of the indices in its place.
// Errors: ErrInvalidArgument.
func ScatterData(indices, updates []int, axis, size int) ([]int, error) {
	k, err := planner.Axis(axis, len(updates)-len(indices)+1)
	if err != nil {
		return nil, err
	}
	if size < 0 || int64(size) > math.MaxInt32 {
		return nil, planner.Invalid("size %d (want 0 to %d)", size, math.MaxInt32)
	}
	return slices.Concat(updates[:k], []int{size}, updates[k+len(indices):]), nil
}
