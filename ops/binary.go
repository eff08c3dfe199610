package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// repeatParams is the push-constant block of lib/binary.glsl.
type repeatParams struct {
	Count, First       uint32
	ADiv, AMod, ASplat uint32
	BDiv, BMod, BSplat uint32
	AStep, ARest       uint32
	BStep, BRest       uint32
}

// binaryStridedParams is that of lib/binary_strided.glsl.
type binaryStridedParams struct {
	N, A, B            [planner.MaxRank]uint32
	Rank, Count        uint32
	ABase, BBase, Base uint32
}

// pairwise is what one function of two elements adds to the family.
type pairwise struct {
	name, doc string
	call      spec.Call
	dtypes    []tensor.DType
	f         func(a, b float64) float64
	ulps      float64 // as in unary
	why       string
	low, high float64 // of the inputs tried
	span      func(c spec.Call, i int, in []tensor.Desc) (low, high float64)
	flops     int64
}

// newBinary declares a function of two elements, broadcast by NumPy's rule.
// The result may be in's own tensor where shapes are equal.
func newBinary(b pairwise) *spec.Op {
	shader := "math/" + b.name
	op := &spec.Op{
		Name: b.name, Group: "math", Doc: b.doc,
		In: []spec.Arg{
			{Name: "in", Doc: "a tensor of any shape"},
			{Name: "b", Doc: "a tensor of the same dtype whose shape can be broadcast together with that of in"},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the shape both are broadcast to"}},
		Defaults: b.call,
		InPlace:  []int{0},
	}
	for _, d := range b.dtypes {
		name := shader + "." + d.String()
		op.Kernels = append(op.Kernels, spec.Kernel{Name: name, Params: repeatParams{}}, spec.Kernel{Name: name + ".strided", Params: binaryStridedParams{}})
		if d.Size() < 8 {
			op.Kernels = append(op.Kernels, spec.Kernel{Name: name + ".texel", Params: repeatParams{}}, spec.Kernel{Name: name + ".repeat.texel", Params: repeatParams{}})
		}
	}
	op.Shape = func(_ spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in, b.dtypes...); err != nil {
			return nil, err
		}
		if in[0].DType != in[1].DType {
			return nil, invalid(op.Name, "b (got %v, want the dtype of in, %v)", in[1], in[0])
		}
		shape, ok := broadcastShape(in[0].Shape, in[1].Shape)
		if !ok {
			return nil, invalid(op.Name, "shapes %v and %v cannot be broadcast together", in[0].Shape, in[1].Shape)
		}
		out := tensor.Contiguous(in[0].DType, shape...)
		return []tensor.Desc{out}, out.Check()
	}
	op.Plan = func(_ spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		if err := checkTarget(op.Name, t, in[0]); err != nil {
			return nil, err
		}
		if !out[0].IsContiguous() {
			return nil, unsupported(op.Name, "an output with strides")
		}
		return planBinary(op.Name, shader, t, in, out[0])
	}
	op.Strategies, op.SizeClass = byFirst, byElements
	op.Reference = func(_ spec.Call, in, out []*tensor.Host) {
		var values [2][]float64
		for i, h := range in {
			values[i] = h.Floats()
		}
		results := make([]float64, 0, out[0].Elems())
		out[0].Each(func(index []int, _ int) {
			var at [2]int
			for i, h := range in {
				for d, n := range h.Shape {
					at[i] = at[i]*n + min(index[len(index)-len(h.Shape)+d], n-1)
				}
			}
			results = append(results, b.f(values[0][at[0]], values[1][at[1]]))
		})
		out[0].SetFloats(results)
	}
	op.Tolerance = func(_ spec.Call, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
		tol := spec.Tolerance{Why: b.why}
		if b.ulps > 0 && slices.Contains(floats, d) {
			tol.Rel, tol.Abs = b.ulps*workEpsilon(d), tiny(d)
			if d.Size() == 2 {
				tol.Rel += epsilon(d) // the double rounding may fall to the other side
			}
		}
		return tol
	}
	op.Cost = func(c spec.Call, in []tensor.Desc) spec.Cost {
		shape, _ := broadcastShape(in[0].Shape, in[1].Shape)
		n := int64(tensor.Contiguous(in[0].DType, shape...).Elems())
		return spec.Cost{Flops: n * max(b.flops, 1), Bytes: (n + int64(in[0].Elems()) + int64(in[1].Elems())) * int64(in[0].DType.Size())}
	}
	op.Cases = spec.Cases{
		DTypes: b.dtypes, Calls: []spec.Call{b.call},
		Dims: []spec.Dim{
			{Name: "rows"}, {Name: "columns", Tiles: []int{4, 8, 256}},
			{Name: "shapes", Only: []int{0, 1, 2, 3, 4, 5, 6, 7}},
		},
		Sizes:  [][]int{{700, 1024, 0}, {700, 1024, 1}, {700, 1024, 2}, {700, 1024, 3}, {700, 1024, 4}, {511, 1027, 1}, {511, 1027, 2}, {661, 661, 1}, {100000, 7, 1}},
		Inputs: binaryInputs,
		Bench: moreBenchCases(benchCases(b.call, 2), benchCasesOf(b.call, func(d tensor.DType, rows, columns int) []tensor.Desc {
			return binaryInputs(d, []int{rows, columns, 1}) // a row to every row
		})),
		Low: b.low, High: b.high, Range: b.span, Specials: true,
		Refused: [][]tensor.Desc{
			{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 4, 3)},
			{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F32, 0)},
			{tensor.Contiguous(tensor.F32, 3, 4), tensor.Contiguous(tensor.F16, 3, 4)},
			{tensor.Contiguous(tensor.U8, 3), tensor.Contiguous(tensor.U8, 3)},
		},
	}
	return spec.Register(op)
}

