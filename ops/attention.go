package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Attention is scaled dot-product attention, softmax(q·kᵀ·scale + mask)·v, for
// q [..., sq,d], k [..., skv,d], v [..., skv,dv] and an additive mask that can be
// broadcast to [..., sq,skv]. The dimensions before the last two are q's; those of
// k, v and the mask are broadcast to them. A row whose keys are all masked (−∞),
// or that has none, is zeros. Temporary memory does not grow with sq·skv.
type Attention struct {
	Scale float64 `attr:"scale" doc:"multiplies the scores, often 1/√d; any finite number"`
}

// Spec returns the declaration.
func (Attention) Spec() *spec.Op { return attentionOp }

var attentionOp = newAttention()

func newAttention() *spec.Op {
	op := &spec.Op{
		Name: "attention", Group: "nn",
		Doc:    "Scaled dot-product attention, softmax(q·kᵀ·scale + mask)·v, in bounded memory.",
		Source: "Vaswani et al. 2017; online softmax of Milakov and Gimelshein 2018",
		In: []spec.Arg{
			{Name: "q", Doc: "[..., sq,d]"}, {Name: "k", Doc: "[..., skv,d]; the dimensions before are broadcast to q's"},
			{Name: "v", Doc: "[..., skv,dv], likewise"},
			{Name: "mask", Doc: "added to the scores, broadcast to [..., sq,skv]", Optional: true},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "[..., sq,dv]"}},
		Defaults: Attention{Scale: 0.125},
		Kernels:  attentionKernels,
	}
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if s := c.(Attention).Scale; math.IsNaN(s) || math.IsInf(s, 0) || math.Abs(s) > math.MaxFloat32 {
			return nil, invalid("attention", "scale (got %v, want a finite number of f32)", s)
		}
		if err := check(op, in, floats...); err != nil {
			return nil, err
		}
		return attentionShape(in)
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		if err := checkTarget("attention", t, in[0]); err != nil {
			return nil, err
		}
		if !out[0].IsContiguous() || len(in) > 3 && !in[3].IsContiguous() {
			return nil, unsupported("attention", "a result or a mask with strides")
		}
		plan := &spec.Plan{}
		if out[0].Elems() == 0 {
			return plan, nil
		}
		return plan, planAttention(c.(Attention).Scale, t, plan, in, out[0])
	}
	op.Strategies = attentionWays
	op.SizeClass = func(_ spec.Call, in []tensor.Desc) []int {
		matrices, sq, skv, d, dv := attentionSizes(in)
		return []int{matrices, sq, skv, d, dv}
	}
	op.Reference = attentionReference
	op.Tolerance = attentionTolerance
	op.Cost = func(_ spec.Call, in []tensor.Desc) spec.Cost {
		matrices, sq, skv, d, dv := attentionSizes(in)
		rows := int64(matrices) * int64(sq)
		bytes := rows * int64(dv) * int64(in[0].DType.Size())
		for _, d := range in {
			bytes += d.Bytes()
		}
		return spec.Cost{Flops: 2 * rows * int64(skv) * int64(d+dv), Bytes: bytes}
	}
	op.Cases = attentionCases()
	return spec.Register(op)
}

// attentionSizes are how many matrices of queries there are, and their sizes.
func attentionSizes(in []tensor.Desc) (matrices, sq, skv, d, dv int) {
	q, k, v := in[0].Shape, in[1].Shape, in[2].Shape
	matrices = 1
	for _, n := range q[:len(q)-2] {
		matrices *= n
	}
	return matrices, q[len(q)-2], k[len(k)-2], q[len(q)-1], v[len(v)-1]
}

func attentionShape(in []tensor.Desc) ([]tensor.Desc, error) {
	q, k, v := in[0], in[1], in[2]
	for _, d := range in {
		if d.DType != q.DType {
			return nil, invalid("attention", "dtypes differ: %v", in)
		}
	}
	if len(q.Shape) < 2 || len(k.Shape) < 2 || len(v.Shape) < 2 {
		return nil, invalid("attention", "q %v, k %v, v %v (want two dimensions or more of each)", q, k, v)
	}
	last := func(d tensor.Desc, n int) int { return d.Shape[len(d.Shape)-n] }
	if last(q, 1) != last(k, 1) || last(k, 2) != last(v, 2) {
		return nil, invalid("attention", "q %v, k %v, v %v (want [..., sq,d], [..., skv,d], [..., skv,dv])", q, k, v)
	}
	lead := q.Shape[:len(q.Shape)-2]
	fits := func(own, shape []int) bool {
		all, ok := broadcastBatch(shape, own)
		return ok && len(own) <= len(shape) && slices.Equal(all, shape)
	}
	if !fits(k.Shape[:len(k.Shape)-2], lead) || !fits(v.Shape[:len(v.Shape)-2], lead) {
		return nil, invalid("attention", "k %v, v %v: the first dimensions cannot be broadcast to those of q %v", k, v, q)
	}
	scores := append(slices.Clone(lead), last(q, 2), last(k, 2))
	if len(in) > 3 && !fits(in[3].Shape, scores) {
		return nil, invalid("attention", "mask %v cannot be broadcast to %v", in[3], scores)
	}
	out := tensor.Contiguous(q.DType, append(slices.Clone(lead), last(q, 2), last(v, 1))...)
	if err := out.Check(); err != nil {
		return nil, invalid("attention", "the result %v: %v", out, err)
	}
	return []tensor.Desc{out}, nil
}

