package abi

import (
	"cmp"
	"slices"
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
	slices.SortFunc(list, func(a, b place) int { return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(a.number, b.number)) })
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
	slices.SortStableFunc(list, func(a, b Binding) int { return cmp.Compare(a.Slot, b.Slot) })
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
		if a.Name == "" {
			a.Name = b.Name
		}
	}
	return out, nil
}

// oneSet writes a validated module in the form that drivers get, nil if it has that form:
// resources in descriptor set 0 at their slots; those that share a written slot are
// Aliased, or else a driver may take them for different memory; and the local size as
// numbers, for which it needs no feature.
func (s *shader) oneSet(m *Module) []byte {
	slots, _ := s.slots() // reflect had them
	shared := map[uint32]int{}
	for _, slot := range slots {
		shared[slot]++
	}
	alias := func(id uint32) bool {
		slot, ok := slots[id]
		return ok && shared[slot] > 1 && m.written(slot)
	}
	moved, sized := false, false
	for i := range s.insts {
		in := &s.insts[i]
		switch in.op {
		case opVariable:
			slot, ok := slots[in.res]
			if !ok {
				continue
			}
			set, _ := number(s.decor[in.res], decDescriptorSet)
			n, _ := number(s.decor[in.res], decBinding)
			moved = moved || set != 0 || n != slot || alias(in.res) && !has(s.decor[in.res], decAliased)
		case opExecutionModeID:
			sized = sized || in.args()[1] == modeLocalSizeID
		}
	}
	if !moved && !sized {
		return nil
	}
	var code []byte
	code = appendWords(code, []uint32{magic, s.version, 0, s.bound, 0})
	placed := false
	for i := range s.insts {
		in := &s.insts[i]
		switch {
		case in.op == opExecutionModeID && in.args()[1] == modeLocalSizeID:
			code = appendInst(code, opExecutionMode, in.args()[0], modeLocalSize, m.LocalSize[0], m.LocalSize[1], m.LocalSize[2])
			continue
		case moved && in.op == opDecorate && (in.w[2] == decDescriptorSet || in.w[2] == decBinding):
			if !placed {
				placed = true
				code = s.place(code, slots, alias)
			}
			continue
		case in.op == opDecorate && in.w[2] == decRestrict && alias(in.w[1]):
			continue
		}
		code = appendWords(code, in.w)
	}
	return code
}

// place appends the decorations that oneSet gives resources.
func (s *shader) place(code []byte, slots map[uint32]uint32, alias func(uint32) bool) []byte {
	for i := range s.insts {
		in := &s.insts[i]
		slot, ok := slots[in.res]
		if in.op != opVariable || !ok {
			continue
		}
		code = appendInst(code, opDecorate, in.res, decDescriptorSet, 0)
		code = appendInst(code, opDecorate, in.res, decBinding, slot)
		if alias(in.res) && !has(s.decor[in.res], decAliased) {
			code = appendInst(code, opDecorate, in.res, decAliased)
		}
	}
	return code
}

// written reports whether a module may write the binding at a slot.
func (m *Module) written(slot uint32) bool {
	return slices.ContainsFunc(m.Bindings, func(b Binding) bool { return b.Slot == slot && b.Access&WriteOnly != 0 })
}
