package planner

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// FlatKernel describes a kernel that walks contiguous operands of equal length in
// parallel. A pack is the 16 bytes that it loads at once from the operand with the widest
// elements.
type FlatKernel struct {
	// Name is the kernel's name in package spirv.
	Name string
	// Texel says that the kernel reads texel buffers.
	Texel bool
	// Local is the number of invocations in a workgroup.
	Local int
	// Packs is the number of packs that each invocation handles.
	Packs int
	// Params returns the params struct of a launch over count elements that begin at
	// element first.
	Params func(first, count int) any
}

// FlatVariant returns the kernel base.dtype.texel where t plans texel kernels and d has
// one, and else base.dtype. Shaders that include lib/unary.glsl, or a file built like it,
// have both.
func FlatVariant(t *spec.Target, base string, d tensor.DType) FlatKernel {
	k := FlatKernel{Name: base + "." + d.String(), Local: SmallGroup, Packs: 1}
	if d.Size() < 8 && UsesTexels(t, TexelGroup) {
		k.Name, k.Texel, k.Local, k.Packs = k.Name+".texel", true, TexelGroup, 4
	}
	return k
}

// Flat returns a contiguous operand of a FlatKernel. It begins at the first element of
// ref.
func Flat(ref spec.Ref, d tensor.DType) Operand { return Operand{Ref: ref, DType: d} }

// AddFlat appends to a plan the launches of k over n elements of the operands. It splits
// them into parts that fit the target's bindings and grids.
// Errors: *LimitError.
func AddFlat(plan *spec.Plan, t *spec.Target, k FlatKernel, n int, operands ...Operand) error {
	widest := 1
	for _, o := range operands {
		widest = max(widest, o.DType.Size())
	}
	// Each part begins at a multiple of align elements. Its offset in bytes is then
	// aligned for every operand, whatever the size of its elements.
	align := WindowAlign(t)
	most := MaxSpan(t, k.Texel) / int64(widest)
	perGroup := int64(k.Local*k.Packs) * Pack / int64(widest)
	groups := int64(1)
	for _, g := range t.MaxGroups {
		groups = min(groups*int64(g), math.MaxInt32)
	}
	most = min(most, groups*perGroup, math.MaxInt32) / align * align
	for first := int64(0); first < int64(n); first += most {
		count := min(int64(n)-first, most)
		step := spec.Step{Module: spirv.Kernel(k.Name), Params: k.Params(int(first), int(count))}
		for _, o := range operands {
			bind, _ := Window(t, o.Ref, o.DType.Size(), first, count)
			step.Bind = append(step.Bind, bind)
		}
		var err error
		if step.Groups, err = Grid(t, CeilDiv(count, perGroup)); err != nil {
			return err
		}
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}

// DTypeVariants lists the kernels of a base name for dtypes. Each dtype has the kernel
// base.dtype, and base.dtype.texel too if texel returns true for it. If texel is nil,
// there are no texel kernels.
func DTypeVariants(base string, params any, dtypes []tensor.DType, texel func(tensor.DType) bool) []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range dtypes {
		ks = append(ks, spec.Kernel{Name: base + "." + d.String(), Params: params})
		if texel != nil && texel(d) {
			ks = append(ks, spec.Kernel{Name: base + "." + d.String() + ".texel", Params: params})
		}
	}
	return ks
}

// TexelStrategies lists the strategies of an operation that only chooses between texel
// kernels and storage kernels. The one that is expected to be faster comes first. d is
// the dtype that decides whether texel kernels exist.
func TexelStrategies(t *spec.Target, d tensor.DType) []string {
	switch {
	case d.Size() >= 8 || !HasTexels(t, TexelGroup):
		return nil
	case t.CPU:
		return []string{ByTexels, ByStorage}
	}
	return []string{ByStorage, ByTexels}
}

// FlatStrategies is TexelStrategies in the form that spec.Definition needs. The dtype of
// the first input decides.
func FlatStrategies[A spec.Call](_ A, t *spec.Target, in, _ []tensor.Desc) []string {
	if in[0].Elems() == 0 {
		return nil
	}
	return TexelStrategies(t, in[0].DType)
}

// ElementCounts is a spec.Definition.SizeClass for operations whose speed depends on the
// number of elements of each input, and not on their shapes.
func ElementCounts[A spec.Call](_ A, in []tensor.Desc) []int {
	n := make([]int, len(in))
	for i, d := range in {
		n[i] = d.Elems()
	}
	return n
}
