package pooling

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const columnsShader = "nn/col2im"

// maxStep is the largest stride where the dilation is not 1. The kernel multiplies two numbers
// below it.
const maxStep = 1<<16 - 1

// columnsParams is the push-constant block of nn/col2im.comp.
type columnsParams struct {
	Count, OutBase, Stage   uint32
	N, S, D, Every, Inverse [3]uint32
	Y                       [3]int32
	O, Take                 [3]uint32
	K0, K1, K2              uint32
	InBase                  int32
}

// Columns are the attributes of an operation between an image and the columns of its windows. Lists
// hold a number for each spatial dimension, and Pads holds two: all at the beginning, and then all at
// the end.
type Columns struct {
	// Image and Block are the sizes of the image and of a window.
	Image, Block []int
	// Strides and Dilations are 1, and Pads are 0, if the lists are empty.
	Strides, Pads, Dilations []int
}

// windows returns how windows lie in an image of that many planes.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (c Columns) windows(planes int) (geometry, error) {
	one := [3]int{1, 1, 1}
	g := geometry{planes: planes, in: one, out: one, kernel: one, strides: one, spacing: one}
	rank := len(c.Image)
	if rank < 1 || rank > 3 {
		return g, planner.Invalid("image_shape %v (want 1 to 3 spatial dimensions)", c.Image)
	}
	for _, l := range []struct {
		name        string
		list        []int
		want, least int
		optional    bool
		to          *[3]int
	}{
		{"image_shape", c.Image, rank, 1, false, &g.in}, {"block_shape", c.Block, rank, 1, false, &g.kernel}, {"strides", c.Strides, rank, 1, true, &g.strides},
		{"dilations", c.Dilations, rank, 1, true, &g.spacing}, {"pads", c.Pads, 2 * rank, 0, true, nil},
	} {
		if len(l.list) != l.want && (len(l.list) > 0 || !l.optional) {
			return g, planner.Invalid("%s %v for image_shape %v (want %d numbers)", l.name, l.list, c.Image, l.want)
		}
		for i, n := range l.list {
			switch {
			case n < l.least:
				return g, planner.Invalid("%s %v (want at least %d)", l.name, l.list, l.least)
			case n > maxSize:
				return g, planner.Unsupported("%s %v (at most %d)", l.name, l.list, maxSize)
			case l.to != nil:
				l.to[3-rank+i] = n
			case i < rank:
				g.before[3-rank+i] = n
			default:
				g.after[3-2*rank+i] = n
			}
		}
	}
	taps, windows := 1.0, 1.0
	for k := range g.in {
		reach := int64(g.kernel[k]-1)*int64(g.spacing[k]) + 1
		switch room := int64(g.in[k]) + int64(g.before[k]) + int64(g.after[k]); {
		case reach > room:
			return g, planner.Invalid("a window of %d along an axis of image_shape %v, which has %d with its pads", reach, c.Image, room)
		case room > maxSize:
			return g, planner.Unsupported("an axis of %d in image_shape %v with its pads (at most %d)", room, c.Image, maxSize)
		case g.strides[k] > maxStep && g.spacing[k] > 1:
			return g, planner.Unsupported("strides %v with dilations %v (strides at most %d where the dilation is not 1)", c.Strides, c.Dilations, maxStep)
		default:
			g.out[k] = int(room-reach)/g.strides[k] + 1
		}
		taps, windows = taps*float64(g.kernel[k]), windows*float64(g.out[k])
	}
	if max(taps, windows) >= 1<<31 {
		return g, planner.Unsupported("block_shape %v for image_shape %v (less than 2^31 elements of a window, and windows, are supported)", c.Block, c.Image)
	}
	return g, nil
}

// geometry checks the attributes for columns [N, C·block, windows].
// Errors: ErrInvalidArgument, ErrUnsupported.
func (c Columns) geometry(shape []int) (geometry, error) {
	g, err := c.windows(0)
	if err != nil {
		return g, err
	}
	if len(shape) != 3 || shape[1]%g.taps() != 0 || shape[2] != area(g.out) {
		return g, planner.Invalid("input in has shape %v (want [N, C·%d, %d])", shape, g.taps(), area(g.out))
	}
	g.planes = shape[0] * (shape[1] / g.taps())
	return g, nil
}

