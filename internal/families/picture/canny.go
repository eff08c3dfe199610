package picture

import (
	"math"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Canny holds the attributes of an edge detector.
type Canny struct {
	// Sigma is that of the blur, in pixels.
	Sigma float64
	// Low and High are gradients, where luma 1 is full.
	Low, High float64
	// Weigh says that luma is multiplied by alpha.
	Weigh bool
}

// cannyTop is TOP in shaders/lib/canny.glsl.
const cannyTop = 8160

// cannyParams is the push-constant block of canny.comp.
type cannyParams struct {
	StencilParams
	Radius uint32
	Taps   uint32
	Low    uint32
	High   uint32
	Weigh  uint32
}

// cannyBlocksParams is the push-constant block of canny_blocks.comp.
type cannyBlocksParams struct {
	Width  uint32
	Height uint32
	Row    uint32
	Column uint32
	Across uint32
	Base   uint32
}

// cannyJoinParams is the push-constant block of canny_join.comp.
type cannyJoinParams struct {
	Across uint32
	Down   uint32
	Size   uint32
	Below  uint32
	Pairs  uint32
	First  uint32
	End    uint32
	From   uint32
	To     uint32
}

// cannyLinesParams is the push-constant block of canny_lines.comp.
type cannyLinesParams struct {
	Column   uint32
	Columns  uint32
	Row      uint32
	SrcBase  uint32
	SrcPitch uint32
	DstBase  uint32
	DstPitch uint32
	Channels uint32
	Across   uint32
}

// The scratch buffers of PlanCanny after those of newAroundPlan and the table of weights.
const (
	scratchFirst = 3 + iota
	scratchSecond
	scratchLinks
	scratchLabels
)

// CannyKernels lists the kernels that PlanCanny launches.
func CannyKernels() []spec.Kernel {
	list := []spec.Kernel{
		{Name: "image/taps.f32", Params: tapsParams{}},
		{Name: "image/canny_blocks.u32", Params: cannyBlocksParams{}},
		{Name: "image/canny_join.u32", Params: cannyJoinParams{}},
		{Name: "image/canny_join.u32.wide", Params: cannyJoinParams{}},
		{Name: "image/canny.u32.blur", Params: cannyParams{}},
		{Name: "image/canny.u32.gradient", Params: cannyParams{}},
		{Name: "image/canny.u32.thin", Params: cannyParams{}},
	}
	list = append(list, aroundKernels([]string{"canny"}, []string{".luma"}, cannyParams{})...)
	for _, d := range dtypes {
		list = append(list, spec.Kernel{Name: kernelName("canny_lines", d, "", false), Params: cannyLinesParams{}})
	}
	return list
}

// weights returns the weights of the blur from the middle on, whole numbers. With those of the
// other side their sum is 65536.
func (c Canny) weights() []float32 {
	n := int(math.Ceil(3 * c.Sigma))
	gauss, all := make([]float64, n+1), 1.0
	for k := 1; k <= n; k++ {
		gauss[k] = math.Exp(-float64(k*k) / (2 * c.Sigma * c.Sigma))
		all += 2 * gauss[k]
	}
	table := make([]float32, n+1)
	table[0] = 1 << 16
	for k := 1; k <= n; k++ {
		table[k] = float32(math.Round(gauss[k] / all * (1 << 16)))
		table[0] -= 2 * table[k]
	}
	return table
}

// square returns the largest square of a gradient, in whole numbers, that is not above a limit.
func (c Canny) square(gradient float64) uint32 {
	return uint32(gradient * gradient * cannyTop * cannyTop)
}

// PlanCanny plans an edge detector: passes over planes of whole numbers, the sets of pixels that
// are connected, and the lines that have a strong pixel.
// Errors: ErrStrides, *LimitError.
func PlanCanny(t *spec.Target, in, out tensor.Desc, c Canny) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	if src.w == 0 || src.h == 0 {
		return &spec.Plan{}, nil
	}
	a := newAroundPlan(t)
	table := c.weights()
	weights := []spec.Bind{{Buf: a.taps(table)}}
	taps := len(table) - 1
	words := layout{dtype: tensor.U8, h: src.h, w: src.w, c: 4, pitch: src.w} // a word for each pixel
	bytes := words.rowBytes() * int64(src.h)
	first, second := plane{ref: a.scratch(scratchFirst, bytes), layout: words}, plane{ref: a.scratch(scratchSecond, bytes), layout: words}
	whole := region{0, src.h, 0, src.w}
	for _, s := range []struct {
		kernel        string
		from, to      plane
		above, beside int
		binds         []spec.Bind
	}{
		{kernelName("canny", src.dtype, ".luma", false), plane{ref: spec.In(0), layout: src}, first, 0, taps, weights},
		{"image/canny.u32.blur", first, second, taps, 0, weights},
		{"image/canny.u32.gradient", second, first, 1, 1, nil},
		{"image/canny.u32.thin", first, second, 1, 1, nil},
	} {
		if err := a.add(pass{
			kernel: spirv.Kernel(s.kernel), height: src.h, width: src.w, above: s.above, beside: s.beside,
			rows: 1, columns: 1, binds: s.binds,
			finish: func(p StencilParams, _ uint32) any {
				return cannyParams{p, uint32(s.above), uint32(taps), c.square(c.Low), c.square(c.High), one(c.Weigh && src.c == 4)}
			},
		}, s.from, s.to, whole); err != nil {
			return nil, err
		}
	}
	across, down := (src.w+1)/2, (src.h+1)/2
	if err := a.addBlocks(second, across, down); err != nil {
		return nil, err
	}
	a.addJoins(across, down)
	return a.plan, a.add(pass{
		kernel: kernel("canny_lines", src.dtype, "", false), height: src.h, width: src.w,
		rows: 1, columns: 1, binds: []spec.Bind{{Buf: spec.Scratch(scratchLabels)}},
		finish: func(p StencilParams, _ uint32) any {
			return cannyLinesParams{p.Column, p.Columns, p.Row, p.SrcBase, p.SrcPitch, p.DstBase, p.DstPitch, uint32(dst.c), uint32(across)}
		},
	}, second, plane{ref: spec.Out(0), layout: dst}, whole)
}

