package indexing

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	sortKeys   = "move/sort_keys"
	sortNumber = "move/sort_number.u32"
)

// keysParams is the push-constant block of lib/raw.glsl.
type keysParams struct {
	Count        uint32
	Splat, Words [3]uint32
}

// sortNumberParams is the push-constant block of move/sort_number.comp.
type sortNumberParams struct{ Count, First, Inner, Block, Size uint32 }

// Order says what a call of a Sort does.
type Order struct {
	// Axis is the dimension, and negative if it counts from the end.
	Axis int
	// Descending says that the largest elements come first.
	Descending bool
	// Top says that only the first K elements are kept.
	Top bool
	K   int
	// Wide says that the indices are I64 instead of I32.
	Wide bool
}

// Sort describes an operation that sorts elements along a dimension, with attributes of type A.
type Sort[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Values and Indices say which outputs there are. The values come first.
	Values, Indices bool
	Defaults        A
	// Order returns what a call does.
	Order func(A) Order
	// Calls and Invalid are those of spec.CasesOf.
	Calls, Invalid []A
	// Bench is the call that is measured.
	Bench A
}

// DefineSort declares an operation that sorts elements along a dimension. NaN comes after all
// numbers, and both zeros are equal. Equal elements keep their order.
func DefineSort[A spec.Call](s Sort[A]) *spec.Op {
	spirv.LinkMove()
	var outs []spec.Arg
	if s.Values {
		outs = append(outs, spec.Arg{Name: "values", Doc: "the elements in their order"})
	}
	if s.Indices {
		outs = append(outs, spec.Arg{Name: "indices", Doc: "where along the dimension they were, i32 or i64"})
	}
	// shape returns the shape of the outputs.
	shape := func(o Order, in tensor.Desc) ([]int, error) {
		k, err := planner.Axis(o.Axis, len(in.Shape))
		if err != nil {
			return nil, err
		}
		shape := slices.Clone(in.Shape)
		if o.Top {
			if o.K < 0 || o.K > shape[k] {
				return nil, planner.Invalid("k %d (want 0 to %d, the size of dimension %d of %v)", o.K, shape[k], k, in)
			}
			shape[k] = o.K
		}
		return shape, nil
	}
	return spec.Define(spec.Definition[A]{
		Name: s.Name, Group: "move", Doc: s.Doc,
		In:       []spec.Arg{{Name: "in", Doc: "any dtype and at least one dimension"}},
		Out:      outs,
		Traits:   spec.Traits{Class: spec.Indexing, ONNX: s.ONNX},
		Defaults: s.Defaults,
		Kernels:  orderKernels(s.Values, s.Indices, s.Order(s.Defaults).Top),
		// The positions are a permutation of each row, so that every element is written.
		WritesAll: true,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			o := s.Order(a)
			shape, err := shape(o, in[0])
			if err != nil {
				return nil, err
			}
			var outs []tensor.Desc
			if s.Values {
				outs = append(outs, tensor.Contiguous(in[0].DType, shape...))
			}
			if s.Indices {
				d := tensor.I32
				if o.Wide {
					d = tensor.I64
				}
				outs = append(outs, tensor.Contiguous(d, shape...))
			}
			return outs, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			o, plan := s.Order(a), &spec.Plan{}
			if out[0].Elems() == 0 {
				return plan, nil
			}
			k, err := planner.Axis(o.Axis, len(in[0].Shape))
			if err != nil {
				return nil, err
			}
			order := order{Order: o, d: in[0].DType, view: planner.ViewAxis(in[0].Shape, k), kept: out[0].Shape[k]}
			if s.Values {
				order.values = spec.Out(0)
			}
			if s.Indices {
				order.indices = spec.Out(len(out) - 1)
			}
			return plan, order.add(plan, t)
		},
		Reference: func(a A, in, out []*tensor.Host) { orderReference(s.Order(a), in[0], out, s.Values, s.Indices) },
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "bits are moved"}
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			n := int64(in[0].Elems())
			return spec.Cost{Flops: n * int64(bits.Len64(uint64(n))), Bytes: 2 * n * int64(in[0].DType.Size())}
		},
		Cases: spec.CasesOf[A]{
			DTypes: tensor.DTypes(), Calls: append([]A{s.Defaults}, s.Calls...), Invalid: s.Invalid, Specials: true,
			Low: -3, High: 3,
			Range: func(_ A, _ int, in []tensor.Desc) (float64, float64) {
				switch in[0].DType {
				case tensor.Bool:
					return 0, 1
				case tensor.U8:
					return 0, 255
				case tensor.U32:
					return 0, math.MaxUint32
				case tensor.I32:
					return math.MinInt32, math.MaxInt32
				case tensor.I64:
					return -1 << 40, 1 << 40
				case tensor.I16, tensor.U16, tensor.U64:
					return planner.IntegerRange(in[0].DType)
				}
				return -100, 100
			},
			Dims:  []spec.Dim{{Name: "rows"}, {Name: "columns", Tiles: []int{16, mostRanked}}},
			Sizes: [][]int{{2, 66_003}, {66_003, 2}, {70, 300}, {17, 17_000}},
			Inputs: func(a A, d tensor.DType, dims []int) []tensor.Desc {
				if o := s.Order(a); o.Top && dims[(o.Axis+2)%2] < o.K || int64(dims[0])*int64(dims[1]) > mostSorted {
					return nil
				}
				return []tensor.Desc{tensor.Contiguous(d, slices.Clone(dims)...)}
			},
			Bench: planner.BenchCases(s.Bench, 1),
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32)},
			},
		},
	})
}

