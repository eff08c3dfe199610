package interp

import (
	"encoding/binary"
	"fmt"
)

// What the interpreter calls by name.
const (
	opTypeBool = 20
	opTypeInt  = 21

	opTypeFloat        = 22
	opTypeVector       = 23
	opTypeMatrix       = 24
	opTypeImage        = 25
	opTypeSampledImage = 27
	opTypeArray        = 28
	opTypeRuntimeArray = 29
	opTypeStruct       = 30
	opTypePointer      = 32

	classUniformConstant = 0
	classInput           = 1
	classUniform         = 2
	classWorkgroup       = 4
	classPrivate         = 6
	classFunction        = 7
	classPush            = 9
	classStorageBuffer   = 12

	decRowMajor     = 4
	decArrayStride  = 6
	decMatrixStride = 7
	decBuiltIn      = 11
	decBinding      = 33
	decOffset       = 35
)

type typ struct {
	op      uint32
	width   uint32 // bits
	signed  bool
	n       uint32
	elem    *typ
	members []*typ
	class   uint32
	stride  uint64 // of an array in a buffer
	layout  []map[uint32]uint32
}

// scalar is the type of the components.
func (t *typ) scalar() *typ {
	for t.op == opTypeVector || t.op == opTypeMatrix {
		t = t.elem
	}
	return t
}

type inst struct {
	op       uint32
	at       uint32 // word
	typ, res uint32
	a        []uint32
}

type block struct {
	id   uint32
	phis []*inst
	body []*inst
}

type function struct {
	id     uint32
	params []uint32
	first  *block
	blocks map[uint32]*block
}

// module is a decoded module.
type module struct {
	bound     uint32
	types     map[uint32]*typ
	typeOf    []*typ // by id of a value
	constants []val
	variables []*inst
	functions map[uint32]*function
	decor     map[uint32]map[uint32]uint32
	members   map[[2]uint32]map[uint32]uint32
	main      *function
	local     [3]uint32
}

// results says whether an instruction has a result type, and a result.
func results(op uint32) (typed, result bool) {
	switch {
	case op == 1 || op == 12 || op >= 41 && op <= 52 || op == 54 || op == 55 || op == 57 || op == 59:
	case op == 60 || op == 61 || op >= 65 && op <= 70 || op >= 77 && op <= 98 || op >= 100 && op <= 205:
	case op == 227 || op >= 229 && op <= 242 || op == 245 || op >= 333 && op <= 366 || op == 400:
	case op >= 4421 && op <= 4432 || op >= 4450 && op <= 4455 || op == 5614 || op == 5615 || op == 6035:
	case op >= 19 && op <= 33 || op == 7 || op == 11 || op == 73 || op == 248 || op == 4472 || op == 4456 || op == 5358:
		return false, true
	default:
		return false, false
	}
	return true, true
}

