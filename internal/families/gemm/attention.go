package gemm

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Attention describes scaled dot-product attention that needs a bounded amount of scratch
// memory. Its attributes have type A. The inputs are q [..., sq,d], k [..., skv,d],
// v [..., skv,dv], an optional mask, and optional numbers of keys. The result is [..., sq,dv].
type Attention[A spec.Call] struct {
	// Name, Doc, Source, ONNX and Defaults are those of spec.Definition and spec.Traits.
	Name, Doc, Source string
	ONNX              []string
	Defaults          A
	// Scale returns the factor by which the scores are multiplied.
	Scale func(a A) float64
	// Causal returns whether query i sees no other keys than those up to i + skv − sq.
	Causal func(a A) bool
	// Calls are attributes to try besides Defaults. Invalid are attributes that must be
	// refused.
	Calls, Invalid []A
}

// DefineAttention declares attention. q, k and v may have any strides.
func DefineAttention[A spec.Call](m Attention[A]) *spec.Op {
	spirv.LinkBLAS()
	spirv.LinkNN()
	matrix := func(name, doc string) spec.Arg {
		return spec.Arg{Name: name, Doc: doc, DTypes: planner.Floats, Strides: spec.AnyStrides}
	}
	return spec.Define(spec.Definition[A]{
		Name: m.Name, Group: "nn", Doc: m.Doc, Source: m.Source,
		In: []spec.Arg{
			matrix("q", "[..., sq,d]"), matrix("k", "[..., skv,d]; the leading dimensions are broadcast to those of q"), matrix("v", "[..., skv,dv]; broadcast as k"),
			{Name: "mask", Doc: "added to the scores, broadcast to [..., sq,skv]", Optional: true, Skippable: true, DTypes: planner.Floats},
			{Name: "kv_lengths", Doc: "[batch] or [1]: number of keys", Optional: true, CallOnly: true, DTypes: []tensor.DType{tensor.I32, tensor.I64}},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "[..., sq,dv]"}},
		Traits:   spec.Traits{Class: spec.MatrixProduct, ONNX: m.ONNX},
		Defaults: m.Defaults,
		Kernels:  attentionKernels,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			if s := m.Scale(a); math.IsNaN(s) || math.IsInf(s, 0) || math.Abs(s) > math.MaxFloat32 {
				return nil, planner.Invalid("scale (got %v, want a finite number of f32)", s)
			}
			out, err := attentionShape(in)
			return []tensor.Desc{out}, err
		},
		PlanAt: func(a A, t *spec.Target, in, out []spec.Place) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in[0].Desc); err != nil {
				return nil, err
			}
			plan := &spec.Plan{}
			if out[0].Desc.Elems() == 0 {
				return plan, nil
			}
			if err := planner.Aligned(out[0], in[:min(len(in), lengthsInput)]...); err != nil {
				return nil, err
			}
			descs := make([]tensor.Desc, len(in))
			for i, p := range in {
				descs[i] = p.Desc
			}
			o := newAttention(m.Scale(a), m.Causal(a), t, plan, descs, out[0].Desc)
			if len(in) > lengthsInput {
				l, err := newLengths(t, in, out[0].Desc)
				if err != nil {
					return nil, err
				}
				o.lengths = l
			}
			if usesFew(t, attentionStrategies(t, descs, []tensor.Desc{out[0].Desc})) {
				return plan, o.addFew()
			}
			return plan, o.addTiles()
		},
		Strategies: func(_ A, t *spec.Target, in, out []tensor.Desc) []string { return attentionStrategies(t, in, out) },
		SizeClass: func(_ A, in []tensor.Desc) []int {
			matrices, sq, skv, d, dv := attentionSizes(in)
			return []int{matrices, sq, skv, d, dv}
		},
		Reference: func(a A, in, out []*tensor.Host) { attentionReference(m.Scale(a), m.Causal(a), in, out) },
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			return attentionTolerance(m.Scale(a), d, in)
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			matrices, sq, _, d, dv := attentionSizes(in)
			bytes := int64(matrices) * int64(sq) * int64(dv) * int64(in[0].DType.Size())
			for _, d := range in {
				bytes += d.Bytes()
			}
			return spec.Cost{Flops: 2 * attentionWork(m.Causal(a), in) * int64(d+dv), Bytes: bytes}
		},
		Cases: attentionCases(m),
	})
}

// attentionSizes returns the number of matrices in the batch of q, and the sizes sq, skv,
// d and dv.
func attentionSizes(in []tensor.Desc) (matrices, sq, skv, d, dv int) {
	q, k, v := in[0].Shape, in[1].Shape, in[2].Shape
	matrices = 1
	for _, n := range q[:len(q)-2] {
		matrices *= n
	}
	return matrices, q[len(q)-2], k[len(k)-2], q[len(q)-1], v[len(v)-1]
}