func planAttention(scale float64, t *spec.Target, plan *spec.Plan, in []tensor.Desc, out tensor.Desc) error {
	q, k, v := in[0], in[1], in[2]
	r := len(q.Shape)
	lead := q.Shape[:r-2]
	sq, d, skv, dv := q.Shape[r-2], q.Shape[r-1], k.Shape[len(k.Shape)-2], v.Shape[len(v.Shape)-1]
	// The steps along the batch of each operand, and along its own two dimensions.
	var operands []strided
	var own [][2]int
	for i, x := range []tensor.Desc{q, k, v, out} {
		steps, n := x.ElementStrides(), len(x.Shape)-2
		head := tensor.Desc{DType: x.DType, Shape: x.Shape[:n], Strides: steps[:n]}
		ref := spec.In(i)
		if i == 3 {
			ref = spec.Out(0)
		}
		operands = append(operands, strided{ref, x.DType, broadcastSteps(head, lead)})
		own = append(own, [2]int{steps[n], steps[n+1]})
	}
	if len(in) > 3 {
		steps := broadcastSteps(in[3], append(slices.Clone(lead), sq, skv))
		operands = append(operands, strided{spec.In(3), in[3].DType, steps[:r-2]})
		own = append(own, [2]int{steps[r-2], steps[r-1]})
	}
	batch, operands := collapse(lead, operands)
	for len(batch) < 2 {
		batch = append([]int{1}, batch...)
		for i := range operands {
			operands[i].steps = append([]int{0}, operands[i].steps...)
		}
	}
	// matrix is an operand with steps along the batch, rows, columns and k.
	matrix := func(i, row, col, k int) gemmMatrix {
		o := operands[i]
		o.steps = append(slices.Clone(o.steps), row, col, k)
		return gemmMatrix{strided: o}
	}
	a := &attention{t: t, plan: plan, scale: scale, out: matrix(3, own[3][0], own[3][1], 0)}
	if len(in) > 3 {
		m := matrix(4, own[4][0], own[4][1], 0)
		a.mask = &m
	}
	a.scores = newGemm(t, plan, append(slices.Clone(batch), sq, skv, d), matrix(0, own[0][0], 0, own[0][1]), matrix(1, 0, own[1][0], own[1][1]))
	a.values = newGemm(t, plan, append(slices.Clone(batch), sq, dv, skv), matrix(0, 0, 0, 0), matrix(2, 0, own[2][1], own[2][0]))
	if a.scores.mode == gemmShared || a.values.mode == gemmShared { // they share temporary buffers
		a.scores.mode, a.values.mode = gemmShared, gemmShared
	}
	a.scores.parts, a.values.parts = 1, 1
	a.values.filled = true
	return a.run()
}

