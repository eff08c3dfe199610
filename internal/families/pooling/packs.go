package pooling

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// packsShader makes whole packs of a maximum on CPU drivers.
const packsShader = "nn/max_pool_packs"

// packsParams is the push-constant block of max_pool_packs.comp.
type packsParams struct {
	Count           uint32
	N               [2]uint32
	S, K, Before, I [2]int32
	InBase, InLast  uint32
}

// These are the packs of an invocation of that shader, and the invocations of a workgroup.
const packsEach, packsGroup = 4, 64

// packsTaps is the largest window of that shader. Larger ones have enough work in each element, and a part of their taps may fill a launch.
const packsTaps = 64

// packsKernels lists the kernels of that shader.
func packsKernels() []spec.Kernel {
	var list []spec.Kernel
	for _, d := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16} {
		list = append(list, spec.Kernel{Name: packsShader + "." + d.String() + ".texel", Params: packsParams{}})
	}
	return list
}

// packs returns the launch of a maximum by whole packs, if the target and the windows suit it: they have no gaps and no third dimension,
// and whole tensors fit bindings.
func (g geometry) packs(t *spec.Target, d tensor.DType, in, out spec.Ref) (step spec.Step, ok bool) {
	if d.Size() == 8 || !planner.UsesTexels(t, packsGroup) || g.taps() > packsTaps || g.kernel[0] != 1 || g.out[0] != g.in[0] {
		return step, false
	}
	for k := range g.kernel {
		if g.kernel[k] > 1 && g.spacing[k] > 1 {
			return step, false
		}
	}
	all, made, pack := g.planes*area(g.in), g.planes*area(g.out), 16/d.Size()
	if all > planner.RoomFor(t, true, d.Size()) || made > planner.RoomFor(t, false, d.Size()) {
		return step, false
	}
	if most := int64(t.MaxIterations); most > 0 && packsEach*(int64(g.kernel[1])*(int64(g.kernel[2])+2)+4)+8 > most {
		return step, false
	}
	p := packsParams{Count: uint32(made), InLast: uint32(all - 1)}
	for k := range 2 {
		p.N[k], p.S[k], p.K[k] = uint32(g.out[1+k]), int32(g.strides[1+k]), int32(g.kernel[1+k])
		p.Before[k], p.I[k] = int32(g.before[1+k]), int32(g.in[1+k])
	}
	from, base := planner.Window(t, in, d.Size(), 0, int64(all))
	to, _ := planner.Window(t, out, d.Size(), 0, int64(made))
	p.InBase, p.InLast = base, p.InLast+base
	groups, err := planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(made, pack), packsEach*packsGroup)))
	return spec.Step{Module: spirv.Kernel(packsShader + "." + d.String() + ".texel"), Params: p, Bind: []spec.Bind{from, to}, Groups: groups}, err == nil
}