// attentionShape checks the inputs and returns the description of the result.
func attentionShape(in []tensor.Desc) (tensor.Desc, error) {
	q, k, v := in[0], in[1], in[2]
	for _, d := range in[:min(len(in), lengthsInput)] {
		if d.DType != q.DType {
			return tensor.Desc{}, planner.Invalid("dtypes differ: %v", in)
		}
	}
	if len(q.Shape) < 2 || len(k.Shape) < 2 || len(v.Shape) < 2 {
		return tensor.Desc{}, planner.Invalid("q %v, k %v, v %v (want two dimensions or more of each)", q, k, v)
	}
	last := func(d tensor.Desc, n int) int { return d.Shape[len(d.Shape)-n] }
	if last(q, 1) != last(k, 1) || last(k, 2) != last(v, 2) {
		return tensor.Desc{}, planner.Invalid("q %v, k %v, v %v (want [..., sq,d], [..., skv,d], [..., skv,dv])", q, k, v)
	}
	lead := q.Shape[:len(q.Shape)-2]
	fits := func(own, shape []int) bool {
		all, ok := planner.BroadcastShape(shape, own)
		return ok && len(own) <= len(shape) && slices.Equal(all, shape)
	}
	if !fits(k.Shape[:len(k.Shape)-2], lead) || !fits(v.Shape[:len(v.Shape)-2], lead) {
		return tensor.Desc{}, planner.Invalid("k %v, v %v: the first dimensions cannot be broadcast to those of q %v", k, v, q)
	}
	scores := append(slices.Clone(lead), last(q, 2), last(k, 2))
	if hasMask(in) && !fits(in[maskInput].Shape, scores) {
		return tensor.Desc{}, planner.Invalid("mask %v cannot be broadcast to %v", in[maskInput], scores)
	}
	if len(in) > lengthsInput {
		batch := 1
		if len(lead) > 0 {
			batch = lead[0]
		}
		if err := planner.CheckFew("kv_lengths", in[lengthsInput], batch); err != nil {
			return tensor.Desc{}, err
		}
	}
	return tensor.Contiguous(q.DType, append(slices.Clone(lead), last(q, 2), last(v, 1))...), nil
}

// newAttention describes a call as two products. The result of the call must not be
// empty.
func newAttention(scale float64, causal bool, t *spec.Target, plan *spec.Plan, in []tensor.Desc, out tensor.Desc) *attention {
	q, k, v := in[0], in[1], in[2]
	r := len(q.Shape)
	lead := q.Shape[:r-2]
	sq, d, skv, dv := q.Shape[r-2], q.Shape[r-1], k.Shape[len(k.Shape)-2], v.Shape[len(v.Shape)-1]
	// operands have strides along the batch. own has the strides along the two dimensions
	// of each matrix.
	var operands []planner.Operand
	var own [][2]int
	for i, x := range []tensor.Desc{q, k, v, out} {
		ref := spec.In(i)
		if i == 3 {
			ref = spec.Out(0)
		}
		batchStrides, row, column := matrixStrides(x, lead, false)
		operands = append(operands, planner.Operand{Ref: ref, DType: x.DType, Strides: batchStrides})
		own = append(own, [2]int{row, column})
	}
	if hasMask(in) {
		strides := planner.BroadcastStrides(in[3], append(slices.Clone(lead), sq, skv))
		operands = append(operands, planner.Operand{Ref: spec.In(3), DType: in[3].DType, Strides: strides[:r-2]})
		own = append(own, [2]int{strides[r-2], strides[r-1]})
	}
	batch, operands := planner.Collapse(lead, operands)
	for len(batch) < 2 {
		batch = append([]int{1}, batch...)
		for i := range operands {
			operands[i].Strides = append([]int{0}, operands[i].Strides...)
		}
	}
	// matrix returns an operand with strides along the batch, rows, columns and k.
	matrix := func(i, row, column, k int) planner.Operand {
		o := operands[i]
		o.Strides = append(slices.Clone(o.Strides), row, column, k)
		return o
	}
	a := &attention{t: t, plan: plan, scale: scale, causal: causal, out: matrix(3, own[3][0], own[3][1], 0)}
	if hasMask(in) {
		m := matrix(4, own[4][0], own[4][1], 0)
		a.mask = &m
	}
	a.scores = newProduct(t, plan, append(slices.Clone(batch), sq, skv, d), matrix(0, own[0][0], 0, own[0][1]), matrix(1, 0, own[1][0], own[1][1]))
	a.values = newProduct(t, plan, append(slices.Clone(batch), sq, dv, skv), matrix(0, 0, 0, 0), matrix(2, 0, own[2][1], own[2][0]))
	// The products share temporary buffers. Scores of F64 have kernels without texels only.
	if a.scores.kind == sharedKind || a.values.kind == sharedKind || a.scores.accumulator() == tensor.F64 {
		a.scores.kind, a.values.kind = sharedKind, sharedKind
	}
	a.scores.parts, a.values.parts = 1, 1
	a.values.filled = true
	return a
}

