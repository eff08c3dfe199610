package quantisation

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/convolution"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Conv describes the convolution of quantised tensors, with attributes of type A.
type Conv[A spec.Call] struct {
	// Name, Doc, ONNX and Defaults are those of spec.Definition and spec.Traits.
	Name, Doc, ONNX string
	Defaults        A
	// Attributes returns the attributes of the convolution.
	Attributes func(a A) convolution.Attributes
	// Padded returns a call with such pads, and defaults besides.
	Padded func(pads []int) A
	// Calls and Invalid are calls to try and to refuse. The first one suits two spatial axes and has one group.
	Calls, Invalid []A
}

// integerConv is a checked convolution of integers.
type integerConv struct {
	product convolution.Product
	x, w    tensor.Desc
	// refs are x and w, and zeros are their zero points, or nothing.
	refs, zeros [2]spec.Ref
	// zeroX and zeroW describe the zero points, if there are any.
	zeroX, zeroW tensor.Desc
}

// isNumber reports whether a tensor is one number.
func isNumber(d tensor.Desc) bool { return d.Elems() == 1 && len(d.Shape) < 2 }

// scales returns which zero point each element of x and of w has.
// Errors: ErrInvalidArgument.
func (v integerConv) scales() (x, w scales, err error) {
	number := tensor.Contiguous(tensor.F32)
	zeroX, zeroW := number, number
	if v.zeros[0].Kind != spec.RefNone {
		if zeroX = v.zeroX; zeroX.DType != v.x.DType || !isNumber(zeroX) {
			return x, w, planner.Invalid("zero point %v of x (want one number of %v)", zeroX, v.x.DType)
		}
	}
	if v.zeros[1].Kind != spec.RefNone {
		if zeroW = v.zeroW; zeroW.DType != v.w.DType {
			return x, w, planner.Invalid("zero point %v of w (want numbers of %v)", zeroW, v.w.DType)
		}
	}
	if x, err = (Scaling{}).of(v.x.Shape, zeroX); err == nil {
		if w, err = (Scaling{Axis: 0}).of(v.w.Shape, zeroW); err != nil {
			err = planner.Invalid("zero point %v of w (want one number, or [%d])", zeroW, v.w.Shape[0])
		}
	}
	return x, w, err
}

// check checks the operands. args names them.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (v *integerConv) check(a convolution.Attributes, args []spec.Arg) (err error) {
	if v.product, err = convolution.NewProduct(a, args, v.x, v.w); err != nil {
		return err
	}
	if k := v.product.Terms(); k > mostSummed {
		return planner.Unsupported("convolution of %v with %v: sums of %d products (at most %d)", v.x, v.w, k, mostSummed)
	}
	if _, _, err = v.scales(); err != nil {
		return err
	}
	return tensor.Contiguous(tensor.I32, v.product.Shape()...).Check()
}

// addTo appends to a plan the launches for the sums, as I32.
// Errors: *LimitError.
func (v integerConv) addTo(plan *spec.Plan, t *spec.Target, out spec.Ref) error {
	n := tensor.Contiguous(tensor.I32, v.product.Shape()...).Elems()
	if n == 0 {
		return nil
	}
	own := [2]scales{}
	var err error
	if own[0], own[1], err = v.scales(); err != nil {
		return err
	}
	var refs [2]spec.Ref
	for i, d := range []tensor.Desc{v.x, v.w} {
		refs[i] = planner.AddScratch(plan, 4*int64(max(d.Elems(), 1)))
		o := operands{x: v.refs[i], zero: v.zeros[i], out: refs[i], integer: d.DType, number: tensor.F32}
		if d.Elems() == 0 {
			continue
		}
		if err := own[i].addScaled(plan, t, false, o); err != nil {
			return err
		}
	}
	sums := planner.AddScratch(plan, 4*int64(n))
	return v.product.AddRuns(plan, t, refs, sums, exactRun, func(first bool) error {
		return addSums(plan, t, n, sums, out, first)
	})
}

// reference returns the sums of a convolution, as integers of 32 bits that wrap. zeroX and zeroW may be nil.
func (v integerConv) reference(x, w, zeroX, zeroW *tensor.Host) []float64 {
	less := func(h, zero *tensor.Host) *tensor.Host {
		own, values := tensor.NewHost(tensor.Contiguous(tensor.F64, h.Shape...)), h.Floats()
		if zero != nil {
			z := zero.Floats()
			for i := range values {
				values[i] -= z[i*len(z)/len(values)] // those of w follow its first dimension
			}
		}
		own.SetFloats(values)
		return own
	}
	out := tensor.NewHost(tensor.Contiguous(tensor.F64, v.product.Shape()...))
	v.product.Reference(less(x, zeroX), less(w, zeroW), out)
	sums := out.Floats()
	for i, s := range sums { // Sums of 2^35 products of integers of 9 bits are exact.
		sums[i] = float64(int32(int64(s)))
	}
	return sums
}

func convKernels() []spec.Kernel {
	return slices.Concat(convolution.RunKernels(), runKernels())
}

// cost is the cost of a convolution whose results have size bytes.
func (v integerConv) cost(size int) spec.Cost {
	out := tensor.Contiguous(tensor.U8, v.product.Shape()...)
	return spec.Cost{Flops: 2 * int64(out.Elems()) * int64(v.product.Terms()), Bytes: v.x.Bytes() + v.w.Bytes() + int64(size)*out.Bytes()}
}

func descsOf(in []*tensor.Host) []tensor.Desc {
	var ds []tensor.Desc
	for _, h := range in {
		ds = append(ds, h.Desc)
	}
	return ds
}
