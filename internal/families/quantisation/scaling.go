package quantisation

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Scaling says which elements of a tensor share a scale, with ONNX's rules.
type Scaling struct {
	// Axis is the dimension along which scales differ, unless there is only one. A negative one counts from
	// the end.
	Axis int
	// Block is the number of indices of the axis with one scale. 0 means that the scales are a number or a
	// vector.
	Block int
}

// scales says which scale each element of a tensor has. The tensor is seen as [Outer, N, Inner].
type scales struct {
	view planner.AxisView
	// block is the number of neighbours along N with one scale. outer, row and inner are the steps between
	// scales.
	block, outer, row, inner int
	// count is the number of scales.
	count int
}

// of returns the scales of a tensor.
// Errors: ErrInvalidArgument.
func (s Scaling) of(shape []int, scale tensor.Desc) (scales, error) {
	if s.Block < 0 {
		return scales{}, planner.Invalid("block_size %d (want 0 or more)", s.Block)
	}
	n := 1
	for _, d := range shape {
		n *= d
	}
	if s.Block == 0 && scale.Elems() == 1 && len(scale.Shape) < 2 {
		return scales{view: planner.AxisView{Outer: 1, N: 1, Inner: n}, block: 1, count: 1}, nil
	}
	axis, err := planner.Axis(s.Axis, len(shape))
	if err != nil {
		return scales{}, err
	}
	v := planner.ViewAxis(shape, axis)
	if s.Block == 0 {
		if !slices.Equal(scale.Shape, []int{v.N}) {
			return scales{}, planner.Invalid("scale %v (want one number, or [%d])", scale, v.N)
		}
		return scales{view: v, block: 1, row: 1, count: v.N}, nil
	}
	want := slices.Clone(shape)
	want[axis] = planner.CeilDiv(v.N, s.Block)
	if !slices.Equal(scale.Shape, want) {
		return scales{}, planner.Invalid("scale %v (want %v, for blocks of %d)", scale, want, s.Block)
	}
	return scales{view: v, block: s.Block, outer: want[axis] * v.Inner, row: v.Inner, inner: 1, count: scale.Elems()}, nil
}

// at returns the number of the scale of element i.
func (s scales) at(i int) int {
	i, inner := i/max(s.view.Inner, 1), i%max(s.view.Inner, 1)
	return i/s.view.N*s.outer + i%s.view.N/s.block*s.row + inner*s.inner
}

// checkScales checks the scale and the zero point, if there is one, of a tensor.
// Errors: ErrInvalidArgument.
func (s Scaling) checkScales(shape []int, scale tensor.Desc, zero []tensor.Desc, d tensor.DType) (scales, error) {
	own, err := s.of(shape, scale)
	if err == nil && len(zero) > 0 && (zero[0].DType != d || !slices.Equal(zero[0].Shape, scale.Shape)) {
		err = planner.Invalid("zero point %v (want %v)", zero[0], tensor.Contiguous(d, scale.Shape...))
	}
	return own, err
}

// scaledParams is the push-constant block of quantize_linear.comp.
type scaledParams struct {
	Count, N, Inner, Block, Phase, ScaleOuter, ScaleRow, ScaleInner, XBase, ScaleBase, ZeroBase, OutBase uint32
	Sign                                                                                                 int32
	Zero                                                                                                 uint32
}

// unscaledParams is the push-constant block of dequantize_linear.comp.
type unscaledParams struct {
	scaledParams
	Unit uint32
}

// operands are the tensors of a conversion. scale is F32, F16 or BF16. zero may be nothing.
type operands struct {
	x, scale, zero, out spec.Ref
	// integer and number are the dtypes of integers and of numbers.
	integer, number tensor.DType
	// wide says that the numbers that become integers are I32. number is the dtype of the scales then.
	wide bool
}

