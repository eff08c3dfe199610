package exec

import (
	"encoding/binary"
	"sync"

	"github.com/lathe-gpu/lathe/spec"
)

// These are the limits of the cache of compiled calls.
const (
	// maxCompiled is the largest number of calls.
	maxCompiled = 1024
	// maxSteps is the largest number of steps of all calls together.
	maxSteps = 1 << 16
	// maxKeyBytes is the largest size of a key. A call with a longer key is compiled each
	// time.
	maxKeyBytes = 512
)

// cache keeps compiled calls. Its keys are the attributes and places of the calls.
type cache struct {
	mu    sync.RWMutex
	calls map[string]*Compiled
	// steps is the number of steps of all calls.
	steps int
	// version is the version of the tuning database for which they were compiled.
	version uint64
}

// appendKey appends the key of a call. Keys are equal only for the same call on operands
// at the same places. It reports false if the call has no key.
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

// find returns the call of a key, or nil. It does not return calls that were compiled for
// another version of the tuning database.
func (c *cache) find(key []byte, version uint64) *Compiled {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.version != version {
		return nil
	}
	return c.calls[string(key)]
}

// keep adds a compiled call to the cache.
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
	for k, old := range c.calls { // The order of a map is random, so this drops any of the calls.
		if len(c.calls) < maxCompiled && c.steps+len(call.steps) <= maxSteps {
			break
		}
		delete(c.calls, k)
		c.steps -= len(old.steps)
	}
	c.calls[string(key)] = call
	c.steps += len(call.steps)
}