// addBlocks appends the launches that make the links and the labels of blocks.
func (a *aroundPlan) addBlocks(edges plane, across, down int) error {
	room, bytes := room(a.t, false), int64(across)*int64(down)*4
	rows := (room/edges.rowBytes() - 1) / 2
	if bytes > room || rows < 1 {
		return &errs.LimitError{Name: "MaxBinding", Want: max(bytes, 3*edges.rowBytes()), Have: room}
	}
	links, labels := spec.Bind{Buf: a.scratch(scratchLinks, bytes)}, spec.Bind{Buf: a.scratch(scratchLabels, bytes)}
	return spans(down, int(min(rows, int64(a.t.MaxGroups[1]))), func(top, bottom int) error {
		s := rowWindow(a.t, edges.ref, edges.layout, 2*top, min(2*bottom+1, edges.h), 1)
		return spans(across, int(a.t.MaxGroups[0])*64, func(left, right int) error {
			a.plan.Steps = append(a.plan.Steps, spec.Step{
				Module: spirv.Kernel("image/canny_blocks.u32"),
				Params: cannyBlocksParams{
					Width: uint32(edges.w), Height: uint32(edges.h), Row: uint32(top), Column: uint32(left),
					Across: uint32(across), Base: s.base,
				},
				Bind: []spec.Bind{s.bind, links, labels}, Groups: [3]uint32{groups(right-left, 64), uint32(bottom - top), 1},
			})
			return nil
		})
	})
}

// wideBorder is how many blocks of a border a workgroup of canny_join.u32.wide looks at, and leastWide
// is the length of the shortest border that has a workgroup.
const wideBorder, leastWide = 64, 32

// mostJoined is how many loop iterations a launch of canny_join.u32.wide may take if the device has no
// limit: some tenths of a second, so that no driver takes it for a launch without an end.
const mostJoined = 1 << 18

// addJoins appends the launches that join the sets of blocks, for areas of each size. On a GPU a workgroup
// has a long border: an invocation that does all of it waits for each block.
func (a *aroundPlan) addJoins(across, down int) {
	// For each block of a border there are three pairs, and as many steps to a root as its rank.
	toRoot := bits.Len(uint(across*down)) + 1
	steps, most, mostWide := 6*toRoot+2, math.MaxUint16, mostJoined
	if n := int(a.t.MaxIterations); n > 0 {
		most, mostWide = min(most, n), min(mostWide, n)
	}
	most, mostWide = most-emptyLoops-1, mostWide-emptyLoops-1
	// The first invocation may join three pairs for each, whose roots have been found before.
	stepsWide := 1 + 6*toRoot + loopCost(wideBorder, 0) + loopCost(3, 0) + loopCost(3*wideBorder, 2*toRoot)
	join := func(p cannyJoinParams, pairs, strips, border int) {
		p.Across, p.Down, p.Pairs = uint32(across), uint32(down), uint32(pairs)
		name, size, local := "image/canny_join.u32", max(1, most/steps), 64
		if !a.t.CPU && border >= leastWide && mostWide >= stepsWide {
			name, size, local = "image/canny_join.u32.wide", mostWide/stepsWide*wideBorder, 1
		}
		_ = spans(border, size, func(from, to int) error {
			p.From, p.To = uint32(from), uint32(to)
			return spans(pairs*strips, int(a.t.MaxGroups[0])*local, func(first, end int) error {
				p.First, p.End = uint32(first), uint32(end)
				a.plan.Steps = append(a.plan.Steps, spec.Step{
					Module: spirv.Kernel(name), Params: p, Groups: [3]uint32{groups(end-first, local), 1, 1},
					Bind: []spec.Bind{{Buf: spec.Scratch(scratchLinks)}, {Buf: spec.Scratch(scratchLabels)}},
				})
				return nil
			})
		})
	}
	for size := 1; size < max(across, down); size *= 2 {
		pairs := func(n int) int { return (n + size - 1) / (2 * size) }
		if size < across {
			join(cannyJoinParams{Size: uint32(size)}, pairs(across), (down+size-1)/size, min(size, down))
		}
		if size < down {
			join(cannyJoinParams{Size: uint32(size), Below: 1}, pairs(down), (across+2*size-1)/(2*size), min(2*size, across))
		}
	}
}
