package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// shape says how the values of the invocations of a workgroup differ.
type shape struct {
	// varying says that those of a vector may differ in any manner.
	varying bool
	// stride is the difference of neighbours in a vector, if varying is not set. It is 0 if
	// all are the same. Only integers of 32 bits have another one.
	stride int32
	// local says that the vectors of a workgroup may differ. It is set if varying is.
	local bool
}

var (
	uniform = shape{}
	varying = shape{varying: true, local: true}
)

// isUniform reports whether the value is the same in all lanes of a vector.
func (s shape) isUniform() bool { return !s.varying && s.stride == 0 }

// join is the shape of what may be either.
func (s shape) join(t shape) shape {
	if s.varying || t.varying || s.stride != t.stride {
		return varying
	}
	s.local = s.local || t.local
	return s
}

// shapes are the shapes of the values of a function.
type shapes struct {
	*graph
	size [3]uint32
	// values has a shape for each leaf.
	values map[*ir.Value][]shape
	// vars are the shapes of variables of the classes Function and Private, all leaves
	// together.
	vars map[*ir.Value]shape
	// partial are the targets of branches at which invocations of a vector may arrive at
	// different times. The block nil stands for the end of the function.
	partial map[*ir.Block]bool
	changed bool
}

// shapesOf analyses a function without calls. It begins with everything uniform and goes on
// until nothing changes. Shapes only become less regular, so that it ends.
func shapesOf(g *graph, p *ir.Program) *shapes {
	s := &shapes{graph: g, size: p.LocalSize, values: map[*ir.Value][]shape{}, vars: map[*ir.Value]shape{}, partial: map[*ir.Block]bool{}}
	for _, v := range slices.Concat(p.Vars, g.f.Vars) {
		if isPrivate(v) && v.Var.Init != nil {
			s.vars[v] = shape{local: g.barriers}
		}
	}
	for s.changed = true; s.changed; {
		s.changed = false
		for _, b := range g.f.Blocks {
			for _, v := range b.Values {
				s.visit(b, v)
			}
			s.leave(b)
		}
	}
	return s
}

// of returns the shapes of the leaves of a value.
func (s *shapes) of(v *ir.Value) []shape {
	if known := s.values[v]; known != nil || v.Type == nil {
		return known
	}
	if v.Block == nil { // a constant, or the beginning of a variable
		s.values[v] = make([]shape, countLeaves(v.Type))
		return s.values[v]
	}
	return make([]shape, countLeaves(v.Type)) // It is not visited yet, on the way back in a loop.
}

// whole is the shape of all leaves of a value together.
func (s *shapes) whole(v *ir.Value) shape {
	var one shape
	for i, l := range s.of(v) {
		if i == 0 {
			one = l
		}
		one = one.join(l)
	}
	return one
}

// scalar is the shape of a scalar.
func (s *shapes) scalar(v *ir.Value) shape { return s.of(v)[0] }

// differs reports whether a block ends with a choice that is not the same for all
// invocations of a vector.
func (s *shapes) differs(b *ir.Block) bool {
	if len(b.Next) < 2 {
		return false
	}
	if c := s.graph.of[b]; c != nil && c.outer && !c.isLoop() {
		return false // A barrier depends on it.
	}
	one := s.scalar(b.Term.Args[0])
	return !one.isUniform() || one.local && s.isOuterChoice(b)
}

// isOuterChoice reports whether the choice at the end of a block is one for the whole
// workgroup.
func (s *shapes) isOuterChoice(b *ir.Block) bool {
	return s.isOuter(b) && (s.graph.of[b] == nil || s.graph.of[b].outer)
}

// inner returns the outermost construct without a barrier that b is in, or nil. The head of
// a selection runs before it.
func (s *shapes) inner(b *ir.Block) *construct {
	for _, c := range s.inside[b] {
		if !c.outer && (c.head != b || c.isLoop()) {
			return c
		}
	}
	return nil
}

// isOuter reports whether all constructs around a block have barriers, so that it runs once
// for the workgroup.
func (s *shapes) isOuter(b *ir.Block) bool { return s.barriers && s.inner(b) == nil }

