package picture

import (
	"math"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// blurGridParams is the push-constant block of blur_grid.comp and of blur_grid_sums.comp.
type blurGridParams struct {
	Columns, Rows, Across, Tiles, Stride, Always, Size uint32
	SrcBase, SrcPitch, DstBase, DstPitch               uint32
	Column, Row, Width, Height                         int32
	Table, Terms, Phases, Shift, Step, Mask, Bits      uint32
	ImageBase, ImagePitch                              uint32
}

// blurGridWeightsParams is the push-constant block of blur_grid_weights.comp.
type blurGridWeightsParams struct {
	Kind, Base, Count, Per, Terms, Size, Radius uint32
	Cells                                       [gridWeights]float32
}

// These are the kinds of tables in blur_grid_weights.comp, and the number of weights in its
// parameters.
const (
	gridDown = iota
	gridReduce
	gridBlur
	gridExpand
	gridTables
	gridWeights = 16
)

// These are CELLS in blur_grid.comp, ROWS in blur_grid_sums.comp, and the size of their workgroups.
const (
	gridCells = 8
	gridRows  = 4
	gridLocal = 64
)

const gridWeightsKernel = "image/blur_grid_weights.f32"

// gridSigma is the least σ of a blur on a grid, and gridRatio the least σ in cells. With fewer the
// end of the Gaussian at ⌈3σ⌉ would become too soft for the tolerance.
const (
	gridSigma = 8.4
	gridRatio = 2.1
)

// gridBand is the size of the largest planes in bytes, where that is possible.
const gridBand = 32 << 20

// Blur holds the attributes of a blur.
type Blur struct {
	// Sigma is the standard deviation in pixels.
	Sigma float64
	// Weigh says that colours are weighted by alpha.
	Weigh bool
	// Grid says that a picture of bytes may be blurred by cells of several pixels, and First is the
	// row of the whole picture that the source begins with.
	Grid  bool
	First int
}

// Radius returns the number of pixels on either side that a result depends on, ⌈3σ⌉.
func (b Blur) Radius() int { return int(math.Ceil(3 * b.Sigma)) }

// GridKernels lists the kernels that PlanBlur launches with Blur.Grid.
func GridKernels() []spec.Kernel {
	list := append(BlurKernels(), spec.Kernel{Name: gridWeightsKernel, Params: blurGridWeightsParams{}})
	list = append(list, halfKernels()...)
	for _, texel := range []bool{false, true} {
		for _, phase := range []string{".reduce", ".reduce.alpha", ".expand", ".expand.alpha"} {
			list = append(list, spec.Kernel{Name: kernelName("blur_grid", tensor.U8, phase, texel), Params: blurGridParams{}})
		}
		for _, phase := range []string{".across", ".down"} {
			list = append(list, spec.Kernel{Name: kernelName("blur_grid_sums", tensor.F32, phase, texel), Params: blurGridParams{}})
		}
	}
	return list
}

// OnGrid reports whether a picture of bytes is blurred on a grid of cells.
func (b Blur) OnGrid() bool { return b.Grid && b.Sigma >= gridSigma }

// Reach returns the number of pixels on either side that may have an effect on a result.
func (b Blur) Reach() int {
	if b.OnHalf() {
		return b.Radius() + 2
	}
	if !b.OnGrid() {
		return b.Radius()
	}
	size, radius, _ := b.cells()
	return max(size*(radius+4), b.Radius())
}

// cells returns the size of a cell, and the radius and the weights of the blur of cells. Before it
// pixels are summed with the weights of a quadratic B-spline, whose variance is (k²−1)/4, and after
// it a cubic B-spline of variance k²/3 makes pixels of cells. The blur of cells has the rest of the
// variance, and ends where the Gaussian ends.
func (b Blur) cells() (size, radius int, half []float64) {
	for size = 4; b.Sigma >= 2*gridRatio*float64(size); size *= 2 {
	}
	k := float64(size)
	rest := (float64(b.Sigma*b.Sigma) - (k*k-1)/4 - k*k/3) / (k * k)
	end := (float64(b.Radius()) + 0.5) / k
	radius = int(math.Ceil(end - 0.5))
	half = make([]float64, radius+1)
	sum := 0.0
	for d := radius; d >= 0; d-- {
		w := expOfNegative(float64(d*d) / (2 * rest))
		if d == radius {
			w = float64(w * (end - float64(radius) + 0.5))
		}
		if half[d] = w; d > 0 {
			sum += w
		}
		sum += w
	}
	for d := range half {
		half[d] /= sum
	}
	return size, radius, half
}

// gridPlan plans a blur on a grid. The cells are counted from the corner of the whole picture at the
// top left.
type gridPlan struct {
	spec.Plan
	t        *spec.Target
	src, dst layout
	// first is the row of the whole picture that the source begins with.
	first int
	// size is that of a cell, and radius, an odd number, that of the blur of cells.
	size, radius int
	half         [gridWeights]float32
	// per is how many floats in a row an invocation handles.
	per   int
	texel bool
	// wide is the number of floats in a row before rows are reduced, small after it, and
	// blurred after the blur. end is that of the rows of which pixels are made.
	wide, small, blurred, end int
	// terms, phases and base are of the tables. base counts weights.
	terms, phases, base [gridTables]int
	// band is the number of rows of cells that are made at a time.
	band int
}

// The scratch buffers of a blur on a grid, after scratchWeights.
const (
	scratchGridFlags = iota + 1
	scratchGridWide
	scratchGridOne
	scratchGridTwo
	gridScratches
)

// newGridPlan returns nil if the kernels do not fit the picture. That does not depend on its height,
// so that strips of a picture have the same result.
func newGridPlan(t *spec.Target, src, dst layout, call Blur) *gridPlan {
	if !call.OnGrid() || src.dtype != tensor.U8 || t.MaxInvocations < gridLocal {
		return nil
	}
	g := &gridPlan{t: t, src: src, dst: dst, first: call.First, per: 1}
	if src.w%4 == 0 && texelFits(t, gridLocal, src, dst) {
		g.per, g.texel = 4, true
	}
	size, radius, half := call.cells()
	if !g.texel && size == 4 && texelFits(t, gridLocal, src, dst) {
		return nil // A CPU driver blurs the rows that end within a texel faster without a grid.
	}
	for i, w := range half {
		g.half[i] = float32(w)
	}
	g.size, g.radius = size, radius|1
	g.blurred = 4 * ((planner.CeilDiv(src.w, 4)-1)/size + 2)
	g.small = g.blurred + 2*g.radius + 2
	g.wide = size * (g.small + 2)
	g.end = planner.CeilDiv(src.w, g.per) * g.per
	g.terms = [gridTables]int{2*g.radius + gridRows, 3 * size, 2*g.radius + 1, 5}
	g.phases = [gridTables]int{1, 1, 1, size}
	if g.texel {
		g.terms = [gridTables]int{2*g.radius + gridRows, 3 * size / 2, (g.radius + 3) / 2, 2}
	}
	at := 0
	for i := range g.base {
		g.base[i] = at
		at += (g.weights(i) + 3) &^ 3
	}
	g.Scratch = make([]int64, gridScratches)
	g.Scratch[scratchWeights], g.Scratch[scratchGridFlags] = int64(4*at), flagBytes
	if !g.fits() {
		return nil
	}
	return g
}

// weights is the number of weights in a table.
func (g *gridPlan) weights(table int) int {
	if table == gridDown {
		return gridRows * g.terms[table]
	}
	return g.phases[table] * g.terms[table] * g.per * g.per
}

// cellRows is how many rows of cells are reduced to make tall rows of tiles.
func (g *gridPlan) cellRows(tall int) int { return tall + 3 + 2*g.radius }

// fits chooses the height of bands, and reports whether there is one.
func (g *gridPlan) fits() bool {
	const parts, least = 4, 8
	limit := room(g.t, g.texel)
	fit := func(tall int) bool {
		cells := g.cellRows(tall)
		wide := int64(cells*parts*g.wide) * 4
		// Rows of cells are reduced in several launches if they need more rows than a binding has.
		rows := int64(max(gridCells+2, tall)*g.size) * max(g.src.rowBytes(), g.dst.rowBytes())
		groupsAcross := max(planner.CeilDiv(g.wide, g.per*gridLocal), planner.CeilDiv(g.end, g.per*gridLocal))
		return wide <= limit && rows <= limit && g.Scratch[scratchWeights] <= limit &&
			groupsAcross <= int(g.t.MaxGroups[0]) && max(planner.CeilDiv(cells, gridCells), tall) <= int(g.t.MaxGroups[1]) &&
			g.loopsFit(cells*parts)
	}
	if !fit(least) {
		return false
	}
	row := int64(parts*g.wide) * 4
	g.band = max(int(gridBand/row)-3-2*g.radius, 4*g.radius, least)
	for g.band > least && !fit(g.band) {
		g.band = max(g.band/2, least)
	}
	return true
}

// reducible is how many rows of cells a launch reduces: so many that the rows of the picture fit a binding.
func (g *gridPlan) reducible() int {
	rows := room(g.t, g.texel) / max(g.src.rowBytes(), 1)
	return max(int(min(rows/int64(g.size)-2, math.MaxInt32))/gridCells*gridCells, gridCells)
}

// loopsFit reports whether the loops over tiles of some rows end in time.
func (g *gridPlan) loopsFit(rows int) bool {
	most := int(g.t.MaxIterations)
	tiles := planner.CeilDiv(max(g.small, g.end)*rows, g.per*gridLocal) + rows
	steps := max(g.terms[gridDown], g.terms[gridReduce], g.terms[gridBlur], (gridCells+2)*g.size) + 16
	return most == 0 || (planner.CeilDiv(tiles, int(g.t.MaxGroups[0]))+1)*steps <= most
}

// plan returns the plan. If colours weigh by alpha, the kernels that do so repeat all of it if the
// others have met a pixel that is not opaque.
func (g *gridPlan) plan(weigh bool) *spec.Plan {
	for table := range gridTables {
		g.Steps = append(g.Steps, spec.Step{
			Module: spirv.Kernel(gridWeightsKernel),
			Params: blurGridWeightsParams{
				Kind: uint32(table), Base: uint32(g.base[table]), Count: uint32(g.weights(table)), Per: uint32(g.per),
				Terms: uint32(g.terms[table]), Size: uint32(g.size), Radius: uint32(g.radius), Cells: g.half,
			},
			Bind:   []spec.Bind{{Buf: spec.Scratch(scratchWeights)}, {Buf: spec.Scratch(scratchGridFlags)}},
			Groups: [3]uint32{groups(g.weights(table), gridLocal), 1, 1},
		})
	}
	from, to := g.tile(g.first), g.tile(g.first+g.src.h-1)+1
	for _, alpha := range []bool{false, true} {
		if !alpha || weigh {
			_ = spans(to-from, g.band, func(i, j int) error {
				g.addBand(from+i, from+j, alpha)
				return nil
			})
		}
	}
	for i, n := range g.Scratch {
		g.Scratch[i] = (n + planner.Pack - 1) &^ (planner.Pack - 1)
	}
	return &g.Plan
}

// tile returns the number of the tile that has a row of the whole picture: a tile is between the
// middles of two rows of cells.
func (g *gridPlan) tile(row int) int { return (row+g.size/2)/g.size - 1 }

// addBand appends the steps that make tiles [from, to).
func (g *gridPlan) addBand(from, to int, alpha bool) {
	parts, phase := 3, ""
	if alpha {
		parts, phase = 4, ".alpha"
	}
	per, cells, made := g.per, g.cellRows(to-from), to-from+3
	buffer := func(index, rows, width int) spec.Bind {
		g.Scratch[index] = max(g.Scratch[index], int64(rows*parts*width)*4)
		return spec.Bind{Buf: spec.Scratch(index)}
	}
	wide := buffer(scratchGridWide, cells, g.wide)
	buffer(scratchGridWide, made, g.end)
	one, two := buffer(scratchGridOne, cells, g.small), buffer(scratchGridTwo, made, g.small)
	flags, table := spec.Bind{Buf: spec.Scratch(scratchGridFlags)}, spec.Bind{Buf: spec.Scratch(scratchWeights)}

	_ = spans(cells, g.reducible(), func(i, j int) error {
		row := g.size*(from-2-g.radius+i) - g.first
		top, bottom := min(max(row, 0), g.src.h-1), max(min(row+(j-i+2)*g.size, g.src.h), 1)
		s := rowWindow(g.t, spec.In(0), g.src, top, bottom, per)
		g.add(kernel("blur_grid", tensor.U8, ".reduce"+phase, g.texel), alpha, j-i, gridCells, (gridCells+2)*g.size, blurGridParams{
			Columns: uint32(g.wide / per), Rows: uint32(j - i), SrcBase: s.base, SrcPitch: uint32(g.src.pitch / per),
			DstBase: uint32(i * parts * g.wide / per), DstPitch: uint32(g.wide / per),
			Step: uint32(g.wide / g.size), Mask: uint32(g.size - 1), Bits: log2(g.size),
			Column: int32(-g.size * (3 + g.radius) / per), Row: int32(row), Width: int32(g.src.w / per), Height: int32(bottom),
		}, s.bind, wide, flags)
		return nil
	})
	sums := func(kind, rows, from, to, columns int, src, dst spec.Bind) {
		p := blurGridParams{
			Columns: uint32(columns), Rows: uint32(rows * parts), SrcPitch: uint32(from / per), DstPitch: uint32(to / per), Step: 1,
			Table: uint32(g.base[kind] / per), Terms: uint32(g.terms[kind]), Phases: uint32(g.phases[kind]), Shift: log2(g.phases[kind]),
		}
		tall := rows * parts
		switch {
		case kind == gridReduce && g.texel:
			p.Step = uint32(g.size)
		case kind == gridReduce:
			p.Step, p.Mask, p.Bits = uint32(g.wide/g.size), uint32(g.size-1), log2(g.size)
		case kind == gridExpand && !g.texel: // A workgroup has one phase.
			tall = (tall + gridRows - 1) &^ (gridRows - 1) * g.size
		}
		g.addLoop(kernel("blur_grid_sums", tensor.F32, ".across", g.texel), alpha, tall, gridRows, g.terms[kind], p, src, dst, flags, table)
	}
	sums(gridReduce, cells, g.wide, g.small, g.small/per, wide, one)
	flat := uint32(parts * g.small / per)
	g.addLoop(kernel("blur_grid_sums", tensor.F32, ".down", g.texel), alpha, made, gridRows, g.terms[gridDown], blurGridParams{
		Columns: flat, Rows: uint32(made), SrcPitch: flat, DstPitch: flat, Terms: uint32(g.terms[gridDown]),
	}, one, two, flags, table)
	sums(gridBlur, made, g.small, g.blurred, g.blurred/per, two, one)
	columns := g.end / per
	if !g.texel {
		columns = planner.CeilDiv(g.end, g.size)
	}
	sums(gridExpand, made, g.blurred, g.end, columns, one, wide)

	row := g.size*from + g.size/2 - g.first
	top, bottom := max(row, 0), min(row+(to-from)*g.size, g.src.h)
	d, image := rowWindow(g.t, spec.Out(0), g.dst, top, bottom, per), rowWindow(g.t, spec.In(0), g.src, top, bottom, per)
	last := image.bind
	if alpha {
		last = flags
	}
	g.add(kernel("blur_grid", tensor.U8, ".expand"+phase, g.texel), alpha, to-from, 1, g.size, blurGridParams{
		Columns: uint32(g.end / per), Rows: uint32(g.src.h), SrcPitch: uint32(g.end / per), DstBase: d.base, DstPitch: uint32(max(g.dst.pitch/per, 1)),
		Row: int32(row), ImageBase: image.base, ImagePitch: uint32(g.src.pitch / per),
	}, wide, d.bind, last)
}

// log2 returns the exponent of a power of two.
func log2(n int) uint32 { return uint32(bits.Len(uint(n)) - 1) }

// add appends a step of a kernel whose invocations make down of some rows.
func (g *gridPlan) add(k *spv.Module, alpha bool, rows, down, steps int, p blurGridParams, binds ...spec.Bind) {
	if alpha {
		g.addLoop(k, alpha, rows, down, steps, p, binds...)
		return
	}
	p.Size = uint32(g.size)
	g.Steps = append(g.Steps, spec.Step{
		Module: k, Params: p, Bind: binds,
		Groups: [3]uint32{groups(int(p.Columns), gridLocal), groups(rows, down), 1},
	})
}

// addLoop appends a step of a kernel whose workgroups may make several tiles each: all workgroups
// that there may be, or few where it depends on the flag.
func (g *gridPlan) addLoop(k *spv.Module, alpha bool, rows, down, steps int, p blurGridParams, binds ...spec.Bind) {
	p.Size, p.Across = uint32(g.size), groups(int(p.Columns), gridLocal)
	p.Tiles = p.Across * groups(rows, down)
	p.Stride, p.Always = min(p.Tiles, g.t.MaxGroups[0]), 1
	if alpha {
		p.Stride, p.Always = fewGroups(g.t, int(p.Tiles), loopCost(steps, 0)), 0
	}
	g.Steps = append(g.Steps, spec.Step{
		Module: k, Params: p, Bind: binds, Groups: [3]uint32{p.Stride, 1, 1},
	})
}
