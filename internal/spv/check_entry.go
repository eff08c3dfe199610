package spv

import "slices"

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
			if !logical || a[1] != modelGLSL450 && a[1] != modelVulkan { // Simple is gone by now
				return invalid("%v: addressing %d, memory model %d (want Logical, Simple, GLSL450 or Vulkan)", in, a[0], a[1])
			}
		case opEntryPoint:
			name, _, ok := str(a[2:])
			if a[0] != modelGLCompute {
				return invalid("entry point %q is not a compute shader (execution model %d)", name, a[0])
			}
			if !ok || name != entryName { // canonical has seen to it
				return invalid("entry point is named %q (want %q)", name, entryName)
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
		return invalid("no entry point")
	}
	if err := s.mainFunction(main); err != nil {
		return err
	}
	return s.localSize(m, main)
}

// mainFunction checks the entry point's function and its interface: the
// variables it lists must be global ones, and every input used is listed.
func (s *shader) mainFunction(main *inst) error {
	a := main.args()
	fn := s.at(a[1])
	if fn.op != opFunction {
		return invalid("%v: %%%d is not a function", main, a[1])
	}
	ft := s.types[fn.args()[1]]
	if !ft.elem.is(opTypeVoid) || len(ft.members) != 0 {
		return invalid("%v: the entry point takes or returns something", main)
	}
	for _, f := range s.fns {
		if slices.Contains(f.calls, a[1]) {
			return invalid("%v: the entry point is called by %%%d", main, f.def.res)
		}
	}
	_, n, _ := str(a[2:])
	listed := map[uint32]bool{}
	for _, id := range a[2+n:] {
		v := s.at(id)
		if v.op != opVariable || v.args()[0] == classFunction {
			return invalid("%v: %%%d in its interface is not a global variable", main, id)
		}
		if class := v.args()[0]; s.version < 0x10400 && class != classInput && class != classOutput {
			return invalid("%v: %%%d in its interface is not an input", main, id)
		}
		if listed[id] && s.version >= 0x10400 {
			return invalid("%v: %%%d is listed twice in its interface", main, id)
		}
		listed[id] = true
	}
	for i := range s.insts {
		in := &s.insts[i]
		if s.fnOf[i] == nil {
			continue
		}
		err := s.values(in, func(_ int, id uint32) error {
			v := s.at(id)
			if v.op == opVariable && !listed[id] && (v.args()[0] == classInput || s.version >= 0x10400 && v.args()[0] != classFunction) {
				return invalid("%v uses %%%d, which the interface of the entry point does not list", in, id)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
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
		case in.op == opExecutionMode && a[1] >= modeDenormPreserve && a[1] <= modeRoundingRTZ && len(a) == 3: // float controls
			if a[2] != 16 && a[2] != 32 && a[2] != 64 {
				return invalid("%v: floats of %d bits", in, a[2])
			}
		case in.op == opExecutionMode && a[1] == modeSubgroupFlow && len(a) == 2:
		default:
			return invalid("%v: execution mode %d is not one of a compute shader", in, a[1])
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