// attentionReference is the spec.Definition.Reference of attention.
func attentionReference(scale float64, causal bool, in, out []*tensor.Host) {
	q, k, v := in[0].Floats(), in[1].Floats(), in[2].Floats()
	o := out[0].Shape
	sq, dv, d := o[len(o)-2], o[len(o)-1], in[0].Shape[len(o)-1]
	skv := in[1].Shape[len(in[1].Shape)-2]
	lead := o[:len(o)-2]
	ks, vs := matrixNumbers(in[1].Desc, lead), matrixNumbers(in[2].Desc, lead)
	var mask []float64
	var maskAt func(b, i, j int) float64
	if len(in) > maskInput && in[maskInput].Elems() > 0 {
		mask = in[3].Floats()
		m := tensor.Contiguous(in[3].DType, in[3].Shape...)
		for len(m.Shape) < 2 {
			m.Shape = append([]int{1}, m.Shape...)
		}
		ms := matrixNumbers(m, lead)
		h, w := m.Shape[len(m.Shape)-2], m.Shape[len(m.Shape)-1]
		maskAt = func(b, i, j int) float64 { return mask[(ms[b]*h+min(i, h-1))*w+min(j, w-1)] }
	}
	var lengths []float64
	if len(in) > lengthsInput {
		lengths = in[lengthsInput].Floats()
	}
	res := make([]float64, out[0].Elems())
	scores := make([]float64, skv)
	for b := range ks {
		n := skv
		if len(lengths) > 0 {
			n = int(lengths[b*len(lengths)/len(ks)])
		}
		kb, vb := k[ks[b]*skv*d:], v[vs[b]*skv*dv:]
		for i := range sq {
			x, most, s := q[(b*sq+i)*d:], math.Inf(-1), scores[:n]
			if causal {
				s = scores[:seenKeys(i, sq, n)]
			}
			for j := range s {
				sum := 0.0
				for e, y := range kb[j*d : j*d+d] {
					sum += x[e] * y
				}
				if s[j] = sum * scale; mask != nil {
					s[j] += maskAt(b, i, j)
				}
				most = math.Max(most, s[j])
			}
			if math.IsInf(most, -1) {
				continue // All keys are masked.
			}
			total, to := 0.0, res[(b*sq+i)*dv:(b*sq+i)*dv+dv]
			for j := range s {
				w := math.Exp(s[j] - most)
				total += w
				for e, y := range vb[j*dv : j*dv+dv] {
					to[e] += w * y
				}
			}
			for e := range to {
				to[e] /= total
			}
		}
	}
	out[0].SetFloats(res)
}

// attentionTolerance is the spec.Definition.Tolerance of attention.
func attentionTolerance(scale float64, dt tensor.DType, in []tensor.Desc) spec.Tolerance {
	e := planner.AccumulatorEpsilon(dt)
	d, skv := float64(in[0].Shape[len(in[0].Shape)-1]), float64(in[1].Shape[len(in[1].Shape)-2])
	// An error of a score becomes a relative error of its weight. The scores are sums of d
	// products. The results are sums of weighted values.
	run := math.Min(d, dotRun)
	score := 4 + (2+math.Sqrt(run*d)/2)*math.Max(math.Abs(scale), 1.0/8) + 2*math.Sqrt(skv)
	// If rows of q and k repeat one element, all products of a score are the same. Then the
	// score is as large as d·|scale|, d/3 on average, and rounding errors grow with it.
	h := dotChain(int(d))
	return spec.Tolerance{
		Abs: e*score + planner.Tiny(dt), Rel: 4*e + planner.StoreEpsilon(dt),
		Repeated:    e * (2 + math.Sqrt(h/3)) * d / 3 * math.Abs(scale),
		Law:         "ε·(4 + (2 + ½·√(min(d, 4096)·d))·max(|scale|, ⅛) + 2·√skv) + 4ε of the value, for elements within ±1",
		RepeatedLaw: "ε·(2 + √(h/3))·|scale|·d/3, h = min(d, 4096) + ⌈d/4096⌉ + 12",
		Why:         "results are weighted means of values up to 1, whose weights have the relative errors of the scores; scores are sums of d products, as in matmul; rounding errors of sums over the keys are random",
	}
}

