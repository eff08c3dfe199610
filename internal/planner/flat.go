package planner

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// FlatKernel is a kernel that walks contiguous operands of equal length side by
// side, a pack of 16 bytes of the widest at a time.
type FlatKernel struct {
	// Name is the kernel's name in package spirv.
	Name string
	// Texel says that it reads texel buffers.
	Texel bool
	// Local is the number of invocations of a workgroup.
	Local int
	// Packs is the number of packs that an invocation takes.
	Packs int
	// Params makes the params struct for count elements from element first on.
	Params func(first, count int) any
}

// FlatVariant chooses between the kernels base.dtype and base.dtype.texel, which
// lib/unary.glsl and its like make.
func FlatVariant(t *spec.Target, base string, d tensor.DType) FlatKernel {
	k := FlatKernel{Name: base + "." + d.String(), Local: SmallGroup, Packs: 1}
	if d.Size() < 8 && UsesTexels(t, TexelGroup) {
		k.Name, k.Texel, k.Local, k.Packs = k.Name+".texel", true, TexelGroup, 4
	}
	return k
}

// Flat is a contiguous operand of a FlatKernel.
func Flat(ref spec.Ref, d tensor.DType) Operand { return Operand{Ref: ref, DType: d} }

// AddFlat appends the launches of k over n elements of the operands to a plan, in parts
// that fit bindings and grids.
// Errors: *LimitError.
func AddFlat(plan *spec.Plan, t *spec.Target, k FlatKernel, n int, operands ...Operand) error {
	widest := 1
	for _, o := range operands {
		widest = max(widest, o.DType.Size())
	}
	// Parts begin where every operand is aligned: at a multiple of align
	// elements, whatever their size.
	align := WindowAlign(t)
	most := MaxSpan(t, k.Texel) / int64(widest)
	perGroup := int64(k.Local*k.Packs) * Pack / int64(widest)
	groups := int64(math.MaxInt32)
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

// DTypeVariants names the kernels of a base name for dtypes: each as "f32", and
// as "f32.texel" if texel says so of it. Nil texel means none.
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

// TexelStrategies lists the strategies of an operation on elements of d that has texel
// kernels and storage kernels, and no other choice.
func TexelStrategies(t *spec.Target, d tensor.DType) []string {
	switch {
	case d.Size() >= 8 || !HasTexels(t, TexelGroup):
		return nil
	case t.CPU:
		return []string{ByTexels, ByStorage}
	}
	return []string{ByStorage, ByTexels}
}

// FlatStrategies is TexelStrategies for spec.Definition: the dtype of the first input
// decides.
func FlatStrategies[A spec.Call](_ A, t *spec.Target, in, _ []tensor.Desc) []string {
	if in[0].Elems() == 0 {
		return nil
	}
	return TexelStrategies(t, in[0].DType)
}

// ElementCounts is the spec.Definition.SizeClass of operations to which shapes do not
// matter.
func ElementCounts[A spec.Call](_ A, in []tensor.Desc) []int {
	n := make([]int, len(in))
	for i, d := range in {
		n[i] = d.Elems()
	}
	return n
}
