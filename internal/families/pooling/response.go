package pooling

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const responseShader = "nn/lrn"

// responseParams is the push-constant block of nn/lrn.comp: beta, bias and the factor of the sums, as
// elementwise.Words returns them.
type responseParams struct {
	Count                uint32
	First, Second, Third [2]uint32
}

// Response are the attributes of a local response normalisation.
type Response struct {
	// Size is the number of channels of a window.
	Size              int
	Alpha, Beta, Bias float64
}

// geometry returns the windows over channels of an input [N,C,spatial...].
// Errors: ErrInvalidArgument, ErrUnsupported.
func (r Response) geometry(shape []int) (geometry, error) {
	if len(shape) < 2 {
		return geometry{}, planner.Invalid("shape %v (want [N,C,spatial...])", shape)
	}
	if r.Size < 1 || r.Size > maxSize {
		return geometry{}, planner.Invalid("size %d (want 1 to %d)", r.Size, maxSize)
	}
	for _, x := range []float64{r.Alpha, r.Beta, r.Bias} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return geometry{}, planner.Invalid("alpha %v, beta %v, bias %v (want finite numbers)", r.Alpha, r.Beta, r.Bias)
		}
	}
	if r.Alpha < 0 || r.Bias <= 0 {
		return geometry{}, planner.Invalid("alpha %v, bias %v (want alpha of at least 0 and bias above 0)", r.Alpha, r.Bias)
	}
	plane := 1
	for _, n := range shape[2:] {
		plane *= n
	}
	if shape[0] == 0 || shape[1] == 0 || plane == 0 {
		return geometry{}, nil
	}
	// A window of all channels on both sides has all there are.
	before, after := min((r.Size-1)/2, shape[1]-1), min(r.Size/2, shape[1]-1)
	w := Windows{Kernel: []int{before + after + 1, 1}, Pads: []int{before, 0, after, 0}}
	return w.geometry([]int{shape[0], 1, shape[1], plane})
}

// factor is that of a sum of squares.
func (r Response) factor() float64 { return r.Alpha / float64(r.Size) }

// DefineResponse declares a local response normalisation: d has its name, docs, attributes and calls.
func DefineResponse[A spec.Call](d spec.Definition[A], attributes func(A) Response) *spec.Op {
	spirv.LinkNN()
	spirv.LinkMove() // casts
	accumulators := []tensor.DType{tensor.F32, tensor.F64}
	d.Group = "nn"
	d.In = []spec.Arg{{Name: "in", Doc: "[N,C,spatial...]", DTypes: planner.Floats}}
	d.Out = []spec.Arg{{Name: "out", Doc: "of the shape and dtype of in"}}
	d.Traits.Class = spec.AxisWise
	d.Kernels = slices.Concat(kernels(lpShader, poolParams{}, accumulators...), planner.DTypeVariants(responseShader, responseParams{}, accumulators, func(d tensor.DType) bool { return d.Size() < 8 }),
		[]spec.Kernel{{Name: responseShader + ".f32.lanes", Params: responseParams{}}}, elementwise.CastKernels())
	d.Shape = func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
		_, err := attributes(a).geometry(in[0].Shape)
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, err
	}
	d.Plan = func(a A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
		r, plan := attributes(a), &spec.Plan{}
		g, err := r.geometry(in[0].Shape)
		if err == nil {
			err = planner.CheckTarget(t, in...)
		}
		if err != nil || in[0].Elems() == 0 {
			return plan, err
		}
		return plan, r.add(plan, t, in[0], g)
	}
	d.Strategies, d.SizeClass = planner.FlatStrategies[A], planner.ElementCounts[A]
	d.Reference = func(a A, in, out []*tensor.Host) {
		if in[0].Elems() == 0 {
			return
		}
		r, x := attributes(a), in[0].Floats()
		channels, values := in[0].Shape[1], make([]float64, len(x))
		plane := len(x) / (in[0].Shape[0] * channels)
		for i := range x {
			c := i / plane % channels
			low, high := max(c-(r.Size-1)/2, 0), min(c+r.Size/2, channels-1)
			sum := reduction.Sum(high-low+1, func(k int) float64 { v := x[i+(low+k-c)*plane]; return v * v })
			values[i] = x[i] * math.Pow(r.Bias+r.factor()*sum, -r.Beta)
		}
		out[0].SetFloats(values)
	}
	d.Tolerance = func(a A, dt tensor.DType, in []tensor.Desc) spec.Tolerance {
		r := attributes(a)
		g, _ := r.geometry(in[0].Shape)
		e, h := planner.AccumulatorEpsilon(dt), 2+math.Ceil(float64(g.kernel[1])/minTaps)
		if g.planes > 0 {
			h = g.chain()
		}
		return spec.Tolerance{
			Abs: planner.Tiny(dt), Rel: e*(12+math.Abs(r.Beta)*(8+h)) + planner.StoreEpsilon(dt),
			Law: "ε·(12 + |beta|·(8 + h)) of the value, h as for avg_pool",
			Why: "nothing cancels: squares and sums of positive numbers are rounded, the power multiplies that by beta and adds a few units",
		}
	}
	d.Cost = func(a A, in []tensor.Desc) spec.Cost {
		n := int64(in[0].Elems())
		return spec.Cost{Flops: n * (2*int64(min(attributes(a).Size, maxSize)) + 40), Bytes: 2 * in[0].Bytes()}
	}
	return spec.Define(d)
}

// add appends the launches. Elements of 16 bits are cast to those of accumulators and back.
func (r Response) add(plan *spec.Plan, t *spec.Target, in tensor.Desc, g geometry) error {
	d, n, x, y := planner.Accumulator(in.DType), in.Elems(), spec.In(0), spec.Out(0)
	if d != in.DType {
		x, y = planner.AddScratch(plan, int64(n*d.Size())), planner.AddScratch(plan, int64(n*d.Size()))
		if err := elementwise.AddCast(plan, t, in.DType, d, n, spec.In(0), x); err != nil {
			return err
		}
	}
	sums := planner.AddScratch(plan, int64(n*d.Size()))
	if err := addPool(plan, t, lpShader, d, g, poolParams{Power: powers(2, 1)}, x, sums, spec.Ref{}); err != nil {
		return err
	}
	k := planner.FlatVariant(t, responseShader, d)
	if t.HostVectors && !k.Texel && d == tensor.F32 {
		k.Name += ".lanes"
	}
	k.Params = func(_, count int) any {
		return responseParams{uint32(count), elementwise.Words(r.Beta, d), elementwise.Words(r.Bias, d), elementwise.Words(r.factor(), d)}
	}
	if err := planner.AddFlat(plan, t, k, n, planner.Flat(x, d), planner.Flat(sums, d), planner.Flat(y, d)); err != nil || d == in.DType {
		return err
	}
	return elementwise.AddCast(plan, t, d, in.DType, n, y, spec.Out(0))
}
