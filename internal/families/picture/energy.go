package picture

import (
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// energyParams is the push-constant block of edge_energy.comp.
type energyParams struct {
	Left       uint32
	Right      uint32
	Top        uint32
	Bottom     uint32
	Width      uint32
	Height     uint32
	CellWidth  uint32
	CellHeight uint32
	CellX      uint32
	CellY      uint32
	StepX      uint32
	StepY      uint32
	Across     uint32
	Base       uint32
	Pitch      uint32
	Channels   uint32
	Add        uint32
}

// windowsParams is the push-constant block of energy_windows.comp.
type windowsParams struct {
	Extent uint32
	Size   uint32
	Steps  uint32
	Cell   uint32
	Cells  uint32
	Stride uint32
	Others uint32
	Shift  uint32
}

// mostParams is the push-constant block of energy_most.comp.
type mostParams struct {
	Across      uint32
	Down        uint32
	SpareWidth  uint32
	SpareHeight uint32
	Width       uint32
	Height      uint32
}

const (
	energyWindows = "image/energy_windows.u32"
	energyMost    = "image/energy_most.i32"
	// energyCells is the most cells of a grid, and the most steps of windows, along an axis.
	energyCells = 64
	// energyPixel is the most energy of a pixel.
	energyPixel = 2 * 255
	// energyColumns and energyRows are the most pixels of a cell that count. They are enough for an
	// area that nobody sees pixel by pixel, and the cost of large pictures ends there.
	energyColumns, energyRows = 64, 32
)

// EnergyKernels lists the kernels of PlanEnergy.
func EnergyKernels() []spec.Kernel {
	list := []spec.Kernel{{Name: energyWindows, Params: windowsParams{}}, {Name: energyMost, Params: mostParams{}}}
	for _, d := range dtypes {
		list = append(list, spec.Kernel{Name: kernelName("edge_energy", d, "", false), Params: energyParams{}})
	}
	return list
}

// cellOf returns the length of the cells along an axis of n pixels, and the distance of those that
// count, of which there are at most so many in a cell.
func cellOf(n, most int) (cell, step int) {
	cell = max(1, planner.CeilDiv(n, energyCells))
	if step = planner.CeilDiv(cell, most); step > 1 {
		cell = step * most
	}
	return cell, step
}

// stepsOf returns one less than the number of places for a window of size pixels along an axis of
// n. It is even, so that one is in the middle.
func stepsOf(n, size int) int { return 2 * min(energyCells/2, planner.CeilDiv(n-size, 2)) }

// The scratch buffers of PlanEnergy.
const (
	scratchEnergies = iota // of each cell
	scratchColumns         // of windows across, for each row of cells
	scratchWindows         // of each window
)

// PlanEnergy plans the search for the rectangle of width by height pixels that has the most energy
// of edges.
// Errors: ErrInvalidArgument, ErrStrides, *LimitError.
func PlanEnergy(t *spec.Target, in tensor.Desc, width, height int) (*spec.Plan, error) {
	src, err := layoutOf(in)
	if err != nil {
		return nil, err
	}
	cellWidth, stepX := cellOf(src.w, energyColumns)
	cellHeight, stepY := cellOf(src.h, energyRows)
	across, down := planner.CeilDiv(src.w, cellWidth), planner.CeilDiv(src.h, cellHeight)
	grid := energyParams{
		Width: uint32(src.w), Height: uint32(src.h), CellWidth: uint32(cellWidth), CellHeight: uint32(cellHeight),
		StepX: uint32(stepX), StepY: uint32(stepY), Across: uint32(across), Pitch: uint32(src.pitch), Channels: uint32(src.c),
	}
	x, y := stepsOf(src.w, width), stepsOf(src.h, height)
	plan := &spec.Plan{Scratch: []int64{int64(max(across*down, 1)) * 4, int64(max((x+1)*down, 1)) * 4, int64((x+1)*(y+1)) * 4}}
	energies, columns, windows := spec.Bind{Buf: spec.Scratch(scratchEnergies)}, spec.Bind{Buf: spec.Scratch(scratchColumns)}, spec.Bind{Buf: spec.Scratch(scratchWindows)}
	if src.w == 0 || src.h == 0 {
		x, y = 0, 0 // There is no energy, and no choice.
	} else {
		if err := addEnergy(plan, t, src, grid, energies); err != nil {
			return nil, err
		}
		// All sums stay below 2³², though a cell counts up to 256 times along each axis.
		pixels := across * down * planner.CeilDiv(cellWidth, stepX) * planner.CeilDiv(cellHeight, stepY)
		shift := max(bits.Len64(uint64(pixels)*energyPixel)-24, 0)
		plan.Steps = append(plan.Steps,
			spec.Step{
				Module: spirv.Kernel(energyWindows), Bind: []spec.Bind{energies, columns}, Groups: [3]uint32{groups(x+1, 64), uint32(down), 1},
				Params: windowsParams{
					Extent: uint32(src.w), Size: uint32(width), Steps: uint32(x), Cell: uint32(cellWidth), Cells: uint32(across),
					Stride: 1, Others: uint32(across), Shift: uint32(shift),
				},
			},
			spec.Step{
				Module: spirv.Kernel(energyWindows), Bind: []spec.Bind{columns, windows}, Groups: [3]uint32{groups(y+1, 64), uint32(x + 1), 1},
				Params: windowsParams{
					Extent: uint32(src.h), Size: uint32(height), Steps: uint32(y), Cell: uint32(cellHeight), Cells: uint32(down),
					Stride: uint32(x + 1), Others: 1, Shift: 8,
				},
			})
	}
	plan.Steps = append(plan.Steps, spec.Step{
		Module: spirv.Kernel(energyMost), Bind: []spec.Bind{windows, {Buf: spec.Out(0)}}, Groups: [3]uint32{1, 1, 1},
		Params: mostParams{
			Across: uint32(x), Down: uint32(y), SpareWidth: uint32(src.w - width), SpareHeight: uint32(src.h - height),
			Width: uint32(width), Height: uint32(height),
		},
	})
	return plan, nil
}

// addEnergy appends the launches that add the energy in each cell.
func addEnergy(plan *spec.Plan, t *spec.Target, src layout, grid energyParams, energies spec.Bind) error {
	cw, ch := int(grid.CellWidth), int(grid.CellHeight)
	// part adds the pixels of r, which are those of whole cells, or some of one cell.
	var part func(r rect, add bool) error
	part = func(r rect, add bool) error {
		need := r
		need.right, need.bottom = min(r.right+int(grid.StepX), src.w), min(r.bottom+int(grid.StepY), src.h)
		x, y := r.left/cw, r.top/ch
		across, down := planner.CeilDiv(r.right, cw)-x, planner.CeilDiv(r.bottom, ch)-y
		w, h := r.right-r.left, r.bottom-r.top
		large := src.bytes(need) > room(t, false)
		if large && w*h == 1 {
			return &errs.LimitError{Name: "MaxBinding", Want: src.bytes(need), Have: room(t, false)}
		}
		if large || across > int(t.MaxGroups[0]) || down > int(t.MaxGroups[1]) {
			a, b := r, r
			switch {
			case down > 1:
				a.bottom = (y + down/2) * ch
				b.top = a.bottom
			case across > 1:
				a.right = (x + across/2) * cw
				b.left = a.right
			case h > 1:
				a.bottom = (r.top + r.bottom) / 2
				b.top = a.bottom
			default:
				a.right = (r.left + r.right) / 2
				b.left = a.right
			}
			if err := part(a, add); err != nil {
				return err
			}
			return part(b, add || across == 1 && down == 1)
		}
		s, q := rectWindow(t, spec.In(0), src, need, 0, 1), grid
		q.Left, q.Right, q.Top, q.Bottom = uint32(r.left), uint32(r.right), uint32(r.top), uint32(r.bottom)
		q.CellX, q.CellY, q.Base, q.Add = uint32(x), uint32(y), s.base, one(add)
		plan.Steps = append(plan.Steps, spec.Step{
			Module: kernel("edge_energy", src.dtype, "", false), Params: q, Bind: []spec.Bind{s.bind, energies},
			Groups: [3]uint32{uint32(across), uint32(down), 1},
		})
		return nil
	}
	return part(rect{0, src.w, 0, src.h}, false)
}
