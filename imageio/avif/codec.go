//go:build !js && (nodynamic || (linux && cgo && (amd64 || arm64)))

package avif

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	_ "unsafe" // for go:linkname

	_ "github.com/gen2brain/avif" // has the modules
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/lathe-gpu/lathe/internal/avif"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// The functions of the library take no context, have no limit of memory, and may use a libavif of the
// machine. So only its modules are taken. They are empty in a version that has them under other names.
var (
	//go:linkname decodeWasm github.com/gen2brain/avif.decodeWasm
	decodeWasm []byte
	//go:linkname encodeWasm github.com/gen2brain/avif.encodeWasm
	encodeWasm []byte
)

func init() { avif.Register(codec{}) }

// module is a module of WebAssembly, compiled when it is first needed.
type module struct {
	packed *[]byte
	once   sync.Once
	run    wazero.Runtime
	code   wazero.CompiledModule
	err    error
}

var decoder, encoder = &module{packed: &decodeWasm}, &module{packed: &encodeWasm}

func (m *module) compile() {
	if len(*m.packed) == 0 {
		m.err = fmt.Errorf("%w: AVIF: this program has another version of github.com/gen2brain/avif (want v0.4.3)", errs.ErrUnsupported)
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(*m.packed))
	if err != nil {
		m.err = err
		return
	}
	code, err := io.ReadAll(z)
	if err != nil {
		m.err = err
		return
	}
	ctx := context.Background()
	// The runtime could look at the context in each loop, but then all takes six times as long.
	m.run = wazero.NewRuntime(ctx)
	if _, m.err = wasi_snapshot_preview1.Instantiate(ctx, m.run); m.err == nil {
		m.code, m.err = m.run.CompileModule(ctx, code)
	}
}

// instance is a module with memory of its own. Each picture has one, so that nothing is left of a
// hostile one.
type instance struct {
	ctx    context.Context
	mod    api.Module
	memory *memory
}

func (m *module) instance(ctx context.Context, most, expected int64) (*instance, error) {
	if m.once.Do(m.compile); m.err != nil {
		return nil, m.err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	mem := &memory{most: uint64(most), expected: uint64(expected)}
	with := experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return mem }))
	mod, err := m.run.InstantiateModule(with, m.code, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return nil, err
	}
	return &instance{ctx, mod, mem}, nil
}

func (i *instance) close() { i.mod.Close(i.ctx) }

