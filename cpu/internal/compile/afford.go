package compile

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// These bound the work of wazero, whose compiler cannot be interrupted. It takes about 5
// microseconds for each unit of wasm.Code.Spans, and time that grows with the square of the
// number of blocks. The largest kernels of operations have 1 600 blocks, 160 kB and spans of
// 280 000.
//
// Calls of functions that return in several places are blocks inside of blocks. Time grows with
// the cube of their number: 255 of them take one second, 511 take 28.
const (
	maxBlocks = 4096
	maxBytes  = 3 << 20
	maxSpans  = 1 << 20
	maxCalls  = 384
)

// affordable returns an error if the function that was written takes long to compile.
// Errors: ErrLimit.
func (e *emitter) affordable() error {
	calls := 0
	for _, b := range e.prog.Entry.Blocks {
		if b.Merge != nil && b.Continue == nil && b.Term.Op == ir.Branch {
			calls++
		}
	}
	switch blocks, bytes, spans := e.Blocks(), len(e.Bytes()), e.Spans(); {
	case calls > maxCalls:
		return fmt.Errorf("%w: %d calls of functions that return in several places (want at most %d)", errs.ErrLimit, calls, maxCalls)
	case blocks > maxBlocks:
		return fmt.Errorf("%w: %d branches and loops after inlining (want at most %d)", errs.ErrLimit, blocks, maxBlocks)
	case bytes > maxBytes:
		return fmt.Errorf("%w: %d bytes of WebAssembly (want at most %d)", errs.ErrLimit, bytes, maxBytes)
	case spans > maxSpans:
		return fmt.Errorf("%w: too many values are needed behind too many branches: %d in all (want at most %d)", errs.ErrLimit, spans, maxSpans)
	}
	return nil
}
