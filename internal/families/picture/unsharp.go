package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Unsharp holds the attributes of an unsharp mask.
type Unsharp struct {
	Blur Blur
	// Amount is the factor of the distance from the blurred picture, and Threshold, in 0..1,
	// the distance below which a colour stays.
	Amount, Threshold float64
}

// unsharpParams is the push-constant block of unsharp.comp.
type unsharpParams struct {
	StencilParams
	Weigh     uint32
	BlurBase  uint32
	BlurPitch uint32
	Amount    float32
	Threshold float32
}

// UnsharpKernels lists the kernels that PlanUnsharp launches.
func UnsharpKernels() []spec.Kernel {
	list := append(BlurKernels(), aroundKernels([]string{"unsharp"}, []string{""}, unsharpParams{})...)
	return append(list, spec.Kernel{Name: kernelName("unsharp", tensor.U8, "", true), Params: unsharpParams{}})
}

// PlanUnsharp plans a blur into scratch memory, and a pass that compares.
// Errors: ErrStrides, *LimitError.
func PlanUnsharp(t *spec.Target, in, out tensor.Desc, call Unsharp) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	if src.w == 0 || src.h == 0 {
		return &spec.Plan{}, nil
	}
	whole := tensor.Contiguous(in.DType, in.Shape...)
	plan, err := PlanBlur(t, in, whole, call.Blur)
	if err != nil {
		return nil, err
	}
	a := aroundPlan{t: t, plan: plan}
	blurred := plane{layout: layout{dtype: src.dtype, h: src.h, w: src.w, c: src.c, pitch: src.w}}
	blurred.ref = a.scratch(len(plan.Scratch), whole.Bytes())
	for i, s := range plan.Steps {
		for j, b := range s.Bind {
			if b.Buf == spec.Out(0) {
				plan.Steps[i].Bind[j].Buf = blurred.ref
			}
		}
	}
	weigh, full := one(call.Blur.Weigh && src.c == 4), Full(in.DType)
	compare := pass{kernel: kernel("unsharp", src.dtype, "", false), height: src.h, width: src.w, rows: 1, columns: 1}
	from, to := plane{ref: spec.In(0), layout: src}, plane{ref: spec.Out(0), layout: dst}
	if src.dtype == tensor.U8 && src.w%4 == 0 && texelFits(t, 64, src, dst) && rowsFit(t, 0, src) && rowsFit(t, 0, dst) {
		// Four pixels are one of four floats.
		compare.kernel, compare.rows, compare.width, compare.texel = kernel("unsharp", src.dtype, "", true), 4, src.w/4, true
		for _, l := range []*layout{&from.layout, &to.layout, &blurred.layout} {
			*l = layout{dtype: tensor.F32, h: l.h, w: l.w / 4, c: 4, pitch: l.pitch / 4}
		}
	}
	compare.image = &blurred
	compare.finish = func(p StencilParams, base uint32) any {
		return unsharpParams{p, weigh, base, uint32(blurred.pitch), float32(call.Amount), float32(call.Threshold * full)}
	}
	return plan, a.add(compare, from, to, region{0, src.h, 0, compare.width})
}

// UnsharpReference compares with a blurred picture that is not rounded to levels.
func UnsharpReference(call Unsharp, in, out *tensor.Host) {
	h, w, channels, full := in.Shape[0], in.Shape[1], in.Shape[2], Full(in.DType)
	exact := tensor.NewHost(tensor.Contiguous(tensor.F32, in.Shape...))
	soft := tensor.NewHost(exact.Desc)
	values := in.Floats()
	for i := range values {
		values[i] /= full
	}
	exact.SetFloats(values)
	BlurReference(call.Blur, exact, soft)
	weigh := call.Blur.Weigh && channels == 4
	for y := range h {
		for x := range w {
			for c := range channels {
				own := in.At(y, x, c) / full
				v, far := own, own-soft.At(y, x, c)
				if math.Abs(far) >= call.Threshold && !(weigh && Hidden(in.DType, soft.At(y, x, 3))) {
					v = Clamp01(own + call.Amount*far)
				}
				switch {
				case c == 3:
					v = own
				case weigh && in.At(y, x, 3) <= 0:
					v = 0
				}
				Store(out, v, y, x, c)
			}
		}
	}
}
