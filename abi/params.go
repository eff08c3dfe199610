package abi

import (
	"cmp"
	"fmt"
	"slices"
)

// maxPush bounds a push-constant block; devices offer 128 to 256 bytes.
const maxPush = 4096

// params describes the push-constant block t. Scalars, vectors and arrays of
// scalars are one Member each; structs and arrays of structs are taken apart,
// and their members are named by their paths, such as "stage[2].scale".
func (s *shader) params(m *Module, t *typ) error {
	list, err := s.leaves(nil, t, 0, "")
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b Member) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, p := range list {
		if p.Offset < m.ParamSize {
			return invalid("push-constant member %s at byte %d overlaps the one before it", p.Name, p.Offset)
		}
		m.ParamSize = p.Offset + p.Size
	}
	m.Params = list
	return nil
}

// leaves appends the members of a value of type t at a byte offset.
func (s *shader) leaves(list []Member, t *typ, at uint64, name string) ([]Member, error) {
	if at > maxPush || len(list) > maxPush {
		return nil, invalid("push-constant block is larger than %d bytes", maxPush)
	}
	if t.is(opTypeStruct) && len(t.members) == 0 {
		// Nests of empty structs would have no end of them.
		return nil, unsupported("push-constant member %s is an empty struct", name)
	}
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
			if list, err = s.leaves(list, mt, at+uint64(off), path); err != nil {
				return nil, err
			}
		}
		return list, nil
	case t.is(opTypeArray) && (t.elem.is(opTypeStruct) || t.elem.is(opTypeArray)):
		stride, _ := number(s.decor[t.id], decArrayStride)
		for i := range t.n {
			var err error
			if list, err = s.leaves(list, t.elem, at+uint64(i)*uint64(stride), fmt.Sprintf("%s[%d]", name, i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	part := t
	if t.is(opTypeArray) {
		part = t.elem
		if stride, _ := number(s.decor[t.id], decArrayStride); part.dims() > 0 && uint64(stride) != part.size {
			return nil, unsupported("push-constant member %s: array stride %d of %v (want %d)", name, stride, part, part.size)
		}
	}
	if part.dims() == 0 || part.isBool() || part.bits() < 32 {
		return nil, unsupported("push-constant member %s is %v (want 32 or 64-bit numbers, vectors, and arrays and structs of them)", name, t)
	}
	if align := uint64(part.bits() / 8); at%align != 0 {
		return nil, invalid("push-constant member %s: offset %d is not a multiple of %d", name, at, align)
	}
	if at+t.size > maxPush {
		return nil, invalid("push-constant member %s ends at byte %d (want at most %d)", name, at+t.size, maxPush)
	}
	return append(list, Member{Name: name, Type: t.String(), Offset: uint32(at), Size: uint32(t.size)}), nil
}