// leaving returns what do returns, or the error of the context when that ends. Then do goes on until
// the codec is done with its picture.
func leaving(ctx context.Context, do func() ([]byte, error)) ([]byte, error) {
	type result struct {
		b   []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r = result{nil, fmt.Errorf("the codec of AVIF gave up (%v)", p)}
			}
			done <- r
		}()
		r.b, r.err = do()
	}()
	select {
	case r := <-done:
		return r.b, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// call calls a function of the module that returns one number.
func (i *instance) call(name string, args ...uint64) (uint32, error) {
	f := i.mod.ExportedFunction(name)
	if f == nil {
		return 0, fmt.Errorf("%w: AVIF: its codec has no function %s", errs.ErrUnsupported, name)
	}
	v, err := f.Call(i.ctx, args...)
	switch {
	case err != nil:
		return 0, i.blame(errors.New("AV1 data are damaged")) // the text of err has the stack of the codec
	case len(v) != 1:
		return 0, fmt.Errorf("%w: AVIF: the function %s of its codec is another one", errs.ErrUnsupported, name)
	}
	return uint32(v[0]), nil
}

// blame returns the error, or that memory was too little.
func (i *instance) blame(err error) error {
	if i.memory.refused {
		return fmt.Errorf("%w: AVIF that takes more memory than a picture of its size needs", errs.ErrUnsupported)
	}
	return err
}

// alloc takes memory of the module, and writes data there.
func (i *instance) alloc(n int, data []byte) (uint32, error) {
	at, err := i.call("malloc", uint64(n))
	if err == nil && (at == 0 || !i.mod.Memory().Write(at, data)) {
		err = i.blame(errors.New("there is no memory for AVIF"))
	}
	return at, err
}

type codec struct{}

// Decode implements avif.Codec.
func (codec) Decode(ctx context.Context, file []byte, width, height, depth int, most int64) ([]byte, error) {
	return leaving(ctx, func() ([]byte, error) { return decode(ctx, file, width, height, depth, most) })
}

func decode(ctx context.Context, file []byte, width, height, depth int, most int64) ([]byte, error) {
	i, err := decoder.instance(ctx, most, most/2)
	if err != nil {
		return nil, err
	}
	defer i.close()
	in, err := i.alloc(len(file), file)
	if err != nil {
		return nil, err
	}
	about, err := i.alloc(32, make([]byte, 32)) // width, height, depth, count; a delay
	if err != nil {
		return nil, err
	}
	run := func(headOnly, delay, out uint32) error {
		ok, err := i.call("decode", uint64(in), uint64(len(file)), uint64(headOnly), 0, uint64(about), uint64(about+4), uint64(about+8), uint64(about+12), uint64(delay), uint64(out))
		if err == nil && ok == 0 {
			err = i.blame(errors.New("AV1 data are damaged"))
		}
		return err
	}
	if err := run(1, 0, 0); err != nil {
		return nil, err
	}
	mem := i.mod.Memory()
	for k, want := range []int{width, height, depth} {
		if got, ok := mem.ReadUint32Le(about + 4*uint32(k)); !ok || int(got) != want {
			return nil, fmt.Errorf("AV1 data of another kind than the file says (got %d, want %d)", got, want)
		}
	}
	n := 4 * width * height
	if depth > 8 {
		n *= 2
	}
	out, err := i.alloc(n, nil)
	if err != nil {
		return nil, err
	}
	// A picture of which only the head is good leaves the memory as it is, and the function says that all is
	// well. The first frame has the number 0, and writes how long it is shown.
	if !mem.WriteUint64Le(about+16, unwritten) {
		return nil, errors.New("there is no memory for AVIF")
	}
	if err := run(0, about+16, out); err != nil {
		return nil, err
	}
	if v, ok := mem.ReadUint64Le(about + 16); !ok || v == unwritten {
		return nil, i.blame(errors.New("AV1 data are damaged"))
	}
	pix, ok := mem.Read(out, uint32(n))
	if !ok {
		return nil, errors.New("the codec of AVIF returned no pixels")
	}
	return bytes.Clone(pix), nil
}

// unwritten are bits that are no duration.
const unwritten = 0xfff8_dead_beef_0001

// Encode implements avif.Codec.
func (codec) Encode(ctx context.Context, pix []byte, width, height, quality int, sampling string) ([]byte, error) {
	return leaving(ctx, func() ([]byte, error) { return encode(ctx, pix, width, height, quality, sampling) })
}

func encode(ctx context.Context, pix []byte, width, height, quality int, sampling string) ([]byte, error) {
	i, err := encoder.instance(ctx, 4<<30-64<<10, 30*int64(width)*int64(height)+16<<20)
	if err != nil {
		return nil, err
	}
	defer i.close()
	in, err := i.alloc(len(pix), pix)
	if err != nil {
		return nil, err
	}
	size, err := i.alloc(8, make([]byte, 8))
	if err != nil {
		return nil, err
	}
	chroma := map[string]uint64{"4:4:4": 1, "4:2:2": 2, "4:2:0": 3}[sampling]
	out, err := i.call("encode", uint64(in), uint64(width), uint64(height), uint64(size), uint64(quality), uint64(quality), speed, chroma)
	if err != nil {
		if i.memory.refused {
			return nil, avif.ErrTooLarge
		}
		return nil, err
	}
	n, _ := i.mod.Memory().ReadUint32Le(size)
	made, ok := i.mod.Memory().Read(out, n)
	if !ok || out == 0 || n == 0 {
		return nil, fmt.Errorf("%w: AVIF: its codec did not write the picture", errs.ErrUnsupported)
	}
	return bytes.Clone(made), nil
}

// speed is that of libavif, 0 to 10.
const speed = 8

// memory is the memory of an instance. It takes as much as is needed, and no more than it may.
type memory struct {
	b        []byte
	most     uint64
	expected uint64 // what a picture of the size takes, so that bytes are not copied again and again
	refused  bool
}

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.most {
		m.refused = true
		return nil
	}
	if size > uint64(cap(m.b)) {
		room := size + size/4
		if size > m.expected/4 {
			room = max(room, m.expected)
		}
		b := make([]byte, size, min(room, m.most))
		copy(b, m.b)
		m.b = b
	}
	m.b = m.b[:size]
	return m.b
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() { m.b = nil }
