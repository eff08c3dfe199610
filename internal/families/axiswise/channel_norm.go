package axiswise

import (
	"math"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Channels describes a normalisation of the channels of tensors [N,C,spatial...], with
// attributes of type A.
type Channels[A spec.Call] struct {
	// Name, Doc, Source and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc, Source string
	ONNX              []string
	// Defaults are the default attributes. Calls and Invalid are those of spec.CasesOf.
	Defaults       A
	Calls, Invalid []A
	// Eps returns the number that is added to the variance.
	Eps func(A) float64
	// Groups returns the number of groups of channels that share statistics in each picture. Nil
	// means that each channel has statistics of its own, over all pictures.
	Groups func(a A, count int) int
	// Given says that inputs 3 and 4 are the statistics of each channel.
	Given bool
	// Momentum, if set, returns the weight of the running statistics, which are inputs 3 and 4.
	// Outputs 1 to 4 are then the mean and the variance of each channel, and the running ones.
	Momentum func(A) float64
	// Grad says that it is the gradient of the normalisation. Input 2 is the gradient of the result.
	Grad bool
}

// args returns the inputs and outputs.
func (o Channels[A]) args() (in, out []spec.Arg) {
	const own = "[C], as in, or F32 beside 16 bits"
	in = []spec.Arg{{Name: "in", Doc: "[N,C,spatial...]"}, {Name: "gamma", Doc: own}, {Name: "beta", Doc: "[C]"}}
	out = []spec.Arg{{Name: "out", Doc: "the result, of the shape of in", InPlace: []int{0}}}
	each := func(name, doc string) spec.Arg {
		return spec.Arg{Name: name, Doc: strings.TrimSuffix("[C], "+doc, ", ")}
	}
	switch {
	case o.Grad:
		in[2] = spec.Arg{Name: "dy", Doc: "the gradient of the result, of the shape of in"}
		out = []spec.Arg{{Name: "dx", Doc: "the gradient of in"}, each("dgamma", ""), each("dbeta", "")}
	case o.Momentum != nil:
		in = append(in, each("running_mean", ""), each("running_var", ""))
		mean, variance := each("new_running_mean", ""), each("new_running_var", "")
		mean.InPlace, variance.InPlace = []int{3}, []int{4}
		out = append(out, each("mean", ""), each("var", ""), mean, variance)
	case o.Given:
		in = append(in, each("mean", ""), each("var", "not negative"))
	}
	for i := range in {
		in[i].DTypes = planner.Floats
	}
	return in, out
}

// shape checks the inputs of a call.
func (o Channels[A]) shape(a A, args []spec.Arg, in []tensor.Desc) ([]tensor.Desc, error) {
	if err := checkEps(o.Eps(a)); err != nil {
		return nil, err
	}
	if len(in[0].Shape) < 2 {
		return nil, planner.Invalid("%v (want [N,C,spatial...])", in[0])
	}
	count := in[0].Shape[1]
	if o.Groups != nil {
		if g := o.Groups(a, count); g < 1 && count > 0 || g > 0 && count%g != 0 {
			return nil, planner.Invalid("%d groups of %d channels (want a number of at least 1 that divides the channels)", g, count)
		}
	}
	if o.Momentum != nil {
		if m := o.Momentum(a); !(m >= 0 && m <= 1) {
			return nil, planner.Invalid("momentum %v (want 0 to 1)", m)
		}
	}
	if o.Groups == nil && !o.Given && in[0].Elems() == 0 && count > 0 {
		return nil, planner.Invalid("%v: channels without elements have no statistics", in[0])
	}
	own := tensor.Contiguous(in[1].DType, count)
	for i := 1; i < len(in); i++ {
		if o.Grad && i == 2 {
			if err := checkSame(args[2].Name, in[2], args[0].Name, in[0]); err != nil {
				return nil, err
			}
			continue
		}
		if wide := planner.Accumulator(in[0].DType); in[i].DType != own.DType || own.DType != in[0].DType && own.DType != wide || !slices.Equal(in[i].Shape, own.Shape) {
			return nil, planner.Invalid("input %s is %v (want [%d] of %s)", args[i].Name, in[i], count, affineTypes(in[0].DType))
		}
	}
	out := []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}
	switch {
	case o.Grad:
		out = append(out, own, own)
	case o.Momentum != nil:
		out = append(out, own, own, own, own)
	}
	return out, nil
}

