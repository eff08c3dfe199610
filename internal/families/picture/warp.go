package picture

import (
	"math"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Warps lists the names of the filters of a Warp. They are Resamplers.
var Warps = []string{"nearest", "bilinear", "catmull-rom"}

// Warp says where the pixels of a result come from.
type Warp struct {
	// Copy, if not nil, says that pixels are copied, and the rest does not matter.
	Copy *Remap
	// Back maps points of the result to points of the source, as Projection.Inverse returns it.
	// A point (x,y) is in the pixel of column ⌊x⌋ and row ⌊y⌋.
	Back Projection
	// Filter is one of Warps.
	Filter string
	// Colour is what is outside of the source, in 0..1.
	Colour [4]float64
}

// Warping describes an operation that makes a picture by a Warp. Its attributes have type A.
type Warping[A spec.Call] struct {
	// Name, Doc and Defaults are those of spec.Definition.
	Name, Doc string
	Defaults  A
	// Check checks the attributes that do not depend on the size of the source.
	// Errors: ErrInvalidArgument.
	Check func(a A) error
	// Warp returns where pixels come from, and the size of the result, for a source of h by w
	// pixels.
	// Errors: ErrInvalidArgument.
	Warp func(a A, h, w int) (m Warp, height, width int, err error)
	// Part returns the part of a call, and WithPart a call with another part.
	Part     func(a A) Part
	WithPart func(a A, p Part) A
	// Point returns the point of a source of h by w pixels that is at a point of the result of
	// height by width pixels. It reports false for a point that shows no point of the source. It
	// shares no code with Warp.
	Point func(a A, h, w, height, width int, x, y float64) (u, v float64, ok bool)
	// Copies reports whether pixels are copied from a source of h by w pixels. Nil means that the
	// filter decides.
	Copies func(a A, h, w int) bool
	// Look returns the filter and the colour outside of the source.
	Look func(a A) (filter string, colour [4]float64)
	// Calls are attributes to try, the defaults first. Invalid are attributes that must be
	// refused.
	Calls, Invalid []A
	// ForOpaque is that of spec.Definition. Nil means that an opaque picture may become transparent.
	ForOpaque func(a A) A
}

// CheckLook checks a filter and a background.
// Errors: ErrInvalidArgument.
func CheckLook(filter, background string) error {
	for _, name := range Warps {
		if name == filter {
			_, err := Colour(background)
			return err
		}
	}
	return planner.Invalid("filter %q (want one of %v)", filter, Warps)
}

// DefineWarp declares an operation that makes a picture by a Warp.
func DefineWarp[A spec.Call](g Warping[A]) *spec.Op {
	copies := func(a A, h, w int) bool { return g.Copies != nil && g.Copies(a, h, w) }
	return Define(Filter[A]{
		Name: g.Name, Doc: g.Doc, Defaults: g.Defaults,
		Kernels: append(remapKernels(), warpKernels()...), Check: g.Check,
		Size: PartSize(g.Part, func(a A, h, w int) (int, int, error) {
			_, height, width, err := g.Warp(a, h, w)
			return height, width, err
		}),
		Plan: func(a A, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			p := g.Part(a)
			h := p.Height(in.Shape[0])
			m, height, width, err := g.Warp(a, h, in.Shape[1])
			if err != nil {
				return nil, err
			}
			if m.Copy != nil {
				return planRemap(t, in, out, *m.Copy, h, p.From(), p.Rows(height))
			}
			return planWarp(t, in, out, m, warpShape{h: h, first: p.From(), height: height, width: width, made: p.Rows(height)})
		},
		Strips: PartStrips(g.WithPart, func(a A, h, w int, out spec.RowRange) spec.RowRange {
			m, _, width, err := g.Warp(a, h, w)
			if err != nil {
				return spec.RowRange{To: h}
			}
			r := rect{0, width, out.From, out.To}
			if m.Copy != nil {
				return m.Copy.rowsOf(h, r)
			}
			return m.reach(1, h, r, false)
		}),
		Reference: func(a A, in, out *tensor.Host) {
			h, w, height, width := in.Shape[0], in.Shape[1], out.Shape[0], out.Shape[1]
			filter, colour := g.Look(a)
			if copies(a, h, w) {
				filter = Warps[0]
			}
			warpReference(filter, colour, in, out, func(x, y float64) (float64, float64, bool) {
				return g.Point(a, h, w, height, width, x, y)
			})
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			filter, _ := g.Look(a)
			if len(in) == 1 && len(in[0].Shape) == 3 && copies(a, in[0].Shape[0], in[0].Shape[1]) {
				return spec.Tolerance{Why: "pixels are copied"}
			}
			tol := spec.Tolerance{Abs: 2e-4, ByAlpha: 2e-4, Why: "coordinates of 15 bits after the point and sums in f32; colours are a sum divided by alpha"}
			if d == tensor.U8 {
				tol.Abs = 1
			}
			if filter == Warps[0] {
				tol = spec.Tolerance{Flips: 0.02, Why: "a point between two pixels may be in either"}
			}
			return tol
		},
		Flops: func(A) int64 { return 60 },
		Calls: g.Calls, Invalid: g.Invalid, ForOpaque: g.ForOpaque,
	})
}

// warpParams is the push-constant block of warp.comp.
type warpParams struct {
	Column   uint32
	Columns  uint32
	Row      uint32
	AnchorX  uint32
	AnchorY  uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
	Channels uint32
	Width    int32
	Height   int32
	Left     int32
	Top      int32
	Right    int32
	Bottom   int32
	U        int32
	V        int32
	UPart    float32
	VPart    float32
	Ux       float32
	Uy       float32
	Vx       float32
	Vy       float32
	Wx       float32
	Wy       float32
	Red      float32
	Green    float32
	Blue     float32
	Alpha    float32
}

// warpPhases are the variants of warp.comp for a filter, and for one that is spread.
var warpPhases = map[string][2]string{
	"nearest":     {".nearest", ".nearest"},
	"bilinear":    {".bilinear", ".bilinear.wide"},
	"catmull-rom": {".cubic", ".cubic.wide"},
}

// The variants of warp.comp for blocks that lie outside of the source, and for those inside of it.
const warpOutside, warpInner = ".outside", ".bilinear.inner"

// warpFetch are the variants that have another one for pixels of bytes in texels.
// An invocation of them makes warpPixels.
var warpFetch = map[string]bool{warpOutside: true, ".bilinear": true, warpInner: true}

// warpPixels is PIXELS in shaders/image/warp.comp.
const warpPixels = 4

// warpRadius is RADIUS in shaders/lib/warp.glsl for the filters, and warpMost is MOST.
var warpRadius = map[string]int{"bilinear": 1, "catmull-rom": 2}

const warpMost = 32

// warpKernels lists the kernels of planWarp.
func warpKernels() []spec.Kernel {
	var list []spec.Kernel
	for _, d := range dtypes {
		for _, phase := range []string{".nearest", ".bilinear", ".bilinear.wide", ".cubic", ".cubic.wide", warpOutside, warpInner} {
			list = append(list, spec.Kernel{Name: kernelName("warp", d, phase, false), Params: warpParams{}})
			if d == tensor.U8 && warpFetch[phase] {
				list = append(list, spec.Kernel{Name: kernelName("warp", d, phase+".fetch", false), Params: warpParams{}})
			}
		}
	}
	return append(list, warpGridKernels()...)
}

// warpShape holds sizes of a Warp: the source has h rows, of which the call has those from row
// first on. The result has height rows and width columns, of which the call makes some rows.
type warpShape struct {
	h, first, height, width int
	made                    spec.RowRange
}

// warpPlan makes the steps of a Warp.
type warpPlan struct {
	spec.Plan
	t        *spec.Target
	src, dst layout
	m        Warp
	warpShape
	// affine has the parameters of all blocks, for variants with warpGrid.
	affine warpGridParams
}

// planWarp plans rows of the result.
// Errors: ErrStrides, *LimitError.
func planWarp(t *spec.Target, in, out tensor.Desc, m Warp, shape warpShape) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	p := &warpPlan{t: t, src: src, dst: dst, m: m, warpShape: shape}
	p.Scratch = []int64{0}
	if dst.w == 0 || dst.h == 0 || src.w == 0 || src.h == 0 {
		return &p.Plan, nil
	}
	if src.sparse(t) {
		return nil, spec.ErrStrides
	}
	if g, ok := p.grid(); ok {
		p.affine = g
		if err := p.blocks(); err != nil {
			return nil, err
		}
		p.Scratch[0] = (p.Scratch[0] + planner.Pack - 1) &^ (planner.Pack - 1)
		return &p.Plan, nil
	}
	// Blocks are the same ones in each part of a picture, so that strips have the same bits.
	for top := p.made.From / warpBlock * warpBlock; top < p.made.To; top += warpBlock {
		for left := 0; left < p.width; left += warpBlock {
			b := rect{left, min(left+warpBlock, p.width), top, min(top+warpBlock, p.height)}
			if err := p.block(b, warpBlock); err != nil {
				return nil, err
			}
		}
	}
	p.Scratch[0] = (p.Scratch[0] + planner.Pack - 1) &^ (planner.Pack - 1)
	return &p.Plan, nil
}

