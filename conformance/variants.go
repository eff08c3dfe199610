package conformance

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/spec"
)

// Variant is one way to use a device.
type Variant struct {
	// Name is the name, such as "tiny".
	Name string
	// Guard adds zones around every buffer, including the scratch buffers of plans.
	Guard bool
	// Limits, if not nil, lowers the limits that the device reports and enforces.
	Limits func(*gpu.Limits)
	// Target, if not nil, changes the target of plans.
	Target func(*spec.Target)
	// Distinct says that only cases run whose plan differs from that of the first variant.
	// Options.Sample may choose some of them.
	Distinct bool
	// Device, if not nil, is another device to run on. Its results must also be within the
	// tolerance of the results of the first variant.
	Device gpu.Device
}

// TinyLimits lowers limits to the least that Vulkan allows, or less, so that plans must
// split operands that fit any real device. It changes nothing if l is nil.
func TinyLimits(l *gpu.Limits) {
	if l == nil {
		return
	}
	l.MaxBinding = min(l.MaxBinding, 1<<20)
	l.MaxTexels = min(l.MaxTexels, 1<<16)
	for i := range l.MaxGroups {
		l.MaxGroups[i] = min(l.MaxGroups[i], 256)
		l.MaxLocalSize[i] = min(l.MaxLocalSize[i], 64)
	}
	l.MaxInvocations = min(l.MaxInvocations, 64)
	l.MaxSharedBytes = min(l.MaxSharedBytes, 16<<10)
	l.MaxParamBytes = min(l.MaxParamBytes, 128)
	l.MaxBindings = min(l.MaxBindings, 4)
	l.MaxTexelBuffers = min(l.MaxTexelBuffers, 4)
	l.OffsetAlign = max(l.OffsetAlign, 256)
	l.TexelAlign = max(l.TexelAlign, 256)
}

// WebGPULimits lowers limits to those that every WebGPU device has. A program gets no
// more unless it asks for more. It changes nothing if l is nil.
func WebGPULimits(l *gpu.Limits) {
	if l == nil {
		return
	}
	l.MaxBuffer = min(l.MaxBuffer, 256<<20)
	l.MaxBinding = min(l.MaxBinding, 128<<20)
	for i, n := range []uint32{256, 256, 64} {
		l.MaxGroups[i] = min(l.MaxGroups[i], 65535)
		l.MaxLocalSize[i] = min(l.MaxLocalSize[i], n)
	}
	l.MaxInvocations = min(l.MaxInvocations, 256)
	l.MaxSharedBytes = min(l.MaxSharedBytes, 16<<10)
	l.MaxParamBytes = min(l.MaxParamBytes, 128)
	l.MaxBindings = min(l.MaxBindings, 8)
	l.MaxUniform = min(l.MaxUniform, 64<<10)
	l.OffsetAlign = max(l.OffsetAlign, 256)
}

// Variants returns the variants that are worth trying on a device. The first is the
// device itself, without zones around buffers. The second has zones, and on WebGPU also
// the least limits of WebGPU. The others have tiny limits, the plans for the other kind
// of device, tiny limits without texel buffers, or with them where plans have none by
// themselves, and the alignments of other devices. Without a device there are none.
func Variants(info *gpu.Info) []Variant {
	if info == nil {
		return nil
	}
	vs := []Variant{{Name: "plain"}, {Name: "guarded", Guard: true}, {Name: "tiny", Guard: true, Limits: TinyLimits}}
	if info.Kind == gpu.CPU {
		vs = append(vs, Variant{Name: "gpu-profile", Target: func(t *spec.Target) { t.CPU = false }})
	} else {
		vs = append(vs, Variant{Name: "cpu-profile", Target: func(t *spec.Target) { t.CPU = true }})
	}
	if info.Backend == "wgpu" {
		vs[1] = Variant{Name: "webgpu-limits", Guard: true, Limits: WebGPULimits}
	}
	switch {
	case info.Limits.MaxTexelBuffers > 0 && info.Features.HostVectors: // plans have no texel buffers there
		vs = append(vs, Variant{Name: "texels", Guard: true, Target: func(t *spec.Target) { t.TexelBuffers = true }})
	case info.Limits.MaxTexelBuffers > 0:
		vs = append(vs, Variant{Name: "tiny-no-texels", Limits: TinyLimits, Target: func(t *spec.Target) { t.TexelBuffers = false }})
	}
	return append(vs, alignments(info)...)
}

// alignments returns variants with the offset alignments of other devices. Their bindings
// are so short that operands are split after their first element, where alignments
// matter. Everything else is as on the device, so that its own kernels run. Tiny limits
// would lead to other kernels.
func alignments(info *gpu.Info) []Variant {
	var vs []Variant
	for _, a := range []struct{ align, texels, binding int64 }{
		{32, 1 << 16, 4 << 20}, {64, 1 << 14, 1 << 20}, {256, 1 << 12, 1 << 19},
	} {
		l := &info.Limits
		if a.align < max(l.OffsetAlign, l.TexelAlign) {
			continue // The device requires a larger alignment.
		}
		vs = append(vs, Variant{Name: fmt.Sprintf("align-%d", a.align), Guard: true, Distinct: true, Limits: func(l *gpu.Limits) {
			l.OffsetAlign, l.TexelAlign = a.align, a.align
			l.MaxTexels, l.MaxBinding = min(l.MaxTexels, a.texels), min(l.MaxBinding, a.binding)
		}})
	}
	return vs
}

// sampled counts the cases of an operation and element type whose plan a Distinct variant
// changes.
type sampled struct {
	of   string
	seen int
}

// devicesFor returns the devices that run a job: those that the job names, or otherwise
// all. Distinct devices run it only if they change its plan.
func (s *suite) devicesFor(j *job) []*variantDevice {
	var list []*variantDevice
	for _, i := range j.devices {
		list = append(list, s.devices[i])
	}
	if j.devices != nil {
		return list
	}
	for i, l := range s.devices {
		if l.Distinct && i > 0 {
			if !s.changesPlan(l, j) {
				continue
			}
			if of := j.op.Name + "/" + j.dtype.String(); l.met.of != of {
				l.met = sampled{of: of}
			}
			if l.met.seen++; s.opts.Sample > 1 && l.met.seen%s.opts.Sample != 1 {
				continue
			}
		} else if i > 0 && j.own {
			continue
		}
		list = append(list, l)
	}
	return list
}

// changesPlan reports whether the device's plan for contiguous operands differs from that
// of the first device. A plan that cannot be made differs.
func (s *suite) changesPlan(l *variantDevice, j *job) (yes bool) {
	if j.pattern == "none" {
		return false
	}
	in := j.inputs()
	out, err := j.op.Shape(j.call, in)
	if err != nil {
		return false // The first device reports it.
	}
	defer func() {
		if recover() != nil {
			yes = true // The case reports the panic.
		}
	}()
	var plans [2]*spec.Plan
	for i, x := range []*variantDevice{s.devices[0], l} {
		target := x.x.Target()
		if plans[i], err = j.op.Plan(j.call, &target, in, out); err != nil {
			return true
		}
	}
	return !reflect.DeepEqual(plans[0].Steps, plans[1].Steps) || !slices.Equal(plans[0].Scratch, plans[1].Scratch)
}