// isOuterPhi reports whether all invocations of the workgroup come to a block on the same
// path.
func (s *shapes) isOuterPhi(b *ir.Block) bool {
	if !s.isOuter(b) {
		return false
	}
	for _, c := range s.graph.of {
		if !c.outer && c.merge == b {
			return false
		}
	}
	return true
}

// leave notes at which targets invocations arrive at different times because of the end of
// block b.
func (s *shapes) leave(b *ir.Block) {
	differs, outer := s.differs(b), s.isOuterChoice(b)
	if outer && !differs {
		return // All invocations that are left go the same way.
	}
	targets := b.Next
	if len(targets) == 0 {
		targets = []*ir.Block{nil}
	}
	if c := s.graph.of[b]; c != nil && differs {
		s.mark(&c.open)
	}
	if b.Term.Op == ir.Switch && differs {
		for _, to := range b.Next { // A case before it may fall through.
			if len(to.Preds) > 1 && !s.partial[to] {
				s.partial[to], s.changed = true, true
			}
		}
	}
	for _, to := range targets {
		left, of := s.crossed(b, to)
		if to != nil && (of == nil || to == of.head) {
			continue // It stays in the constructs, or all that are left go back together.
		}
		late := differs || slices.ContainsFunc(left, func(c *construct) bool { return c.open })
		if of != nil && to == of.merge && of.isLoop() && s.partial[of.cont] && !of.continues[b] {
			late = true // Others wait at the continue target.
		}
		if of != nil && to == of.merge && of.head == b && differs {
			late = true
		}
		if of != nil && !of.isLoop() && of.open {
			late = true
		}
		if s.barriers && !outer && (of == nil || of.outer) {
			late = true // The vectors come one after the other.
		}
		if !late || s.partial[to] {
			continue
		}
		s.partial[to], s.changed = true, true
		if of != nil {
			s.mark(&of.open)
		}
	}
}

func (s *shapes) mark(b *bool) {
	if !*b {
		*b, s.changed = true, true
	}
}

// waits reports whether invocations of a vector may wait elsewhere in the function while
// block b runs, and go on later.
func (s *shapes) waits(b *ir.Block) bool {
	return slices.ContainsFunc(s.inside[b], func(c *construct) bool { return c.open && (c.head != b || c.isLoop()) })
}

// visit computes the shape of a value from those of its operands.
func (s *shapes) visit(b *ir.Block, v *ir.Value) {
	if v.Op == ir.Store {
		if base := rootOf(v.Args[0]); isPrivate(base) {
			to := s.whole(v.Args[1])
			if s.waits(b) || !s.scalar(v.Args[0]).isUniform() {
				to = varying
			}
			if to.stride != 0 && countLeaves(base.Var.Type) > 1 {
				to = varying // All leaves of a variable have one shape.
			}
			to.local = to.local || s.barriers
			old, known := s.vars[base]
			if known {
				to = to.join(old)
			}
			if !known || to != old {
				s.vars[base], s.changed = to, true
			}
		}
		return
	}
	if v.Type == nil || v.Type.Kind == ir.Void {
		return
	}
	to := s.shapesOf(b, v)
	old := s.values[v]
	for i := range old {
		to[i] = to[i].join(old[i])
	}
	if !slices.Equal(old, to) {
		s.values[v], s.changed = to, true
	}
}

// fill returns one shape for all leaves of a value.
func fill(v *ir.Value, with shape) []shape {
	list := make([]shape, countLeaves(v.Type))
	for i := range list {
		list[i] = with
	}
	return list
}