// attentionCases returns the Cases of attention.
func attentionCases[A spec.Call](m Attention[A]) spec.CasesOf[A] {
	return spec.CasesOf[A]{
		DTypes: planner.Floats, Calls: slices.Concat([]A{m.Defaults}, m.Calls),
		Dims: []spec.Dim{{Name: "form", Only: []int{1, 2, 3, 4, 5, 6, 7}}, {Name: "sq", Tiles: []int{8}}, {Name: "skv", Tiles: []int{8}}, {Name: "d", Tiles: []int{4}}, {Name: "dv", Tiles: []int{4}}},
		Sizes: [][]int{
			{1, 2, 65535, 3, 2}, {1, 65536, 2, 4, 4}, {2, 1, 100000, 2, 3}, {1, 1, 1000000, 1, 1}, {1, 1000000, 1, 1, 1}, {1, 3, 3, 100000, 2},
			{2, 17, 2500, 8, 9}, {4, 16, 1031, 7, 8}, {3, 64, 64, 64, 64},
			{5, 1, 2500, 8, 9}, {6, 1, 1000000, 1, 1}, {7, 17, 2500, 8, 9}, {7, 1, 100000, 2, 3}, {5, 70, 64, 8, 8}, {6, 1, 256, 64, 64},
		},
		Inputs: func(_ A, dt tensor.DType, dims []int) []tensor.Desc {
			sq, skv, d, dv := dims[1], dims[2], dims[3], dims[4]
			q, k, v, mask := []int{sq, d}, []int{skv, d}, []int{skv, dv}, []int(nil)
			var lengths tensor.Desc
			switch dims[0] {
			case 2: // all heads have the same mask
				q, k, v, mask = []int{2, 3, sq, d}, []int{2, 3, skv, d}, []int{2, 3, skv, dv}, []int{sq, skv}
			case 3: // heads share keys and values, and each batch has its own mask
				q, k, v, mask = []int{2, 3, sq, d}, []int{2, 1, skv, d}, []int{3, skv, dv}, []int{2, 1, 1, skv}
			case 4:
				q, k, v = []int{5, sq, d}, []int{5, skv, d}, []int{5, skv, dv}
			case 5: // groups of queries share a head of keys, as in a decoder, and each batch has its own length
				q, k, v, lengths = []int{3, 2, 5, sq, d}, []int{3, 2, 1, skv, d}, []int{3, 2, 1, skv, dv}, tensor.Contiguous(tensor.I32, 3)
			case 6: // one length for all
				q, k, v, lengths = []int{4, sq, d}, []int{1, skv, d}, []int{4, skv, dv}, tensor.Contiguous(tensor.I64, 1)
			case 7: // a mask too
				q, k, v, mask, lengths = []int{2, 3, sq, d}, []int{2, 1, skv, d}, []int{2, 1, skv, dv}, []int{sq, skv}, tensor.Contiguous(tensor.I32, 2)
			}
			ds := []tensor.Desc{tensor.Contiguous(dt, q...), tensor.Contiguous(dt, k...), tensor.Contiguous(dt, v...)}
			if mask != nil {
				ds = append(ds, tensor.Contiguous(dt, mask...))
			}
			if lengths.Shape != nil {
				if mask == nil {
					ds = append(ds, tensor.Contiguous(dt, 0)) // left out
				}
				ds = append(ds, lengths)
			}
			return ds
		},
		Bench: func(dt tensor.DType) []spec.BenchCase {
			var cases []spec.BenchCase
			for _, s := range [][]int{{2, 64, 64}, {8, 128, 64}, {8, 512, 64}} {
				x := tensor.Contiguous(dt, s...)
				cases = append(cases, spec.BenchCase{Call: m.Defaults, In: []tensor.Desc{x, x, x}})
			}
			for _, channels := range []int{64, 128} {
				x := tensor.Contiguous(dt, 32, 2048, channels)
				cases = append(cases, spec.BenchCase{Call: m.Defaults, In: []tensor.Desc{x, x, x}, GPU: true})
			}
			return cases
		},
		Low: -1, High: 1, Specials: true,
		Range: func(_ A, i int, in []tensor.Desc) (float64, float64) {
			if i == lengthsInput {
				return 0, float64(in[1].Shape[len(in[1].Shape)-2])
			}
			return -1, 1
		},
		Invalid: m.Invalid,
		Refused: slices.Concat(refusedLengths(), [][]tensor.Desc{
			f32([]int{2, 3}, []int{4, 5}, []int{4, 2}), f32([]int{2, 3}, []int{4, 3}, []int{5, 2}), f32([]int{3}, []int{4, 3}, []int{4, 2}),
			f32([]int{2, 3}, []int{2, 4, 3}, []int{4, 2}), f32([]int{2, 2, 3}, []int{3, 4, 3}, []int{2, 4, 2}),
			f32([]int{2, 3}, []int{4, 3}, []int{4, 2}, []int{2, 5}), f32([]int{2, 3}, []int{4, 3}, []int{4, 2}, []int{3, 2, 4}),
		}),
	}
}
