package spv

import (
	"encoding/binary"
	"slices"
)

// texelBuffers rewrites the texel buffers of a module, which WebGPU lacks, as storage
// buffers of vectors of four components. Loads of the image disappear; a fetch or
// read becomes a load, a write becomes a store.
type texelBuffers struct {
	s      *shader
	add    *additions
	of     map[uint32]uint32 // the variable, by its own id and those of images loaded from it
	vars   []*inst
	gone   map[uint32]bool    // types and values that are no more
	vector map[*typ][2]uint32 // by component: the type of a pointer to a buffer's texel, and of one to a buffer
}

const texelBytes = 16

// newTexels finds the texel buffers of a module.
// Errors: ErrUnsupported naming a construct that only they have.
func newTexels(s *shader, add *additions) (*texelBuffers, error) {
	x := &texelBuffers{s: s, add: add, of: map[uint32]uint32{}, gone: map[uint32]bool{}, vector: map[*typ][2]uint32{}}
	for i := range s.insts {
		in := &s.insts[i]
		switch {
		case isType(in.op):
			if t := s.types[in.res]; imageOf(t) != nil || t.is(opTypePointer) && imageOf(t.elem) != nil {
				x.gone[in.res] = true
			}
		case in.op == opVariable && x.gone[in.typ]:
			x.of[in.res] = in.res
			x.vars = append(x.vars, in)
		case (in.op == opLoad || in.op == opImage) && x.of[in.w[3]] != 0:
			x.of[in.res] = x.of[in.w[3]]
			x.gone[in.res] = true
		case in.op == opImageTexelPointer, x.gone[in.typ]:
			return nil, unsupported("%v: WebGPU has no texel buffers, and only plain loads and stores of them can be expressed", in)
		}
	}
	return x, nil
}

// imageOf is the image type of a texel buffer's type, nil if t is another.
func imageOf(t *typ) *typ {
	if t.is(opTypeSampledImage) {
		t = t.elem
	}
	if t.is(opTypeImage) && t.dim == dimBuffer {
		return t
	}
	return nil
}

func appendInst(code []byte, op opcode, words ...uint32) []byte {
	code = binary.LittleEndian.AppendUint32(code, uint32(len(words)+1)<<16|uint32(op))
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}

// decorate appends the layout of the new blocks; the ids of their types are taken here.
func (x *texelBuffers) decorate(code []byte) []byte {
	for _, v := range x.vars {
		e := imageOf(x.s.types[v.typ].elem).elem
		if _, ok := x.vector[e]; ok {
			continue
		}
		list := x.add.next
		x.add.next += 4 // list, block, pointer to it, pointer to a vector
		x.vector[e] = [2]uint32{list + 3, list + 2}
		code = appendInst(code, opDecorate, list, decArrayStride, texelBytes)
		code = appendInst(code, opDecorate, list+1, decBlock)
		code = appendInst(code, opMemberDecorate, list+1, 0, decOffset, 0)
	}
	return code
}

// declare appends the types and variables, which come after the additions.
func (x *texelBuffers) declare(code []byte) []byte {
	made := map[*typ]bool{}
	for _, v := range x.vars {
		e := imageOf(x.s.types[v.typ].elem).elem
		to := x.vector[e]
		if !made[e] {
			made[e] = true
			list, vector := to[1]-2, x.add.vector(e.id, 4)
			code = appendInst(code, opTypeRuntimeArray, list, vector)
			code = appendInst(code, opTypeStruct, list+1, list)
			code = appendInst(code, opTypePointer, list+2, classStorageBuffer, list+1)
			code = appendInst(code, opTypePointer, list+3, classStorageBuffer, vector)
		}
		code = appendInst(code, opVariable, to[1], v.res, classStorageBuffer)
	}
	return code
}

// rewrite appends what an instruction becomes, and reports whether it has.
func (x *texelBuffers) rewrite(code []byte, in *inst) ([]byte, bool) {
	w := in.w
	switch in.op {
	case opCapability:
		return code, w[1] == capSampledBuffer || w[1] == capImageBuffer
	case opName:
		return code, x.gone[w[1]]
	case opDecorate:
		// Which accesses a variable has, it gets told anew.
		return code, x.gone[w[1]] || x.of[w[1]] != 0 && (w[2] == decNonWritable || w[2] == decNonReadable)
	case opVariable:
		return code, x.of[in.res] != 0
	case opLoad, opImage:
		return code, x.gone[in.res]
	case opImageFetch, opImageRead:
		v := x.of[w[3]]
		at := x.add.id()
		code = appendInst(code, opAccessChain, x.pointer(v), at, v, x.zero(), w[4])
		return appendInst(code, opLoad, in.typ, in.res, at), true
	case opImageWrite:
		v := x.of[w[1]]
		at := x.add.id()
		code = appendInst(code, opAccessChain, x.pointer(v), at, v, x.zero(), w[2])
		return appendInst(code, opStore, at, w[3]), true
	case opImageQuerySize:
		n := x.add.id()
		word := x.add.integer(32, false)
		code = appendInst(code, opArrayLength, word, n, x.of[w[3]], 0)
		if in.typ == word {
			return appendInst(code, opCopyObject, in.typ, in.res, n), true
		}
		return appendInst(code, opBitcast, in.typ, in.res, n), true
	}
	return code, isType(in.op) && x.gone[in.res]
}

func (x *texelBuffers) zero() uint32 { return x.add.constant(x.add.integer(32, false), 1, 0) }

// pointer is the type of a pointer to a texel of a variable.
func (x *texelBuffers) pointer(v uint32) uint32 {
	k := slices.IndexFunc(x.vars, func(in *inst) bool { return in.res == v })
	return x.vector[imageOf(x.s.types[x.vars[k].typ].elem).elem][0]
}
