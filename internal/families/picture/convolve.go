package picture

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Convolution holds the attributes of a convolution.
type Convolution struct {
	// Kernel has rows of Width numbers. Both are odd.
	Kernel []float64
	Width  int
	// A result is the sum times Scale, plus Bias in 0..1.
	Scale, Bias float64
	// Weigh says that colours are weighted by alpha.
	Weigh bool
}

// Height is the number of rows of the kernel.
func (c Convolution) Height() int { return len(c.Kernel) / max(c.Width, 1) }

// tapsParams is the push-constant block of taps.comp.
type tapsParams struct {
	First uint32
	Count uint32
	V     [24]float32
}

// convolveParams is the push-constant block of convolve.comp.
type convolveParams struct {
	StencilParams
	Radius uint32
	Taps   uint32
	Weigh  uint32
	Scale  float32
	Bias   float32
}

// convolveThreeParams is the push-constant block of convolve_three.comp.
type convolveThreeParams struct {
	StencilParams
	Scale float32
	Bias  float32
	W     [9]float32
}

// ConvolveKernels lists the kernels that PlanConvolve launches.
func ConvolveKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: "image/taps.f32", Params: tapsParams{}}}
	list = append(list, stencilKernels("convolve_three", convolveThreeParams{}, true, nil)...)
	return append(list, aroundKernels([]string{"convolve"}, []string{""}, convolveParams{})...)
}

// taps appends launches that write a table of columns, rows and weights to scratch memory.
func (a *aroundPlan) taps(table []float32) spec.Ref {
	ref := a.scratch(2, int64(max(4*len(table), 16)))
	for first := 0; first < len(table); first += len(tapsParams{}.V) {
		p := tapsParams{First: uint32(first)}
		p.Count = uint32(copy(p.V[:], table[first:]))
		a.plan.Steps = append(a.plan.Steps, spec.Step{
			Module: spirv.Kernel("image/taps.f32"), Params: p, Bind: []spec.Bind{{Buf: ref}}, Groups: [3]uint32{1, 1, 1},
		})
	}
	return ref
}

// PlanConvolve plans the sums. Kernels beyond three by three numbers go to a table first, without
// those that are 0.
// Errors: ErrStrides, *LimitError.
func PlanConvolve(t *spec.Target, in, out tensor.Desc, call Convolution) (*spec.Plan, error) {
	// Numbers that are added to make it three by three are 0, and so is each product but that of an infinity.
	if three := call.Width == 3 && call.Height() == 3; three || in.DType == tensor.U8 && call.Width <= 3 && call.Height() <= 3 {
		return planConvolveThree(t, in, out, call)
	}
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	if src.w == 0 || src.h == 0 {
		return &spec.Plan{}, nil
	}
	var table []float32
	for i, k := range call.Kernel {
		if k != 0 {
			table = append(table, float32(i%call.Width-call.Width/2), float32(i/call.Width-call.Height()/2), float32(k))
		}
	}
	a := newAroundPlan(t)
	ref := a.taps(table)
	above := call.Height() / 2
	return a.plan, a.add(pass{
		kernel: kernel("convolve", src.dtype, "", false), height: src.h, width: src.w,
		above: above, beside: call.Width / 2, rows: aroundRows, columns: 1,
		most: aroundMost / int64(len(call.Kernel)), binds: []spec.Bind{{Buf: ref}},
		finish: func(p StencilParams, _ uint32) any {
			return convolveParams{
				p, uint32(above), uint32(len(table) / 3), one(call.Weigh && src.c == 4),
				float32(call.Scale), float32(call.Bias * Full(src.dtype)),
			}
		},
	}, plane{ref: spec.In(0), layout: src}, plane{ref: spec.Out(0), layout: dst}, region{0, src.h, 0, src.w})
}

// planConvolveThree plans the sums of three by three pixels.
// Errors: ErrStrides, *LimitError.
func planConvolveThree(t *spec.Target, in, out tensor.Desc, call Convolution) (*spec.Plan, error) {
	var w [9]float32
	for i, k := range call.Kernel {
		row, column := i/call.Width-call.Height()/2, i%call.Width-call.Width/2
		w[3*(row+1)+column+1] = float32(k)
	}
	name := func(phase string, texel bool) string { return kernelName("convolve_three", in.DType, phase, texel) }
	return planStencil(t, name, in, out, !call.Weigh, func(p StencilParams) any {
		return convolveThreeParams{p, float32(call.Scale), float32(call.Bias * Full(in.DType)), w}
	})
}

// ConvolveReference adds in float64.
func ConvolveReference(call Convolution, in, out *tensor.Host) {
	h, w, channels, full := in.Shape[0], in.Shape[1], in.Shape[2], Full(in.DType)
	weigh := call.Weigh && channels == 4
	for y := range h {
		for x := range w {
			for c := range channels {
				if c == 3 {
					out.Set(in.At(y, x, 3), y, x, 3)
					continue
				}
				sum, own := 0.0, in.At(y, x, c)/full
				for i, k := range call.Kernel {
					row, column := ClampIndex(y+i/call.Width-call.Height()/2, h), ClampIndex(x+i%call.Width-call.Width/2, w)
					v := in.At(row, column, c) / full
					if weigh {
						a := Clamp01(in.At(row, column, 3) / full)
						v = a*v + (1-a)*own
					}
					sum += k * v
				}
				v := Clamp01(sum*call.Scale + call.Bias)
				if weigh && in.At(y, x, 3) <= 0 {
					v = 0
				}
				Store(out, v, y, x, c)
			}
		}
	}
}
