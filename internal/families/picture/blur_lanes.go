package picture

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// blurLanesParams is the push-constant block of gaussian_blur_lanes.comp.
type blurLanesParams struct {
	Column   int32
	Row      int32
	Width    int32
	Height   int32
	Pairs    uint32
	Pitch    uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
	Opaque   uint32
	Spare    uint32
	Even     [lanesTaps]int32
	Odd      [lanesTaps]int32
}

// blurLanesTableParams is the push-constant block of gaussian_blur_lanes_table.comp.
type blurLanesTableParams struct {
	Taps   uint32
	Weight [lanesMost + 1]int32
}

// These are TAPS, BLOCK and the sizes of workgroups of
// shaders/image/gaussian_blur_lanes.comp.
//
// Up to lanesRadius the weights are parameters, and up to lanesShort the kernels have fewer of them. lanesMost is the
// largest radius.
const (
	lanesTaps   = lanesRadius + 1
	lanesShort  = 3
	lanesRadius = 9
	lanesMost   = 26
	lanesBlock  = 128
	lanesGroup  = 64
	lanesPlane  = 32
)

// The kernels of image/gaussian_blur_lanes, and the radii of those with a number.
const (
	lanesPlanes = "image/gaussian_blur_lanes.u8.planes"
	lanesAcross = "image/gaussian_blur_lanes.u8.across"
	lanesDown   = "image/gaussian_blur_lanes.u8.down"
	lanesTable  = "image/gaussian_blur_lanes_table.u8"
)

var lanesRadii = [...]int{13, 18, lanesMost}

// lanesKernels lists the kernels of image/gaussian_blur_lanes.
func lanesKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: lanesTable, Params: blurLanesTableParams{}}}
	for _, name := range []string{lanesPlanes, lanesAcross, lanesDown} {
		list = append(list, spec.Kernel{Name: name, Params: blurLanesParams{}})
	}
	for _, r := range append([]int{lanesShort}, lanesRadii[:]...) {
		for _, name := range []string{lanesAcross, lanesDown} {
			list = append(list, spec.Kernel{Name: lanesOther(name, r), Params: blurLanesParams{}})
		}
	}
	return list
}

// lanesOther returns the name of the variant of a kernel for one of lanesRadii or lanesShort.
func lanesOther(name string, radius int) string { return fmt.Sprintf("%s.%d", name, radius+1) }

// The other scratch buffers of a plan by image/gaussian_blur_lanes.
const (
	scratchPlanes = iota + scratchAlphaWeights
	scratchBlocks
	scratchLanes
)

// These are the sizes of the parts of a picture that are blurred at a time. The planes of a part
// have 3 MB, which a cache holds.
const (
	lanesColumns = 1024
	lanesRows    = 256
)

// lanesTile is a part of a picture, and the sizes of its planes.
type lanesTile struct {
	top, bottom, left, right int
	// blocks is the number of blocks of columns between the passes, and pairs that of pairs of
	// rows.
	blocks, pairs int
	// pitch is the number of words in a row of a plane.
	pitch int
	// radius is that of the kernels, which may be larger than that of the call.
	radius int
}

// lanesReach returns the radius of the kernels that blur with a radius.
func lanesReach(radius int) int {
	switch {
	case radius <= lanesShort:
		return lanesShort
	case radius <= lanesRadius:
		return lanesRadius
	}
	i := 0
	for i < len(lanesRadii)-1 && lanesRadii[i] < radius {
		i++
	}
	return lanesRadii[i]
}

func newLanesTile(top, bottom, left, right, radius int) lanesTile {
	t := lanesTile{top: top, bottom: bottom, left: left, right: right, radius: lanesReach(radius)}
	t.blocks, t.pairs = planner.CeilDiv(right-left, lanesBlock), planner.CeilDiv(bottom-top, 2)+t.radius
	t.pitch = planner.CeilDiv(t.blocks*lanesBlock/2+t.radius, lanesPlane) * lanesPlane
	return t
}

// planeBytes is the size of the planes, and blockBytes that of the blocks between the passes.
func (t lanesTile) planeBytes() int64 { return int64(t.pairs) * 6 * int64(t.pitch) * 4 }
func (t lanesTile) blockBytes() int64 { return int64(t.pairs) * 3 * int64(t.blocks) * lanesBlock * 4 }