// warpBlock is the width and height of a block. A block that is divided has 16 at least.
const warpBlock, leastBlock = 256, 16

// block appends a block of the result. Blocks in which the map changes its scale much are divided.
func (p *warpPlan) block(b rect, size int) error {
	if b.top >= p.made.To || b.bottom <= p.made.From {
		return nil
	}
	if low, high := p.m.Back.depths(b); high > 0 && low < high/2 && size > leastBlock {
		half := size / 2
		for _, q := range []rect{
			{b.left, min(b.left+half, b.right), b.top, min(b.top+half, b.bottom)},
			{b.left + half, b.right, b.top, min(b.top+half, b.bottom)},
			{b.left, min(b.left+half, b.right), b.top + half, b.bottom},
			{b.left + half, b.right, b.top + half, b.bottom},
		} {
			if q.left < q.right && q.top < q.bottom {
				if err := p.block(q, half); err != nil {
					return err
				}
			}
		}
		return nil
	}
	phase, err := p.phase(b)
	if err != nil {
		return err
	}
	switch outside, inside := p.m.where(b, p.src.w, p.h); {
	case outside:
		phase = warpOutside
	case inside && phase == ".bilinear":
		phase = warpInner
	}
	return p.part(rect{b.left, b.right, max(b.top, p.made.From), min(b.bottom, p.made.To)}, p.params(b), phase)
}