// groups is Groups for a shape that Shape has accepted, or 0.
func (o Channels[A]) groups(a A, shape []int) int {
	if o.Groups == nil {
		return 0
	}
	return o.Groups(a, shape[1])
}

// plan is the spec.Definition.Plan.
func (o Channels[A]) build(a A, t *spec.Target, in []tensor.Desc) (*spec.Plan, error) {
	plan := &spec.Plan{}
	if err := planner.CheckTarget(t, in...); err != nil {
		return nil, err
	}
	c := channelPlan{
		channels: channelsOf(in[0].Shape, o.groups(a, in[0].Shape)), t: t, plan: plan, eps: o.Eps(a),
		d: in[0].DType, wide: planner.Accumulator(in[0].DType), own: in[1].DType,
	}
	if in[0].Elems() == 0 {
		if o.Grad && c.count > 0 { // The gradients of gamma and beta are sums over nothing.
			sums, err := reduction.Add(plan, t, dotReducer, c.wide, planner.AxisView{Outer: c.count, N: 0, Inner: 1}, spec.Ref{},
				planner.AddScratch(plan, 0), planner.AddScratch(plan, 0))
			if err != nil {
				return nil, err
			}
			return plan, c.columnGradients(sums)
		}
		return plan, nil
	}
	switch {
	case o.Grad:
		return plan, c.gradient()
	case o.Given:
		pairs, err := addAffine(plan, t, c.own, c.wide, c.count, spec.In(3), spec.In(4))
		if err != nil {
			return nil, err
		}
		return plan, c.normalise(pairs, spec.In(1), spec.In(2), true)
	}
	stats, err := c.moments(spec.In(0), c.d)
	if err != nil {
		return nil, err
	}
	if err := c.normalise(stats, spec.In(1), spec.In(2), false); err != nil || o.Momentum == nil {
		return plan, err
	}
	return plan, c.running(stats, o.Momentum(a))
}

// DefineChannels declares a normalisation by channels, or its gradient.
func DefineChannels[A spec.Call](o Channels[A]) *spec.Op {
	spirv.LinkNN()
	in, out := o.args()
	kernels := ChannelNormKernels()
	if o.Grad {
		kernels = ChannelGradientKernels()
	} else if o.Momentum != nil {
		kernels = BatchTrainingKernels()
	}
	return spec.Define(spec.Definition[A]{
		Name: o.Name, Group: "nn", Doc: o.Doc, Source: o.Source, In: in, Out: out,
		Traits:   spec.Traits{Class: spec.AxisWise, ONNX: o.ONNX},
		Defaults: o.Defaults, Kernels: kernels,
		Shape: func(a A, descs []tensor.Desc) ([]tensor.Desc, error) { return o.shape(a, in, descs) },
		Plan:  func(a A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) { return o.build(a, t, in) },
		Strategies: func(a A, t *spec.Target, in, out []tensor.Desc) []string {
			if in[0].Elems() == 0 || o.Grad && !reduction.HasTexels(planner.Accumulator(in[0].DType)) {
				return nil
			}
			return reduction.Strategies(a, t, in, out)
		},
		SizeClass: func(a A, in []tensor.Desc) []int {
			c := channelsOf(in[0].Shape, 0)
			return []int{c.pictures, c.count, c.size}
		},
		Reference: func(a A, in, out []*tensor.Host) { o.reference(a, in, out) },
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			return o.tolerance(a, d, channelsOf(in[0].Shape, o.groups(a, in[0].Shape)))
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			flops, bytes := int64(8), 2*in[0].Bytes()
			if o.Given {
				flops = 4
			} else if o.Grad {
				flops, bytes = 16, 3*in[0].Bytes()
			}
			return spec.Cost{Flops: flops * int64(in[0].Elems()), Bytes: bytes}
		},
		Cases: o.cases(len(in)),
	})
}

