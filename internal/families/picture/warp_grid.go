package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// warpGridParams is the push-constant block of the .grid variants of warp.comp.
type warpGridParams struct {
	Column     uint32
	Columns    uint32
	Row        uint32
	SrcBase    uint32
	SrcPitch   uint32
	DstBase    uint32
	DstPitch   uint32
	Channels   uint32
	Width      int32
	Height     int32
	Left       int32
	Top        int32
	Right      int32
	Bottom     int32
	U          int32
	V          int32
	UPart      uint32
	VPart      uint32
	Ux         float32
	Uy         float32
	Vx         float32
	Vy         float32
	StepUx     int32
	StepUy     int32
	StepVx     int32
	StepVy     int32
	PartUx     uint32
	PartUy     uint32
	PartVx     uint32
	PartVy     uint32
	Background uint32
}

// warpGrid is the end of the names of the variants that make all blocks of an affine map.
const warpGrid = ".grid"

// warpGridPhases are the variants of warp.comp that have one with warpGrid.
var warpGridPhases = []string{".nearest", ".bilinear", ".cubic", ".bilinear.wide", ".cubic.wide"}

// mostGridSide is the largest side of a result that warpGrid makes. Steps from block to block are off
// by 2⁻³³ pixels of the source at most, and so all steps by 2·2¹⁰·2⁻³³ = 2⁻²², which is less than what
// float32 misses in a block.
const mostGridSide = 1 << 18

// grid returns the parameters of a map for all blocks of the result, if it is affine and the device
// gains by fewer launches. A CPU driver does not: its blocks inside and outside of the source have
// kernels of their own. The answer is the same for all parts of a picture.
func (p *warpPlan) grid() (g warpGridParams, ok bool) {
	n := p.m.Back
	if p.t.CPU || n[6] != 0 || n[7] != 0 || !(n[8] > 0) || max(p.width, p.height) > mostGridSide {
		return g, false
	}
	for i := range n {
		n[i] /= p.m.Back[8]
	}
	toPixel := -0.5
	if p.m.Filter == Warps[0] {
		toPixel = nudge
	}
	const most = farAway / 2
	point := func(axis int, x, y float64) float64 { return n[3*axis]*x + n[3*axis+1]*y + n[3*axis+2] + toPixel }
	for axis := range 2 {
		for _, x := range []float64{0, float64(p.width + warpBlock)} {
			for _, y := range []float64{0, float64(p.height + warpBlock)} {
				if !(math.Abs(point(axis, x, y)) < most) {
					return g, false
				}
			}
		}
		if !(max(math.Abs(n[3*axis]), math.Abs(n[3*axis+1]))*warpBlock < most) {
			return g, false
		}
	}
	const middle = warpBlock/2 + 0.5
	g.U, g.UPart = fixedParts(point(0, middle, middle))
	g.V, g.VPart = fixedParts(point(1, middle, middle))
	g.StepUx, g.PartUx = fixedParts(n[0] * warpBlock)
	g.StepUy, g.PartUy = fixedParts(n[1] * warpBlock)
	g.StepVx, g.PartVx = fixedParts(n[3] * warpBlock)
	g.StepVy, g.PartVy = fixedParts(n[4] * warpBlock)
	g.Ux, g.Uy, g.Vx, g.Vy = float32(n[0]), float32(n[1]), float32(n[3]), float32(n[4])
	return g, true
}

// blocks appends all blocks, for variants with warpGrid.
func (p *warpPlan) blocks() error {
	whole := rect{0, p.width, 0, p.height}
	phase, err := p.phase(whole)
	if err != nil {
		return err
	}
	params := p.params(whole)
	params.AnchorX, params.AnchorY = math.MaxUint32, math.MaxUint32 // No pixel is the anchor of all blocks.
	return p.part(rect{0, p.width, p.made.From, p.made.To}, params, phase+warpGrid)
}

// fixedParts returns a number below 2²⁸ as a whole number and parts of 2⁻³².
func fixedParts(v float64) (whole int32, part uint32) {
	floor := math.Floor(v)
	parts := uint64(math.Round((v - floor) * (1 << 32)))
	return int32(floor) + int32(parts>>32), uint32(parts)
}

// of returns the parameters of a launch. Those of a block say what they have in common.
func (g warpGridParams) of(p warpParams, d tensor.DType) warpGridParams {
	g.Column, g.Columns, g.Row, g.Channels = p.Column, p.Columns, p.Row, p.Channels
	g.SrcBase, g.SrcPitch, g.DstBase, g.DstPitch = p.SrcBase, p.SrcPitch, p.DstBase, p.DstPitch
	g.Width, g.Height, g.Left, g.Top, g.Right, g.Bottom = p.Width, p.Height, p.Left, p.Top, p.Right, p.Bottom
	for i, v := range []float32{p.Red, p.Green, p.Blue} {
		g.Background |= uint32(math.Round(float64(v)/Full(d)*255)) << (8 * i)
	}
	g.Background |= uint32(math.Round(float64(p.Alpha)*255)) << 24
	return g
}

// warpGridKernels lists the kernels with warpGrid.
func warpGridKernels() []spec.Kernel {
	var list []spec.Kernel
	for _, d := range dtypes {
		for _, phase := range warpGridPhases {
			list = append(list, spec.Kernel{Name: kernelName("warp", d, phase+warpGrid, false), Params: warpGridParams{}})
		}
	}
	return list
}