// Shape returns the shape of columns of n images of c channels, or nil if there are none.
func (c Columns) Shape(n, channels int) []int {
	g, err := c.windows(n * channels)
	if err != nil {
		return nil
	}
	return []int{n, channels * g.taps(), area(g.out)}
}

// every returns the distance between taps of an element that are in a window, and the inverse of
// the dilation modulo that distance, both without the common factors of stride and dilation.
func every(stride, dilation int) (distance, inverse int) {
	a, b := stride, dilation
	for b != 0 {
		a, b = b, a%b
	}
	distance = stride / a
	// The extended algorithm of Euclid, for dilation/a modulo distance.
	r, next, x, y := distance, dilation/a%distance, 0, 1
	for next != 0 {
		q := r / next
		r, next, x, y = next, r-q*next, y, x-q*y
	}
	return distance, ((x % distance) + distance) % distance
}

// touching returns the largest number of taps of an element, along each dimension.
func (g geometry) touching() [3]int {
	var n [3]int
	for k := range n {
		distance, _ := every(g.strides[k], g.spacing[k])
		n[k] = min(planner.CeilDiv(g.kernel[k], distance), g.out[k])
	}
	return n
}

// addColumns appends the launches of nn/col2im. The columns and the image are contiguous and of dtype d.
func addColumns(plan *spec.Plan, t *spec.Target, d tensor.DType, g geometry, src, to spec.Ref) error {
	name, local, texel := columnsShader+"."+d.String(), planner.SmallGroup, d.Size() < 8 && planner.UsesTexels(t, planner.TexelGroup)
	if texel {
		name, local = name+".texel", planner.TexelGroup
	}
	size, acc := d.Size(), planner.Accumulator(d).Size()
	per, windows, windowStep, tapStep := max(4/size, 1), area(g.out), stridesOf(g.out), stridesOf(g.kernel)
	partial := partials{elems: g.planes * area(g.in), size: acc}
	w := walk{t: t, out: g.in, taps: g.kernel, inside: g.touching(), planes: g.planes, per: per, room: planner.RoomFor(t, texel, size), results: resultsFor(t, size), accumulators: resultsFor(t, acc)}
	at := func(plane int, tap, window [3]int) int {
		i := plane
		for k, n := range g.kernel {
			i = i*n + tap[k]
		}
		for k, n := range g.out {
			i = i*n + min(max(window[k], 0), n-1)
		}
		return i
	}
	w.span = func(p part) (int, int) {
		var low, high, last [3]int
		for k := range low {
			y := p.from[1+k] + g.before[k]
			last[k] = p.tap[k] + p.taps[k] - 1
			low[k] = planner.CeilDiv(max(y-last[k]*g.spacing[k], 0), g.strides[k])
			high[k] = max(max(y+p.n[1+k]-1-p.tap[k]*g.spacing[k], 0)/g.strides[k], low[k])
		}
		return at(p.from[0], p.tap, low), at(p.from[0]+p.n[0]-1, last, high) + 1
	}
	w.reach = func(p part) (out [4]int, taps [3]int) {
		out[0] = (p.n[0] - 1) * g.taps() * windows
		for k := range taps {
			out[1+k] = min((p.n[1+k]-1)/g.strides[k]+1, g.out[k]-1) * windowStep[k]
			taps[k] = (p.taps[k] - 1) * tapStep[k] * windows
		}
		return out, taps
	}
	w.launch = func(p part) error {
		into := outputs{t: t, from: p.first(g.in), elems: p.elems()}
		first, last := w.span(p)
		bind, base := planner.Window(t, src, size, int64(first), int64(last-first))
		q := columnsParams{Count: uint32(p.elems()), OutBase: into.base(), Stage: w.stage(p), K0: uint32(g.kernel[0]), K1: uint32(g.kernel[1]), K2: uint32(g.kernel[2])}
		q.InBase = int32(at(p.from[0], p.tap, [3]int{}) - first + int(base)) // modulo 2^32, as the kernel adds
		for k := range g.in {
			distance, inverse := every(g.strides[k], g.spacing[k])
			q.N[k], q.S[k], q.D[k], q.O[k] = uint32(p.n[1+k]), uint32(g.strides[k]), uint32(g.spacing[k]), uint32(g.out[k])
			q.Every[k], q.Inverse[k], q.Take[k] = uint32(distance), uint32(inverse), uint32(p.taps[k])
			q.Y[k] = int32(p.from[1+k] + g.before[k] - p.tap[k]*g.spacing[k])
		}
		step := spec.Step{Module: spirv.Kernel(name), Params: q, Bind: []spec.Bind{bind, partial.bind(plan, into, q.Stage), into.bind(to, size)}}
		var err error
		step.Groups, err = planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(int(q.OutBase)%per+p.elems(), per), local)))
		plan.Steps = append(plan.Steps, step)
		return err
	}
	return w.parts()
}

