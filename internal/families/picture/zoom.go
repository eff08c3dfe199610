package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Zoom is a blur towards a centre.
type Zoom struct {
	// Strength is which part of the line from a pixel to the centre is mixed, in 0..1.
	Strength float64
	// X and Y are the centre, in 0..1 of the width and the height.
	X, Y float64
	// Weigh says that colours are weighted by alpha.
	Weigh bool
}

// centre returns the centre in pixels. It is a float32, so that the shader has the same.
func (z Zoom) centre(h, w int) (x, y float64) {
	return float64(float32(z.X * float64(w))), float64(float32(z.Y * float64(h)))
}

// Points returns how many points of the line are mixed for a pixel. It is a whole number that no
// rounding changes.
func (z Zoom) Points(h, w, y, x int) int {
	cx, cy := z.centre(h, w)
	far := max(x-int(cx), int(cx)-x, y-int(cy), int(cy)-y)
	return min(1+int(uint32(min(far, 1<<19))*z.perPixel()>>12), 4096)
}

func (z Zoom) perPixel() uint32 { return uint32(math.Ceil(z.Strength * 4096)) }

// Rows returns the rows that some rows of the result depend on.
func (z Zoom) Rows(h, w int, out spec.RowRange) spec.RowRange {
	_, cy := z.centre(h, w)
	low, high := float64(out.From), float64(out.To)
	low, high = min(low, low+(cy-low)*z.Strength), max(high, high+(cy-high)*z.Strength)
	return spec.RowRange{From: int(low) - 2, To: int(high) + 3}
}

// zoomParams is the push-constant block of zoom_blur.comp.
type zoomParams struct {
	StencilParams
	Radius   uint32
	Weigh    uint32
	First    uint32
	PerPixel uint32
	NearX    int32
	NearY    int32
	CentreX  float32
	CentreY  float32
	Strength float32
}

// ZoomKernels lists the kernels that PlanZoom launches.
func ZoomKernels() []spec.Kernel {
	return aroundKernels([]string{"zoom_blur"}, []string{""}, zoomParams{})
}

// PlanZoom plans launches over rows of a picture of height rows, of which in has those from row
// first on.
// Errors: ErrStrides, *LimitError.
func PlanZoom(t *spec.Target, in, out tensor.Desc, z Zoom, height, first int) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	if src.w == 0 || src.h == 0 {
		return &spec.Plan{}, nil
	}
	cx, cy := z.centre(height, src.w)
	reach := func(c float64, n int) int { return int(math.Ceil(z.Strength*max(c, float64(n)-c))) + 2 }
	above, beside := reach(cy, height), reach(cx, src.w)
	a := newAroundPlan(t)
	return a.plan, a.add(pass{
		kernel: kernel("zoom_blur", src.dtype, "", false), height: src.h, width: src.w,
		above: above, beside: beside, rows: 1, columns: 1,
		most: aroundMost / int64(4*max(above, beside)),
		finish: func(p StencilParams, _ uint32) any {
			return zoomParams{
				StencilParams: p, Radius: uint32(above), Weigh: one(z.Weigh && src.c == 4), First: uint32(first), PerPixel: z.perPixel(),
				NearX: int32(cx), NearY: int32(cy), CentreX: float32(cx), CentreY: float32(cy), Strength: float32(z.Strength),
			}
		},
	}, plane{ref: spec.In(0), layout: src}, plane{ref: spec.Out(0), layout: dst}, region{0, src.h, 0, src.w})
}

// ZoomReference computes a Zoom in float64.
func ZoomReference(z Zoom, in, out *tensor.Host) {
	h, w := in.Shape[0], in.Shape[1]
	LineReference(z.Weigh, in, out, func(y, x int, f func(dx, dy float64)) int {
		n := z.Points(h, w, y, x)
		for k := range n {
			part := z.Strength * (float64(k) + 0.5) / float64(n)
			f(part*(z.X*float64(w)-float64(x)-0.5), part*(z.Y*float64(h)-float64(y)-0.5))
		}
		return n
	})
}
