//go:build !nowgpu && cgo

package wgpu

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// pipeline is a module compiled for the device.
type pipeline struct {
	c       C.lwg_pipeline
	slots   []slot
	params  C.uint32_t // LWG_PARAMS_…
	aliased bool       // all of its storage buffers are read-write
	lanes   uint64     // invocations of a workgroup
	ready   chan struct{}
	err     error
	checked atomic.Pointer[spv.Module] // the last module of this code that passed gpu.CheckModule
}

// slot is a binding of a pipeline.
type slot struct {
	number  uint32
	uniform bool
	write   bool   // the shader may write it
	least   uint32 // bytes the shader's block has
	decl    *spv.Binding
}

// The ways to use a buffer that exclude one another.
const (
	useRead = iota
	useWrite
	useUniform
	useKinds
)

func (s *slot) use() int {
	switch {
	case s.uniform:
		return useUniform
	case s.write:
		return useWrite
	}
	return useRead
}

// pipeKey names a pipeline. WebGPU takes a buffer that one dispatch both reads
// and writes only if all of its bindings are read-write, so that there are two
// pipelines of a module that is used so.
type pipeKey struct {
	hash    [sha256.Size]byte
	aliased bool
}

type pipelines struct {
	mu    sync.RWMutex
	byKey map[pipeKey]*pipeline
}

// errPanic is what those get who wait for a compilation that a panic has ended.
var errPanic = errors.New("wgpu: compiling the shader ended in a panic")

func (ps *pipelines) destroy() {
	for _, p := range ps.byKey {
		p.destroy()
	}
	clear(ps.byKey)
}

// Prepare compiles a module without running it, so that its first dispatch
// need not. A driver may still put work off to that first dispatch.
// Errors: those of Submit that concern the module alone.
func (d *Device) Prepare(m *spv.Module) error {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.end()
	return d.unlocked(func() error {
		_, err := d.pipeline(m, false)
		return err
	})
}

// pipeline returns the pipeline of a module the device can run, compiling it
// the first time. The caller is an active operation and does not hold mu.
func (d *Device) pipeline(m *spv.Module, aliased bool) (*pipeline, error) {
	if m == nil {
		return nil, gpu.CheckModule(&d.info, m)
	}
	ps, key := &d.pipes, pipeKey{m.Hash, aliased}
	ps.mu.RLock()
	p := ps.byKey[key]
	ps.mu.RUnlock()
	if p == nil || p.checked.Load() != m { // a module of the same code may still declare other limits
		if err := gpu.CheckModule(&d.info, m); err != nil {
			return nil, err
		}
	}
	if p == nil {
		ps.mu.Lock()
		if p = ps.byKey[key]; p == nil {
			if ps.byKey == nil {
				ps.byKey = map[pipeKey]*pipeline{}
			}
			p = &pipeline{ready: make(chan struct{})}
			ps.byKey[key] = p
			ps.mu.Unlock()
			p.err = errPanic // until compile has returned
			defer func() {
				if p.err != nil { // the next use may have more luck
					ps.mu.Lock()
					delete(ps.byKey, key)
					ps.mu.Unlock()
				}
				close(p.ready)
			}()
			p.err = d.compile(p, m, aliased)
			return p, p.err
		}
		ps.mu.Unlock()
	}
	<-p.ready
	p.checked.Store(m)
	return p, p.err
}

// compile fills in p.
func (d *Device) compile(p *pipeline, m *spv.Module, aliased bool) error {
	p.aliased = aliased
	p.lanes = uint64(m.LocalSize[0]) * uint64(m.LocalSize[1]) * uint64(m.LocalSize[2])
	storage := 0
	for i := range m.Bindings {
		b := &m.Bindings[i]
		if b.Kind != spv.UniformBuffer { // texel buffers become storage buffers
			storage++
		}
	}
	have := d.info.Limits.MaxBindings
	if uint32(storage) > have {
		return fmt.Errorf("wgpu: %s: %w", gpu.Label(m), &gpu.LimitError{Name: "MaxBindings", Want: int64(storage), Have: int64(have)})
	}
	guarded, err := spv.Guard(m)
	if err != nil {
		return err
	}
	l, err := spv.Lower(guarded, aliased)
	if err != nil {
		return err
	}
	for i := range m.Bindings {
		b := &m.Bindings[i]
		p.slots = append(p.slots, slot{b.Slot, b.Kind == spv.UniformBuffer, b.Access&spv.WriteOnly != 0, l.Least[i], b})
	}
	switch {
	case l.ParamBytes == 0:
	case l.ParamKind == spv.UniformBuffer:
		p.params = C.LWG_PARAMS_UNIFORM
	default:
		p.params = C.LWG_PARAMS_STORAGE
		if uint32(storage) >= have {
			return fmt.Errorf("wgpu: %s: %w", gpu.Label(m), &gpu.LimitError{Name: "MaxBindings", Want: int64(storage) + 1, Have: int64(have)})
		}
	}
	return d.build(p, gpu.Label(m), l.Code, len(l.Code)/4)
}

// build makes the pipeline of a source: SPIR-V of so many words, or WGSL with
// words 0 and a zero byte at the end.
func (d *Device) build(p *pipeline, name string, code []byte, words int) error {
	slots := make([]C.lwg_slot, len(p.slots)+1)
	for i, s := range p.slots {
		t := C.uint32_t(C.LWG_BINDING_STORAGE)
		switch {
		case s.uniform:
			t = C.LWG_BINDING_UNIFORM
		case !s.write && !p.aliased:
			t = C.LWG_BINDING_READ_ONLY
		}
		slots[i] = C.lwg_slot{slot: C.uint32_t(s.number), _type: t}
	}
	label := C.CString(name)
	defer C.free(unsafe.Pointer(label))
	d.mu.Lock()
	defer d.mu.Unlock()
	C.lwg_compile(d.c, label, unsafe.Pointer(unsafe.SliceData(code)), C.uint32_t(words), &slots[0], C.uint32_t(len(p.slots)), p.params, &p.c)
	if p.c.pipeline != nil {
		objects.pipelines.Add(1)
	}
	if err := d.take("compile " + name); err != nil {
		p.destroy()
		return err
	}
	return nil
}

func (p *pipeline) destroy() {
	if p.c.pipeline != nil {
		objects.pipelines.Add(-1)
	}
	C.lwg_pipeline_destroy(&p.c)
}

// explain makes one line of the library's text, which is a tree of causes in
// several, and leaves out the lines that only draw it.
func explain(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line == "Caused by:" || strings.HasPrefix(line, "In wgpu") || strings.ContainsAny(line, "┌│└") || line == "Validation Error" {
			continue
		}
		parts = append(parts, line)
	}
	if len(parts) == 0 {
		return "no reason given"
	}
	return strings.Join(parts, "; ")
}