// shapesOf returns the shapes of the leaves of a value.
func (s *shapes) shapesOf(b *ir.Block, v *ir.Value) []shape {
	switch v.Op {
	case ir.Phi:
		return s.phi(b, v)
	case ir.Undef:
		return fill(v, uniform)
	case ir.Load:
		return s.load(v)
	case ir.AccessChain, ir.PtrAccessChain:
		return []shape{s.chain(v)}
	case ir.CopyObject, ir.CopyLogical:
		return slices.Clone(s.of(v.Args[0]))
	case ir.CompositeConstruct:
		var list []shape
		for _, a := range v.Args {
			list = append(list, s.of(a)...)
		}
		return list
	case ir.CompositeExtract:
		part, before := partAt(v.Args[0].Type, v.Literals)
		return slices.Clone(s.of(v.Args[0])[before : before+countLeaves(part)])
	case ir.CompositeInsert:
		list := slices.Clone(s.of(v.Args[1]))
		_, before := partAt(v.Args[1].Type, v.Literals)
		copy(list[before:], s.of(v.Args[0]))
		return list
	case ir.VectorShuffle:
		from := append(slices.Clone(s.of(v.Args[0])), s.of(v.Args[1])...)
		list := make([]shape, len(v.Literals))
		for i, k := range v.Literals {
			if int(k) < len(from) {
				list[i] = from[k]
			}
		}
		return list
	case ir.IAdd, ir.ISub, ir.IMul, ir.ShiftLeftLogical:
		list := make([]shape, countLeaves(v.Type))
		for i := range list {
			list[i] = s.linear(v, i)
		}
		return list
	case ir.UDiv, ir.UMod, ir.ShiftRightLogical, ir.BitwiseAnd:
		if one, ok := s.aligned(v); ok {
			return []shape{one}
		}
	case ir.Bitcast, ir.UConvert, ir.SConvert:
		if a := v.Args[0].Type; a.Scalar() != nil && v.Type.Scalar() != nil && a.Scalar().Kind == ir.Int && v.Type.Scalar().Kind == ir.Int &&
			a.Scalar().Bits == 32 && v.Type.Scalar().Bits == 32 && a.Components() == v.Type.Components() {
			return slices.Clone(s.of(v.Args[0]))
		}
	}
	if v.Op == ir.ReadClockKHR {
		return fill(v, shape{local: true})
	}
	if isAtomic(v.Op) || v.Op == ir.GroupNonUniformElect {
		return fill(v, varying) // Each invocation sees another state of the memory.
	}
	if v.Op >= ir.GroupNonUniformElect && v.Op <= ir.GroupNonUniformLogicalXor {
		return fill(v, s.subgroup(v))
	}
	n := countLeaves(v.Type)
	leafwise := v.Type.Kind == ir.Vector && v.Op != ir.ExtInst
	for _, a := range v.Args {
		leafwise = leafwise && len(s.of(a)) == n
	}
	var whole shape
	list := make([]shape, n)
	for _, a := range v.Args {
		for i, one := range s.of(a) {
			if !one.isUniform() {
				one = varying
			}
			if whole = whole.join(one); leafwise {
				list[i] = list[i].join(one)
			}
		}
	}
	if !leafwise {
		return fill(v, whole)
	}
	return list
}

// isAtomic reports whether an operation reads memory that other invocations change.
func isAtomic(op ir.Op) bool {
	return op >= ir.AtomicLoad && op <= ir.AtomicXor || op == ir.AtomicFAddEXT || op == ir.AtomicFMinEXT || op == ir.AtomicFMaxEXT
}

// subgroup is the shape of the result of a subgroup operation.
func (s *shapes) subgroup(v *ir.Value) shape {
	switch v.Op {
	case ir.GroupNonUniformAll, ir.GroupNonUniformAny, ir.GroupNonUniformAllEqual, ir.GroupNonUniformBroadcast, ir.GroupNonUniformBroadcastFirst, ir.GroupNonUniformBallot:
		return shape{local: true}
	}
	if v.Op >= ir.GroupNonUniformIAdd && len(v.Literals) > 0 && v.Literals[0] == groupReduce {
		return shape{local: true}
	}
	return varying
}

// groupReduce is the operand of subgroup operations on all invocations.
const groupReduce = 0

// linear is the shape of a leaf of a sum, a difference, a product or a shift to the left.
func (s *shapes) linear(v *ir.Value, i int) shape {
	a, b := s.of(v.Args[0])[i], s.of(v.Args[1])[i]
	local := a.local || b.local
	if a.isUniform() && b.isUniform() {
		return shape{local: local}
	}
	if a.varying || b.varying || v.Type.Scalar().Bits != 32 {
		return varying
	}
	switch v.Op {
	case ir.IAdd:
		return shape{stride: a.stride + b.stride, local: local}
	case ir.ISub:
		return shape{stride: a.stride - b.stride, local: local}
	}
	ca, oka := constantLeaf(v.Args[0], i)
	cb, okb := constantLeaf(v.Args[1], i)
	switch {
	case v.Op == ir.ShiftLeftLogical && okb && cb < 32:
		return shape{stride: a.stride << cb, local: local}
	case v.Op == ir.IMul && okb:
		return shape{stride: a.stride * int32(cb), local: local}
	case v.Op == ir.IMul && oka:
		return shape{stride: b.stride * int32(ca), local: local}
	}
	return varying
}

