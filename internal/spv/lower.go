package spv

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Lowered is a module in the SPIR-V that WebGPU takes, which has no push
// constants, no texel buffers, no specialisation constants and no block that is read-only member
// by member.
type Lowered struct {
	Code []byte // little-endian words
	// ParamBytes is what binding 0 of descriptor set 1, which holds what were push
	// constants, must span: ParamSize in whole 16-byte units, 0 where the module
	// has none.
	ParamBytes uint32
	// ParamKind is UniformBuffer, or StorageBuffer where the block holds arrays or
	// structs, whose layout uniform buffers do not allow.
	ParamKind Kind
	// Least is, for each of the module's Bindings, the bytes its block has, with
	// one element of an array without a length.
	Least []uint32
}

// Lower rewrites a module for WebGPU. The push-constant block becomes a buffer
// in a descriptor set of its own, and specialisation constants become constants
// of their default values, as do those computed from them. Blocks whose members
// are all NonWritable become NonWritable variables, because WebGPU takes them for
// read-write otherwise; with readWrite no storage variable is NonWritable, for
// dispatches that bind one buffer both to be read and to be written. None is
// NonReadable, which WebGPU does not have. The local size is stated once, as an
// execution mode. Texel buffers become storage buffers of vectors of four
// components. Operations on integers are given operands of the sign that they stand
// for, because WebGPU goes by the operands' types and not by the operation; see
// integers. Values that the continue construct of a loop takes from its body go through
// variables; see carryLoops. Everything else stays as it is.
//
// Errors: ErrUnsupported naming the construct (a computation of floats from
// specialisation constants, a texel buffer that is passed to a function);
// ErrInvalidShader if m does not come from Parse or Reflect.
func Lower(m *Module, readWrite bool) (*Lowered, error) {
	if m == nil {
		return nil, noModule("lower")
	}
	l, err := lower(m, readWrite)
	if err != nil {
		return nil, fmt.Errorf("spv: lower %s: %w", m.label(), err)
	}
	return l, nil
}

// noModule is the error of a function of modules that is given none.
func noModule(op string) error {
	return fmt.Errorf("spv: %s: %w: no module", op, errs.ErrInvalidShader)
}

// label names a module in error texts.
func (m *Module) label() string {
	if m.Name != "" {
		return m.Name
	}
	return fmt.Sprintf("shader %x", m.Hash[:6])
}

func lower(m *Module, readWrite bool) (*Lowered, error) {
	code, err := unalias(m)
	if err != nil {
		return nil, err
	}
	if code, err = carryLoops(code); err != nil {
		return nil, err
	}
	s, err := decode(code)
	if err != nil {
		return nil, err
	}
	if err := s.define(); err != nil {
		return nil, err
	}
	if err := s.annotate(); err != nil {
		return nil, err
	}
	if err := s.declare(); err != nil {
		return nil, err
	}
	for i := range s.insts {
		in := &s.insts[i]
		if in.typ != 0 && (in.typ >= s.bound || s.types[in.typ] == nil) || in.op == opVariable && !s.types[in.typ].is(opTypePointer) {
			return nil, invalid("%v: %%%d is not a type of such a value", in, in.typ)
		}
	}
	if err := s.byRows(); err != nil {
		return nil, err
	}
	l := &Lowered{ParamBytes: (m.ParamSize + 15) &^ 15, ParamKind: UniformBuffer}
	class := uint32(classUniform)
	for i := range s.insts {
		in := &s.insts[i]
		if in.op == opVariable && in.w[3] == classPushConstant && !s.uniform(s.types[in.typ].elem) {
			l.ParamKind, class = StorageBuffer, classStorageBuffer
		}
	}
	add := newAdditions(s)
	x, err := newTexels(s, add)
	if err != nil {
		return nil, err
	}
	n := &integers{s: s, add: add, wide: true}
	readOnly := map[uint32]bool{}
	for i := range m.Bindings {
		if b := &m.Bindings[i]; b.Kind != UniformBuffer && b.Access == ReadOnly && !readWrite {
			readOnly[b.Slot] = true
		}
	}

	main, last := uint32(0), 0 // the function, and the last entry point
	for i := range s.insts {
		if in := &s.insts[i]; in.op == opEntryPoint {
			last = i
			if name, _, _ := str(in.w[3:]); name == "main" {
				main = in.w[2]
			}
		}
	}
	least, buffers := map[uint32]uint32{}, map[uint32]bool{}
	for i := range s.insts {
		in := &s.insts[i]
		slot, ok := number(s.decor[in.res], decBinding)
		texel := x.of[in.res] != 0
		switch {
		case in.op != opVariable || !texel && in.w[3] != classStorageBuffer && in.w[3] != classUniform:
			continue
		case texel && ok:
			least[slot] = max(least[slot], texelBytes)
			continue
		}
		buffers[in.res] = true
		if ok {
			least[slot] = max(least[slot], uint32(min(s.span(s.types[in.typ].elem), 1<<31)))
		}
	}
	for i := range m.Bindings {
		l.Least = append(l.Least, least[m.Bindings[i].Slot])
	}

	// gone tells of a decoration that WebGPU has not, for its storage buffers can all be
	// read, or that it gets anew. Those of members go too: they would be taken for those
	// of all blocks like theirs.
	gone := func(w []uint32) bool {
		slot, _ := number(s.decor[w[1]], decBinding)
		return w[2] == decSpecID || buffers[w[1]] && (w[2] == decNonReadable || w[2] == decNonWritable && !readOnly[slot])
	}
	code = append(make([]byte, 0, len(m.Code)+64), m.Code[:4*headerWords]...)
	var head, after []byte // what comes before the additions, and what after them and before the functions
	decorated := false
	for i := range s.insts {
		in := &s.insts[i]
		if !decorated && (isType(in.op) || isConstant(in.op) || in.op == opVariable) {
			decorated = true
			code = x.decorate(s.decorate(code, l, readOnly))
		}
		if in.op == opFunction && head == nil {
			after = x.declare(nil)
			head, code = code, make([]byte, 0, len(m.Code))
		}
		var done bool
		if code, done = x.rewrite(code, in); done {
			continue
		}
		if code, done = n.rewrite(code, in); done {
			continue
		}
		w := in.w
		switch in.op {
		case opTypePointer, opVariable:
			at := 2 // of the storage class
			if in.op == opVariable {
				at = 3
			}
			if w[at] == classPushConstant {
				w[at] = class
			}
		case opSpecConstantTrue, opSpecConstantFalse, opSpecConstant, opSpecConstantComposite:
			// The plain constants come in the same order seven opcodes earlier.
			w[0] -= uint32(opSpecConstantTrue - opConstantTrue)
		case opSpecConstantOp:
			var ok bool
			if code, ok = s.folded(code, in, add); !ok {
				return nil, unsupported("%v of %v: WebGPU has no constants computed from specialisation constants, and only those of integers and truth values are computed here", in, opcode(in.args()[0]))
			}
			continue
		case opDecorate:
			if gone(w) {
				continue
			}
		case opMemberDecorate:
			if w[3] == decNonReadable || w[3] == decNonWritable {
				continue
			}
		case opEntryPoint:
			if i == last {
				// Readers differ in what they go by where a constant overrides the mode.
				code = appendWords(code, w)
				w = []uint32{6<<16 | uint32(opExecutionMode), main, modeLocalSize, m.LocalSize[0], m.LocalSize[1], m.LocalSize[2]}
			}
		case opExecutionMode, opExecutionModeID:
			if w[1] == main && (w[2] == modeLocalSize || w[2] == modeLocalSizeID) {
				continue
			}
		}
		code = appendWords(code, w)
	}
	l.Code = slices.Concat(head, add.code, after, code)
	binary.LittleEndian.PutUint32(l.Code[4*3:], add.next)
	return l, nil
}