// orderKernels lists the kernels of order.add. top says that calls may want the first elements only.
func orderKernels(values, indices, top bool) []spec.Kernel {
	ks := slices.Concat(sortKernels(2), rankKernels(), movement.CopyKernels(), []spec.Kernel{
		{Name: sortKeys + ".u8", Params: keysParams{}}, {Name: sortKeys + ".u16", Params: keysParams{}},
		{Name: sortKeys + ".u32", Params: keysParams{}}, {Name: sortKeys + ".u64", Params: keysParams{}},
	})
	if top {
		ks = append(ks, topKernels()...)
	}
	if indices {
		ks = append(ks, elementwise.CastKernelOf(tensor.I32, tensor.I64))
	}
	if values {
		ks = append(append(append(ks, LookupKernels()...), movement.FillKernels()...), spec.Kernel{Name: sortNumber, Params: sortNumberParams{}})
	}
	return ks
}

// order is a call of a Sort on elements of d. The sorted rows are those of view along N, and kept
// elements of each are wanted.
type order struct {
	Order
	d    tensor.DType
	view planner.AxisView
	kept int
	// values and indices are the outputs, or zero.
	values, indices spec.Ref
}

// add appends the launches of the call to a plan.
// Errors: *LimitError.
func (o order) add(plan *spec.Plan, t *spec.Target) error {
	v, total := o.view, o.view.Outer*o.view.N*o.view.Inner
	if total > mostSorted {
		return &errs.LimitError{Name: "elements", Want: int64(total), Have: mostSorted}
	}
	keys, src, err := o.addKeys(plan, t)
	if err != nil {
		return err
	}
	if d, ok := keys.byDigits(t); ok && o.indices.Kind == spec.RefNone && !keys.ranked(t) && o.kept == v.N && keys.bits >= 32 {
		return o.addSorted(plan, t, d, src)
	}
	n := v.Outer * o.kept * v.Inner
	positions := o.indices
	if positions.Kind == spec.RefNone || o.Wide {
		positions = planner.AddScratch(plan, int64(4*n))
	}
	switch {
	case keys.selects(t, o.kept):
		pairs, size, err := addTop(plan, t, keys, o.kept)
		if err != nil {
			return err
		}
		if err := o.addPositions(plan, t, pairs, keys.words+1, size, positions); err != nil {
			return err
		}
	case !keys.hasPositions(t):
		pairs, err := addSort(plan, t, keys)
		if err != nil {
			return err
		}
		err = o.addPositions(plan, t, pairs, keys.words+1, v.N, positions)
		if err != nil {
			return err
		}
	case v.Inner == 1 && o.kept == v.N:
		if err := addRows(plan, t, keys, positions); err != nil {
			return err
		}
	default:
		ranks := planner.AddScratch(plan, int64(4*total))
		if err := addRows(plan, t, keys, ranks); err != nil {
			return err
		}
		if err := o.addPositions(plan, t, ranks, 1, v.N, positions); err != nil {
			return err
		}
	}
	if o.Wide && o.indices.Kind != spec.RefNone {
		if err := elementwise.AddCast(plan, t, tensor.I32, tensor.I64, n, positions, o.indices); err != nil {
			return err
		}
	}
	if o.values.Kind == spec.RefNone {
		return nil
	}
	return o.addValues(plan, t, positions, n)
}