// phase returns the variant of the kernel for the pixels of a block.
// Errors: *LimitError.
func (p *warpPlan) phase(b rect) (string, error) {
	spread := max(p.m.Back.size(0, b), p.m.Back.size(1, b))
	if !(spread > 1+1e-6) {
		return warpPhases[p.m.Filter][0], nil
	}
	side := 2*warpRadius[p.m.Filter]*int(math.Ceil(min(spread, warpMost))) + 1
	return warpPhases[p.m.Filter][1], checkIterations(p.t, loopCost(side, loopCost(side, 0)))
}

// where reports whether all pixels of a block of the result lie outside of a source of h by w pixels, and whether
// all lie inside of it.
func (m Warp) where(b rect, w, h int) (outside, inside bool) {
	if low, _ := m.Back.depths(b); !(low > 0) {
		return false, false
	}
	inside = true
	for axis, n := range []int{w, h} {
		low, high := m.Back.span(axis, b)
		// A pixel has at most its size to either side of its middle, and float32 may miss some of it.
		around := m.Back.size(axis, b)*(0.5+1.0/1000) + 1
		outside = outside || high+around < 0 || low-around > float64(n)
		inside = inside && low-around >= 0 && high+around <= float64(n)
	}
	return outside, inside
}

// params returns the parameters of a block.
func (p *warpPlan) params(b rect) warpParams {
	params := p.m.anchored(b)
	params.Width, params.Height, params.Channels = int32(p.src.w), int32(p.h), uint32(p.src.c)
	full := Full(p.src.dtype)
	params.Red, params.Green = float32(p.m.Colour[0]*full), float32(p.m.Colour[1]*full)
	params.Blue, params.Alpha = float32(p.m.Colour[2]*full), float32(p.m.Colour[3])
	if p.src.c < 4 {
		params.Alpha = 1
	}
	if params.Alpha == 0 && p.m.Filter != Warps[0] {
		params.Red, params.Green, params.Blue = 0, 0, 0 // A mean that has no alpha has no colour.
	}
	return params
}

