package ops

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
)

// Sizes of workgroups: one that every device has, and one for CPU drivers, to
// whom a workgroup is a cost.
const (
	smallGroup = 64
	texelGroup = 256
)

// usesTexels reports whether to plan texel kernels, whose workgroups have local
// invocations.
func usesTexels(t *spec.Target, local int) bool {
	if !hasTexels(t, local) {
		return false
	}
	switch t.Strategy {
	case byTexels:
		return true
	case byStorage:
		return false
	}
	return t.CPU
}

// hasTexels reports whether texel kernels of such workgroups can be planned.
func hasTexels(t *spec.Target, local int) bool {
	return t.TexelBuffers && int(t.MaxInvocations) >= local
}

// windowAlign is what every bound offset is a multiple of, in bytes: enough for
// both kinds of buffer and for whole packs.
func windowAlign(t *spec.Target) int64 { return max(t.OffsetAlign, t.TexelAlign, 16) }

// maxSpan is how many bytes a binding may span.
func maxSpan(t *spec.Target, texel bool) int64 {
	if texel {
		return min(t.MaxBinding, t.MaxTexels*16)
	}
	return t.MaxBinding
}

// grid folds n workgroups into three dimensions; kernels find their number by
// flatGroup. The grid may have a few groups more than n.
// Errors: *LimitError.
func grid(t *spec.Target, n int64) ([3]uint32, error) {
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

func ceilDiv[T int | int64 | uint32](n, d T) T { return (n + d - 1) / d }
