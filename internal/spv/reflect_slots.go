package spv

import (
	"slices"
	"sort"
)

// maxSlot bounds binding numbers: a launch gives an array of bindings by slot.
const maxSlot = 1023

// slots numbers the resources of a module, by variable: see Binding.
func (s *shader) slots() (map[uint32]uint32, error) {
	type place struct{ set, number, id uint32 }
	var list []place
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opVariable {
			continue
		}
		set, okSet := number(s.decor[in.res], decDescriptorSet)
		slot, okSlot := number(s.decor[in.res], decBinding)
		if okSet && okSlot {
			list = append(list, place{set, slot, in.res})
		}
	}
	// Here and below: sort.Slice is the same code for all types, and slices.SortFunc is 11 kB
	// for each struct.
	sort.Slice(list, func(i, k int) bool {
		a, b := list[i], list[k]
		return a.set < b.set || a.set == b.set && a.number < b.number
	})
	slots := make(map[uint32]uint32, len(list))
	base, next := uint64(0), uint64(0)
	for i, p := range list {
		if i > 0 && p.set != list[i-1].set {
			base = next
		}
		slot := base + uint64(p.number)
		if slot > maxSlot {
			return nil, unsupported("binding %d of descriptor set %d: binding number %d (want at most %d)", p.number, p.set, slot, maxSlot)
		}
		slots[p.id], next = uint32(slot), slot+1
	}
	return slots, nil
}

// aliases sorts bindings by slot and makes one of those that share one.
func aliases(list []Binding) ([]Binding, error) {
	sort.SliceStable(list, func(i, k int) bool { return list[i].Slot < list[k].Slot })
	var out []Binding
	for _, b := range list {
		if len(out) == 0 || out[len(out)-1].Slot != b.Slot {
			out = append(out, b)
			continue
		}
		a := &out[len(out)-1]
		texel := b.Kind == UniformTexel || b.Kind == StorageTexel
		if a.Kind != b.Kind || texel && a.Type != b.Type {
			return nil, unsupported("%s is declared as a %v of %s and as a %v of %s: a binding has one kind", b.Where(), a.Kind, a.Type, b.Kind, b.Type)
		}
		a.Access |= b.Access
		a.Mixed = a.Mixed || a.Type != b.Type
		if b.ArrayStride != 0 && (a.ArrayStride == 0 || b.ArrayStride < a.ArrayStride) {
			a.ArrayOffset, a.ArrayStride = b.ArrayOffset, b.ArrayStride
		}
		if a.Name == "" {
			a.Name = b.Name
		}
	}
	return out, nil
}

// oneSet writes a validated module in the form that drivers get, nil if it has that
// form: resources in descriptor set 0 at their slots; those that share a written slot
// are Aliased, or else a driver may take them for different memory; the local size as
// numbers, for which it needs no feature; and decorations one by one, not in groups.
func (s *shader) oneSet(m *Module) []byte {
	f := &folding{s: s, m: m, shared: map[uint32]int{}}
	f.slots, _ = s.slots() // reflect had them
	for _, slot := range f.slots {
		f.shared[slot]++
	}
	change := false
	for i := range s.insts {
		in := &s.insts[i]
		switch in.op {
		case opVariable:
			if slot, ok := f.slots[in.res]; ok {
				set, _ := number(s.decor[in.res], decDescriptorSet)
				n, _ := number(s.decor[in.res], decBinding)
				f.moved = f.moved || set != 0 || n != slot || f.alias(in.res)
			}
		case opExecutionModeID:
			change = change || in.args()[1] == modeLocalSizeID
		case opDecorationGroup:
			if f.groups == nil {
				f.groups = map[uint32]bool{}
			}
			f.groups[in.res] = true
		}
	}
	if !change && !f.moved && f.groups == nil {
		return nil
	}
	code := appendWords(nil, []uint32{magic, s.version, 0, s.bound, 0})
	for i := range s.insts {
		code = f.append(code, &s.insts[i])
	}
	return code
}

// folding is a module on its way through oneSet.
type folding struct {
	s      *shader
	m      *Module
	slots  map[uint32]uint32 // by variable
	shared map[uint32]int    // variables of a slot
	groups map[uint32]bool   // of decorations
	moved  bool              // some resource is decorated anew, and so all are
	placed bool              // they have been
}

// alias reports whether a variable shares its binding with another, and one of them is
// written through.
func (f *folding) alias(id uint32) bool {
	slot, ok := f.slots[id]
	return ok && f.shared[slot] > 1 && f.m.written(slot)
}

// append appends what an instruction becomes.
func (f *folding) append(code []byte, in *inst) []byte {
	s, a := f.s, in.args()
	switch in.op {
	case opExecutionModeID:
		if a[1] == modeLocalSizeID {
			size := f.m.LocalSize
			return appendInst(code, opExecutionMode, a[0], modeLocalSize, size[0], size[1], size[2])
		}
	case opName:
		if f.groups[a[0]] {
			return code
		}
	case opDecorate, opDecorateID:
		if f.groups[a[0]] {
			return code
		}
		if in.op == opDecorate {
			return f.decorate(code, a[0], decoration{a[1], a[2:]})
		}
	case opDecorationGroup:
		return code
	case opGroupDecorate:
		for _, id := range a[1:] {
			for _, d := range s.decor[a[0]] {
				code = f.decorate(code, id, d)
			}
		}
		return code
	case opGroupMemberDecorate:
		for k := 1; k+1 < len(a); k += 2 {
			for _, d := range s.decor[a[0]] {
				code = appendInst(code, opMemberDecorate, append([]uint32{a[k], a[k+1], d.kind}, d.args...)...)
			}
		}
		return code
	}
	return appendWords(code, in.w)
}

// decorate appends a decoration, or all that resources get in place of the first that
// they have.
func (f *folding) decorate(code []byte, id uint32, d decoration) []byte {
	switch {
	case f.moved && (d.kind == decDescriptorSet || d.kind == decBinding):
		if !f.placed {
			f.placed = true
			code = f.place(code)
		}
		return code
	case f.alias(id) && (d.kind == decRestrict || d.kind == decAliased):
		return code
	}
	return appendInst(code, opDecorate, append([]uint32{id, d.kind}, d.args...)...)
}

// place appends the decorations of all resources.
func (f *folding) place(code []byte) []byte {
	for i := range f.s.insts {
		in := &f.s.insts[i]
		slot, ok := f.slots[in.res]
		if in.op != opVariable || !ok {
			continue
		}
		code = appendInst(code, opDecorate, in.res, decDescriptorSet, 0)
		code = appendInst(code, opDecorate, in.res, decBinding, slot)
		if f.alias(in.res) {
			code = appendInst(code, opDecorate, in.res, decAliased)
		}
	}
	return code
}

// written reports whether a module may write the binding at a slot.
func (m *Module) written(slot uint32) bool {
	return slices.ContainsFunc(m.Bindings, func(b Binding) bool { return b.Slot == slot && b.Access&WriteOnly != 0 })
}