// lanesFit reports whether the kernels of image/gaussian_blur_lanes can blur a picture.
func lanesFit(t *spec.Target, src, dst layout, call Blur) bool {
	if !t.HostVectors || t.Strategy != "" || src.dtype != tensor.U8 || call.Radius() > lanesMost || t.MaxInvocations < lanesGroup {
		return false
	}
	most := newLanesTile(0, min(src.h, lanesRows), 0, min(src.w, lanesColumns), call.Radius())
	if max(most.planeBytes(), most.blockBytes()) > room(t, false) || int64(max(2*most.pairs, most.pitch)) > int64(min(t.MaxGroups[0], t.MaxGroups[1])) {
		return false
	}
	for _, p := range []layout{src, dst} {
		if rows, err := bandRows(t, false, p, most.radius, lanesRows); err != nil || rows < min(p.h, lanesRows) {
			return false
		}
	}
	return true
}

// planLanes plans a blur by image/gaussian_blur_lanes. If colours weigh by alpha, the kernels that
// do so write those pixels again that depend on others than opaque ones.
func (b *blurPlan) planLanes(call Blur) (*spec.Plan, error) {
	scratch := make([]int64, scratchLanes+1)
	scratch[scratchFlags] = flagBytes
	if call.Weigh {
		b.weigh, b.keep = true, true
		if err := b.choose(call); err != nil {
			return nil, err
		}
		scratch[scratchWeights] = b.addWeights(call)
	}
	scratch[scratchPlanes], scratch[scratchBlocks] = b.addLanes(call)
	scratch[scratchLanes] = 8 * (lanesMost + 1)
	if call.Weigh {
		if err := b.addPasses(); err != nil {
			return nil, err
		}
		scratch[scratchMid], scratch[scratchStripe] = b.mid, b.stripe
	}
	return &spec.Plan{Steps: b.steps, Scratch: scratch}, nil
}

// addLanes appends the steps that blur a picture by image/gaussian_blur_lanes. It sets the
// flag if the picture is not opaque. If colours weigh by alpha, the result is opaque.
func (b *blurPlan) addLanes(call Blur) (planes, blocks int64) {
	p := blurLanesParams{SrcPitch: uint32(b.src.pitch), DstPitch: uint32(b.dst.pitch)}
	half := lanesWeights(call)
	if call.Radius() > lanesRadius {
		b.steps = append(b.steps, spec.Step{
			Module: spirv.Kernel(lanesTable), Params: blurLanesTableParams{uint32(lanesReach(call.Radius()) + 1), half},
			Bind:   []spec.Bind{{Buf: spec.Scratch(scratchLanes)}},
			Groups: [3]uint32{1, 1, 1},
		})
	} else {
		p.Even, p.Odd = lanesPairs(half, lanesReach(call.Radius()))
	}
	if call.Weigh {
		p.Opaque = 1
	}
	_ = spans(b.src.h, lanesRows, func(top, bottom int) error {
		return spans(b.src.w, lanesColumns, func(left, right int) error {
			tile := newLanesTile(top, bottom, left, right, call.Radius())
			planes, blocks = max(planes, tile.planeBytes()), max(blocks, tile.blockBytes())
			b.addLanesTile(tile, p)
			return nil
		})
	})
	return planes, blocks
}

