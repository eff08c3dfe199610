package spv

import (
	"slices"
	"sort"
)

// Decorations that reflection and validation read.
const (
	decSpecID        = 1
	decBlock         = 2
	decBufferBlock   = 3
	decRowMajor      = 4
	decColMajor      = 5
	decArrayStride   = 6
	decMatrixStride  = 7
	decBuiltIn       = 11
	decRestrict      = 19
	decAliased       = 20
	decNonWritable   = 24
	decNonReadable   = 25
	decBinding       = 33
	decDescriptorSet = 34
	decOffset        = 35
)

// builtInWorkgroupSize is the built-in whose constant overrides LocalSize.
const builtInWorkgroupSize = 25

// find returns the first decoration of the kind.
func find(list []decoration, kind uint32) (decoration, bool) {
	for _, d := range list {
		if d.kind == kind {
			return d, true
		}
	}
	return decoration{}, false
}

// number returns the literal of a decoration such as Binding.
func number(list []decoration, kind uint32) (uint32, bool) {
	d, ok := find(list, kind)
	if !ok || len(d.args) != 1 {
		return 0, false
	}
	return d.args[0], true
}

func has(list []decoration, kind uint32) bool {
	_, ok := find(list, kind)
	return ok
}

// reflect fills in m from the validated module.
func (s *shader) reflect(m *Module) error {
	slots, err := s.slots()
	if err != nil {
		return err
	}
	m.Version = s.version
	m.Abilities = s.asks()
	shared := uint64(0)
	for i := range s.insts {
		in := &s.insts[i]
		switch in.op {
		case opCapability:
			m.Capabilities = append(m.Capabilities, in.args()[0])
		case opExtension:
			name, _, _ := str(in.args())
			m.Extensions = append(m.Extensions, name)
		case opSpecConstant, opSpecConstantTrue, opSpecConstantFalse:
			if id, ok := number(s.decor[in.res], decSpecID); ok {
				m.Specs = append(m.Specs, SpecConst{ID: id, Name: s.names[in.res], Type: s.types[in.typ].String(), Default: s.scalars[in.res]})
			}
		case opVariable:
			switch t := s.types[in.typ]; t.class {
			case classWorkgroup:
				shared += t.elem.size
				if shared > maxSharedMemory {
					return invalid("workgroup memory exceeds %d bytes", maxSharedMemory)
				}
			case classPushConstant:
				if err := s.params(m, t.elem); err != nil {
					return err
				}
			case classUniformConstant, classUniform, classStorageBuffer:
				b, err := s.binding(in, slots[in.res])
				if err != nil {
					return err
				}
				m.Bindings = append(m.Bindings, b)
			}
		}
	}
	m.SharedBytes = uint32(shared)
	slices.Sort(m.Capabilities)
	slices.Sort(m.Extensions)
	if m.Bindings, err = aliases(m.Bindings); err != nil {
		return err
	}
	sort.SliceStable(m.Specs, func(i, k int) bool { return m.Specs[i].ID < m.Specs[k].ID })
	// glslang declares a constant that is also a local size twice.
	m.Specs = slices.CompactFunc(m.Specs, func(a, b SpecConst) bool { return a.ID == b.ID && a.Type == b.Type && a.Default == b.Default })
	return nil
}

// binding describes a resource variable.
func (s *shader) binding(in *inst, slot uint32) (Binding, error) {
	t := s.types[in.typ].elem
	what := s.names[in.res]
	if what == "" {
		what = s.names[t.id]
	}
	b := Binding{Name: what, Access: ReadWrite, Slot: slot}
	b.Set, _ = number(s.decor[in.res], decDescriptorSet)
	b.Number, _ = number(s.decor[in.res], decBinding)
	if t.is(opTypeArray) || t.is(opTypeRuntimeArray) {
		return b, unsupported("%s (%s) is an array of resources", b.Where(), what)
	}
	decor := s.decor[in.res]
	if t.is(opTypeStruct) {
		b.Kind = StorageBuffer
		if s.types[in.typ].class == classUniform && !has(s.decor[t.id], decBufferBlock) {
			b.Kind, b.Access = UniformBuffer, ReadOnly
		}
		b.Type = elementType(t)
		if last := len(t.members) - 1; last >= 0 && t.members[last].is(opTypeRuntimeArray) {
			b.ArrayOffset, _ = number(s.mdecor[member{t.id, uint32(last)}], decOffset)
			b.ArrayStride, _ = number(s.decor[t.members[last].id], decArrayStride)
		}
		noWrite, noRead := has(decor, decNonWritable), has(decor, decNonReadable)
		allWrite, allRead := len(t.members) > 0, len(t.members) > 0
		for k := range t.members {
			md := s.mdecor[member{t.id, uint32(k)}]
			allWrite = allWrite && has(md, decNonWritable)
			allRead = allRead && has(md, decNonReadable)
		}
		b.Access = access(b.Access, noWrite || allWrite, noRead || allRead)
		return b, nil
	}
	img := t
	if t.is(opTypeSampledImage) {
		img = t.elem
	}
	if !img.is(opTypeImage) || img.dim != dimBuffer {
		return b, unsupported("%s (%s) is %s; a compute shader of Lathe binds storage, uniform and texel buffers", b.Where(), what, construct(img))
	}
	b.Type = img.elem.String()
	if img.elem.width != 32 || !(img.elem.op == opTypeInt || img.elem.op == opTypeFloat) {
		return b, unsupported("%s (%s): texels of %v components (want f32, u32 or i32)", b.Where(), what, img.elem)
	}
	if img.sampled == sampledUniform {
		b.Kind, b.Access = UniformTexel, ReadOnly
		return b, nil
	}
	b.Kind = StorageTexel
	want := map[string]uint32{"f32": formatRGBA32F, "i32": formatRGBA32I, "u32": formatRGBA32UI}[b.Type]
	if img.format != want {
		return b, unsupported("%s (%s): image format %d of a storage texel buffer (want rgba32f, rgba32ui or rgba32i)", b.Where(), what, img.format)
	}
	b.Access = access(b.Access, has(decor, decNonWritable), has(decor, decNonReadable))
	return b, nil
}

// access takes rights away from a.
func access(a Access, noWrite, noRead bool) Access {
	if noWrite && noRead {
		return a // never touched; the least surprising reading is the full one
	}
	if noWrite {
		a &^= WriteOnly
	}
	if noRead {
		a &^= ReadOnly
	}
	return a
}

// construct names a resource type Lathe does not bind.
func construct(t *typ) string {
	switch {
	case t.is(opTypeSampler):
		return "a sampler"
	case t.is(opTypeAccel):
		return "an acceleration structure"
	case t.is(opTypeImage) && t.sampled == sampledStorage:
		return "a storage image"
	case t.is(opTypeImage):
		return "a sampled image"
	}
	return "of type " + t.String()
}

// elementType is the element of a block's last array, or "struct".
func elementType(t *typ) string {
	if len(t.members) == 0 {
		return "struct"
	}
	last := t.members[len(t.members)-1]
	if last.is(opTypeArray) || last.is(opTypeRuntimeArray) {
		for last.is(opTypeArray) || last.is(opTypeRuntimeArray) {
			last = last.elem
		}
		return last.String()
	}
	if len(t.members) == 1 {
		return last.String()
	}
	return "struct"
}