func attentionReference(c spec.Call, in, out []*tensor.Host) {
	scale := c.(Attention).Scale
	q, k, v := in[0].Floats(), in[1].Floats(), in[2].Floats()
	o := out[0].Shape
	sq, dv, d := o[len(o)-2], o[len(o)-1], in[0].Shape[len(o)-1]
	skv := in[1].Shape[len(in[1].Shape)-2]
	lead := o[:len(o)-2]
	ks, vs := matrixNumbers(in[1].Desc, lead), matrixNumbers(in[2].Desc, lead)
	var mask []float64
	var maskAt func(b, i, j int) float64
	if len(in) > 3 {
		mask = in[3].Floats()
		m := tensor.Contiguous(in[3].DType, in[3].Shape...)
		for len(m.Shape) < 2 {
			m.Shape = append([]int{1}, m.Shape...)
		}
		ms := matrixNumbers(m, lead)
		h, w := m.Shape[len(m.Shape)-2], m.Shape[len(m.Shape)-1]
		maskAt = func(b, i, j int) float64 { return mask[(ms[b]*h+min(i, h-1))*w+min(j, w-1)] }
	}
	res := make([]float64, out[0].Elems())
	s := make([]float64, skv)
	for b := range ks {
		kb, vb := k[ks[b]*skv*d:], v[vs[b]*skv*dv:]
		for i := range sq {
			x, most := q[(b*sq+i)*d:], math.Inf(-1)
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
				continue // all masked
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

func attentionTolerance(c spec.Call, dt tensor.DType, in []tensor.Desc) spec.Tolerance {
	e := workEpsilon(dt)
	d, skv := float64(in[0].Shape[len(in[0].Shape)-1]), float64(in[1].Shape[len(in[1].Shape)-2])
	// An error of a score is one of its weight, relative to it: sums of d products,
	// and of the weighted values.
	run := math.Min(d, gemmRun)
	score := 4 + (2+math.Sqrt(run*d)/2)*math.Max(math.Abs(c.(Attention).Scale), 1.0/8) + 2*math.Sqrt(skv)
	return spec.Tolerance{
		Abs: e*score + tiny(dt), Rel: 4*e + storeEpsilon(dt),
		Law: "ε·(4 + (2 + ½·√(min(d, 4096)·d))·max(|scale|, ⅛) + 2·√skv) + 4ε of the value, for elements within ±1",
		Why: "weighted means of values up to 1, whose weights err as the scores do: sums of d products, as those of matmul; and roundings of sums over the keys, at random",
	}
}

func attentionCases() spec.Cases {
	f32 := func(shapes ...[]int) []tensor.Desc {
		var ds []tensor.Desc
		for _, s := range shapes {
			ds = append(ds, tensor.Contiguous(tensor.F32, s...))
		}
		return ds
	}
	return spec.Cases{
		DTypes: floats, Calls: []spec.Call{Attention{Scale: 0.125}, Attention{Scale: -1}, Attention{Scale: spec.Given(0.0)}},
		Dims: []spec.Dim{{Name: "form", Only: []int{1, 2, 3, 4}}, {Name: "sq", Tiles: []int{8}}, {Name: "skv", Tiles: []int{8}}, {Name: "d", Tiles: []int{4}}, {Name: "dv", Tiles: []int{4}}},
		Sizes: [][]int{
			{1, 2, 65535, 3, 2}, {1, 65536, 2, 4, 4}, {2, 1, 100000, 2, 3}, {1, 1, 1000000, 1, 1}, {1, 1000000, 1, 1, 1}, {1, 3, 3, 100000, 2},
			{2, 17, 2500, 8, 9}, {4, 16, 1031, 7, 8}, {3, 64, 64, 64, 64},
		},
		Inputs: func(dt tensor.DType, dims []int) []tensor.Desc {
			sq, skv, d, dv := dims[1], dims[2], dims[3], dims[4]
			q, k, v, mask := []int{sq, d}, []int{skv, d}, []int{skv, dv}, []int(nil)
			switch dims[0] {
			case 2: // a mask for all heads
				q, k, v, mask = []int{2, 3, sq, d}, []int{2, 3, skv, d}, []int{2, 3, skv, dv}, []int{sq, skv}
			case 3: // keys and values shared, a mask for each batch
				q, k, v, mask = []int{2, 3, sq, d}, []int{2, 1, skv, d}, []int{3, skv, dv}, []int{2, 1, 1, skv}
			case 4:
				q, k, v = []int{5, sq, d}, []int{5, skv, d}, []int{5, skv, dv}
			}
			ds := []tensor.Desc{tensor.Contiguous(dt, q...), tensor.Contiguous(dt, k...), tensor.Contiguous(dt, v...)}
			if mask != nil {
				ds = append(ds, tensor.Contiguous(dt, mask...))
			}
			return ds
		},
		Bench: func(dt tensor.DType) []spec.BenchCase {
			var ws []spec.BenchCase
			for _, s := range [][]int{{2, 64, 64}, {8, 128, 64}, {8, 512, 64}} {
				x := tensor.Contiguous(dt, s...)
				ws = append(ws, spec.BenchCase{Call: Attention{Scale: 0.125}, In: []tensor.Desc{x, x, x}})
			}
			return ws
		},
		Low: -1, High: 1, Specials: true,
		Invalid: []spec.Call{Attention{Scale: math.NaN()}, Attention{Scale: math.Inf(1)}, Attention{Scale: math.Inf(-1)}, Attention{Scale: 1e300}},
		Refused: [][]tensor.Desc{
			f32([]int{2, 3}, []int{4, 5}, []int{4, 2}), f32([]int{2, 3}, []int{4, 3}, []int{5, 2}), f32([]int{3}, []int{4, 3}, []int{4, 2}),
			f32([]int{2, 3}, []int{2, 4, 3}, []int{4, 2}), f32([]int{2, 2, 3}, []int{3, 4, 3}, []int{2, 4, 2}),
			f32([]int{2, 3}, []int{4, 3}, []int{4, 2}, []int{2, 5}), f32([]int{2, 3}, []int{4, 3}, []int{4, 2}, []int{3, 2, 4}),
		},
	}
}
