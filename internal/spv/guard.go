package spv

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Guard rewrites a module of a stranger so that nothing in it makes a driver
// reach past what it has: see the steps for what each mends and why. What the
// module does where it is right stays as it is. A module of Reflect, which is
// known to be right, is returned as it is. The hash remains that of the original.
//
// Robust buffer access bounds what a shader does to buffers; the memory of a
// workgroup and of an invocation it does not bound, and an index out of range there
// reaches whatever lies behind: on CPU drivers, this process.
//
// Errors: ErrInvalidShader if m does not come from Parse.
func Guard(m *Module) (*Module, error) {
	if m == nil {
		return nil, noModule("guard")
	}
	if !m.Foreign {
		return m, nil
	}
	code, err := guard(m)
	if err != nil {
		return nil, fmt.Errorf("spv: guard %s: %w", m.label(), err)
	}
	guarded := *m
	guarded.Code = code
	return &guarded, nil
}

func guard(m *Module) ([]byte, error) {
	s, err := typed(m.Code)
	if err != nil {
		return nil, err
	}
	g := &guarding{s: s, local: m.LocalSize, next: s.bound, made: map[constKey]uint32{}}
	for i := range s.insts {
		if s.insts[i].op == opExtInstImport && g.glsl == 0 {
			if name, _, _ := str(s.insts[i].args()); name == "GLSL.std.450" {
				g.glsl = s.insts[i].res
			}
		}
	}
	g.phis()
	g.wide = g.widened()
	var body []byte // the functions, which say what the declarations lack
	first := len(s.insts)
	for i := range s.insts {
		in := &s.insts[i]
		if in.op == opFunction {
			first = min(first, i)
		}
		if i < first {
			continue
		}
		body = g.clamp(body, in)
		body = g.exponent(body, in)
		body = g.halves(body, in)
		body = g.compare(body, in)
		g.unroll(in)
		body = appendWords(body, in.w)
	}
	if g.next == s.bound && !g.changed {
		return signs(m.Code)
	}
	code := append(make([]byte, 0, len(m.Code)+len(body)), m.Code[:4*headerWords]...)
	for i := range s.insts[:first] {
		in := &s.insts[i]
		if in.op == opMemoryModel && g.imported {
			code = appendInst(code, opExtInstImport, append([]uint32{g.glsl}, words("GLSL.std.450")...)...)
		}
		code = appendWords(code, in.w)
	}
	code = append(append(code, g.declared...), body...)
	binary.LittleEndian.PutUint32(code[4*3:], g.next)
	return signs(code)
}

// signs gives the operations of a module on integers operands of the signs that their
// opcodes mean, see integers, computes what it can of specialisation constants, whose
// values nobody changes, and makes its ids dense. SwiftShader computes with constants by
// their types, and some wrongly: of the clamped index −1 it would make −1 again.
func signs(code []byte) ([]byte, error) {
	s, err := typed(code)
	if err != nil {
		return nil, err
	}
	n := &integers{s: s, add: newAdditions(s)}
	var head, body []byte
	changed := false
	for i := range s.insts {
		in := &s.insts[i]
		if in.op == opFunction && head == nil {
			head, body = body, nil
		}
		var done bool
		if in.op == opSpecConstantOp {
			body, done = s.folded(body, in, n.add)
		} else {
			body, done = n.rewrite(body, in)
		}
		if !done {
			body = appendWords(body, in.w)
		}
		changed = changed || done
	}
	if !changed {
		return dense(code)
	}
	out := slices.Concat(code[:4*headerWords], head, n.add.code, body)
	binary.LittleEndian.PutUint32(out[4*3:], n.add.next)
	return dense(out)
}

// guarding is a module on its way through Guard.
type guarding struct {
	s        *shader
	local    [3]uint32
	next     uint32          // the first free id
	changed  bool            // in another way than by new ids
	joins    map[uint32]bool // blocks that begin with a phi
	wide     bool            // see widened
	glsl     uint32          // the set GLSL.std.450, 0 until there is one
	imported bool            // the set is ours to import
	declared []byte          // types and constants to add
	made     map[constKey]uint32
	types    map[typeKey]uint32
}

type constKey struct {
	typ   uint32
	value uint64
}

type typeKey struct {
	n      uint32 // components
	signed bool
}

func (g *guarding) id() uint32 {
	g.next++
	return g.next - 1
}

// extended appends an instruction of GLSL.std.450 and returns its result.
func (g *guarding) extended(body []byte, typ, n uint32, args ...uint32) ([]byte, uint32) {
	if g.glsl == 0 {
		g.glsl, g.imported = g.id(), true
	}
	res := g.id()
	return appendInst(body, opExtInst, append([]uint32{typ, res, g.glsl, n}, args...)...), res
}

// constant is the id of a constant of an integer type, or of a vector of them.
func (g *guarding) constant(t *typ, v uint64) uint32 {
	key := constKey{t.id, v}
	if id := g.made[key]; id != 0 {
		return id
	}
	if t.is(opTypeVector) {
		part := g.constant(t.elem, v)
		w := []uint32{t.id, 0}
		for range t.n {
			w = append(w, part)
		}
		w[1] = g.id()
		g.declared = appendInst(g.declared, opConstantComposite, w...)
		g.made[key] = w[1]
		return w[1]
	}
	id := g.id()
	w := []uint32{t.id, id, uint32(v)}
	if t.width > 32 {
		w = append(w, uint32(v>>32))
	}
	g.declared = appendInst(g.declared, opConstant, w...)
	g.made[key] = id
	return id
}

// int32s is the id of the type of an integer of 32 bits, or of a vector of n.
func (g *guarding) int32s(n uint32, signed bool) uint32 {
	if g.types == nil {
		g.types = map[typeKey]uint32{}
		for _, t := range g.s.types {
			if t != nil && t.isInt() && t.bits() == 32 {
				g.types[typeKey{t.dims(), t.scalar().signed}] = t.id
			}
		}
	}
	key := typeKey{n, signed}
	if id := g.types[key]; id != 0 {
		return id
	}
	var id uint32
	if n == 1 {
		id = g.id()
		sign := uint32(0)
		if signed {
			sign = 1
		}
		g.declared = appendInst(g.declared, opTypeInt, id, 32, sign)
	} else {
		elem := g.int32s(1, signed)
		id = g.id()
		g.declared = appendInst(g.declared, opTypeVector, id, elem, n)
	}
	g.types[key] = id
	return id
}

// Instructions of GLSL.std.450.
const (
	extUMin   = 38
	extSClamp = 45
	extLdexp  = 53
)

// exponent makes the exponents of Ldexp integers of 32 bits: lavapipe's compiler
// ends the process where they are narrower or wider. Those of 64 bits are cut
// off far beyond where the result is zero or infinite.
func (g *guarding) exponent(body []byte, in *inst) []byte {
	if in.op != opExtInst || in.w[3] != g.glsl || in.w[4] != extLdexp {
		return body
	}
	t, exp := g.s.typeOf(in.w[6]), in.w[6]
	if t.bits() == 32 {
		return body
	}
	signed := t.scalar().signed
	if t.bits() == 64 {
		const most = 1 << 14
		if signed {
			var least int64 = -most
			body, exp = g.extended(body, t.id, extSClamp, exp, g.constant(t, uint64(least)), g.constant(t, most))
		} else {
			body, exp = g.extended(body, t.id, extUMin, exp, g.constant(t, most))
		}
	}
	op := opUConvert
	if signed {
		op = opSConvert
	}
	in.w[6] = g.id()
	return appendInst(body, op, g.int32s(t.dims(), signed), in.w[6], exp)
}