// addSorted appends the launches that sort keys, and with them the elements, whose rows follow one another in src.
func (o order) addSorted(plan *spec.Plan, t *spec.Target, d digitSort, src spec.Ref) error {
	v, to := o.view, o.values
	if v.Inner > 1 {
		to = planner.AddScratch(plan, int64(v.Outer*v.N*v.Inner)*int64(o.d.Size()))
	}
	if _, err := addDigits(plan, t, d, digitResult{to: to, values: src}); err != nil || v.Inner == 1 {
		return err
	}
	return movement.AddCopy(plan, t, o.d, []int{v.Outer, v.N, v.Inner},
		planner.Operand{Ref: to, Strides: []int{v.Inner * v.N, 1, v.N}},
		planner.Operand{Ref: o.values, Strides: []int{v.N * v.Inner, v.Inner, 1}})
}

// addKeys appends the launches that make keys of all elements, in rows that follow one another. It returns the elements in
// these rows too.
func (o order) addKeys(plan *spec.Plan, t *spec.Target) (keyRows, spec.Ref, error) {
	v, size := o.view, o.d.Size()
	total := v.Outer * v.N * v.Inner
	s := keyRows{rows: v.Outer * v.Inner, n: v.N, words: max(size/4, 1), bits: 8 * size}
	src := spec.In(0)
	if v.Inner > 1 && v.N > 1 {
		src = planner.AddScratch(plan, int64(total)*int64(size))
		err := movement.AddCopy(plan, t, o.d, []int{v.Outer, v.Inner, v.N},
			planner.Operand{Ref: spec.In(0), Strides: []int{v.N * v.Inner, 1, v.Inner}},
			planner.Operand{Ref: src, Strides: []int{v.N * v.Inner, v.N, 1}})
		if err != nil {
			return s, src, err
		}
	}
	key := tensor.U32
	if size == 8 {
		key = tensor.I64
	}
	s.keys = planner.AddScratch(plan, int64(total)*int64(key.Size()))
	p := keysParams{Words: [3]uint32{0, infinityBits[o.d], 0}}
	switch {
	case infinityBits[o.d] != 0:
		p.Words[0] = 2
	case o.d == tensor.Bool:
		p.Words[0], s.bits = 3, 1
	case o.d == tensor.I8 || o.d == tensor.I16 || o.d == tensor.I32 || o.d == tensor.I64:
		p.Words[0] = 1
	}
	if o.Descending {
		p.Words[2] = math.MaxUint32
		if o.d == tensor.Bool {
			p.Words[2] = 1
		}
	}
	k := planner.FlatKernel{Name: sortKeys + map[int]string{1: ".u8", 2: ".u16", 4: ".u32", 8: ".u64"}[size], Local: planner.SmallGroup * key.Size() * 4 / planner.Pack, Packs: 1}
	k.Params = func(_, count int) any {
		p := p
		p.Count = uint32(count)
		return p
	}
	return s, src, planner.AddFlat(plan, t, k, total, planner.Flat(src, o.d), planner.Flat(s.keys, key))
}

// infinityBits are the bits of infinity, of F64 those of the high word.
var infinityBits = map[tensor.DType]uint32{tensor.F32: 0x7f800000, tensor.F16: 0x7c00, tensor.BF16: 0x7f80, tensor.F64: 0x7ff00000}

