// Package planner is the kit that the plans of all operations are built from. It computes
// how large bindings and grids may be, splits tensors into parts that fit them, finds the
// range to bind for a part, broadcasts shapes, and has the building blocks of tolerances.
// It knows no operation. The packages in internal/families use it.
package planner

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Sizes of workgroups, in invocations.
const (
	// SmallGroup is a size that every device allows.
	SmallGroup = 64
	// TexelGroup is the size for kernels that read texel buffers. These kernels are meant
	// for CPU drivers, where each workgroup costs time, so there are few large ones.
	TexelGroup = 256
)

// Values of spec.Target.Strategy that many families offer. They say whether kernels read
// texel buffers or storage buffers.
const (
	ByTexels  = "texels"
	ByStorage = "storage"
)

// Pack is the number of bytes that a kernel loads at once.
const Pack = 16

// MaxRank is the largest number of dimensions that a kernel can walk with strides.
const MaxRank = 8

// MaxWindow is the largest binding, in bytes, of a kernel that counts elements in 31
// bits.
const MaxWindow = 1 << 30

// Invalid returns an ErrInvalidArgument for the Shape function of an operation.
func Invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errs.ErrInvalidArgument, fmt.Sprintf(format, args...))
}

// Unsupported returns an ErrUnsupported for the Shape or Plan function of an operation.
func Unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errs.ErrUnsupported, fmt.Sprintf(format, args...))
}

// Strides returns a spec.ErrStrides for the Plan function of an operation. The text says
// which strides it cannot work with.
func Strides(format string, args ...any) error {
	return fmt.Errorf("%w: %s", spec.ErrStrides, fmt.Sprintf(format, args...))
}

// CheckTarget returns ErrUnsupported if the device cannot compute with the dtype of one
// of ds.
func CheckTarget(t *spec.Target, ds ...tensor.Desc) error {
	for _, d := range ds {
		if d.DType == tensor.F64 && !t.F64 {
			return Unsupported("f64: this device has no double precision")
		}
	}
	return nil
}

// UsesTexels reports whether to plan kernels that read texel buffers, with workgroups of
// local invocations. The strategy of t decides. Without one, CPU drivers get such
// kernels.
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

// HasTexels reports whether the device can run kernels that read texel buffers, with
// workgroups of local invocations.
func HasTexels(t *spec.Target, local int) bool {
	return t.TexelBuffers && int(t.MaxInvocations) >= local
}

// WindowAlign returns the alignment of all binding offsets, in bytes. It is large enough
// for storage buffers, for texel buffers and for whole packs.
func WindowAlign(t *spec.Target) int64 { return max(t.OffsetAlign, t.TexelAlign, Pack) }

// MaxSpan returns the largest size of a binding in bytes. texel says that it is a texel
// buffer.
func MaxSpan(t *spec.Target, texel bool) int64 {
	if texel {
		return min(t.MaxBinding, t.MaxTexels*16)
	}
	return t.MaxBinding
}

// RoomFor returns how many elements of size bytes fit a binding, wherever the first of them lies. texel says
// that it is a texel buffer.
func RoomFor(t *spec.Target, texel bool, size int) int {
	return int(min(MaxSpan(t, texel), MaxWindow)-WindowAlign(t)-Pack) / size
}

// Grid returns the numbers of workgroups in three dimensions whose product is at least n.
// It may exceed n by a few groups. Kernels compute their index in the grid with
// flatGroup, and ignore what is past n.
// Errors: *LimitError.
func Grid(t *spec.Target, n int64) ([3]uint32, error) {
	g := [3]uint32{1, 1, 1}
	rest := n
	for i := range g {
		if rest <= int64(t.MaxGroups[i]) {
			g[i] = uint32(rest)
			return g, nil
		}
		// Choose the smallest number of layers first, and then the smallest layers that
		// hold all groups.
		most := int64(t.MaxGroups[i])
		layers := (rest + most - 1) / most
		g[i] = uint32((rest + layers - 1) / layers)
		rest = layers
	}
	return g, &errs.LimitError{Name: "MaxGroups", Want: n, Have: int64(t.MaxGroups[0]) * int64(t.MaxGroups[1]) * int64(t.MaxGroups[2])}
}

// CeilDiv returns n/d, rounded up.
func CeilDiv[T int | int64 | uint32](n, d T) T { return (n + d - 1) / d }

// gpuScratch is the largest size of a temporary buffer on a GPU. It is a little more than a power of two,
// because matrices often have as many bytes, and an aligned window of them needs more.
const gpuScratch = 64<<20 + 64<<10

// ScratchBudget returns the largest size of a temporary buffer in bytes. On a CPU driver that is small, a size
// that stays in the processor's caches. A GPU has so much to do at a time that more and smaller launches take
// far longer: attention over 32 heads of 2048 keys took 16 times its arithmetic in parts of 8 MiB on an H100.
func ScratchBudget(t *spec.Target, small int64) int64 {
	if t.CPU {
		return small
	}
	return max(small, gpuScratch)
}

// AddScratch adds a scratch buffer to a plan and returns a reference to it. The size is
// rounded up to whole packs. It is at least one pack, so that the buffer can always be
// bound.
func AddScratch(plan *spec.Plan, bytes int64) spec.Ref {
	plan.Scratch = append(plan.Scratch, max((bytes+Pack-1)&^(Pack-1), Pack))
	return spec.Scratch(len(plan.Scratch) - 1)
}
