// Package wasm writes WebAssembly modules in the binary format: functions with their code,
// imported memories and functions, and data. It knows the instructions of version 2 of the
// core specification, with 128-bit vectors, and the atomic instructions of the threads
// proposal. It does not check types: the engine that loads a module does that.
//
// The package cpu compiles SPIR-V to such modules.
//
// Source: WebAssembly Core Specification 2.0, chapter 5 (binary format); the threads
// proposal for shared memories and atomic instructions.
package wasm

import "slices"

// ValType is the type of a value.
type ValType byte

// The types of values.
const (
	I32  ValType = 0x7f
	I64  ValType = 0x7e
	F32  ValType = 0x7d
	F64  ValType = 0x7c
	V128 ValType = 0x7b
)

// FuncType is the type of a function.
type FuncType struct {
	Params, Results []ValType
}

func (t FuncType) equal(u FuncType) bool {
	return slices.Equal(t.Params, u.Params) && slices.Equal(t.Results, u.Results)
}

// Memory is a linear memory that a module imports or defines.
type Memory struct {
	// Module and Name are the names under which the memory is imported.
	Module, Name string
	// Min and Max are the sizes in pages of 64 KiB. Max is only written if Shared is set.
	Min, Max uint32
	// Shared says that several instances use the memory at the same time.
	Shared bool
}

// Module is a module to be written. Functions are numbered in the order of their
// declaration, imported ones first.
type Module struct {
	types   []FuncType
	imports []imported
	memory  *Memory
	own     *Memory // the memory that the module defines; Name is the name of its export
	funcs   []*Func
	exports []export
	data    []segment
}

type imported struct {
	module, name string
	typ          uint32
}

type export struct {
	name string
	fn   uint32
}

type segment struct {
	offset uint32
	bytes  []byte
}

// Func is a function of a module.
type Func struct {
	// Code are the instructions. The last End is added by Module.Encode.
	Code
	index  uint32
	typ    uint32
	params uint32
	locals []ValType
	choice *[2]uint32 // the variables of Choose
}

// Index is the number of the function, for Code.Call.
func (f *Func) Index() uint32 { return f.index }

// Local declares a local variable of the function and returns its index. Parameters have
// the indices from 0 on. The variable is 0 at first.
func (f *Func) Local(t ValType) uint32 {
	f.locals = append(f.locals, t)
	return f.params + uint32(len(f.locals)) - 1
}

// Choose appends instructions that pop a mask, b and a, and push the bits of a where those of
// the mask are set and the bits of b elsewhere. It is v128.bitselect without that
// instruction: wazero v1.11.0 makes wrong code of it on amd64 if many vectors are live. It
// computes in a register of its own, and if it must free that register for b in between, it
// stores what the register held at first. The same holds for i64x2.mul, f32x4.min and
// f32x4.max, and copysign, which no function uses either.
func (f *Func) Choose() {
	if f.choice == nil {
		f.choice = &[2]uint32{f.Local(V128), f.Local(V128)}
	}
	mask, b := f.choice[0], f.choice[1]
	f.Set(mask)
	f.Set(b)
	f.Get(mask)
	f.Op(V128And)
	f.Get(b)
	f.Get(mask)
	f.Op(V128Andnot)
	f.Op(V128Or)
}

// Type returns the index of a type of functions, or of blocks with parameters or several
// results.
func (m *Module) Type(t FuncType) uint32 {
	i := slices.IndexFunc(m.types, t.equal)
	if i < 0 {
		i = len(m.types)
		m.types = append(m.types, t)
	}
	return uint32(i)
}

// ImportMemory imports the memory of the module. There can be one.
func (m *Module) ImportMemory(mem Memory) { m.memory = &mem }

// DefineMemory defines the memory of a module that imports none, and exports it as name.
func (m *Module) DefineMemory(mem Memory, name string) {
	mem.Name = name
	m.own = &mem
}

// ImportFunc imports a function and returns its number. All imports come before the first
// Func: it panics otherwise, because the numbers of functions would change.
func (m *Module) ImportFunc(module, name string, t FuncType) uint32 {
	if len(m.funcs) > 0 {
		panic("wasm: ImportFunc after Func")
	}
	m.imports = append(m.imports, imported{module, name, m.Type(t)})
	return uint32(len(m.imports)) - 1
}

// Func declares a function.
func (m *Module) Func(t FuncType) *Func {
	f := &Func{index: uint32(len(m.imports) + len(m.funcs)), typ: m.Type(t), params: uint32(len(t.Params))}
	m.funcs = append(m.funcs, f)
	return f
}