// aligned is the shape of a quotient or a remainder of a number that rises by one, if the
// vectors begin at multiples of their length. Invocations of a vector then have the same
// quotient by such a multiple.
func (s *shapes) aligned(v *ir.Value) (one shape, ok bool) {
	c, constant := constantLeaf(v.Args[1], 0)
	if v.Type.Kind != ir.Int || v.Type.Bits != 32 || !constant || s.scalar(v.Args[0]).stride != 1 || !s.beginsAligned(v.Args[0]) {
		return shape{}, false
	}
	local := s.scalar(v.Args[0]).local
	switch {
	case v.Op == ir.UDiv && c > 0 && c%lanes == 0, v.Op == ir.ShiftRightLogical && c >= 2 && c < 32:
		return shape{local: local}, true
	case v.Op == ir.UMod && c > 0 && c%lanes == 0, v.Op == ir.BitwiseAnd && c%lanes == lanes-1:
		return shape{stride: 1, local: local}, true
	}
	return shape{}, false
}

// beginsAligned reports whether the first invocation of each vector has a multiple of the
// length of vectors.
func (s *shapes) beginsAligned(v *ir.Value) bool {
	switch v.Op {
	case ir.Const:
		c, ok := constantLeaf(v, 0)
		return ok && c%lanes == 0
	case ir.Load:
		root := rootOf(v.Args[0])
		if root == nil || !root.Var.IsBuiltin || v.Args[0].Op != ir.AccessChain {
			return false
		}
		i, ok := constantLeaf(v.Args[0].Args[1], 0)
		number := root.Var.Builtin
		return ok && i == 0 && s.size[0]%lanes == 0 && (number == builtinGlobalID || number == builtinLocalID)
	case ir.CompositeExtract:
		from := v.Args[0]
		if from.Op != ir.Load || len(v.Literals) != 1 || v.Literals[0] != 0 || s.size[0]%lanes != 0 {
			return false
		}
		root := rootOf(from.Args[0])
		return root != nil && root.Var.IsBuiltin && (root.Var.Builtin == builtinGlobalID || root.Var.Builtin == builtinLocalID)
	case ir.CopyObject, ir.Bitcast:
		return s.beginsAligned(v.Args[0])
	case ir.IAdd, ir.ISub:
		return s.beginsAligned(v.Args[0]) && s.beginsAligned(v.Args[1])
	case ir.IMul:
		return s.beginsAligned(v.Args[0]) || s.beginsAligned(v.Args[1])
	case ir.ShiftLeftLogical:
		c, ok := constantLeaf(v.Args[1], 0)
		return ok && (c >= 2 && c < 32 || s.beginsAligned(v.Args[0]))
	}
	return false
}

// constantLeaf returns the bits of a leaf of a constant.
func constantLeaf(v *ir.Value, i int) (bits uint64, ok bool) {
	if v.Op != ir.Const {
		return 0, false
	}
	if len(v.Args) == 0 {
		return v.Bits, v.Type.Kind != ir.Vector || v.Bits == 0
	}
	for _, a := range v.Args {
		n := countLeaves(a.Type)
		if i < n {
			return constantLeaf(a, i)
		}
		i -= n
	}
	return 0, false
}

// phi is the shape of a value that depends on the path. If invocations arrive at different
// times, it differs although the operands do not.
func (s *shapes) phi(b *ir.Block, v *ir.Value) []shape {
	if s.partial[b] {
		return fill(v, varying)
	}
	var list []shape
	for _, a := range v.Args {
		if a.Block != nil && s.values[a] == nil {
			continue // It is on the way back of a loop, and not visited yet.
		}
		if list == nil {
			list = slices.Clone(s.of(a))
			continue
		}
		for i, one := range s.of(a) {
			list[i] = list[i].join(one)
		}
	}
	if list == nil {
		list = fill(v, uniform)
	}
	if !s.isOuterPhi(b) {
		for i := range list {
			list[i].local = true // The path is that of the vector.
		}
	}
	return list
}
