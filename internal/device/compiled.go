package device

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// Compiled keeps what a device has compiled of modules, by the code of a module and a
// variant V of the pipeline. Callers that want the same pipeline at the same time wait
// for one compilation. The zero Compiled is ready for use; it has a lock of its own.
type Compiled[V comparable, P any] struct {
	mu    sync.RWMutex
	byKey map[compiledKey[V]]*compiled[P]
}

type compiledKey[V comparable] struct {
	code    [sha256.Size]byte
	variant V
}

// compiled is one pipeline, or the compilation of it.
type compiled[P any] struct {
	ready    chan struct{} // closed when pipeline and err are valid
	pipeline P
	err      error
	checked  atomic.Pointer[spv.Module] // the last module of this code that passed gpu.CheckModule
}

// errPanic is the error for callers that wait for a compilation which ends in a panic.
var errPanic = errors.New("compiling the shader ended in a panic")

// Get returns the pipeline of module m in a variant. It calls compile if there is none
// yet. A compilation that fails is not kept: the next Get tries again. The caller is
// an operation under way and does not hold the lock of the device.
// Errors: those of gpu.CheckModule and of compile.
func (c *Compiled[V, P]) Get(info *gpu.Info, m *spv.Module, variant V, compile func() (P, error)) (P, error) {
	var none P
	if m == nil {
		return none, gpu.CheckModule(info, nil)
	}
	key := compiledKey[V]{m.Hash, variant}
	c.mu.RLock()
	e := c.byKey[key]
	c.mu.RUnlock()
	if e == nil || e.checked.Load() != m { // another module of the same code may declare other limits
		if err := gpu.CheckModule(info, m); err != nil {
			return none, err
		}
	}
	if e == nil {
		var isNew bool
		if e, isNew = c.entry(key); isNew {
			e.err = fmt.Errorf("%s: %s: %w", info.Backend, gpu.Label(m), errPanic) // until compile returns
			defer c.finish(key, e)
			e.pipeline, e.err = compile()
			return e.pipeline, e.err
		}
	}
	<-e.ready
	e.checked.Store(m)
	return e.pipeline, e.err
}

// Ready returns the pipeline of module m in a variant. It returns false if Get would have
// to compile or check the module.
func (c *Compiled[V, P]) Ready(m *spv.Module, variant V) (P, bool) {
	var none P
	if m == nil {
		return none, false
	}
	c.mu.RLock()
	e := c.byKey[compiledKey[V]{m.Hash, variant}]
	c.mu.RUnlock()
	if e == nil || e.checked.Load() != m || e.err != nil { // checked is set after ready is closed
		return none, false
	}
	return e.pipeline, true
}

// entry returns the entry of key, which is new if there was none.
func (c *Compiled[V, P]) entry(key compiledKey[V]) (e *compiled[P], isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.byKey[key]; e != nil {
		return e, false
	}
	if c.byKey == nil {
		c.byKey = map[compiledKey[V]]*compiled[P]{}
	}
	e = &compiled[P]{ready: make(chan struct{})}
	c.byKey[key] = e
	return e, true
}

// finish ends a compilation, also one that panics.
func (c *Compiled[V, P]) finish(key compiledKey[V], e *compiled[P]) {
	if e.err != nil {
		c.mu.Lock()
		delete(c.byKey, key)
		c.mu.Unlock()
	}
	close(e.ready)
}

// Drain empties c and calls destroy with each pipeline. No operation may be under way.
func (c *Compiled[V, P]) Drain(destroy func(P)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.byKey {
		destroy(e.pipeline)
	}
	clear(c.byKey)
}
