package spv

// interfaces checks the variables through which a shader meets the outside:
// resources, push constants and built-in inputs.
func (s *shader) interfaces() error {
	var push *inst
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opVariable {
			continue
		}
		t := s.types[in.typ]
		if !t.is(opTypePointer) || t.class != in.args()[0] {
			return invalid("%v: result type is not a pointer of its storage class", in)
		}
		switch t.class {
		case classUniformConstant, classUniform, classStorageBuffer:
			if err := s.resource(in); err != nil {
				return err
			}
		case classPushConstant:
			if push != nil {
				return invalid("%v: a second push-constant block", in)
			}
			push = in
			if !t.elem.is(opTypeStruct) || !has(s.decor[t.elem.id], decBlock) {
				return invalid("%v: push constants are a struct decorated Block", in)
			}
			if err := s.blockLayout(in, t.elem, false); err != nil {
				return err
			}
		case classInput:
			b, ok := number(s.decor[in.res], decBuiltIn)
			if !ok {
				return invalid("%v: an input of a compute shader must be a built-in (it has no BuiltIn decoration)", in)
			}
			if err := s.builtIn(in, b, t.elem); err != nil {
				return err
			}
		case classOutput:
			return invalid("%v: a compute shader has no outputs", in)
		}
	}
	return nil
}

// resource checks the decorations of a resource variable.
func (s *shader) resource(in *inst) error {
	_, okSet := number(s.decor[in.res], decDescriptorSet)
	_, okSlot := number(s.decor[in.res], decBinding)
	if !okSet || !okSlot {
		return invalid("%v: a resource needs one DescriptorSet and one Binding decoration", in)
	}
	t := s.types[in.typ]
	for t = t.elem; t.is(opTypeArray) || t.is(opTypeRuntimeArray); {
		t = t.elem
	}
	class := s.types[in.typ].class
	if class == classUniformConstant {
		if t.is(opTypeImage) || t.is(opTypeSampledImage) || t.is(opTypeSampler) || t.is(opTypeAccel) {
			return nil
		}
		return invalid("%v: a UniformConstant variable holds %v", in, t)
	}
	block, bufferBlock := has(s.decor[t.id], decBlock), has(s.decor[t.id], decBufferBlock)
	switch {
	case !t.is(opTypeStruct) || block == bufferBlock || class == classStorageBuffer && !block:
		return invalid("%v: a buffer is a struct decorated Block (or BufferBlock)", in)
	}
	return s.blockLayout(in, t, class == classUniform && block)
}

// builtIn checks the type of a built-in input.
func (s *shader) builtIn(in *inst, b uint32, t *typ) error {
	dims, ok := map[uint32]uint32{
		24: 3, 25: 3, 26: 3, 27: 3, 28: 3, 29: 1, // NumWorkgroups … LocalInvocationIndex
		36: 1, 38: 1, 40: 1, 41: 1, // subgroup sizes and numbers
		4416: 4, 4417: 4, 4418: 4, 4419: 4, 4420: 4, // subgroup masks
		4438: 1, // DeviceIndex
	}[b]
	if !ok {
		return invalid("%v: built-in %d is not an input of a compute shader", in, b)
	}
	if !t.isInt() || t.dims() != dims || t.bits() != 32 {
		return invalid("%v: built-in %d is %v (want %d × u32)", in, b, t, dims)
	}
	return nil
}
