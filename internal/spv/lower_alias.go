package spv

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
	s, err := typed(m.Code)
	if err != nil {
		return nil, err
	}
	first := map[uint32]*inst{} // by slot
	same := merged{s: s, to: map[uint32]uint32{}}
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
		if !same.unify(first[slot], in) {
			k := slices.IndexFunc(m.Bindings, func(b Binding) bool { return b.Slot == slot })
			return nil, unsupported("%s is two variables of different types, %%%d and %%%d, and WebGPU has one variable a binding", m.Bindings[k].Where(), first[slot].res, in.res)
		}
	}
	if len(same.to) == 0 {
		return m.Code, nil
	}
	same.functions()
	code := append(make([]byte, 0, len(m.Code)), m.Code[:4*headerWords]...)
	for i := range s.insts {
		in := &s.insts[i]
		switch in.op {
		case opName, opMemberName, opDecorate, opMemberDecorate, opDecorateID:
			if same.to[in.w[1]] != 0 {
				continue
			}
		}
		if same.to[in.res] != 0 {
			continue
		}
		if in.op == opEntryPoint && s.version >= 0x10400 {
			in.w = interfaceWithout(in.w, same.to)
		}
		s.ids(in, func(id *uint32) { *id = same.root(*id) })
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

// merged are the ids of a module that mean one thing. Chains of them come about: a block
// that is another at one binding may be a third one at the next.
type merged struct {
	s  *shader
	to map[uint32]uint32 // from an id to one of the same meaning that is declared before it
}

// root is the id that stands for all that mean what id does: the one declared first, so
// that it is declared wherever one of them is used.
func (m merged) root(id uint32) uint32 {
	for m.to[id] != 0 {
		id = m.to[id]
	}
	return id
}

// join makes two ids mean the same.
func (m merged) join(a, b uint32) {
	a, b = m.root(a), m.root(b)
	if a == b {
		return
	}
	if m.s.def[a] > m.s.def[b] {
		a, b = b, a
	}
	m.to[b] = a
}

// unify makes one variable of a and b, and reports whether it can.
func (m merged) unify(a, b *inst) bool {
	s := m.s
	p, q := s.types[a.typ], s.types[b.typ]
	if p.class != q.class {
		return false
	}
	t, u := s.types[m.root(p.elem.id)], s.types[m.root(q.elem.id)]
	if t != u {
		if !t.is(opTypeStruct) || !u.is(opTypeStruct) || len(t.members) != len(u.members) {
			return false
		}
		for k := range t.members {
			for _, kind := range []uint32{decOffset, decMatrixStride, decRowMajor, decColMajor} {
				d, _ := find(s.mdecor[member{t.id, uint32(k)}], kind)
				e, _ := find(s.mdecor[member{u.id, uint32(k)}], kind)
				if d.kind != e.kind || !slices.Equal(d.args, e.args) {
					return false
				}
			}
			if !m.sameArray(t.members[k], u.members[k]) {
				return false
			}
		}
		for k := range t.members {
			m.join(t.members[k].id, u.members[k].id)
		}
		m.join(t.id, u.id)
	}
	m.join(p.id, q.id)
	m.join(a.res, b.res)
	return true
}

// sameArray reports whether two types are one, or arrays of one type, length and stride.
func (m merged) sameArray(x, y *typ) bool {
	s := m.s
	x, y = s.types[m.root(x.id)], s.types[m.root(y.id)]
	if x == y {
		return true
	}
	j, _ := number(s.decor[x.id], decArrayStride)
	k, _ := number(s.decor[y.id], decArrayStride)
	array := x.is(opTypeRuntimeArray) && y.is(opTypeRuntimeArray) || x.is(opTypeArray) && y.is(opTypeArray) && x.n == y.n && !x.specLen && !y.specLen
	return array && m.root(x.elem.id) == m.root(y.elem.id) && j == k
}

// functions makes one of the function types that have become equal: of those, unlike of
// pointers and blocks, a module may have one alone.
func (m merged) functions() {
	first := map[string]uint32{}
	for i := range m.s.insts {
		in := &m.s.insts[i]
		if in.op != opTypeFunction {
			continue
		}
		var key []byte
		for _, id := range in.w[2:] {
			key = binary.LittleEndian.AppendUint32(key, m.root(id))
		}
		if first[string(key)] == 0 {
			first[string(key)] = in.res
		}
		m.join(first[string(key)], in.res)
	}
}