// DefineColumns declares the operation that puts columns back into an image: d has its name, docs,
// attributes and calls.
func DefineColumns[A spec.Call](d spec.Definition[A], attributes func(A) Columns) *spec.Op {
	spirv.LinkNN()
	geometryOf := func(a A, in []tensor.Desc) geometry {
		g, err := attributes(a).geometry(in[0].Shape)
		if err != nil {
			return geometry{}
		}
		return g
	}
	d.Group = "nn"
	d.In = []spec.Arg{{Name: "in", Doc: "[N, C·block, windows], a column for each window; the last axes change first, of block as of windows", DTypes: planner.Floats}}
	d.Out = []spec.Arg{{Name: "out", Doc: "[N,C,image_shape...], of the dtype of in"}}
	d.Traits.Class = spec.Reduction
	d.Kernels = kernels(columnsShader, columnsParams{}, planner.Floats...)
	d.Shape = func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
		c := attributes(a)
		g, err := c.geometry(in[0].Shape)
		if err != nil {
			return nil, err
		}
		out := tensor.Contiguous(in[0].DType, append([]int{in[0].Shape[0], in[0].Shape[1] / g.taps()}, c.Image...)...)
		return []tensor.Desc{out}, out.Check()
	}
	d.Plan = func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		plan := &spec.Plan{}
		if err := planner.CheckTarget(t, in...); err != nil || out[0].Elems() == 0 {
			return plan, err
		}
		return plan, addColumns(plan, t, in[0].DType, geometryOf(a, in), spec.In(0), spec.Out(0))
	}
	d.Strategies, d.SizeClass = planner.FlatStrategies[A], planner.ElementCounts[A]
	d.Reference = func(a A, in, out []*tensor.Host) {
		g := geometryOf(a, []tensor.Desc{in[0].Desc})
		out[0].SetFloats(columnsReference(g, in[0].Floats()))
	}
	d.Tolerance = func(a A, dt tensor.DType, in []tensor.Desc) spec.Tolerance {
		e, h, terms := planner.AccumulatorEpsilon(dt), 4.0, 1.0
		for _, n := range geometryOf(a, in).touching() {
			h, terms = h+float64(n), terms*float64(n)
		}
		h += math.Ceil(terms / minTaps)
		return spec.Tolerance{
			Abs: e*(4+h) + planner.Tiny(dt), Rel: e*(4+math.Sqrt(h/3)) + planner.StoreEpsilon(dt), Repeated: 2 * e * h * terms,
			Law:         "ε·(4 + h) + ε·(4 + √(h/3)) of the value, h = 4 + the numbers of windows around an element along each dimension and the number of parts",
			RepeatedLaw: "2·ε·h times the number of terms",
			Why:         "what columns have for an element is added in rows, then the rows: each is rounded at most h times; equal ones in the same direction",
		}
	}
	d.Cost = func(a A, in []tensor.Desc) spec.Cost {
		g := geometryOf(a, in)
		return spec.Cost{Flops: int64(in[0].Elems()), Bytes: in[0].Bytes() + int64(g.planes*area(g.in))*int64(in[0].DType.Size())}
	}
	return spec.Define(d)
}

// columnsReference adds each element of the columns to that of the image where it belongs.
func columnsReference(g geometry, columns []float64) []float64 {
	image := make([]float64, g.planes*area(g.in))
	for i, v := range columns {
		// The coordinates of a window and a tap, innermost first.
		window, rest, place, step := [3]int{}, i, 0, 1
		for k := 2; k >= 0; k-- {
			window[k], rest = rest%g.out[k], rest/g.out[k]
		}
		inside := true
		for k := 2; k >= 0; k-- {
			y := window[k]*g.strides[k] + rest%g.kernel[k]*g.spacing[k] - g.before[k]
			rest /= g.kernel[k]
			inside = inside && y >= 0 && y < g.in[k]
			place, step = place+y*step, step*g.in[k]
		}
		if inside {
			image[place+rest*step] += v
		}
	}
	return image
}