// addLanesTile appends the steps for a part of the picture.
func (b *blurPlan) addLanesTile(t lanesTile, p blurLanesParams) {
	near := rowWindow(b.t, spec.In(0), b.src, max(t.top-t.radius, 0), min(t.bottom+t.radius, b.src.h), 1)
	p.Pairs, p.Pitch = uint32(t.pairs), uint32(t.pitch)
	first := p
	first.Column, first.Row = int32(t.left-t.radius), int32(t.top-t.radius)
	first.Width, first.Height, first.SrcBase = int32(b.src.w), int32(b.src.h), near.base
	image := rowWindow(b.t, spec.In(0), b.src, t.top, t.bottom, 1)
	result := rowWindow(b.t, spec.Out(0), b.dst, t.top, t.bottom, 1)
	last := p
	last.Width, last.Height = int32(t.right-t.left), int32(t.bottom-t.top)
	last.SrcBase = image.base + uint32(t.top)*p.SrcPitch + uint32(t.left)
	last.DstBase = result.base + uint32(t.top)*p.DstPitch + uint32(t.left)
	planes, blocks := spec.Bind{Buf: spec.Scratch(scratchPlanes)}, spec.Bind{Buf: spec.Scratch(scratchBlocks)}
	acrossName, across := lanesAcross, []spec.Bind{planes, blocks}
	downName, down := lanesDown, []spec.Bind{blocks, result.bind, image.bind}
	switch {
	case t.radius < lanesRadius:
		acrossName, downName = lanesOther(lanesAcross, t.radius), lanesOther(lanesDown, t.radius)
	case t.radius > lanesRadius:
		weights := spec.Bind{Buf: spec.Scratch(scratchLanes)}
		acrossName, across = lanesOther(lanesAcross, t.radius), append(across, weights)
		downName, down = lanesOther(lanesDown, t.radius), append(down, weights)
	}
	b.steps = append(b.steps, spec.Step{
		Module: spirv.Kernel(lanesPlanes), Params: first,
		Bind:   []spec.Bind{near.bind, planes, {Buf: spec.Scratch(scratchFlags)}},
		Groups: [3]uint32{uint32(t.pitch / lanesPlane), uint32(2 * t.pairs), 1},
	}, spec.Step{
		Module: spirv.Kernel(acrossName), Params: p, Bind: across,
		Groups: [3]uint32{uint32(t.blocks), uint32(t.pairs), 1},
	}, spec.Step{
		Module: spirv.Kernel(downName), Params: last, Bind: down,
		Groups: [3]uint32{groups(t.right-t.left, lanesGroup), groups(t.bottom-t.top, 2), 1},
	})
}

// lanesWeights returns the weights exp(−d²/2σ²), divided by their sum, from the middle on. They are
// multiples of 1/32768, and their sum is 1 if the middle one is below 1, which has no number of 16
// bits.
func lanesWeights(call Blur) (half [lanesMost + 1]int32) {
	radius := call.Radius()
	exact := make([]float64, radius+1)
	sum := 0.0
	for d := radius; d >= 0; d-- {
		exact[d] = expOfNegative(float64(float64(d*d) * falloff(call.Sigma)))
		if sum += exact[d]; d > 0 {
			sum += exact[d]
		}
	}
	rest := int32(1 << 15)
	for d := radius; d > 0; d-- {
		half[d] = int32(math.Floor(float64(exact[d]/sum*(1<<15)) + 0.5))
		rest -= 2 * half[d]
	}
	half[0] = min(rest, math.MaxInt16)
	return half
}

// lanesPairs returns weights for the kernels of a radius up to lanesRadius: two a word, the first half in the lower
// bits.
func lanesPairs(half [lanesMost + 1]int32, radius int) (even, odd [lanesTaps]int32) {
	at := func(i int) int32 { return half[max(i-radius, radius-i)] }
	for i := range radius + 1 {
		even[i] = at(2*i) | at(2*i+1)<<16
		if odd[i] = at(2*i) << 16; i > 0 {
			odd[i] |= at(2*i - 1)
		}
	}
	return even, odd
}

// falloff is 1/2σ². It is finite as an F32 too: from 1e30 on, only the middle weight is not 0.
func falloff(sigma float64) float64 { return min(1/(2*float64(sigma*sigma)), 1e30) }

// expOfNegative returns exp(−x) for x ≥ 0. The result is the same on every processor, which
// math.Exp does not promise: conversions keep Go from adding without rounding the product.
func expOfNegative(x float64) float64 {
	if x > 100 {
		return 0 // far below the last bit of a sum of weights
	}
	const squarings = 10
	x /= 1 << squarings // below 0.1
	v := 1.0
	for n := 10; n > 0; n-- {
		v = 1 - float64(float64(x/float64(n))*v)
	}
	for range squarings {
		v = float64(v * v)
	}
	return v
}
