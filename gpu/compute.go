package gpu

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// DispatchCompute runs a compute shader of any origin. groups is the number of workgroups
// in x, y and z. Binding i of the shader is the whole buffer bindings[i]. push holds the
// push constants, and no more bytes than the shader's block, rounded up to 4. DispatchCompute returns when the work is submitted.
// A later Read or Sync waits for it.
//
// The entry point is the one called "main", or the only one. [ModuleEntry] makes a
// module of another one. If the shader has one descriptor set, its binding numbers count,
// whatever the number of the set. If it has several, the bindings of each further set
// follow the highest one of the set before: if set 0 ends at binding 4, binding b of
// set 1 is bindings[5+b]. Two variables of one set and binding are one binding.
//
// Each binding of the shader needs a buffer, and there are no buffers beyond its last
// binding. A number that the shader skips needs a buffer too, which it does not see.
// Compilers that optimise remove bindings that a shader does not use. If these are the last
// ones, their buffers must be left out.
//
// An array without a length has as many elements as the buffer: see [Binding.Span].
//
// The SPIR-V is validated and everything it asks for is checked before the
// driver sees it. Modules are kept by content, so the same bytes are parsed once.
//
// Errors: ErrInvalidShader, ErrInvalidArgument, ErrInvalidHandle,
// ErrUnsupported (a capability), *LimitError, ctx.Err().
func DispatchCompute(ctx context.Context, dev Device, spirv []byte, bindings []Handle, push []byte, groups [3]uint32) error {
	one := single.Get().(*launch)
	defer single.Put(one)
	one.ranges = one.ranges[:0]
	for _, h := range bindings {
		one.ranges = append(one.ranges, Binding{Buffer: h})
	}
	return one.run(ctx, dev, spirv, push, groups)
}

// DispatchRanges is DispatchCompute with binding ranges in place of buffers.
func DispatchRanges(ctx context.Context, dev Device, spirv []byte, bindings []Binding, push []byte, groups [3]uint32) error {
	one := single.Get().(*launch)
	defer single.Put(one)
	one.ranges = append(one.ranges[:0], bindings...)
	return one.run(ctx, dev, spirv, push, groups)
}

// launch is a list of one dispatch with its ranges. Later calls use it again, so that
// DispatchCompute allocates nothing.
type launch struct {
	list   [1]Dispatch
	ranges []Binding
}

var single = sync.Pool{New: func() any { return new(launch) }}

// run submits the launch. l.ranges holds its ranges.
func (l *launch) run(ctx context.Context, dev Device, spirv []byte, push []byte, groups [3]uint32) error {
	if err := errs.Context(ctx); err != nil {
		return err
	}
	if errs.Nil(dev) {
		return fmt.Errorf("gpu: dispatch compute: %w: no device", ErrInvalidArgument)
	}
	m, err := modules.get(spirv)
	if err != nil {
		return fmt.Errorf("gpu: dispatch compute: %w", err)
	}
	if want := m.Slots(); len(l.ranges) > want {
		return fmt.Errorf("gpu: dispatch compute: %s: bindings: %w (got %d, want %d): %s", Label(m), ErrInvalidArgument, len(l.ranges), want, noBinding(want))
	}
	if want := (int(m.ParamSize) + 3) &^ 3; len(push) > want {
		return fmt.Errorf("gpu: dispatch compute: %s: push constants: %w (got %d bytes, want %d): the shader's block has no more", Label(m), ErrInvalidArgument, len(push), want)
	}
	for i := range l.ranges {
		if l.ranges[i].Buffer == 0 { // A zero Binding is legal where the shader declares none, but not here.
			return fmt.Errorf("gpu: dispatch compute: binding %d: %w: zero handle", i, ErrInvalidHandle)
		}
	}
	l.list[0] = Dispatch{Module: m, Bindings: l.ranges, Params: push, Groups: groups}
	err = dev.Submit(l.list[:]) // Submit keeps no reference to the list.
	l.list[0] = Dispatch{}
	return err
}

// noBinding explains why a shader has no binding at a slot for which the caller has a buffer.
func noBinding(slot int) string {
	return fmt.Sprintf("the shader does not use binding %d; a compiler removes a binding that is not used", slot)
}

// modules keeps the modules that DispatchCompute has parsed.
var modules = moduleCache{maxCount: 256, maxBytes: 32 << 20}

// moduleCache holds parsed modules. Its keys are the bytes that were parsed. When it is
// full, it drops the module that was not used for the longest time. Modules do not
// change, so a module may be dropped while it is in use.
type moduleCache struct {
	// maxCount is the largest number of modules.
	maxCount int
	// maxBytes is the largest number of bytes of SPIR-V.
	maxBytes int

	mu   sync.Mutex
	seed maphash.Seed
	// byHash has the elements of recent, by the hash of their code.
	byHash map[uint64]*list.Element
	// recent is a list of *cached. The front was used last.
	recent list.List
	// bytes is the number of bytes of SPIR-V in the cache.
	bytes int
}

// cached is an entry of a moduleCache.
type cached struct {
	hash   uint64
	code   []byte // the SPIR-V that was parsed, often the slice of the module
	module *spv.Module
}

// get returns the module of code. It parses code unless the cache holds the module.
func (c *moduleCache) get(code []byte) (*spv.Module, error) {
	c.mu.Lock()
	if c.byHash == nil {
		c.seed, c.byHash = maphash.MakeSeed(), map[uint64]*list.Element{}
	}
	hash := maphash.Bytes(c.seed, code)
	if e := c.byHash[hash]; e != nil && bytes.Equal(e.Value.(*cached).code, code) {
		c.recent.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*cached).module, nil
	}
	c.mu.Unlock()

	m, err := spv.Parse("", code)
	if err != nil {
		return nil, err
	}
	from := m.Code
	if !bytes.Equal(from, code) { // The parser has rewritten the module.
		from = slices.Clone(code)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byHash[hash]; e != nil {
		c.drop(e)
	}
	c.byHash[hash] = c.recent.PushFront(&cached{hash, from, m})
	c.bytes += len(from)
	for c.recent.Len() > 1 && (c.recent.Len() > c.maxCount || c.bytes > c.maxBytes) {
		c.drop(c.recent.Back())
	}
	return m, nil
}

// drop removes an entry. The caller holds mu.
func (c *moduleCache) drop(e *list.Element) {
	v := c.recent.Remove(e).(*cached)
	delete(c.byHash, v.hash)
	c.bytes -= len(v.code)
}
