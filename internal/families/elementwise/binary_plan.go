package elementwise

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// repeatParams is the push-constant block of lib/binary.glsl. The fields of each operand
// are those of planner.Repeat, and what walk returns.
type repeatParams struct {
	Count, First       uint32
	ADiv, AMod, ASplat uint32
	BDiv, BMod, BSplat uint32
	AStep, ARest       uint32
	BStep, BRest       uint32
}

// binaryStridedParams is the push-constant block of lib/binary_strided.glsl.
type binaryStridedParams struct {
	N, A, B            [planner.MaxRank]uint32
	Rank, Count        uint32
	ABase, BBase, Base uint32
}

// BinaryRefs refers to the inputs and the output of a call with two inputs and one
// output.
var BinaryRefs = [3]spec.Ref{spec.In(0), spec.In(1), spec.Out(0)}

// AddBinary appends to a plan the launches of a function of two elements. shader names
// its kernels. The inputs may have any strides, and out is contiguous. refs says where
// both inputs and out are: BinaryRefs, or other places in a larger plan.
// Errors: ErrUnsupported, ErrStrides, *LimitError.
func AddBinary(plan *spec.Plan, t *spec.Target, shader string, in []tensor.Desc, out tensor.Desc, refs [3]spec.Ref) error {
	d, n := out.DType, out.Elems()
	if err := planner.CheckTarget(t, out); err != nil || n == 0 {
		return err
	}
	dims, operands := planner.Collapse(out.Shape, []planner.Operand{
		{Ref: refs[0], DType: d, Strides: planner.BroadcastStrides(in[0], out.Shape)},
		{Ref: refs[1], DType: d, Strides: planner.BroadcastStrides(in[1], out.Shape)},
		{Ref: refs[2], DType: d, Strides: planner.BroadcastStrides(out, out.Shape)},
	})
	k := planner.FlatVariant(t, shader, d)
	flat, repeats := int64(n) < 1<<31, [2]planner.Repeat{}
	for i := range repeats {
		r, ok := planner.RepeatOf(dims, operands[i].Strides, planner.Pack/d.Size())
		repeats[i] = r
		flat = flat && ok && (r.Div == 0 || r.Bytes(d) < planner.MaxSpan(t, k.Texel))
	}
	if usesLanes(t, k, d) && (!flat || repeats[0].Div != 0 || repeats[1].Div != 0) {
		if done, err := addBinaryLanes(plan, shader, t, dims, operands, flat); done || err != nil {
			return err
		}
	}
	if !flat {
		if len(dims) > planner.MaxRank {
			const why = "%v and %v (at most %d dimensions that differ)"
			if in[0].IsContiguous() && in[1].IsContiguous() {
				return planner.Unsupported(why, in[0], in[1], planner.MaxRank)
			}
			return planner.Strides(why, in[0], in[1], planner.MaxRank)
		}
		return addBinaryStrided(plan, shader, t, dims, operands)
	}
	x, y := repeats[0], repeats[1]
	if k.Texel && (x.Div != 0 || y.Div != 0) {
		k.Name = shader + "." + d.String() + ".repeat.texel"
	}
	if x.Div == 0 && y.Div == 0 && usesLanes(t, k, d) {
		k.Name += ".lanes"
	}
	k.Params = func(first, count int) any {
		p := repeatParams{
			Count: uint32(count), First: uint32(first * d.Size() / planner.Pack),
			ADiv: x.Div, AMod: uint32(x.Mod), ASplat: x.Splat, BDiv: y.Div, BMod: uint32(y.Mod), BSplat: y.Splat,
		}
		p.AStep, p.ARest = walk(x)
		p.BStep, p.BRest = walk(y)
		return p
	}
	first := len(plan.Steps)
	if err := planner.AddFlat(plan, t, k, n, planner.Flat(refs[0], d), planner.Flat(refs[1], d), planner.Flat(refs[2], d)); err != nil {
		return err
	}
	for _, s := range plan.Steps[first:] {
		for i, r := range repeats {
			if r.Div != 0 { // Each launch reads the whole operand.
				s.Bind[i].Offset, s.Bind[i].Size = 0, r.Bytes(d)
			}
		}
	}
	return nil
}

// walk returns what a texel kernel needs to find the next packs without a division. The
// kernel advances by TexelGroup packs at a time. step is how far i / div then advances,
// modulo mod, and rest is the remainder of TexelGroup / div.
func walk(r planner.Repeat) (step, rest uint32) {
	if r.Div == 0 {
		return 0, 0
	}
	return planner.TexelGroup / r.Div % uint32(r.Mod), planner.TexelGroup % r.Div
}

// addBinaryStrided appends launches of the strided kernels. Each covers a region of the
// index space that is contiguous in the output.
// Errors: ErrStrides where too many launches would be needed.
func addBinaryStrided(plan *spec.Plan, shader string, t *spec.Target, dims []int, operands []planner.Operand) error {
	const most = 256
	d := operands[0].DType
	pack, room := planner.Pack/d.Size(), min(t.MaxBinding, planner.MaxWindow)-planner.WindowAlign(t)
	all := planner.RegionOf(dims)
	// A transposed operand that is larger than a binding needs so many launches that a
	// copy is faster.
	far := false
	for _, o := range operands[:2] {
		far = far || o.Extent(all) > 1 && !isBroadcast(dims, o.Strides)
	}
	first, pending := len(plan.Steps), []planner.Region{all}
	for len(pending) > 0 {
		r := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		fits, count := true, 1
		for _, o := range operands {
			fits = fits && o.Extent(r)*int64(d.Size()) <= room
		}
		for _, n := range r.N {
			count *= n
		}
		var binds [3]spec.Bind
		var bases [3]uint32
		groups, err := [3]uint32{}, error(nil)
		if fits {
			for i, o := range operands {
				binds[i], bases[i] = o.Window(t, r)
			}
			groups, err = planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(int(bases[2])+count, pack), planner.SmallGroup)))
		}
		if !fits || err != nil {
			at := slices.IndexFunc(r.N, func(n int) bool { return n > 1 })
			if at < 0 {
				return err
			}
			low, high := r.Halve(at, (r.N[at]+1)/2)
			pending = append(pending, high, low)
			continue
		}
		p := binaryStridedParams{Rank: uint32(max(len(dims)-1, 1)), Count: uint32(count), ABase: bases[0], BBase: bases[1], Base: bases[2]}
		planner.Inward(r.N, p.N[:])
		planner.Inward(operands[0].Strides, p.A[:])
		planner.Inward(operands[1].Strides, p.B[:])
		plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(shader + "." + d.String() + ".strided"), Params: p, Bind: binds[:], Groups: groups})
		if far && len(plan.Steps)-first > most {
			return planner.Strides("operands that are this large need too many launches")
		}
	}
	return nil
}

// isBroadcast reports whether strides are those of a contiguous tensor that is broadcast
// to dims.
func isBroadcast(dims, strides []int) bool {
	own := 1
	for d := len(dims) - 1; d >= 0; d-- {
		if strides[d] == 0 {
			continue
		}
		if strides[d] != own {
			return false
		}
		own *= dims[d]
	}
	return true
}
