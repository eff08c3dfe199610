package cpu

import (
	"crypto/sha256"
	"fmt"

	"github.com/lathe-gpu/lathe/cpu/internal/compile"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// emitter writes a kernel by hand. A func() is an expression: it appends instructions that
// leave a value.
type emitter struct {
	*wasm.Func
	group, item, x uint32 // locals: the workgroup, the invocation in it, a result
	yield          uint32 // the function "host" "yield"
	header         uint32 // bytes of the header, with all bindings
}

const (
	frameLocal = 0
	firstLocal = 1
	countLocal = 2
)

// build makes a kernel with slots bindings and extra bytes of frame. body is the code for
// one workgroup.
func build(slots, extra uint32, body func(e *emitter)) *compile.Kernel {
	var m wasm.Module
	m.ImportMemory(wasm.Memory{Module: "lathe", Name: "memory"})
	e := &emitter{header: compile.FrameBindings + 8*slots}
	e.yield = m.ImportFunc("host", "yield", wasm.FuncType{})
	e.Func = m.Func(wasm.FuncType{Params: []wasm.ValType{wasm.I32, wasm.I32, wasm.I32}})
	m.Export("run", e.Func)
	e.group, e.item, e.x = e.Local(wasm.I32), e.Local(wasm.I32), e.Local(wasm.I32)
	e.loop(e.group, e.local(firstLocal), e.sum(e.local(firstLocal), e.local(countLocal)), func() { body(e) })
	return &compile.Kernel{Wasm: m.Encode(), FrameBytes: (e.header + extra + 63) &^ 63}
}

// loop runs body for v = from; v < to; v++. There is at least one turn, unless to is 0.
func (e *emitter) loop(v uint32, from, to func(), body func()) {
	from()
	e.Set(v)
	done := e.Open(wasm.BlockBegin, wasm.Empty)
	again := e.Open(wasm.Loop, wasm.Empty)
	e.Get(v)
	to()
	e.Op(wasm.I32GeU)
	e.Br(wasm.BrIf, done)
	body()
	e.Get(v)
	e.I32Const(1)
	e.Op(wasm.I32Add)
	e.Set(v)
	e.Br(wasm.Br, again)
	e.End()
	e.End()
}

func (e *emitter) local(i uint32) func() { return func() { e.Get(i) } }

func (e *emitter) num(v uint32) func() { return func() { e.I32Const(int32(v)) } }

func (e *emitter) op(op wasm.Op, of ...func()) func() {
	return func() {
		for _, f := range of {
			f()
		}
		e.Op(op)
	}
}

func (e *emitter) sum(a, b func()) func() { return e.op(wasm.I32Add, a, b) }
func (e *emitter) mul(a, b func()) func() { return e.op(wasm.I32Mul, a, b) }

// head is a word of the header of the frame.
func (e *emitter) head(offset uint32) func() {
	return func() {
		e.Get(frameLocal)
		e.Memory(wasm.I32Load, 2, offset)
	}
}

func (e *emitter) param(i uint32) func()    { return e.head(compile.FramePush + 4*i) }
func (e *emitter) bytes(slot uint32) func() { return e.head(compile.FrameBindings + 8*slot + 4) }

func (e *emitter) address(slot uint32, index func()) func() {
	return e.sum(e.head(compile.FrameBindings+8*slot), e.mul(index, e.num(4)))
}

// within begins what is done if an index is within a binding.
func (e *emitter) within(slot uint32, index func()) {
	index()
	e.op(wasm.I32ShrU, e.bytes(slot), e.num(2))()
	e.Op(wasm.I32LtU)
	e.Open(wasm.If, wasm.Empty)
}

// load is a word of a binding, or 0.
func (e *emitter) load(slot uint32, index func()) func() {
	return func() {
		e.I32Const(0)
		e.Set(e.x)
		e.within(slot, index)
		e.address(slot, index)()
		e.Memory(wasm.I32Load, 2, 0)
		e.Set(e.x)
		e.End()
		e.Get(e.x)
	}
}

// store sets a word of a binding, if there is one of the index.
func (e *emitter) store(slot uint32, index, value func()) {
	e.within(slot, index)
	e.address(slot, index)()
	value()
	e.Memory(wasm.I32Store, 2, 0)
	e.End()
}

// items runs body for n invocations of the workgroup.
func (e *emitter) items(n uint32, body func()) { e.loop(e.item, e.num(0), e.num(n), body) }

// These are modules for tests of failures. Their SPIR-V has no instructions.
var (
	// trapModule adds 1 to the first word and then fails.
	trapModule = plain("cpu/trap", 0, 1)
	// hungModule does not end unless the stop word is set.
	hungModule = plain("cpu/hung", 0, 1)
	// yieldModule does not end and yields, but does not read the stop word.
	yieldModule = plain("cpu/yield", 0, 1)
	// slowModule counts to its first parameter times a million, and adds 1 to the word of
	// its workgroup.
	slowModule = plain("cpu/slow", 4, 1)
	// copyModule copies 64 KiB for each workgroup by vectors.
	copyModule = plain("cpu/copy", 0, 2)
	// invalidModule becomes WebAssembly that is not valid.
	invalidModule = plain("cpu/invalid", 0, 1)
	// unknownModule is not known to the compiler.
	unknownModule = plain("cpu/unknown", 0, 1)
	// nothingModule does nothing in 1 workgroup.
	nothingModule = plain("cpu/nothing", 0, 1)
)

func plain(name string, params, bindings uint32) *spv.Module {
	var list []spv.Binding
	for i := range bindings {
		list = append(list, spv.Binding{Slot: i, Access: spv.ReadWrite, ArrayStride: 4})
	}
	return null.Module(name, params, list...)
}

func (e *emitter) endless(body func()) {
	again := e.Open(wasm.Loop, wasm.Empty)
	body()
	e.Br(wasm.Br, again)
	e.End()
}

var failing = map[*spv.Module]func() *compile.Kernel{
	trapModule: func() *compile.Kernel {
		return build(1, 0, func(e *emitter) {
			e.store(0, e.num(0), e.sum(e.load(0, e.num(0)), e.num(1)))
			e.Op(wasm.Unreachable)
		})
	},
	hungModule: func() *compile.Kernel {
		return build(1, 0, func(e *emitter) {
			e.endless(func() {
				e.head(compile.FrameStop)()
				e.Memory(wasm.I32AtomicLoad, 2, 0)
				e.Open(wasm.If, wasm.Empty)
				e.Op(wasm.Unreachable)
				e.End()
			})
		})
	},
	yieldModule: func() *compile.Kernel {
		return build(1, 0, func(e *emitter) {
			e.endless(func() {
				e.loop(e.item, e.num(0), e.num(10000), func() {})
				e.Call(e.yield)
			})
		})
	},
	slowModule: func() *compile.Kernel {
		return build(1, 0, func(e *emitter) {
			e.loop(e.item, e.num(0), e.mul(e.param(0), e.num(1e6)), func() {})
			e.store(0, e.local(e.group), e.sum(e.load(0, e.local(e.group)), e.num(1)))
		})
	},
	copyModule: func() *compile.Kernel {
		return build(2, 0, func(e *emitter) {
			at := func(slot uint32) func() {
				return e.sum(e.head(compile.FrameBindings+8*slot), e.sum(e.mul(e.local(e.group), e.num(1<<16)), e.mul(e.local(e.item), e.num(64))))
			}
			e.items(1024, func() {
				for k := range uint32(4) {
					at(1)()
					at(0)()
					e.Memory(wasm.V128Load, 4, 16*k)
					e.Memory(wasm.V128Store, 4, 16*k)
				}
			})
		})
	},
	invalidModule: func() *compile.Kernel {
		return build(1, 0, func(e *emitter) { e.Op(wasm.I32Add) })
	},
	nothingModule: func() *compile.Kernel { return build(1, 0, func(e *emitter) {}) },
}

// translate compiles a module, but for those of tests that SPIR-V cannot say.
func translate(m *spv.Module) (*compile.Kernel, error) {
	for f, k := range failing {
		if f.Hash == m.Hash {
			return k(), nil
		}
	}
	return compile.Compile(m)
}

// variantOf returns a module like m with another hash, so that it is compiled anew.
func variantOf(m *spv.Module, n int) *spv.Module {
	v := *m
	v.Name = fmt.Sprintf("%s-%d", m.Name, n)
	v.Hash = sha256.Sum256([]byte(v.Name))
	return &v
}
