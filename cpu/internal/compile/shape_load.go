package compile

import "github.com/lathe-gpu/lathe/internal/spv/ir"

// load is the shape of what is loaded from an address.
func (s *shapes) load(v *ir.Value) []shape {
	p := v.Args[0]
	root := rootOf(p)
	if root == nil {
		return fill(v, varying)
	}
	d := root.Var
	if d.IsBuiltin {
		return s.builtins(v, p, root)
	}
	address := s.scalar(p)
	if !address.isUniform() {
		return fill(v, varying)
	}
	to := shape{local: address.local}
	if isPrivate(root) {
		if to = s.vars[root]; !to.varying {
			to.local = to.local || s.barriers
		}
	}
	return fill(v, to)
}

// builtins is the shape of the components of a built-in input.
func (s *shapes) builtins(v, p, root *ir.Value) []shape {
	t := root.Var.Type
	if p.Op == ir.AccessChain {
		if i, ok := constantLeaf(p.Args[1], 0); ok && i < uint64(countLeaves(t)) {
			return []shape{s.builtin(root.Var.Builtin, uint32(i))}
		}
		all := s.scalar(p)
		if !all.isUniform() {
			return fill(v, varying)
		}
		for c := range t.N {
			all = all.join(s.builtin(root.Var.Builtin, c))
		}
		return []shape{all}
	}
	list := make([]shape, countLeaves(t))
	for i := range list {
		list[i] = s.builtin(root.Var.Builtin, uint32(i))
	}
	return list
}

// The built-in inputs of a compute shader.
const (
	builtinNumWorkgroups = 24
	builtinWorkgroupSize = 25
	builtinWorkgroupID   = 26
	builtinLocalID       = 27
	builtinGlobalID      = 28
	builtinLocalIndex    = 29
	builtinSubgroupSize  = 36
	builtinNumSubgroups  = 38
	builtinSubgroupID    = 40
	builtinInvocation    = 41 // the number in the subgroup
	builtinEqMask        = 4416
	builtinGeMask        = 4417
	builtinGtMask        = 4418
	builtinLeMask        = 4419
	builtinLtMask        = 4420
)

// builtin is the shape of a component of a built-in input. Invocations are numbered first in
// x, then in y, then in z.
func (s *shapes) builtin(number, component uint32) shape {
	switch number {
	case builtinLocalID, builtinGlobalID:
		if s.size[component] == 1 {
			return uniform
		}
		before := uint32(1)
		for _, n := range s.size[:component] {
			before *= n
		}
		switch {
		case before%lanes == 0:
			return shape{local: true}
		case before == 1 && s.size[component]%lanes == 0:
			return shape{stride: 1, local: true}
		}
		return varying
	case builtinLocalIndex:
		return shape{stride: 1, local: true}
	case builtinInvocation:
		return shape{stride: 1}
	case builtinSubgroupID:
		return shape{local: true}
	case builtinEqMask, builtinGeMask, builtinGtMask, builtinLeMask, builtinLtMask:
		if component == 0 {
			return varying
		}
	}
	return uniform
}

// chain is the shape of an address in bytes from the beginning of its variable.
func (s *shapes) chain(v *ir.Value) shape {
	at := s.scalar(v.Args[0])
	for _, step := range stepsOf(v) {
		if step.index == nil {
			continue
		}
		one := s.scalar(step.index)
		if one.varying || at.varying || one.stride != 0 && step.unit != int64(int32(step.unit)) {
			return varying
		}
		at = shape{stride: at.stride + one.stride*int32(step.unit), local: at.local || one.local}
	}
	return at
}

// rootOf returns the variable that a pointer points into, or nil.
func rootOf(p *ir.Value) *ir.Value {
	if p = baseOf(p); p.Op != ir.Variable {
		return nil
	}
	return p
}

// isPrivate reports whether a variable belongs to one invocation.
func isPrivate(root *ir.Value) bool {
	return root != nil && !root.Var.IsBuiltin && (root.Var.Class == ir.Function || root.Var.Class == ir.Private)
}