// part appends a part of a block. It divides it until what it needs fits bindings. If few pixels
// still need rows that do not fit, the columns that they need are copied first. A pixel near the
// horizon whose point is uncertain in its block becomes a block of its own.
func (p *warpPlan) part(r rect, params warpParams, phase string) error {
	single := r.right-r.left == 1 && r.bottom-r.top == 1
	exact := single && params.AnchorX == uint32(r.left) && params.AnchorY == uint32(r.top)
	rows, columns := p.m.reach(1, p.h, r, exact), p.m.reach(0, p.src.w, r, exact)
	rows.From = max(rows.From, p.first)
	rows.To = max(min(rows.To, p.first+p.src.h), rows.From+1)
	need := rect{columns.From, columns.To, rows.From, rows.To}
	params.Left, params.Right = int32(need.left), int32(need.right-1)
	params.Top, params.Bottom = int32(need.top), int32(need.bottom-1)
	src, first := p.src, p.first
	copied := layout{dtype: src.dtype, h: need.bottom - need.top, w: need.right - need.left, c: src.c, pitch: need.right - need.left}
	texel := p.src.dtype == tensor.U8 && warpFetch[phase] && texelFits(p.t, 64)
	room := room(p.t, texel)
	small := r.right-r.left <= leastBlock && r.bottom-r.top <= leastBlock
	copies := src.bytes(need) > room && (small || copied.rowBytes()*int64(copied.h) <= room/4)
	if size := copied.rowBytes() * int64(copied.h); p.dst.bytes(r) > room || r.bottom-r.top > int(p.t.MaxGroups[1]) || src.bytes(need) > room && (!copies || size > room) {
		if single && !exact {
			return p.part(r, p.params(r), strings.TrimSuffix(phase, warpGrid))
		}
		if single {
			return &errs.LimitError{Name: "MaxBinding", Want: max(size, p.dst.bytes(r)), Have: room}
		}
		// A window of the result has whole rows but for its first and last one, so only fewer rows
		// make it smaller.
		columns := r.right-r.left > r.bottom-r.top
		if p.dst.bytes(r) > room {
			columns = r.bottom-r.top == 1
		}
		return halves(r, columns, func(r rect) error { return p.part(r, params, phase) })
	}
	s := window{}
	if copies {
		p.copy(need, copied)
		s = window{bind: spec.Bind{Buf: spec.Scratch(0)}, base: -uint32(need.top*copied.pitch + need.left)}
		src = copied
	} else {
		s = rectWindow(p.t, spec.In(0), src, need, first, 1)
	}
	wide := 64
	if texel {
		wide *= warpPixels
		s.bind.Size = (s.bind.Size + 15) &^ 15
		phase += ".fetch"
	}
	d := rectWindow(p.t, spec.Out(0), p.dst, r, p.made.From, 1)
	return spans(r.right-r.left, int(p.t.MaxGroups[0])*wide, func(a, b int) error {
		q := params
		q.Column, q.Columns, q.Row = uint32(r.left+a), uint32(b-a), uint32(r.top)
		q.SrcBase, q.SrcPitch, q.DstBase, q.DstPitch = s.base, uint32(src.pitch), d.base, uint32(p.dst.pitch)
		var params any = q
		if strings.HasSuffix(phase, warpGrid) {
			params = p.affine.of(q, src.dtype)
		}
		p.Steps = append(p.Steps, spec.Step{
			Module: kernel("warp", src.dtype, phase, false), Params: params, Bind: []spec.Bind{s.bind, d.bind},
			Groups: [3]uint32{groups(b-a, wide), uint32(r.bottom - r.top), 1},
		})
		return nil
	})
}

