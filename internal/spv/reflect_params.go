package spv

import (
	"fmt"
	"sort"
)

// maxPush bounds a push-constant block; devices offer 128 to 256 bytes.
const maxPush = 4096

// params describes the push-constant block t. Scalars, vectors and arrays without gaps
// are one Member each; structs, other arrays and matrices are taken apart, and their
// members are named by their paths, such as "stage[2].scale"; a matrix in the vectors
// that it lies in memory as, its columns "m[1]" or its rows "m.row[1]".
func (s *shader) params(m *Module, t *typ) error {
	list, err := s.leaves(nil, t, nil, 0, "")
	if err != nil {
		return err
	}
	sort.SliceStable(list, func(i, k int) bool { return list[i].Offset < list[k].Offset })
	for _, p := range list {
		if p.Offset < m.ParamSize {
			return invalid("push-constant member %s at byte %d overlaps the one before it", p.Name, p.Offset)
		}
		m.ParamSize = p.Offset + p.Size
	}
	m.Params = list
	return nil
}

// leaves appends the members of a value of type t at a byte offset. md are the
// decorations of the struct member that it is in.
func (s *shader) leaves(list []Member, t *typ, md []decoration, at uint64, name string) ([]Member, error) {
	if at > maxPush || len(list) > maxPush {
		return nil, unsupported("push-constant block is larger than %d bytes", maxPush)
	}
	if t.is(opTypeStruct) && len(t.members) == 0 {
		// Nests of empty structs would have no end of them.
		return nil, unsupported("push-constant member %s is an empty struct", name)
	}
	stride, _ := number(s.decor[t.id], decArrayStride)
	switch {
	case t.is(opTypeStruct):
		for k, mt := range t.members {
			key := member{t.id, uint32(k)}
			off, _ := number(s.mdecor[key], decOffset)
			path := s.members[key]
			if name != "" {
				path = name + "." + path
			}
			var err error
			if list, err = s.leaves(list, mt, s.mdecor[key], at+uint64(off), path); err != nil {
				return nil, err
			}
		}
		return list, nil
	case t.is(opTypeMatrix):
		step, _ := number(md, decMatrixStride)
		n, part, format := t.n, t.elem, "%s[%d]"
		if has(md, decRowMajor) {
			n, part, format = t.elem.n, &typ{op: opTypeVector, n: t.n, elem: t.elem.elem}, "%s.row[%d]"
			part.measure()
		}
		for i := range n {
			var err error
			if list, err = s.leaf(list, part, at+uint64(i)*uint64(step), fmt.Sprintf(format, name, i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	case t.is(opTypeArray) && (t.elem.dims() == 0 || uint64(stride) != t.elem.size):
		for i := range t.n {
			var err error
			if list, err = s.leaves(list, t.elem, md, at+uint64(i)*uint64(stride), fmt.Sprintf("%s[%d]", name, i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return s.leaf(list, t, at, name)
}

// leaf appends a number, a vector, or an array of them without gaps.
func (s *shader) leaf(list []Member, t *typ, at uint64, name string) ([]Member, error) {
	part := t
	if t.is(opTypeArray) {
		part = t.elem
	}
	if part.dims() == 0 || part.isBool() {
		return nil, unsupported("push-constant member %s is %v (want numbers, vectors, matrices, and arrays and structs of them)", name, t)
	}
	if align := uint64(part.bits() / 8); at%align != 0 {
		return nil, invalid("push-constant member %s: offset %d is not a multiple of %d", name, at, align)
	}
	if at+t.size > maxPush {
		return nil, unsupported("push-constant member %s ends at byte %d (want at most %d)", name, at+t.size, maxPush)
	}
	return append(list, Member{Name: name, Type: t.String(), Offset: uint32(at), Size: uint32(t.size)}), nil
}