// addPositions appends the launches that copy the positions of the kept elements from sorted rows.
// There, words lie from one position to the next, and each is the last word. A row has n of them.
func (o order) addPositions(plan *spec.Plan, t *spec.Target, from spec.Ref, words, n int, to spec.Ref) error {
	v := o.view
	return movement.AddCopy(plan, t, tensor.U32, []int{v.Outer, o.kept, v.Inner},
		planner.Operand{Ref: from, Base: words - 1, Strides: []int{v.Inner * n * words, words, n * words}},
		planner.Operand{Ref: to, Strides: []int{o.kept * v.Inner, v.Inner, 1}})
}

// addValues appends the launches that look up n elements by their positions along the dimension.
func (o order) addValues(plan *spec.Plan, t *spec.Target, positions spec.Ref, n int) error {
	v := o.view
	numbers, status := positions, planner.AddScratch(plan, planner.Pack)
	if err := movement.AddFill(plan, t, 0, tensor.U32, status, 4); err != nil {
		return err
	}
	if v.Outer > 1 || v.Inner > 1 {
		numbers = planner.AddScratch(plan, int64(4*n))
		k := planner.FlatKernel{Name: sortNumber, Local: planner.SmallGroup / 4, Packs: 1}
		k.Params = func(first, count int) any {
			return sortNumberParams{uint32(count), uint32(first), uint32(v.Inner), uint32(o.kept * v.Inner), uint32(v.N)}
		}
		if err := planner.AddFlat(plan, t, k, n, planner.Flat(positions, tensor.U32), planner.Flat(numbers, tensor.U32)); err != nil {
			return err
		}
	}
	return addLookup(plan, t, lookup{
		numbers: numbers, numberSize: 4, rows: n, table: spec.In(0), tableRows: v.Outer * v.N * v.Inner, bytes: o.d.Size(), out: o.values, status: status,
		block: o.kept * v.Inner, tableBlock: v.N * v.Inner,
	})
}

// orderReference sorts rows by comparing their elements.
func orderReference(o Order, in *tensor.Host, out []*tensor.Host, values, indices bool) {
	axis := o.Axis
	if axis < 0 {
		axis += len(in.Shape)
	}
	n, size, kept := in.Shape[axis], in.DType.Size(), out[0].Shape[axis]
	if out[0].Elems() == 0 {
		return
	}
	less := lessOf(in)
	strides := in.ElementStrides()
	inner := out[0].ElementStrides()[axis]
	positions := make([]int, n)
	out[0].Each(func(index []int, to int) {
		if index[axis] != 0 {
			return
		}
		first := 0
		for d, i := range index {
			first += i * strides[d]
		}
		for i := range positions {
			positions[i] = i
		}
		slices.SortStableFunc(positions, func(a, b int) int {
			x, y := first+a*strides[axis], first+b*strides[axis]
			if o.Descending {
				x, y = y, x
			}
			switch {
			case less(x, y):
				return -1
			case less(y, x):
				return 1
			}
			return 0
		})
		for k, p := range positions[:kept] {
			at := to + k*inner
			if values {
				from := (first + p*strides[axis]) * size
				copy(out[0].Data[at*size:(at+1)*size], in.Data[from:])
			}
			if indices {
				h := out[len(out)-1]
				if h.DType == tensor.I64 {
					binary.LittleEndian.PutUint64(h.Data[8*at:], uint64(p))
				} else {
					binary.LittleEndian.PutUint32(h.Data[4*at:], uint32(p))
				}
			}
		}
	})
}

// lessOf returns a function that compares the elements at two positions in memory.
func lessOf(h *tensor.Host) func(x, y int) bool {
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(h.Data[8*i:]) }
	switch h.DType { // float64 does not have them all
	case tensor.I64:
		return func(x, y int) bool { return int64(at(x)) < int64(at(y)) }
	case tensor.U64:
		return func(x, y int) bool { return at(x) < at(y) }
	}
	values, k := make([]float64, len(h.Data)/h.DType.Size()), 0
	list := h.Floats()
	h.Each(func(_ []int, i int) { values[i] = list[k]; k++ })
	return func(x, y int) bool {
		a, b := values[x], values[y]
		return a < b || math.IsNaN(b) && !math.IsNaN(a)
	}
}
