package abi

import (
	"encoding/binary"
	"slices"
)

// unalias makes one variable of those that share a binding, for WebGPU, where a binding
// is one variable. It can where their blocks have members of the same types at the same
// offsets. A module without such variables comes back as it is.
//
// Errors: ErrUnsupported naming the binding where the types differ; ErrInvalidShader if
// m does not come from Parse or Reflect.
func unalias(m *Module) ([]byte, error) {
	s, err := decode(m.Code)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{s.define, s.annotate, s.declare} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	first := map[uint32]*inst{} // by slot
	same := map[uint32]uint32{} // ids by those they are replaced with
	for i := range s.insts {
		in := &s.insts[i]
		slot, bound := number(s.decor[in.res], decBinding)
		if in.op != opVariable || !bound {
			continue
		}
		if first[slot] == nil {
			first[slot] = in
			continue
		}
		if !s.unify(first[slot], in, same) {
			k := slices.IndexFunc(m.Bindings, func(b Binding) bool { return b.Slot == slot })
			return nil, unsupported("%s is two variables of different types, %%%d and %%%d, and WebGPU has one variable a binding", m.Bindings[k].Where(), first[slot].res, in.res)
		}
	}
	if len(same) == 0 {
		return m.Code, nil
	}
	code := append(make([]byte, 0, len(m.Code)), m.Code[:4*headerWords]...)
	for i := range s.insts {
		in := &s.insts[i]
		switch in.op {
		case opName, opMemberName, opDecorate, opMemberDecorate:
			if same[in.w[1]] != 0 {
				continue
			}
		}
		if same[in.res] != 0 {
			continue
		}
		if in.op == opEntryPoint && s.version >= 0x10400 {
			in.w = interfaceWithout(in.w, same)
		}
		s.ids(in, func(id *uint32) {
			if to := same[*id]; to != 0 {
				*id = to
			}
		})
		code = appendWords(code, in.w)
	}
	binary.LittleEndian.PutUint32(code[4*3:], s.bound)
	return code, nil
}

// interfaceWithout is an entry point without some of the variables it lists.
func interfaceWithout(w []uint32, gone map[uint32]uint32) []uint32 {
	_, n, _ := str(w[3:])
	kept := slices.Clone(w[:3+n])
	for _, id := range w[3+n:] {
		if gone[id] == 0 {
			kept = append(kept, id)
		}
	}
	kept[0] = uint32(len(kept))<<16 | uint32(opEntryPoint)
	return kept
}

// unify notes in same what of variable b becomes what of variable a, and reports
// whether it can.
func (s *shader) unify(a, b *inst, same map[uint32]uint32) bool {
	p, q := s.types[a.typ], s.types[b.typ]
	if p.class != q.class {
		return false
	}
	merge := func(x, y *typ) bool { // x stands before y, so that it does where y is named
		if x != y {
			if s.def[x.id] > s.def[y.id] {
				return false
			}
			same[y.id] = x.id
		}
		return true
	}
	t, u := p.elem, q.elem
	if t != u {
		if !t.is(opTypeStruct) || !u.is(opTypeStruct) || len(t.members) != len(u.members) {
			return false
		}
		for k := range t.members {
			x, y := t.members[k], u.members[k]
			for _, kind := range []uint32{decOffset, decMatrixStride, decRowMajor, decColMajor} {
				d, _ := find(s.mdecor[member{t.id, uint32(k)}], kind)
				e, _ := find(s.mdecor[member{u.id, uint32(k)}], kind)
				if d.kind != e.kind || !slices.Equal(d.args, e.args) {
					return false
				}
			}
			if !s.sameArray(x, y) || !merge(x, y) {
				return false
			}
		}
	}
	if !merge(t, u) || !merge(p, q) {
		return false
	}
	same[b.res] = a.res
	return true
}

// sameArray reports whether two types are one, or arrays of one type, length and stride.
func (s *shader) sameArray(x, y *typ) bool {
	if x == y {
		return true
	}
	m, _ := number(s.decor[x.id], decArrayStride)
	n, _ := number(s.decor[y.id], decArrayStride)
	array := x.is(opTypeRuntimeArray) && y.is(opTypeRuntimeArray) || x.is(opTypeArray) && y.is(opTypeArray) && x.n == y.n && !x.specLen && !y.specLen
	return array && x.elem == y.elem && m == n
}