// binaryInputs are the ways in which two shapes can meet.
func binaryInputs(d tensor.DType, dims []int) []tensor.Desc {
	r, c := dims[0], dims[1]
	shapes := [][2][]int{
		{{r, c}, {r, c}}, {{r, c}, {c}}, {{r, c}, {r, 1}}, {{r, c}, {}},
		{{c}, {r, c}}, {{r, 1}, {c}}, {{2, r, c}, {r, 1}}, {{r, 1, 2, c}, {3, 1, 1}},
	}[dims[2]]
	return []tensor.Desc{tensor.Contiguous(d, shapes[0]...), tensor.Contiguous(d, shapes[1]...)}
}

// broadcastShape is the shape that two are broadcast to by NumPy's rule, or false.
func broadcastShape(a, b []int) ([]int, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	shape := slices.Clone(a)
	for i, n := range b {
		at := &shape[len(a)-len(b)+i]
		if *at == 1 {
			*at = n
		} else if n != 1 && n != *at {
			return nil, false
		}
	}
	return shape, true
}

// planBinary launches the kernels of shader over out.
func planBinary(op, shader string, t *spec.Target, in []tensor.Desc, out tensor.Desc) (*spec.Plan, error) {
	plan, d, n := &spec.Plan{}, out.DType, out.Elems()
	if n == 0 {
		return plan, nil
	}
	dims, operands := collapse(out.Shape, []strided{
		{ref: spec.In(0), dtype: d, steps: broadcastSteps(in[0], out.Shape)},
		{ref: spec.In(1), dtype: d, steps: broadcastSteps(in[1], out.Shape)},
		{ref: spec.Out(0), dtype: d, steps: broadcastSteps(out, out.Shape)},
	})
	k := flatVariant(t, shader, d)
	flat, repeats := true, [2]repeat{}
	for i := range repeats {
		r, ok := repeatOf(dims, operands[i].steps, 16/d.Size())
		repeats[i] = r
		flat = flat && ok && (r.div == 0 || int64(r.elems*d.Size()+15) <= maxSpan(t, k.texel)) && n < 1<<31
	}
	if !flat {
		if len(dims) > planner.MaxRank {
			return nil, unsupported(op, "%v and %v (at most %d dimensions that differ)", in[0], in[1], planner.MaxRank)
		}
		return plan, addBinaryStrided(plan, op, shader, t, dims, operands)
	}
	flats := []flatOperand{{spec.In(0), d}, {spec.In(1), d}, {spec.Out(0), d}}
	x, y := repeats[0], repeats[1]
	if k.texel && (x.div != 0 || y.div != 0) {
		k.name = shader + "." + d.String() + ".repeat.texel"
	}
	k.params = func(first, count int) any {
		p := repeatParams{
			Count: uint32(count), First: uint32(first * d.Size() / 16),
			ADiv: uint32(x.div), AMod: uint32(x.mod), ASplat: x.splat, BDiv: uint32(y.div), BMod: uint32(y.mod), BSplat: y.splat,
		}
		p.AStep, p.ARest = x.walk()
		p.BStep, p.BRest = y.walk()
		return p
	}
	if err := addFlat(plan, t, k, n, flats...); err != nil {
		return nil, err
	}
	for _, s := range plan.Steps {
		for i, r := range repeats {
			if r.div != 0 {
				s.Bind[i].Offset, s.Bind[i].Size = 0, int64(r.elems*d.Size()+15)&^15
			}
		}
	}
	return plan, nil
}

