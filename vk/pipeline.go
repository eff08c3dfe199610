//go:build !novk && cgo

package vk

/*
#include "compile.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// pipeline is a module compiled for the device.
type pipeline struct {
	c      C.lvk_pipeline
	slots  []slot
	per    [C.LVK_TYPES]C.uint32_t // the number of descriptors of each type in a set
	texels bool
	lanes  uint64 // the invocations of a workgroup
}

// slot is a binding of a pipeline.
type slot struct {
	number uint32
	typ    uint32 // the descriptor type, such as C.LVK_STORAGE
	format uint32 // the format of the texel view
	write  bool   // the shader may write it
	decl   *spv.Binding
}

func (s *slot) texel() bool { return s.typ == C.LVK_UNIFORM_TEXEL || s.typ == C.LVK_STORAGE_TEXEL }

// plain is the only variant of a pipeline that there is over Vulkan.
type plain struct{}

// CompileModule compiles a module without running it, so that its first dispatch
// need not. A driver may still put work off to that first dispatch: lavapipe
// does.
// Errors: those of Submit that concern the module alone.
func (d *Device) CompileModule(m *spv.Module) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	return d.life.Unlocked(func() error {
		_, err := d.pipeline(m)
		return err
	})
}

// pipeline returns the pipeline of a module that the device can run. It compiles the
// module the first time. The caller is an operation and does not hold the lock.
func (d *Device) pipeline(m *spv.Module) (*pipeline, error) {
	return d.pipes.Get(&d.phys.info, m, plain{}, func() (*pipeline, error) {
		done := device.TimeCompile(&d.life, m, d.hostTrace)
		defer done()
		p, err := d.compile(m)
		if err != nil {
			return nil, fmt.Errorf("%w; compiling %s", err, gpu.Label(m))
		}
		return p, nil
	})
}

// compile makes the pipeline of a module.
func (d *Device) compile(m *spv.Module) (_ *pipeline, err error) {
	p := &pipeline{lanes: uint64(m.LocalSize[0]) * uint64(m.LocalSize[1]) * uint64(m.LocalSize[2])}
	p.layout(m)
	slots := make([]C.lvk_slot, len(p.slots)+1)
	for i, s := range p.slots {
		slots[i] = C.lvk_slot{slot: C.uint32_t(s.number), _type: C.uint32_t(s.typ)}
	}
	defer func() {
		if err != nil {
			p.destroy(d.fn)
		}
	}()
	code, err := sourceOf(m)
	if err != nil {
		return nil, err
	}
	if err := call("vkCreateShaderModule", func() C.int32_t {
		return C.lvk_shader_module(d.fn, unsafe.Pointer(unsafe.SliceData(code)), C.size_t(len(code)), &p.c)
	}); err != nil {
		return nil, err
	}
	objects.modules.Add(1)
	if err := call("vkCreatePipelineLayout", func() C.int32_t {
		return C.lvk_layouts(d.fn, &slots[0], C.uint32_t(len(p.slots)), C.uint32_t((m.ParamSize+3)&^3), &p.c)
	}); err != nil {
		return nil, err
	}
	objects.layouts.Add(1)
	entry := d.cache.load(d, m)
	defer entry.close(d)
	if err := call("vkCreateComputePipelines", func() C.int32_t {
		return C.lvk_compile(d.fn, entry.handle, d.subgroup(m), &p.c)
	}); err != nil {
		return nil, err
	}
	objects.pipelines.Add(1)
	p.dropModule(d.fn)
	entry.save(d)
	return p, nil
}

// sourceOf is the SPIR-V of a module that the driver gets. Cooperative matrices are in
// the form that more drivers have.
func sourceOf(m *spv.Module) ([]byte, error) {
	m, err := spv.Guard(m)
	if err != nil {
		return nil, err
	}
	return spv.Cooperative(m)
}

// subgroup is the size of the full subgroups that Features.FullSubgroups promises for m.
// It is 0 if the driver may choose.
func (d *Device) subgroup(m *spv.Module) C.uint32_t {
	size := d.phys.info.Features.SubgroupSize
	if !m.Subgroups() || !d.phys.info.Features.FullSubgroups || m.LocalSize[0]%size != 0 {
		return 0
	}
	if m.LocalSize[0]*m.LocalSize[1]*m.LocalSize[2]/size > uint32(d.phys.query.subgroupMost) {
		return 0
	}
	return C.uint32_t(size)
}

// layout lists the bindings of m.
func (p *pipeline) layout(m *spv.Module) {
	for i := range m.Bindings {
		b := &m.Bindings[i]
		s := slot{number: b.Slot, decl: b}
		switch b.Kind {
		case spv.StorageBuffer:
			s.typ, s.write = C.LVK_STORAGE, b.Access.Writes()
		case spv.UniformTexel:
			s.typ, s.format = C.LVK_UNIFORM_TEXEL, texelFormat(b.Type)
		case spv.StorageTexel:
			s.typ, s.format, s.write = C.LVK_STORAGE_TEXEL, texelFormat(b.Type), b.Access.Writes()
		case spv.UniformBuffer:
			s.typ = C.LVK_UNIFORM
		}
		p.slots = append(p.slots, s)
		p.per[s.typ]++
	}
}

// dropModule destroys the shader module. The pipeline no longer needs it.
func (p *pipeline) dropModule(fn *C.lvk_device) {
	C.lvk_shader_module_destroy(fn, &p.c)
	objects.modules.Add(-1)
}

func (p *pipeline) destroy(fn *C.lvk_device) {
	if p.c.module != 0 {
		objects.modules.Add(-1)
	}
	if p.c.layout != 0 {
		objects.layouts.Add(-1)
	}
	if p.c.pipeline != 0 {
		objects.pipelines.Add(-1)
	}
	C.lvk_pipeline_destroy(fn, &p.c)
}
