package spv

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Linker makes a module of a template and of parts. A part is a module whose function main calls one other. That
// function is what the part gives. The template is such a module too: its function is written
// anew, as calls of the parts' functions. So no shader compiler is needed for a new kernel.
//
// The first error stays: what is made after it means nothing, and Module returns it. The same calls make the
// same bytes.
type Linker struct {
	err     error
	next    uint32 // the first free id
	version uint32
	foreign bool // the template or a part comes from a program

	capabilities map[uint32]bool
	extensions   map[string]bool
	model        []uint32          // OpMemoryModel
	known        map[string]uint32 // ids of declarations, by their words and decorations
	declared     map[uint32][]uint32
	parts        map[string]*Func

	imports, decorations, declarations, functions []uint32 // sections of the module
	inputs, variables                             []uint32 // those that the entry point lists
	modes                                         []uint32
	main                                          uint32
	head, body                                    []uint32 // the function that is written
	params                                        []Value

	epilogue *epilogue // of a kernel, or nil
}

// Value is a value in the function that a Linker writes.
type Value struct{ id, typ uint32 }

// Func is a function of a part.
type Func struct {
	id, result uint32
	params     []uint32 // types
}

func newLinker() *Linker {
	return &Linker{
		next: 1, capabilities: map[uint32]bool{}, extensions: map[string]bool{}, known: map[string]uint32{},
		declared: map[uint32][]uint32{}, parts: map[string]*Func{},
	}
}

// NewLinker begins a module. Errors are those of Module.
func NewLinker(template *Module) *Linker {
	l := newLinker()
	p := l.source(template, nil)
	if l.err != nil {
		return l
	}
	for i := range template.Bindings { // The template may launch with bindings of its own.
		p.slots = append(p.slots, uint32(i))
	}
	l.entry(p)
	l.function(p)
	return l
}

// entry copies the function main of a source, which becomes that of the module.
func (l *Linker) entry(p *source) {
	l.main = p.function(l, p.main)
	for i := range p.s.insts {
		if in := &p.s.insts[i]; in.op == opExecutionMode && in.w[1] == p.main {
			mode := slices.Clone(in.w)
			mode[1] = l.main
			l.modes = append(l.modes, mode...)
		}
	}
}

// function begins the function that is written, which has the type of a part's function.
func (l *Linker) function(p *source) {
	done := len(l.functions)
	p.number(l, p.part)
	p.copy(l, int(p.s.def[p.part]), p.ends[p.part], opLabel)
	l.head, l.functions = slices.Clone(l.functions[done:]), l.functions[:done]
	for at := 0; at < len(l.head); at += int(l.head[at] >> 16) {
		if opcode(l.head[at]&0xffff) == opFunctionParameter {
			l.params = append(l.params, Value{id: l.head[at+2], typ: l.head[at+1]})
		}
	}
}

// fail keeps the first error.
func (l *Linker) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// fresh is a new id.
func (l *Linker) fresh() uint32 {
	l.next++
	return l.next - 1
}

// Param returns parameter i of the function that is written.
func (l *Linker) Param(i int) Value {
	if i < 0 || i >= len(l.params) {
		l.fail(invalid("the function of the template has %d parameters (want number %d)", len(l.params), i))
		return Value{}
	}
	return l.params[i]
}

// Part returns the function of a part. slots[b] is the binding in the module that is made for binding b of the part.
// The same part with the same slots is one function.
func (l *Linker) Part(m *Module, slots ...uint32) *Func {
	if l.err != nil || m == nil {
		l.fail(invalid("no part"))
		return nil
	}
	key := fmt.Sprintf("%x %v", m.Hash, slots)
	if f := l.parts[key]; f != nil {
		return f
	}
	p := l.source(m, slots)
	if l.err != nil {
		return nil
	}
	f := &Func{id: p.function(l, p.part)}
	if l.err != nil {
		return nil
	}
	in := p.s.at(p.part)
	t := l.declared[p.ids[in.w[4]]] // OpTypeFunction
	if len(t) < 3 {
		l.fail(invalid("the function of part %s has no type", m.label()))
		return nil
	}
	f.result, f.params = t[2], t[3:]
	l.parts[key] = f
	return f
}

// Call calls a function.
func (l *Linker) Call(f *Func, args ...Value) Value {
	if l.err != nil || f == nil {
		l.fail(invalid("no function to call"))
		return Value{}
	}
	v := Value{l.fresh(), f.result}
	words := []uint32{f.result, v.id, f.id}
	if len(args) != len(f.params) {
		l.fail(invalid("a part's function has %d parameters (got %d arguments)", len(f.params), len(args)))
		return Value{}
	}
	for i, a := range args {
		if a.typ != f.params[i] || a.typ == 0 {
			l.fail(invalid("argument %d of a part's function has another type than its parameter", i))
			return Value{}
		}
		words = append(words, a.id)
	}
	l.body = appendOp(l.body, opFunctionCall, words...)
	return v
}

