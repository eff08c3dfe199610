// Package planner is the kit that the plans of all operations are made of: how large
// bindings and grids may be, parts of tensors that fit them, the ranges to bind for a
// part, broadcasting, and what tolerances of sums are made of. It knows operations
// only as families that use it.
package planner

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// The sizes of workgroups.
const (
	// SmallGroup is what every device has.
	SmallGroup = 64
	// TexelGroup is for kernels that read texel buffers. They are for CPU drivers, to
	// which each workgroup is a cost.
	TexelGroup = 256
)

// Strategies that many families offer, for spec.Target.Strategy: which kind of buffer
// kernels read.
const (
	ByTexels  = "texels"
	ByStorage = "storage"
)

// Pack is the bytes that a kernel loads at once.
const Pack = 16

// MaxRank is the most dimensions that a kernel walks with strides.
const MaxRank = 8

// MaxWindow is the most bytes that kernels which count elements in 31 bits may bind.
const MaxWindow = 1 << 30

// Invalid is an ErrInvalidArgument, for the Shape of an operation.
func Invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errs.ErrInvalidArgument, fmt.Sprintf(format, args...))
}

// Unsupported is an ErrUnsupported, for the Shape or Plan of an operation.
func Unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errs.ErrUnsupported, fmt.Sprintf(format, args...))
}

// Strides is a spec.ErrStrides that says which strides.
func Strides(format string, args ...any) error {
	return fmt.Errorf("%w: %s", spec.ErrStrides, fmt.Sprintf(format, args...))
}

// CheckTarget reports ErrUnsupported for a dtype that the device cannot compute with.
func CheckTarget(t *spec.Target, ds ...tensor.Desc) error {
	for _, d := range ds {
		if d.DType == tensor.F64 && !t.F64 {
			return Unsupported("f64: this device has no double precision")
		}
	}
	return nil
}

// UsesTexels reports whether to plan kernels that read texel buffers, in workgroups of
// local invocations.
func UsesTexels(t *spec.Target, local int) bool {
	if !HasTexels(t, local) {
		return false
	}
	switch t.Strategy {
	case ByTexels:
		return true
	case ByStorage:
		return false
	}
	return t.CPU
}

// HasTexels reports whether such kernels can be planned.
func HasTexels(t *spec.Target, local int) bool {
	return t.TexelBuffers && int(t.MaxInvocations) >= local
}

// WindowAlign is what the offset of every binding is a multiple of, in bytes: enough
// for both kinds of buffer and for whole packs.
func WindowAlign(t *spec.Target) int64 { return max(t.OffsetAlign, t.TexelAlign, Pack) }

// MaxSpan is how many bytes a binding may span.
func MaxSpan(t *spec.Target, texel bool) int64 {
	if texel {
		return min(t.MaxBinding, t.MaxTexels*16)
	}
	return t.MaxBinding
}

// Grid arranges n workgroups in three dimensions. Kernels find their number by
// flatGroup. The grid may have a few groups more than n.
// Errors: *LimitError.
func Grid(t *spec.Target, n int64) ([3]uint32, error) {
	g := [3]uint32{1, 1, 1}
	rest := n
	for i := range g {
		if rest <= int64(t.MaxGroups[i]) {
			g[i] = uint32(rest)
			return g, nil
		}
		// The least number of layers, then as few groups in each as do.
		most := int64(t.MaxGroups[i])
		layers := (rest + most - 1) / most
		g[i] = uint32((rest + layers - 1) / layers)
		rest = layers
	}
	return g, &errs.LimitError{Name: "MaxGroups", Want: n, Have: int64(t.MaxGroups[0]) * int64(t.MaxGroups[1]) * int64(t.MaxGroups[2])}
}

// CeilDiv is n/d, rounded up.
func CeilDiv[T int | int64 | uint32](n, d T) T { return (n + d - 1) / d }

// AddScratch adds a scratch buffer of so many bytes to a plan, rounded up to whole packs
// and at least one, so that it can always be bound.
func AddScratch(plan *spec.Plan, bytes int64) spec.Ref {
	plan.Scratch = append(plan.Scratch, max((bytes+Pack-1)&^(Pack-1), Pack))
	return spec.Scratch(len(plan.Scratch) - 1)
}
