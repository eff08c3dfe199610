package abi

// Execution models and modes.
const (
	modelGLCompute  = 5
	modeLocalSize   = 17
	modeLocalSizeID = 38
)

// entry checks the entry point and the memory model, and reads the local size.
func (s *shader) entry(m *Module) error {
	var main, model *inst
	for i := range s.insts {
		in := &s.insts[i]
		a := in.args()
		switch in.op {
		case opMemoryModel:
			if model != nil {
				return invalid("a second OpMemoryModel")
			}
			model = in
			logical := a[0] == 0 || a[0] == classPhysical-1
			if !logical || a[1] != 1 && a[1] != 3 {
				return invalid("%v: addressing %d, memory model %d (want Logical, GLSL450 or Vulkan)", in, a[0], a[1])
			}
		case opEntryPoint:
			name, _, ok := str(a[2:])
			if a[0] != modelGLCompute {
				return invalid("entry point %q is not a compute shader (execution model %d)", name, a[0])
			}
			if !ok || name != "main" {
				return invalid("entry point is named %q (want \"main\")", name)
			}
			if main != nil {
				return invalid("a second entry point \"main\"")
			}
			main = in
		}
	}
	if model == nil {
		return invalid("no OpMemoryModel")
	}
	if main == nil {
		return invalid("no compute entry point named \"main\"")
	}
	return s.localSize(m, main)
}

// localSize reads the workgroup size from its execution mode or, where there
// is one, from the constant decorated WorkgroupSize, which comes first.
func (s *shader) localSize(m *Module, main *inst) error {
	found := false
	fn := main.args()[1]
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opExecutionMode && in.op != opExecutionModeID {
			continue
		}
		a := in.args()
		if a[0] != fn {
			return invalid("%v: %%%d is not the entry point", in, a[0])
		}
		switch {
		case in.op == opExecutionMode && a[1] == modeLocalSize && len(a) == 5:
			found = true
			copy(m.LocalSize[:], a[2:])
		case in.op == opExecutionModeID && a[1] == modeLocalSizeID && len(a) == 5:
			found = true
			for k, id := range a[2:] {
				v, ok := s.scalars[id]
				if !ok || !s.typeOf(id).is(opTypeInt) {
					return invalid("%v: %%%d is not an integer constant", in, id)
				}
				m.LocalSize[k] = uint32(v)
			}
		case a[1] == modeLocalSize || a[1] == modeLocalSizeID:
			return invalid("%v: a local size has three numbers", in)
		}
	}
	for id, list := range s.decor {
		if b, ok := number(list, decBuiltIn); !ok || b != builtInWorkgroupSize {
			continue
		}
		c := s.at(id)
		if c == nil || c.op != opConstantComposite && c.op != opSpecConstantComposite || len(c.args()) != 3 {
			return invalid("WorkgroupSize decorates %%%d, which is not a constant of three integers", id)
		}
		found = true
		for k, part := range c.args() {
			v, ok := s.scalars[part]
			if !ok || !s.typeOf(part).is(opTypeInt) {
				return invalid("WorkgroupSize: %%%d is not an integer constant", part)
			}
			m.LocalSize[k] = uint32(v)
		}
	}
	if !found {
		return invalid("no local size (want LocalSize, LocalSizeId or a constant WorkgroupSize)")
	}
	if total := satMul(satMul(uint64(m.LocalSize[0]), uint64(m.LocalSize[1])), uint64(m.LocalSize[2])); total == 0 || total > 1<<20 {
		return invalid("local size %v (want at least 1 in each dimension, at most 2^20 invocations)", m.LocalSize)
	}
	return nil
}