// copy appends the copy of a part of the source to scratch memory, as many rows at a time as a
// binding and a launch hold.
func (p *warpPlan) copy(need rect, to layout) {
	p.Scratch[0] = max(p.Scratch[0], to.rowBytes()*int64(to.h))
	rows := min(max((room(p.t, false)-int64(to.w)*to.pixelBytes())/p.src.rowBytes()+1, 1), int64(p.t.MaxGroups[1]))
	_ = spans(to.h, int(rows), func(i, j int) error {
		s := rectWindow(p.t, spec.In(0), p.src, rect{need.left, need.right, need.top + i, need.top + j}, p.first, 1)
		return spans(to.w, int(p.t.MaxGroups[0])*64, func(a, b int) error {
			p.Steps = append(p.Steps, spec.Step{
				Module: kernel("remap", to.dtype, ".rows", false),
				Params: remapParams{
					Column: uint32(a), Columns: uint32(b - a), Row: uint32(i), SrcBase: s.base, SrcPitch: uint32(p.src.pitch),
					DstPitch: uint32(to.pitch), Channels: uint32(to.c), Xx: 1, X0: int32(need.left), Yy: 1, Y0: int32(need.top),
				},
				Bind:   []spec.Bind{s.bind, {Buf: spec.Scratch(0)}},
				Groups: [3]uint32{groups(b-a, 64), uint32(j - i), 1},
			})
			return nil
		})
	})
}

// anchored returns the parameters that say where the pixels of a block come from.
func (m Warp) anchored(b rect) warpParams {
	// The anchor is in the middle, or in the corner that is the nearest one.
	ax, ay := (b.left+b.right)/2, (b.top+b.bottom)/2
	_, high := m.Back.depths(b)
	if m.Back.depth(ax, ay) < high/2 {
		for _, c := range b.corners() {
			if m.Back.depth(c[0], c[1]) == high {
				ax, ay = c[0], c[1]
			}
		}
	}
	p := warpParams{AnchorX: uint32(ax), AnchorY: uint32(ay), U: -farAway, V: -farAway}
	w := m.Back.depth(ax, ay)
	if !(w > 0) {
		return p // The block shows nothing of the source.
	}
	n, x, y := m.Back, float64(ax)+0.5, float64(ay)+0.5
	split := func(v float64) (int32, float32) {
		if m.Filter == Warps[0] {
			v += nudge
		} else {
			v -= 0.5
		}
		whole := math.Floor(v)
		if !(math.Abs(whole) < farAway) {
			return -farAway, 0
		}
		return int32(whole), float32(v - whole)
	}
	u, v := (n[0]*x+n[1]*y+n[2])/w, (n[3]*x+n[4]*y+n[5])/w
	p.U, p.UPart = split(u)
	p.V, p.VPart = split(v)
	p.Ux, p.Uy = bounded((n[0]-u*n[6])/w), bounded((n[1]-u*n[7])/w)
	p.Vx, p.Vy = bounded((n[3]-v*n[6])/w), bounded((n[4]-v*n[7])/w)
	p.Wx, p.Wy = bounded(n[6]/w), bounded(n[7]/w)
	return p
}

// nudge is added to points for filter nearest. So a point between two pixels is in the second one
// whatever roundings do.
const nudge = 1.0 / 8192

// farAway is a distance that no pixel of a picture is from another.
const farAway = 1 << 29

// bounded is v as a float32 that the kernel can multiply by distances without an overflow.
func bounded(v float64) float32 { return float32(min(max(v, -1e12), 1e12)) }