// Extract returns component i of a vector or element i of an array.
func (l *Linker) Extract(v Value, i int) Value {
	elem, n := l.elements(v.typ)
	if i < 0 || i >= n {
		l.fail(invalid("component %d of a value with %d", i, n))
		return Value{}
	}
	made := Value{l.fresh(), elem}
	l.body = appendOp(l.body, opCompositeExtract, elem, made.id, v.id, uint32(i))
	return made
}

// Compose returns an argument for parameter i of f, a vector or an array, made of its components.
func (l *Linker) Compose(f *Func, i int, parts ...Value) Value {
	if l.err != nil || f == nil || i < 0 || i >= len(f.params) {
		l.fail(invalid("no function with a parameter %d", i))
		return Value{}
	}
	elem, n := l.elements(f.params[i])
	v := Value{l.fresh(), f.params[i]}
	words := []uint32{v.typ, v.id}
	for _, p := range parts {
		if p.typ != elem || n != len(parts) {
			l.fail(invalid("%d components make no argument %d", len(parts), i))
			return Value{}
		}
		words = append(words, p.id)
	}
	l.body = appendOp(l.body, opCompositeConstruct, words...)
	return v
}

// elements returns the type and the number of the components of a vector or an array.
func (l *Linker) elements(t uint32) (elem uint32, n int) {
	switch w := l.declared[t]; {
	case len(w) != 4:
	case opcode(w[0]&0xffff) == opTypeVector:
		return w[2], int(w[3])
	case opcode(w[0]&0xffff) == opTypeArray:
		if c := l.declared[w[3]]; len(c) == 4 && opcode(c[0]&0xffff) == opConstant && c[3] <= 16 {
			return w[2], int(c[3])
		}
	}
	return 0, 0
}

// Scalars reports whether the function has a scalar for result, which no component can be taken of.
func (l *Linker) Scalars(f *Func) bool {
	if f == nil {
		return false
	}
	_, n := l.elements(f.result)
	return n == 0
}

// Number returns a constant of type uint.
func (l *Linker) Number(word uint32) Value {
	t := l.uint()
	return Value{l.declare([]uint32{4<<16 | uint32(opConstant), t, 0, word}, 2, nil, false), t}
}

// uint is the type of unsigned integers.
func (l *Linker) uint() uint32 {
	return l.declare([]uint32{4<<16 | uint32(opTypeInt), 0, 32, 0}, 1, nil, false)
}

// Module ends the function, and returns the module with the name that it gets. It has passed the checks of Parse. If
// neither the template nor a part comes from a program, it is no foreign module.
// Errors: ErrInvalidShader, ErrUnsupported.
func (l *Linker) Module(name string) (*Module, error) {
	if l.epilogue != nil {
		l.finish()
	} else if l.err == nil && len(l.head) == 0 {
		l.err = invalid("no template")
	}
	if l.err != nil {
		return nil, fmt.Errorf("spv: link %s: %w", name, l.err)
	}
	m, err := Parse(name, l.code())
	if err != nil {
		return nil, fmt.Errorf("spv: link: %w", err)
	}
	m.Foreign = l.foreign
	return m, nil
}

// code writes the sections.
func (l *Linker) code() []byte {
	w := []uint32{magic, l.version, 0, l.next, 0}
	for _, c := range slices.Sorted(maps.Keys(l.capabilities)) {
		w = appendOp(w, opCapability, c)
	}
	for _, e := range slices.Sorted(maps.Keys(l.extensions)) {
		w = appendOp(w, opExtension, literal(e)...)
	}
	w = append(append(w, l.imports...), l.model...)
	entry := append([]uint32{5, l.main}, literal("main")...) // GLCompute
	if l.version < 0x10400 {
		entry = append(entry, l.inputs...)
	} else {
		entry = append(entry, l.variables...)
	}
	w = appendOp(w, opEntryPoint, entry...)
	for _, section := range [][]uint32{l.modes, l.decorations, l.declarations, l.functions, l.head, l.body} {
		w = append(w, section...)
	}
	if len(l.head) > 0 {
		w = appendOp(appendOp(w, opReturn), opFunctionEnd)
	}
	code := make([]byte, 0, 4*len(w))
	for _, x := range w {
		code = binary.LittleEndian.AppendUint32(code, x)
	}
	return code
}

// appendOp appends an instruction.
func appendOp(w []uint32, op opcode, operands ...uint32) []uint32 {
	return append(append(w, uint32(len(operands)+1)<<16|uint32(op)), operands...)
}

// literal is a string in words.
func literal(s string) []uint32 {
	b := append([]byte(s), 0)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	var w []uint32
	for ; len(b) > 0; b = b[4:] {
		w = append(w, binary.LittleEndian.Uint32(b))
	}
	return w
}
