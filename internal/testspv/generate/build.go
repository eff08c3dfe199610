package generate

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Opcodes, classes and decorations that are written in more than one place.
const (
	opUndef             = 1
	opExtInst           = 12
	opTypeVoid          = 19
	opTypeBool          = 20
	opTypeInt           = 21
	opTypeFloat         = 22
	opTypeVector        = 23
	opTypeMatrix        = 24
	opTypeArray         = 28
	opTypeRuntimeArray  = 29
	opTypeStruct        = 30
	opTypePointer       = 32
	opTypeFunction      = 33
	opConstantTrue      = 41
	opConstantFalse     = 42
	opConstant          = 43
	opConstantComposite = 44
	opSpecConstant      = 50
	opFunction          = 54
	opParameter         = 55
	opFunctionEnd       = 56
	opCall              = 57
	opVariable          = 59
	opLoad              = 61
	opStore             = 62
	opAccessChain       = 65
	opShuffle           = 79
	opConstruct         = 80
	opExtract           = 81
	opInsert            = 82
	opBitcast           = 124
	opIAdd              = 128
	opSelect            = 169
	opAnd               = 199
	opOr                = 197
	opPhi               = 245
	opLoopMerge         = 246
	opSelectionMerge    = 247
	opLabel             = 248
	opBranch            = 249
	opBranchIf          = 250
	opSwitch            = 251
	opReturn            = 253
	opReturnValue       = 254

	classInput    = 1
	classShared   = 4
	classPrivate  = 6
	classFunction = 7
	classPush     = 9
	classStorage  = 12
)

// kind is the type of a scalar, or of the components of a vector.
type kind struct {
	class byte // 'b' bool, 'i' signed, 'u' unsigned, 'f' float
	width uint32
}

// typ is a scalar (n is 1) or a vector.
type typ struct {
	kind
	n uint32
}

var (
	boolean = kind{'b', 1}
	i32     = kind{'i', 32}
	u32     = kind{'u', 32}
	f32     = kind{'f', 32}
)

func (k kind) of(n uint32) typ { return typ{k, n} }
func (k kind) isInt() bool     { return k.class == 'i' || k.class == 'u' }
func (k kind) unsigned() kind  { return kind{'u', k.width} }
func (k kind) signed() kind    { return kind{'i', k.width} }

// builder writes a module. Types and constants are written once each.
type builder struct {
	next   uint32
	caps   map[uint32]bool
	exts   map[string]bool
	decor  []uint32
	global []uint32 // types, constants, variables
	code   []uint32 // functions
	ids    map[string]uint32
	inputs []uint32 // variables of the interface
	glsl   uint32
}

func newBuilder() *builder {
	b := &builder{next: 1, caps: map[uint32]bool{1: true}, exts: map[string]bool{}, ids: map[string]uint32{}}
	b.glsl = b.id()
	return b
}

func (b *builder) id() uint32 { b.next++; return b.next - 1 }

func put(to *[]uint32, op uint32, words ...uint32) {
	*to = append(append(*to, uint32(len(words)+1)<<16|op), words...)
}

// once writes a global instruction with a result, the first time it is asked for.
func (b *builder) once(op, resultType uint32, words ...uint32) uint32 {
	key := fmt.Sprint(op, resultType, words)
	if b.ids[key] == 0 {
		id := b.id()
		b.ids[key] = id
		head := []uint32{id}
		if resultType != 0 {
			head = []uint32{resultType, id}
		}
		put(&b.global, op, append(head, words...)...)
	}
	return b.ids[key]
}

func (b *builder) typ(t typ) uint32 {
	var id uint32
	switch t.class {
	case 'b':
		id = b.once(opTypeBool, 0)
	case 'i':
		id = b.once(opTypeInt, 0, t.width, 1)
	case 'u':
		id = b.once(opTypeInt, 0, t.width, 0)
	case 'f':
		id = b.once(opTypeFloat, 0, t.width)
	}
	switch {
	case t.isInt() && t.width != 32:
		b.caps[map[uint32]uint32{8: 39, 16: 22, 64: 11}[t.width]] = true
	case t.class == 'f' && t.width != 32:
		b.caps[map[uint32]uint32{16: 9, 64: 10}[t.width]] = true
	}
	if t.n > 1 {
		id = b.once(opTypeVector, 0, id, t.n)
	}
	return id
}

func (b *builder) pointer(class, to uint32) uint32 { return b.once(opTypePointer, 0, class, to) }