// repeat says how a small operand comes again and again, as lib/binary.glsl
// has it. elems is how many elements it has.
type repeat struct {
	div, mod, elems int
	splat           uint32
}

// walk is how the number of an operand's pack goes on by a workgroup of a texel
// kernel, and the rest of its first division.
func (r repeat) walk() (step, rest uint32) {
	if r.div == 0 {
		return 0, 0
	}
	return uint32(texelGroup / r.div % r.mod), uint32(texelGroup % r.div)
}

// repeatOf finds out whether an operand lies as the output does or repeats in a
// way that the flat kernels know: contiguous elements, each repeated for whole
// packs on end, or rows of whole packs, and all of it any number of times.
func repeatOf(dims, steps []int, pack int) (repeat, bool) {
	hi := len(dims)
	inner := 1
	for hi > 0 && (steps[hi-1] == 0 || dims[hi-1] == 1) {
		hi--
		inner *= dims[hi]
	}
	lo, own := hi, 1
	for lo > 0 && steps[lo-1] == own {
		lo--
		own *= dims[lo]
	}
	for _, s := range steps[:lo] {
		if s != 0 {
			return repeat{}, false
		}
	}
	switch {
	case own == 1: // a scalar
		return repeat{div: 1 << 31, mod: 1, elems: 1, splat: 1}, true
	case inner == 1 && lo == 0:
		return repeat{}, true
	case inner == 1:
		return repeat{div: 1, mod: own / pack, elems: own}, own%pack == 0
	}
	return repeat{div: inner / pack, mod: own, elems: own, splat: 1}, inner%pack == 0
}

// addBinaryStrided appends launches of the strided kernels, each over a part of
// the index space that is contiguous in the output.
// Errors: ErrUnsupported where there would be a great many.
func addBinaryStrided(plan *spec.Plan, op, shader string, t *spec.Target, dims []int, operands []strided) error {
	const most = 256
	d := operands[0].dtype
	pack, room := 16/d.Size(), min(t.MaxBinding, planner.MaxWindow)-windowAlign(t)
	// A transposed operand that is larger than bindings is better copied.
	far := false
	for _, o := range operands[:2] {
		far = far || o.extent(box{n: dims}) > 1 && !broadcastOf(dims, o.steps)
	}
	pending := []box{{make([]int, len(dims)), dims}}
	for len(pending) > 0 {
		b := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		fits := true
		for _, o := range operands {
			fits = fits && o.extent(b)*int64(d.Size()) <= room
		}
		var binds [3]spec.Bind
		var bases [3]uint32
		groups, err := [3]uint32{}, error(nil)
		count := 1
		for _, n := range b.n {
			count *= n
		}
		if fits {
			for i, o := range operands {
				binds[i], bases[i] = o.window(t, b)
			}
			groups, err = grid(t, int64(ceilDiv(ceilDiv(int(bases[2])+count, pack), smallGroup)))
		}
		if !fits || err != nil {
			at := slices.IndexFunc(b.n, func(n int) bool { return n > 1 })
			if at < 0 {
				return err
			}
			low, high := box{slices.Clone(b.from), slices.Clone(b.n)}, box{slices.Clone(b.from), slices.Clone(b.n)}
			low.n[at] = (b.n[at] + 1) / 2
			high.n[at] -= low.n[at]
			high.from[at] += low.n[at]
			pending = append(pending, high, low)
			continue
		}
		p := binaryStridedParams{Rank: uint32(len(dims)), Count: uint32(count), ABase: bases[0], BBase: bases[1], Base: bases[2]}
		for i := range b.n {
			e := len(b.n) - 1 - i
			p.N[i], p.A[i], p.B[i] = uint32(b.n[e]), uint32(operands[0].steps[e]), uint32(operands[1].steps[e])
		}
		plan.Steps = append(plan.Steps, spec.Step{Kernel: shader + "." + d.String() + ".strided", Params: p, Bind: binds[:], Groups: groups})
		if far && len(plan.Steps) > most {
			return unsupported(op, "strides of operands so large")
		}
	}
	return nil
}

// broadcastOf reports whether steps are those of a contiguous tensor that is
// broadcast to dims.
func broadcastOf(dims, steps []int) bool {
	own := 1
	for d := len(dims) - 1; d >= 0; d-- {
		if steps[d] == 0 {
			continue
		}
		if steps[d] != own {
			return false
		}
		own *= dims[d]
	}
	return true
}

// arithmetic are the dtypes of sums and differences.
var arithmetic = append(slices.Clone(floats), tensor.I32, tensor.I64)

// larger is the larger of two numbers, or NaN: math.Max prefers infinity to it.
func larger(a, b float64) float64 {
	if a > b || math.IsNaN(a) {
		return a
	}
	return b
}
