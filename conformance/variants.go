package conformance

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/spec"
)

// Variant is one way to plan for a device.
type Variant struct {
	Name string
	// Guard puts zones around every buffer, the scratch of plans included.
	Guard bool
	// Limits, if not nil, lowers the limits the device shows and enforces.
	Limits func(*gpu.Limits)
	// Target, if not nil, changes what plans are made for.
	Target func(*spec.Target)
	// Distinct says that only cases whose plan is not that of the first variant are
	// run, and of those a sample if Options say so.
	Distinct bool
	// Device, if not nil, is another device to run on than that of the run. Its
	// results must also agree with those of the first variant, within the
	// tolerance of the operation.
	Device gpu.Device
}

// TinyLimits forces limits at or below the least that Vulkan allows, so that
// plans must split what fits any real device.
func TinyLimits(l *gpu.Limits) {
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

// WebGPULimits forces the limits that every WebGPU device has, which are all that
// a program gets unless it asks for more.
func WebGPULimits(l *gpu.Limits) {
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

// Variants returns the ways to plan that are worth trying on a device: its own
// first, without and with zones around every buffer (the latter with no more than
// WebGPU's least limits, where that is what the device is reached by), then tiny
// limits, the plans of the other device profile, tiny limits without texel
// buffers, and the alignments that other devices ask for.
func Variants(info *gpu.Info) []Variant {
	vs := []Variant{{Name: "plain"}, {Name: "guarded", Guard: true}, {Name: "tiny", Guard: true, Limits: TinyLimits}}
	if info.Kind == gpu.CPU {
		vs = append(vs, Variant{Name: "gpu-profile", Target: func(t *spec.Target) { t.CPU = false }})
	} else {
		vs = append(vs, Variant{Name: "cpu-profile", Target: func(t *spec.Target) { t.CPU = true }})
	}
	if info.Backend == "wgpu" {
		vs[1] = Variant{Name: "webgpu-limits", Guard: true, Limits: WebGPULimits}
	}
	if info.Limits.MaxTexelBuffers > 0 {
		vs = append(vs, Variant{Name: "tiny-no-texels", Limits: TinyLimits, Target: func(t *spec.Target) { t.TexelBuffers = false }})
	}
	return append(vs, alignments(info)...)
}

// alignments are variants with the offset alignments of other devices than this,
// and bindings so short that operands of some size are cut behind their first
// element, where alignments matter. All else is as the device has it, so that its own
// kernels run: tiny limits lead to others.
func alignments(info *gpu.Info) []Variant {
	var vs []Variant
	for _, a := range []struct{ align, texels, binding int64 }{
		{32, 1 << 16, 4 << 20}, {64, 1 << 14, 1 << 20}, {256, 1 << 12, 1 << 19},
	} {
		l := &info.Limits
		if a.align < max(l.OffsetAlign, l.TexelAlign) {
			continue // the device asks for more
		}
		vs = append(vs, Variant{Name: fmt.Sprintf("align-%d", a.align), Guard: true, Distinct: true, Limits: func(l *gpu.Limits) {
			l.OffsetAlign, l.TexelAlign = a.align, a.align
			l.MaxTexels, l.MaxBinding = min(l.MaxTexels, a.texels), min(l.MaxBinding, a.binding)
		}})
	}
	return vs
}

// sampled counts the cases of an operation and element type whose plan a Distinct
// variant changes.
type sampled struct {
	of   string
	seen int
}

// lanesFor lists those that a job is for: those it names, or else all, of Distinct
// ones only where they change its plan.
func (s *suite) lanesFor(j *job) []*lane {
	var list []*lane
	for _, i := range j.lanes {
		list = append(list, s.lanes[i])
	}
	if j.lanes != nil {
		return list
	}
	for i, l := range s.lanes {
		if l.Distinct && i > 0 {
			if !s.changes(l, j) {
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

// changes reports whether the lane's plan for contiguous operands is another than
// that of the first lane. A plan that cannot be made is.
func (s *suite) changes(l *lane, j *job) (yes bool) {
	if j.image == "none" {
		return false
	}
	in := j.inputs()
	out, err := j.op.Shape(j.call, in)
	if err != nil {
		return false // the first lane says so
	}
	defer func() {
		if recover() != nil {
			yes = true // for the case to report
		}
	}()
	var plans [2]*spec.Plan
	for i, x := range []*lane{s.lanes[0], l} {
		target := x.x.Target()
		if plans[i], err = j.op.Plan(j.call, &target, in, out); err != nil {
			return true
		}
	}
	return !reflect.DeepEqual(plans[0].Steps, plans[1].Steps) || !slices.Equal(plans[0].Scratch, plans[1].Scratch)
}