// Export makes a function known under a name.
func (m *Module) Export(name string, f *Func) { m.exports = append(m.exports, export{name, f.index}) }

// Data has bytes copied to an address of the memory when the module is instantiated.
func (m *Module) Data(offset uint32, bytes []byte) {
	m.data = append(m.data, segment{offset, bytes})
}

// The numbers of sections.
const (
	sectionType   = 1
	sectionImport = 2
	sectionFunc   = 3
	sectionMemory = 5
	sectionExport = 7
	sectionCode   = 10
	sectionData   = 11
)

// The kinds of imports and exports.
const (
	kindFunc   = 0
	kindMemory = 2
)

// Encode returns the module in the binary format.
func (m *Module) Encode() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(number byte, count int, write func(b []byte) []byte) {
		if count == 0 {
			return
		}
		body := write(appendU32(nil, uint32(count)))
		out = appendU32(append(out, number), uint32(len(body)))
		out = append(out, body...)
	}
	section(sectionType, len(m.types), func(b []byte) []byte {
		for _, t := range m.types {
			b = append(b, 0x60)
			b = appendTypes(b, t.Params)
			b = appendTypes(b, t.Results)
		}
		return b
	})
	imports := len(m.imports)
	if m.memory != nil {
		imports++
	}
	section(sectionImport, imports, func(b []byte) []byte {
		for _, i := range m.imports {
			b = append(appendName(appendName(b, i.module), i.name), kindFunc)
			b = appendU32(b, i.typ)
		}
		if m.memory != nil {
			b = m.memory.append(b)
		}
		return b
	})
	section(sectionFunc, len(m.funcs), func(b []byte) []byte {
		for _, f := range m.funcs {
			b = appendU32(b, f.typ)
		}
		return b
	})
	exports := len(m.exports)
	if m.own != nil {
		exports++
		section(sectionMemory, 1, m.own.appendLimits)
	}
	section(sectionExport, exports, func(b []byte) []byte {
		if m.own != nil {
			b = append(appendName(b, m.own.Name), kindMemory, 0)
		}
		for _, e := range m.exports {
			b = appendU32(append(appendName(b, e.name), kindFunc), e.fn)
		}
		return b
	})
	section(sectionCode, len(m.funcs), func(b []byte) []byte {
		for _, f := range m.funcs {
			body := append(f.appendLocals(nil), f.Bytes()...)
			body = append(body, byte(End))
			b = append(appendU32(b, uint32(len(body))), body...)
		}
		return b
	})
	section(sectionData, len(m.data), func(b []byte) []byte {
		for _, d := range m.data {
			b = append(b, 0) // in memory 0, at an address that an expression computes
			var at Code
			at.I32Const(int32(d.offset))
			b = append(append(b, at.Bytes()...), byte(End))
			b = append(appendU32(b, uint32(len(d.bytes))), d.bytes...)
		}
		return b
	})
	return out
}

func (mem *Memory) append(b []byte) []byte {
	return mem.appendLimits(append(appendName(appendName(b, mem.Module), mem.Name), kindMemory))
}

func (mem *Memory) appendLimits(b []byte) []byte {
	if !mem.Shared {
		return appendU32(append(b, 0), mem.Min)
	}
	return appendU32(appendU32(append(b, 3), mem.Min), mem.Max)
}

// appendLocals appends the declarations of local variables. Neighbours of one type are
// declared together.
func (f *Func) appendLocals(b []byte) []byte {
	type run struct {
		n uint32
		t ValType
	}
	var runs []run
	for _, t := range f.locals {
		if k := len(runs) - 1; k >= 0 && runs[k].t == t {
			runs[k].n++
			continue
		}
		runs = append(runs, run{1, t})
	}
	b = appendU32(b, uint32(len(runs)))
	for _, r := range runs {
		b = append(appendU32(b, r.n), byte(r.t))
	}
	return b
}

func appendTypes(b []byte, ts []ValType) []byte {
	b = appendU32(b, uint32(len(ts)))
	for _, t := range ts {
		b = append(b, byte(t))
	}
	return b
}

func appendName(b []byte, s string) []byte { return append(appendU32(b, uint32(len(s))), s...) }

// appendU32 appends an unsigned LEB128 number.
func appendU32(b []byte, v uint32) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// appendS64 appends a signed LEB128 number.
func appendS64(b []byte, v int64) []byte {
	for {
		low := byte(v) & 0x7f
		v >>= 7
		if v == 0 && low < 0x40 || v == -1 && low >= 0x40 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}
