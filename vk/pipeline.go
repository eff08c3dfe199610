//go:build !novk && cgo

package vk

/*
#include "compile.h"
*/
import "C"

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// pipeline is a module compiled for the device.
type pipeline struct {
	c      C.lvk_pipeline
	slots  []slot
	per    [C.LVK_TYPES]C.uint32_t // descriptors of a set, by type
	texels bool
	lanes  uint64 // invocations of a workgroup

	ready   chan struct{} // closed once c or err is there
	err     error
	checked atomic.Pointer[spv.Module] // the last module of this code that passed gpu.CheckModule
}

// slot is a binding of a pipeline.
type slot struct {
	number uint32
	typ    uint32 // C.LVK_STORAGE and so on
	format uint32 // of a texel view
	write  bool   // the shader may write it
	decl   *spv.Binding
}

func (s *slot) texel() bool { return s.typ == C.LVK_UNIFORM_TEXEL || s.typ == C.LVK_STORAGE_TEXEL }

// pipelines are the pipelines of a device, by the hash of their module.
type pipelines struct {
	cache diskCache
	mu    sync.RWMutex
	byKey map[[sha256.Size]byte]*pipeline
}

func (ps *pipelines) open(opts Options) {
	ps.cache = openCache(opts)
	ps.byKey = map[[sha256.Size]byte]*pipeline{}
}

// errPanic is what those get who wait for a compilation that a panic has ended.
var errPanic = errors.New("vk: compiling the shader ended in a panic")

func (ps *pipelines) destroy(fn *C.lvk_device) {
	for _, p := range ps.byKey {
		p.destroy(fn)
	}
	clear(ps.byKey)
}

// Prepare compiles a module without running it, so that its first dispatch
// need not. A driver may still put work off to that first dispatch: lavapipe
// does.
// Errors: those of Submit that concern the module alone.
func (d *Device) Prepare(m *spv.Module) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.end(&err)
	return d.unlocked(func() error {
		_, err := d.pipeline(m)
		return err
	})
}

// pipeline returns the pipeline of a module the device can run, compiling it
// the first time. The caller is an active operation and does not hold mu.
func (d *Device) pipeline(m *spv.Module) (*pipeline, error) {
	if m == nil {
		return nil, gpu.CheckModule(&d.phys.info, m)
	}
	ps := &d.pipes
	ps.mu.RLock()
	p := ps.byKey[m.Hash]
	ps.mu.RUnlock()
	if p == nil || p.checked.Load() != m { // a module of the same code may still declare other limits
		if err := gpu.CheckModule(&d.phys.info, m); err != nil {
			return nil, err
		}
	}
	if p == nil {
		ps.mu.Lock()
		if p = ps.byKey[m.Hash]; p == nil {
			p = &pipeline{ready: make(chan struct{})}
			ps.byKey[m.Hash] = p
			ps.mu.Unlock()
			ended := false
			defer func() {
				if !ended {
					p.err = errPanic
				}
				close(p.ready)
				if p.err != nil { // the next use may have more luck
					ps.mu.Lock()
					delete(ps.byKey, m.Hash)
					ps.mu.Unlock()
				}
			}()
			done := d.timeCompile(m)
			d.compile(p, m)
			done()
			ended = true
			return p, p.err
		}
		ps.mu.Unlock()
	}
	<-p.ready
	p.checked.Store(m)
	return p, p.err
}

// compile fills in p.
func (d *Device) compile(p *pipeline, m *spv.Module) {
	p.lanes = uint64(m.LocalSize[0]) * uint64(m.LocalSize[1]) * uint64(m.LocalSize[2])
	p.layout(m)
	slots := make([]C.lvk_slot, len(p.slots)+1)
	for i, s := range p.slots {
		slots[i] = C.lvk_slot{slot: C.uint32_t(s.number), _type: C.uint32_t(s.typ)}
	}
	defer func() {
		if p.err != nil {
			p.destroy(d.fn)
			p.err = fmt.Errorf("%w; compiling %s", p.err, gpu.Label(m))
		}
	}()
	var code []byte // with cooperative matrices in the form that more drivers have
	if code, p.err = sourceOf(m); p.err != nil {
		return
	}
	if p.err = call("vkCreateShaderModule", func() C.int32_t {
		return C.lvk_shader_module(d.fn, unsafe.Pointer(unsafe.SliceData(code)), C.size_t(len(code)), &p.c)
	}); p.err != nil {
		return
	}
	objects.modules.Add(1)
	if p.err = call("vkCreatePipelineLayout", func() C.int32_t {
		return C.lvk_layouts(d.fn, &slots[0], C.uint32_t(len(p.slots)), C.uint32_t((m.ParamSize+3)&^3), &p.c)
	}); p.err != nil {
		return
	}
	objects.layouts.Add(1)
	entry := d.pipes.cache.load(d, m)
	defer entry.close(d)
	if p.err = call("vkCreateComputePipelines", func() C.int32_t {
		return C.lvk_compile(d.fn, entry.handle, d.subgroup(m), &p.c)
	}); p.err != nil {
		return
	}
	objects.pipelines.Add(1)
	p.dropModule(d.fn)
	entry.save(d)
}

// sourceOf is the SPIR-V that the driver gets of a module.
func sourceOf(m *spv.Module) ([]byte, error) {
	m, err := spv.Guard(m)
	if err != nil {
		return nil, err
	}
	return spv.Cooperative(m)
}

// subgroup is the size to cut workgroups of m by, as Features.FullSubgroups
// promises; 0 leaves it to the driver.
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
			s.typ, s.write = C.LVK_STORAGE, b.Access&spv.WriteOnly != 0
		case spv.UniformTexel:
			s.typ, s.format = C.LVK_UNIFORM_TEXEL, texelFormat(b.Type)
		case spv.StorageTexel:
			s.typ, s.format, s.write = C.LVK_STORAGE_TEXEL, texelFormat(b.Type), b.Access&spv.WriteOnly != 0
		case spv.UniformBuffer:
			s.typ = C.LVK_UNIFORM
		}
		p.slots = append(p.slots, s)
		p.per[s.typ]++
	}
}

// dropModule destroys the shader module, which a pipeline does not need.
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
