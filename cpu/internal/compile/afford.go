package compile

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// These bound the work of wazero, whose compiler cannot be interrupted. It takes about 5
// microseconds for each unit of wasm.Code.Spans, and time that grows with the square of the
// number of blocks. The largest kernels of operations have 1 600 blocks, 160 kB and spans of
// 280 000.
const (
	maxBlocks = 4096
	maxBytes  = 3 << 20
	maxSpans  = 1 << 20
)

// affordable returns an error if the function that was written takes long to compile.
// Errors: ErrLimit.
func (e *emitter) affordable() error {
	switch blocks, bytes, spans := e.Blocks(), len(e.Bytes()), e.Spans(); {
	case blocks > maxBlocks:
		return fmt.Errorf("%w: %d branches and loops after inlining (want at most %d)", errs.ErrLimit, blocks, maxBlocks)
	case bytes > maxBytes:
		return fmt.Errorf("%w: %d bytes of WebAssembly (want at most %d)", errs.ErrLimit, bytes, maxBytes)
	case spans > maxSpans:
		return fmt.Errorf("%w: too many values are needed behind too many branches: %d in all (want at most %d)", errs.ErrLimit, spans, maxSpans)
	}
	return nil
}