func decode(code []byte) *module {
	w := make([]uint32, len(code)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	m := &module{bound: w[3], types: map[uint32]*typ{}, functions: map[uint32]*function{},
		decor: map[uint32]map[uint32]uint32{}, members: map[[2]uint32]map[uint32]uint32{}}
	if m.bound > 1<<18 {
		panic(fmt.Errorf("%w: %d ids", ErrUnknown, m.bound))
	}
	m.typeOf, m.constants = make([]*typ, m.bound), make([]val, m.bound)
	var fn *function
	var b *block
	entry := uint32(0)
	for at := 5; at < len(w); {
		n := int(w[at] >> 16)
		in := &inst{op: w[at] & 0xffff, at: uint32(at)}
		a := w[at+1 : at+n]
		at += n
		typed, result := results(in.op)
		if typed {
			in.typ, a = a[0], a[1:]
		}
		if result {
			in.res, a = a[0], a[1:]
		}
		in.a = a
		if typed {
			m.typeOf[in.res] = m.types[in.typ]
		}
		switch op := in.op; {
		case op == 15: // EntryPoint
			entry = a[1]
		case op == 16 && a[1] == 17:
			copy(m.local[:], a[2:])
		case op == 71:
			add(m.decor, a[0], a[1:])
		case op == 72:
			add(m.members, [2]uint32{a[0], a[1]}, a[2:])
		case op >= 19 && op <= 33:
			m.declare(in)
		case op >= 41 && op <= 52 || op == 1 && fn == nil:
			m.constants[in.res] = m.constant(in)
		case op == 59 && fn == nil:
			m.variables = append(m.variables, in)
		case op == 54:
			fn = &function{id: in.res, blocks: map[uint32]*block{}}
			m.functions[in.res] = fn
		case op == 55:
			fn.params = append(fn.params, in.res)
		case op == 56:
			fn = nil
		case op == 248:
			b = &block{id: in.res}
			fn.blocks[in.res] = b
			if fn.first == nil {
				fn.first = b
			}
		case fn == nil || op == 8 || op == 317 || op == 0:
		case op == 245:
			b.phis = append(b.phis, in)
		default:
			b.body = append(b.body, in)
		}
	}
	m.main = m.functions[entry]
	for id, d := range m.decor {
		if d[decBuiltIn] == 25 && m.constants[id].c != nil {
			for i, x := range m.constants[id].c {
				m.local[i] = uint32(x.b)
			}
		}
	}
	if m.main == nil || m.local[0] == 0 {
		panic(fmt.Errorf("%w: an entry point of this kind", ErrUnknown))
	}
	return m
}

func add[K comparable](to map[K]map[uint32]uint32, key K, a []uint32) {
	if to[key] == nil {
		to[key] = map[uint32]uint32{}
	}
	v := uint32(1)
	if len(a) > 1 {
		v = a[1]
	}
	to[key][a[0]] = v
}

func (m *module) declare(in *inst) {
	t := &typ{op: in.op}
	a := in.a
	switch in.op {
	case opTypeBool:
		t.width = 1
	case opTypeInt:
		t.width, t.signed = a[0], a[1] == 1
	case opTypeFloat:
		t.width = a[0]
	case opTypeVector, opTypeMatrix:
		t.elem, t.n = m.types[a[0]], a[1]
	case opTypeImage:
		t.elem = m.types[a[0]]
	case opTypeSampledImage:
		t.elem = m.types[a[0]]
	case opTypeArray:
		t.elem, t.n = m.types[a[0]], uint32(m.constants[a[1]].b)
		t.stride = uint64(m.decor[in.res][decArrayStride])
	case opTypeRuntimeArray:
		t.elem = m.types[a[0]]
		t.stride = uint64(m.decor[in.res][decArrayStride])
	case opTypeStruct:
		for i, id := range a {
			t.members = append(t.members, m.types[id])
			t.layout = append(t.layout, m.members[[2]uint32{in.res, uint32(i)}])
		}
	case opTypePointer:
		t.class, t.elem = a[0], m.types[a[1]]
	}
	m.types[in.res] = t
}

func (m *module) constant(in *inst) val {
	t := m.types[in.typ]
	switch in.op {
	case 41, 48:
		return val{b: 1}
	case 42, 49:
		return val{}
	case 43, 50:
		v := uint64(in.a[0])
		if len(in.a) > 1 {
			v |= uint64(in.a[1]) << 32
		}
		return val{b: trunc(v, t.width)}
	case 44, 51:
		c := make([]val, len(in.a))
		for i, id := range in.a {
			c[i] = m.constants[id]
		}
		return val{c: c}
	case 1, 46:
		return zero(t)
	}
	// SpecConstantOp
	r := &run{module: m}
	v := &invocation{run: r, regs: m.constants}
	out, ok := v.pure(&inst{op: in.a[0], typ: in.typ, res: in.res, a: in.a[1:]})
	if !ok {
		panic(fmt.Errorf("%w: a constant by op %d", ErrUnknown, in.a[0]))
	}
	return out
}
