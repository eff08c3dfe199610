package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// flatKernel is a kernel that walks contiguous operands of equal length side by
// side, a pack of 16 bytes of the widest at a time.
type flatKernel struct {
	name  string
	texel bool // reads texel buffers
	local int  // invocations of a workgroup
	packs int  // packs an invocation
	// params makes the params struct for count elements from element first on.
	params func(first, count int) any
}

// flatVariant chooses between the kernels base.dtype and base.dtype.texel that
// lib/unary.glsl and its like make.
func flatVariant(t *spec.Target, base string, d tensor.DType) flatKernel {
	k := flatKernel{name: base + "." + d.String(), local: smallGroup, packs: 1}
	if d.Size() < 8 && usesTexels(t, texelGroup) {
		k.name, k.texel, k.local, k.packs = k.name+".texel", true, texelGroup, 4
	}
	return k
}

// flatOperand is a contiguous operand of a flatKernel.
type flatOperand struct {
	ref   spec.Ref
	dtype tensor.DType
}

// planFlat launches k over n elements, in parts that fit bindings and grids.
func planFlat(t *spec.Target, k flatKernel, n int, operands ...flatOperand) (*spec.Plan, error) {
	plan := &spec.Plan{}
	return plan, addFlat(plan, t, k, n, operands...)
}

// addFlat appends the launches of planFlat to a plan.
func addFlat(plan *spec.Plan, t *spec.Target, k flatKernel, n int, operands ...flatOperand) error {
	widest := 1
	for _, o := range operands {
		widest = max(widest, o.dtype.Size())
	}
	// Parts begin where every operand is aligned: at a multiple of align
	// elements, whatever their size.
	align := windowAlign(t)
	most := maxSpan(t, k.texel) / int64(widest)
	perGroup := int64(k.local*k.packs) * 16 / int64(widest)
	groups := int64(math.MaxInt32)
	for _, g := range t.MaxGroups {
		groups = min(groups*int64(g), math.MaxInt32)
	}
	most = min(most, groups*perGroup, math.MaxInt32) / align * align
	for first := int64(0); first < int64(n); first += most {
		count := min(int64(n)-first, most)
		step := spec.Step{Kernel: k.name, Params: k.params(int(first), int(count))}
		for _, o := range operands {
			size := int64(o.dtype.Size())
			step.Bind = append(step.Bind, spec.Bind{Buf: o.ref, Offset: first * size, Size: (count*size + 15) &^ 15})
		}
		var err error
		if step.Groups, err = grid(t, ceilDiv(count, perGroup)); err != nil {
			return err
		}
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}