// cases returns the cases of an operation with so many inputs.
func (o Channels[A]) cases(inputs int) spec.CasesOf[A] {
	f := tensor.Contiguous
	shaped := func(d, own tensor.DType, shape ...int) []tensor.Desc {
		in := []tensor.Desc{f(d, shape...)}
		for range inputs - 1 {
			in = append(in, f(own, shape[1]))
		}
		if o.Grad {
			in[2] = in[0]
		}
		return in
	}
	wrong := func(i int, d tensor.Desc) []tensor.Desc {
		in := shaped(tensor.F32, tensor.F32, 2, 6, 3)
		in[i] = d
		return in
	}
	mixed := shaped(tensor.F32, tensor.F16, 2, 6, 3)
	return spec.CasesOf[A]{
		DTypes: planner.Floats, Calls: o.Calls, Invalid: o.Invalid,
		Dims: []spec.Dim{{Name: "pictures"}, {Name: "channels", Tiles: []int{16}}, {Name: "size", Tiles: []int{16}}},
		Sizes: [][]int{
			{1, 1, 65536}, {2, 1, 100000}, {1, 2, 100003}, {65536, 2, 1}, {70000, 3, 1}, {65536, 1, 2}, {1, 65536, 2}, {2, 66000, 1}, {3, 5, 20000}, {70, 7, 300},
		},
		Inputs: func(a A, d tensor.DType, dims []int) []tensor.Desc {
			shape, own := slices.Clone(dims), d
			if o.Groups == nil && !o.Given && (dims[0] == 0 || dims[2] == 0) && dims[1] > 0 {
				return nil
			}
			if o.Groups != nil && o.Groups(a, 1) == o.Groups(a, 2) { // The cases have up to three groups.
				shape[1] *= 6
			}
			if dims[2]%2 == 0 {
				shape = []int{shape[0], shape[1], 2, dims[2] / 2}
			} else if dims[2] == 1 {
				shape = shape[:2]
			}
			if dims[0] == 3 {
				own = planner.Accumulator(d)
			}
			return shaped(d, own, shape...)
		},
		Bench: func(d tensor.DType) []spec.BenchCase {
			var cases []spec.BenchCase
			for _, s := range [][]int{{1, 16, 32, 32}, {8, 64, 32, 32}, {16, 256, 32, 32}, {4096, 1024}} {
				cases = append(cases, spec.BenchCase{Call: o.Defaults, In: shaped(d, d, s...)})
			}
			return cases
		},
		Low: -2, High: 2, Specials: true,
		Range: func(a A, i int, _ []tensor.Desc) (low, high float64) {
			switch {
			case i == 4:
				return 0.1, 4
			case i == 0 && o.Eps(a) == 1e-3 && !o.Given: // far from zero
				return 1e4 - 1, 1e4 + 1
			}
			return -2, 2
		},
		Refused: [][]tensor.Desc{
			wrong(0, f(tensor.F32, 6)), wrong(1, f(tensor.F32, 5)), wrong(1, f(tensor.F32, 1, 6)), wrong(2, f(tensor.F32, 5)), wrong(inputs-1, f(tensor.F16, 6)), mixed,
		},
	}
}

// tolerance is the spec.Definition.Tolerance.
func (o Channels[A]) tolerance(a A, d tensor.DType, c channels) spec.Tolerance {
	e := planner.AccumulatorEpsilon(d)
	if o.Given {
		return spec.Tolerance{
			Abs: 128*e + planner.Tiny(d)*64, Rel: 8*e + planner.StoreEpsilon(d),
			Law: "128ε + 8ε of the value",
			Why: "five steps are rounded, of numbers up to 8/√0.1",
		}
	}
	h := reduction.Chain(c.total())
	if c.groups == 0 {
		h = reduction.Chain(c.pictures) + reduction.Chain(c.size)
	}
	if !o.Grad {
		return spec.Tolerance{
			Abs: e*(32+3*math.Sqrt(h)) + planner.Tiny(d), Rel: 16*e + planner.StoreEpsilon(d),
			Law: "ε·(32 + 3·√h) + 16ε of the value, h = " + reduction.ChainText,
			Why: "deviations are relative to one element, and their mean changes at most h times",
		}
	}
	m := float64(max(c.pictures*c.size, 1))
	return spec.Tolerance{
		Abs: e*(64+3*math.Sqrt(h)+32*math.Sqrt(m)+m+4/math.Sqrt(o.Eps(a))) + planner.Tiny(d),
		Rel: e*(32+math.Sqrt(h/3)) + planner.StoreEpsilon(d),
		Law: "ε·(64 + 3·√h + 32·√m + m + 4/√eps) + ε·(32 + √(h/3)) of the value, m elements a channel",
		Why: "products of a few units cancel before a division by √eps, and terms of sums are rounded at most h times",
	}
}
