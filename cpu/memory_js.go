package cpu

import (
	"context"
	"fmt"
	"syscall/js"

	"github.com/lathe-gpu/lathe/gpu"
)

// reserves reports whether addresses without access take no memory.
const reserves = true

// memory is the linear memory of a device: a WebAssembly.Memory. Go's memory is another one,
// so no slice of Go shows it.
type memory struct {
	object js.Value
	bytes  js.Value // a Uint8Array of the bytes in use
	size   int64    // bytes in use
	most   int64    // bytes reserved
}

// reserveMemory makes a memory of most bytes. The first page is in use.
func reserveMemory(most int64) (*memory, error) {
	object, err := try(func() js.Value {
		return js.Global().Get("WebAssembly").Get("Memory").New(map[string]any{
			"initial": 1, "maximum": most / pageBytes,
		})
	})
	if err != nil {
		return nil, err
	}
	m := &memory{object: object, most: most}
	m.view(pageBytes)
	return m, nil
}

// view looks at the memory anew after it has grown to size bytes.
func (m *memory) view(size int64) {
	m.bytes, m.size = js.Global().Get("Uint8Array").New(m.object.Get("buffer")), size
}

// growPages makes n more pages usable. It reports whether it could.
func (m *memory) growPages(n uint32) bool {
	if fault.Result("commit") != nil {
		return false
	}
	if _, err := try(func() js.Value { return m.object.Call("grow", n) }); err != nil {
		return false
	}
	m.view(m.size + int64(n)*pageBytes)
	return true
}

// part is a Uint8Array of n bytes from an address on.
func (m *memory) part(off, n int64) js.Value { return m.bytes.Call("subarray", off, off+n) }

// write copies data to the addresses from off on.
func (m *memory) write(off int64, data []byte) {
	js.CopyBytesToJS(m.part(off, int64(len(data))), data)
}

// read copies to dst what the addresses from off on have.
func (m *memory) read(dst []byte, off int64) {
	js.CopyBytesToGo(dst, m.part(off, int64(len(dst))))
}

// clear sets n bytes to 0.
func (m *memory) clear(off, n int64) { m.bytes.Call("fill", 0, off, off+n) }

// discard keeps the pages: a WebAssembly.Memory cannot give them back.
func (m *memory) discard(off, n int64) bool { return false }

// stop tells kernels to end, by the stop word.
func (m *memory) stop() { m.bytes.SetIndex(stopAt, 1) }

// release lets the collector of JavaScript have the memory. Nothing may use it any more.
func (m *memory) release() error {
	m.object, m.bytes = js.Undefined(), js.Undefined()
	return nil
}

// export makes the memory known to the kernels of an engine.
// Errors: ErrOutOfMemory.
func (m *memory) export(_ context.Context, e *engine) error {
	if err := fault.Result("export"); err != nil {
		return fmt.Errorf("cpu: open: %w: %v", gpu.ErrOutOfMemory, err)
	}
	e.imports = js.ValueOf(map[string]any{
		"lathe": map[string]any{"memory": m.object},
		"host":  e.host,
	})
	return nil
}