// bits is a scalar constant.
func (b *builder) bits(k kind, v uint64) uint32 {
	t := b.typ(k.of(1))
	switch {
	case k.class == 'b' && v != 0:
		return b.once(opConstantTrue, t)
	case k.class == 'b':
		return b.once(opConstantFalse, t)
	case k.width == 64:
		return b.once(opConstant, t, uint32(v), uint32(v>>32))
	case k.class == 'i':
		return b.once(opConstant, t, uint32(int64(v)<<(64-k.width)>>(64-k.width)))
	}
	return b.once(opConstant, t, uint32(v&(1<<k.width-1)))
}

func (b *builder) word(v uint32) uint32 { return b.bits(u32, uint64(v)) }

// float is a constant that k represents exactly.
func (b *builder) float(k kind, f float64) uint32 {
	switch k.width {
	case 64:
		return b.bits(k, math.Float64bits(f))
	case 32:
		return b.bits(k, uint64(math.Float32bits(float32(f))))
	}
	if f == 0 {
		return b.bits(k, 0)
	}
	s := uint64(0)
	if f < 0 {
		s, f = 1<<15, -f
	}
	m, e := math.Frexp(f)
	return b.bits(k, s|uint64(e+14)<<10|uint64(math.Ldexp(m, 11))&1023)
}

// splat is a constant whose components are all the same.
func (b *builder) splat(n typ, id uint32) uint32 {
	if n.n == 1 {
		return id
	}
	words := make([]uint32, n.n)
	for i := range words {
		words[i] = id
	}
	return b.once(opConstantComposite, b.typ(n), words...)
}

func (b *builder) decorate(words ...uint32)       { put(&b.decor, 71, words...) }
func (b *builder) decorateMember(words ...uint32) { put(&b.decor, 72, words...) }

// variable is a global variable; types of blocks are decorated by their maker.
func (b *builder) variable(class, t uint32, init ...uint32) uint32 {
	id := b.id()
	put(&b.global, opVariable, append([]uint32{b.pointer(class, t), id, class}, init...)...)
	return id
}

// input is a built-in variable.
func (b *builder) input(builtIn uint32, t typ) uint32 {
	key := fmt.Sprint("input", builtIn)
	if b.ids[key] == 0 {
		id := b.variable(classInput, b.typ(t))
		b.decorate(id, 11, builtIn)
		b.ids[key] = id
		b.inputs = append(b.inputs, id)
	}
	return b.ids[key]
}

// fresh is a new type of the same words as another may have, to be decorated.
func (b *builder) fresh(op uint32, words ...uint32) uint32 {
	id := b.id()
	put(&b.global, op, append([]uint32{id}, words...)...)
	return id
}

// buffer is a storage buffer of an array without a length, at binding slot.
func (b *builder) buffer(slot uint32, elem, stride uint32, readOnly bool) uint32 {
	run := b.fresh(opTypeRuntimeArray, elem)
	b.decorate(run, 6, stride)
	block := b.fresh(opTypeStruct, run)
	b.decorate(block, 2)
	b.decorateMember(block, 0, 35, 0)
	if readOnly {
		b.decorateMember(block, 0, 24)
	}
	v := b.variable(classStorage, block)
	b.decorate(v, 34, 0)
	b.decorate(v, 33, slot)
	return v
}

// module joins the parts.
func (b *builder) module(main uint32, local [3]uint32) []byte {
	w := []uint32{0x07230203, 0x00010300, 0, b.next, 0}
	for c := range uint32(6000) {
		if b.caps[c] {
			put(&w, 17, c)
		}
	}
	for _, e := range []string{"SPV_KHR_8bit_storage", "SPV_KHR_storage_buffer_storage_class"} {
		if b.exts[e] {
			put(&w, 10, text(e)...)
		}
	}
	put(&w, 11, append([]uint32{b.glsl}, text("GLSL.std.450")...)...)
	put(&w, 14, 0, 1)
	put(&w, 15, append(append([]uint32{5, main}, text("main")...), b.inputs...)...)
	put(&w, 16, main, 17, local[0], local[1], local[2])
	w = append(append(append(w, b.decor...), b.global...), b.code...)
	out := make([]byte, 0, 4*len(w))
	for _, x := range w {
		out = binary.LittleEndian.AppendUint32(out, x)
	}
	return out
}

// text is a string as words.
func text(s string) []uint32 {
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
