package exec

import (
	"encoding/binary"
	"sync"

	"github.com/lathe-gpu/lathe/spec"
)

// The limits of the cache of compiled calls.
const (
	maxCompiled = 1024    // calls
	maxSteps    = 1 << 16 // steps of all of them
	maxKeyBytes = 512     // of a key; calls of longer ones are compiled each time
)

// cache keeps compiled calls, by the bytes of their attributes and places.
type cache struct {
	mu      sync.RWMutex
	calls   map[string]*Compiled
	steps   int
	version uint64 // of the tuning database when they were compiled
}

// appendKey appends bytes that are the same for the same call on operands at the same
// places, and different for all others. It reports false where there are none.
func appendKey(b []byte, call spec.Call, in, out []Operand, align int64) ([]byte, bool) {
	b, ok := spec.AppendKey(b, call)
	if !ok {
		return b, false
	}
	b = appendPlaces(b, in, align)
	b = appendPlaces(b, out, align)
	return b, len(b) <= maxKeyBytes
}

func appendPlaces(b []byte, operands []Operand, align int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(operands)))
	for i := range operands {
		o := &operands[i]
		d := &o.Desc
		strided := byte(0)
		if d.Strides != nil {
			strided = 1
		}
		b = append(b, byte(d.DType), strided)
		b = binary.AppendVarint(b, o.Offset%align)
		b = binary.AppendUvarint(b, uint64(len(d.Shape)))
		for _, n := range d.Shape {
			b = binary.AppendVarint(b, int64(n))
		}
		if strided == 1 {
			b = binary.AppendUvarint(b, uint64(len(d.Strides)))
			for _, n := range d.Strides {
				b = binary.AppendVarint(b, int64(n))
			}
		}
	}
	return b
}

// find returns the call of a key, or nil. Calls that were compiled for choices that the
// database has changed since are forgotten.
func (c *cache) find(key []byte, version uint64) *Compiled {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.version != version {
		return nil
	}
	return c.calls[string(key)]
}

// keep remembers a compiled call.
func (c *cache) keep(key []byte, version uint64, call *Compiled) {
	if len(call.steps) > maxSteps/16 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil || c.version < version {
		c.calls, c.steps, c.version = map[string]*Compiled{}, 0, version
	}
	if c.version != version || c.calls[string(key)] != nil {
		return
	}
	for k, old := range c.calls { // in no order: any of them may have to go
		if len(c.calls) < maxCompiled && c.steps+len(call.steps) <= maxSteps {
			break
		}
		delete(c.calls, k)
		c.steps -= len(old.steps)
	}
	c.calls[string(key)] = call
	c.steps += len(call.steps)
}