func appendWords(code []byte, words []uint32) []byte {
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}

// decorate appends the decorations that the lowered variables need.
func (s *shader) decorate(code []byte, l *Lowered, readOnly map[uint32]bool) []byte {
	add := func(words ...uint32) {
		code = binary.LittleEndian.AppendUint32(code, uint32(len(words)+1)<<16|uint32(opDecorate))
		for _, w := range words {
			code = binary.LittleEndian.AppendUint32(code, w)
		}
	}
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opVariable {
			continue
		}
		decor := s.decor[in.res]
		switch in.w[3] {
		case classPushConstant:
			add(in.res, decDescriptorSet, 1)
			add(in.res, decBinding, 0)
			if l.ParamKind == StorageBuffer {
				add(in.res, decNonWritable)
			}
		case classUniformConstant:
			if slot, ok := number(decor, decBinding); ok && readOnly[slot] {
				add(in.res, decNonWritable)
			}
		case classStorageBuffer, classUniform:
			if slot, ok := number(decor, decBinding); ok && readOnly[slot] && !has(decor, decNonWritable) {
				add(in.res, decNonWritable)
			}
		}
	}
	return code
}

// uniform reports whether a block may lie in a uniform buffer as it is: it has
// nothing but 32 and 64-bit scalars, and vectors aligned to their size (of three,
// to that of four).
func (s *shader) uniform(block *typ) bool {
	for k, t := range block.members {
		at, _ := number(s.mdecor[member{block.id, uint32(k)}], decOffset)
		align := uint64(0)
		switch t.dims() {
		case 1, 2, 4:
			align = t.size
		case 3:
			align = t.size / 3 * 4
		}
		if align == 0 || uint64(at)%align != 0 {
			return false
		}
	}
	return true
}

// span is the bytes of a type in a buffer, by its layout decorations; an array
// without a length counts as one element.
func (s *shader) span(t *typ) uint64 {
	switch t.op {
	case opTypeArray, opTypeRuntimeArray:
		stride, _ := number(s.decor[t.id], decArrayStride)
		n := uint64(1)
		if t.op == opTypeArray {
			n = uint64(t.n)
		}
		return satMul(n, uint64(stride))
	case opTypeStruct:
		end := uint64(0)
		for k, m := range t.members {
			at, _ := number(s.mdecor[member{t.id, uint32(k)}], decOffset)
			size := s.span(m)
			if stride, ok := number(s.mdecor[member{t.id, uint32(k)}], decMatrixStride); ok && m.is(opTypeMatrix) {
				size = uint64(m.n) * uint64(stride)
			}
			end = max(end, uint64(at)+size)
		}
		return end
	}
	return t.size
}
