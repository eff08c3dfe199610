package elementwise

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// This file plans broadcasting in F32 for devices whose invocations are lanes of a vector.
// Neighbouring invocations read neighbouring elements there, and no element costs a division.

// spreadParams is the push-constant block of the SPREAD kernels of lib/binary_lanes.glsl.
type spreadParams struct {
	Columns, Rows       uint32
	ABase, ARow, AOuter uint32
	BBase, BRow, BOuter uint32
	Base, Row, Outer    uint32
}

// stepsParams is the push-constant block of the LOOP and STEPS kernels.
type stepsParams struct{ Count, First, Period, Run uint32 }

// repeatedParams is the push-constant block of move/repeat.comp.
type repeatedParams struct{ Count, Run, Period uint32 }

const (
	repeatKernel = "move/repeat.f32"
	// groupElements is how many elements a workgroup makes: of one row, or tallColumns of
	// tallRows rows.
	groupElements = 256
	tallColumns   = 64
	tallRows      = 4
	// mostRepeated is the length up to which an operand is written several times before it
	// is used.
	mostRepeated = 4096
)

// binaryLanesKernels lists the kernels that addBinaryLanes launches.
func binaryLanesKernels(shader string) []spec.Kernel {
	ks := []spec.Kernel{{Name: repeatKernel, Params: repeatedParams{}}}
	for _, form := range []string{"rows", "rows.a", "rows.b", "tall", "tall.a", "tall.b"} {
		ks = append(ks, spec.Kernel{Name: shader + ".f32.lanes." + form, Params: spreadParams{}})
	}
	for _, form := range []string{"loop.a", "loop.b", "steps.a", "steps.b"} {
		ks = append(ks, spec.Kernel{Name: shader + ".f32.lanes." + form, Params: stepsParams{}})
	}
	return ks
}

// only is the suffix of kernels for which operand i is the larger one.
func only(i int) string { return [2]string{".a", ".b"}[i] }

// addBinaryLanes appends launches for operands of which at least one does not lie as the
// output does. done is false if other kernels are as fast. flat says that the flat kernels
// can do it too.
// Errors: *LimitError.
func addBinaryLanes(plan *spec.Plan, shader string, t *spec.Target, dims []int, operands []planner.Operand, flat bool) (done bool, err error) {
	x := len(dims) - 1
	columns, a, b := dims[x], operands[0].Strides[x], operands[1].Strides[x]
	launches := 1
	for _, n := range dims[:max(x-2, 0)] {
		launches *= n
	}
	spreads := launches <= 16 && a|b == 1 && a >= 0 && b >= 0
	if spreads && (columns%groupElements == 0 || columns >= 8*groupElements) {
		return true, addSpread(plan, shader+".f32.lanes.rows", t, dims, operands, groupElements, 1)
	}
	for i := range 2 {
		larger, ok := planner.RepeatOf(dims, operands[i].Strides, 1)
		if r, repeats := planner.RepeatOf(dims, operands[1-i].Strides, 1); ok && larger.Div == 0 && repeats && r.Div > 0 {
			if period := int64(r.Div) * int64(r.Mod); period <= mostRepeated || int(r.Div) >= groupElements/2 {
				return true, addRepeated(plan, shader, t, dims, operands, i, r)
			}
		}
	}
	// Workgroups at the edges take several times as long as others.
	if spreads && (columns >= 48 || columns >= 8 && !flat) {
		return true, addSpread(plan, shader+".f32.lanes.tall", t, dims, operands, tallColumns, tallRows)
	}
	return false, nil
}

// addSpread appends launches of a SPREAD kernel whose workgroups make so many columns and
// rows.
// Errors: *LimitError.
func addSpread(plan *spec.Plan, kernel string, t *spec.Target, dims []int, operands []planner.Operand, columns, rows int) error {
	operands = slices.Clone(operands)
	for len(dims) < 3 {
		dims = append([]int{1}, dims...)
		for i, o := range operands {
			operands[i].Strides = append([]int{0}, o.Strides...)
		}
	}
	z, y, x := len(dims)-3, len(dims)-2, len(dims)-1
	for i := range 2 {
		if operands[1-i].Strides[x] == 0 {
			kernel += only(i)
		}
	}
	most := slices.Repeat([]int{1}, len(dims))
	most[z], most[y], most[x] = int(t.MaxGroups[2]), int(t.MaxGroups[1])*rows, int(t.MaxGroups[0])*columns
	return planner.Split(t, planner.MaxSpan(t, false), planner.RegionOf(dims), operands, groupElements, func(r planner.Region) error {
		return planner.Tiles(r, most, func(r planner.Region) error {
			var binds [3]spec.Bind
			var base, row, outer [3]uint32
			for i, o := range operands {
				binds[i], base[i] = o.Window(t, r)
				row[i], outer[i] = uint32(o.Strides[y]), uint32(o.Strides[z])
			}
			plan.Steps = append(plan.Steps, spec.Step{
				Module: spirv.Kernel(kernel), Bind: binds[:],
				Params: spreadParams{uint32(r.N[x]), uint32(r.N[y]), base[0], row[0], outer[0], base[1], row[1], outer[1], base[2], row[2], outer[2]},
				Groups: [3]uint32{uint32(planner.CeilDiv(r.N[x], columns)), uint32(planner.CeilDiv(r.N[y], rows)), uint32(r.N[z])},
			})
			return nil
		})
	})
}

// addRepeated appends launches for operand i, which lies as the output does, and the other
// one, which r describes in elements instead of packs.
// Errors: *LimitError.
func addRepeated(plan *spec.Plan, shader string, t *spec.Target, dims []int, operands []planner.Operand, i int, r planner.Repeat) error {
	n := 1
	for _, d := range dims {
		n *= d
	}
	other, p := operands[1-i].Ref, stepsParams{Period: uint32(r.Mod), Run: r.Div}
	k := planner.FlatKernel{Name: shader + ".f32.lanes.steps" + only(i), Local: planner.SmallGroup, Packs: 1}
	bytes := r.Bytes(tensor.F32)
	if period := int(r.Div) * r.Mod; period <= mostRepeated {
		made := period + groupElements
		to := planner.AddScratch(plan, int64(made*4))
		plan.Steps = append(plan.Steps, spec.Step{
			Module: spirv.Kernel(repeatKernel), Params: repeatedParams{uint32(made), r.Div, uint32(r.Mod)},
			Bind:   []spec.Bind{{Buf: other, Size: bytes}, {Buf: to, Size: int64(made * 4)}},
			Groups: [3]uint32{uint32(planner.CeilDiv(made, planner.SmallGroup)), 1, 1},
		})
		k.Name, other, p, bytes = shader+".f32.lanes.loop"+only(i), to, stepsParams{Period: uint32(period)}, int64(made*4)
	}
	k.Params = func(first, count int) any {
		p.First, p.Count = uint32(first), uint32(count)
		return p
	}
	first := len(plan.Steps)
	flat := []planner.Operand{planner.Flat(operands[0].Ref, tensor.F32), planner.Flat(operands[1].Ref, tensor.F32), planner.Flat(operands[2].Ref, tensor.F32)}
	flat[1-i].Ref = other
	if err := planner.AddFlat(plan, t, k, n, flat...); err != nil {
		return err
	}
	for _, s := range plan.Steps[first:] { // Each launch reads the whole operand.
		s.Bind[1-i].Offset, s.Bind[1-i].Size = 0, bytes
	}
	return nil
}