// addScaled appends to a plan the launches of a conversion. Without a scale, all scales are 1.
// Errors: *LimitError.
func (s scales) addScaled(plan *spec.Plan, t *spec.Target, quantize bool, o operands) error {
	from, to, unit := o.number, o.integer, 4
	kernel := "quant/quantize_linear." + o.number.String()
	switch {
	case o.wide:
		from = tensor.I32
		kernel += ".i32"
	case !quantize:
		from, to, unit = o.integer, o.number, planner.Pack/o.number.Size()
		kernel = "quant/dequantize_linear." + o.number.String() + ".u8"
		if o.integer.Size() == 4 {
			kernel = "quant/dequantize_linear." + o.number.String() + ".i32"
		}
	}
	most, room := math.MaxInt, math.MaxInt
	if s.count == 1 {
		kernel += ".one"
	} else {
		room = int(min((planner.MaxSpan(t, false)-planner.WindowAlign(t)-planner.Pack)/int64(max(o.number.Size(), o.integer.Size())), planner.MaxWindow/8))
	}
	groups := int64(math.MaxInt32)
	for _, g := range t.MaxGroups {
		groups = min(groups*int64(g), math.MaxInt32)
	}
	most = int(min((planner.MaxSpan(t, false)-planner.WindowAlign(t)-planner.Pack)/int64(max(from.Size(), to.Size())), groups*planner.SmallGroup*int64(unit)/2, planner.MaxWindow/8))
	limits := planner.ChunkRoom{Elems: most, Accumulators: room, PerBlock: max(planner.CeilDiv(s.view.N, s.block)*max(s.row, 1), 1), Unit: 1}
	return planner.Chunks(s.view, limits, func(c planner.Chunk) error {
		u := func(n int) uint32 { return uint32(n) }
		p := scaledParams{
			Count: u(c.Elems()), N: u(c.N), Inner: u(c.Inner), Block: u(s.block), Phase: u(c.Row % s.block),
			ScaleOuter: u(s.outer), ScaleRow: u(s.row), ScaleInner: u(s.inner),
		}
		first := c.Block*s.outer + c.Row/s.block*s.row + c.Column*s.inner
		last := (c.Block+c.Outer-1)*s.outer + (c.Row+c.N-1)/s.block*s.row + (c.Column+c.Inner-1)*s.inner
		var binds [4]spec.Bind
		binds[0], p.XBase = planner.Window(t, o.x, from.Size(), int64(c.Start), int64(c.Elems()))
		binds[1], binds[2] = binds[0], binds[0] // where nothing is read from
		if o.scale.Kind != spec.RefNone {
			binds[1], p.ScaleBase = planner.Window(t, o.scale, o.number.Size(), int64(first), int64(last-first+1))
		}
		if o.zero.Kind != spec.RefNone {
			p.Zero = 1
			binds[2], p.ZeroBase = planner.Window(t, o.zero, o.integer.Size(), int64(first), int64(last-first+1))
		}
		binds[3], p.OutBase = planner.Window(t, o.out, to.Size(), int64(c.Start), int64(c.Elems()))
		if o.integer == tensor.I8 {
			p.Sign = 128
		}
		step := spec.Step{Module: spirv.Kernel(kernel), Params: p, Bind: binds[:]}
		if !quantize {
			q := unscaledParams{scaledParams: p}
			if o.scale.Kind == spec.RefNone {
				q.Unit = 1
			}
			step.Params = q
		}
		var err error
		step.Groups, err = planner.Grid(t, planner.CeilDiv(int64(planner.CeilDiv(c.Elems()+int(p.OutBase)%unit, unit)), planner.SmallGroup))
		plan.Steps = append(plan.Steps, step)
		return err
	})
}

// saturated rounds a quotient half to even, adds a zero point and clamps to what dtype d holds. NaN
// becomes the zero point.
func saturated(quotient, zero float64, d tensor.DType) float64 {
	low, high := 0.0, 255.0
	if d == tensor.I8 {
		low, high = -128, 127
	}
	if math.IsNaN(quotient) {
		quotient = 0
	}
	return min(max(math.RoundToEven(quotient)+zero, low), high)
}
