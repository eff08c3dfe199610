//go:build !nowgpu && cgo

package wgpu

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// pipeline is a module compiled for the device.
type pipeline struct {
	c       C.lwg_pipeline
	slots   []slot
	params  C.uint32_t // how parameters reach the shader: LWG_PARAMS_…
	aliased bool       // whether all of its storage buffers are read-write
	lanes   uint64     // number of invocations in a workgroup
}

// slot is a binding of a pipeline.
type slot struct {
	number  uint32
	uniform bool
	write   bool   // whether the shader may write the buffer
	least   uint32 // size of the shader's block in bytes: the smallest range that may be bound
	decl    *spv.Binding
}

// The uses of a buffer. One dispatch can make only one of these uses of a buffer.
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

// aliasing is the variant of a pipeline. If one dispatch reads and writes the same
// buffer, WebGPU requires that all bindings of that buffer are read-write. A module that
// is used in this manner has a second, aliased pipeline.
type aliasing bool

// CompileModule compiles a module without running it, so that its first dispatch
// need not. A driver may still put work off to that first dispatch.
// Errors: those of Submit that concern the module alone.
func (d *Device) CompileModule(m *spv.Module) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	return d.life.Unlocked(func() error {
		_, err := d.pipeline(m, false)
		return err
	})
}

// pipeline returns the pipeline of a module, and compiles the module the first time. The
// caller has begun an operation of the device and does not hold the lock.
func (d *Device) pipeline(m *spv.Module, aliased aliasing) (*pipeline, error) {
	return d.pipes.Get(&d.info, m, aliased, func() (*pipeline, error) {
		p := &pipeline{aliased: bool(aliased), lanes: uint64(m.LocalSize[0]) * uint64(m.LocalSize[1]) * uint64(m.LocalSize[2])}
		if err := d.compile(p, m); err != nil {
			return nil, err
		}
		return p, nil
	})
}

// compile fills in p. If it fails, it destroys what it has made.
func (d *Device) compile(p *pipeline, m *spv.Module) error {
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
	l, err := spv.Lower(guarded, p.aliased)
	if err != nil {
		return err
	}
	for i := range m.Bindings {
		b := &m.Bindings[i]
		p.slots = append(p.slots, slot{b.Slot, b.Kind == spv.UniformBuffer, b.Access.Writes(), l.Least[i], b})
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

// build makes the pipeline of a source. The source is SPIR-V with the given number of
// words, or WGSL with words 0 and a zero byte at the end.
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
	d.life.Lock()
	defer d.life.Unlock()
	C.lwg_compile(d.c, label, unsafe.Pointer(unsafe.SliceData(code)), C.uint32_t(words), &slots[0], C.uint32_t(len(p.slots)), p.params, &p.c)
	if p.c.pipeline != nil {
		objects.pipelines.Add(1)
	}
	if err := d.libraryError("compile " + name); err != nil {
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

// explain turns the library's text into one line. That text is a tree of causes, with
// several lines; explain leaves out the lines that only draw the tree.
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
