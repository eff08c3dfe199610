package spv

import "fmt"

// check applies the type rules to every instruction.
func (s *shader) check() error {
	for i := range s.insts {
		in := &s.insts[i]
		if s.fnOf[i] == nil && in.op != opSpecConstantOp && in.op != opUndef && in.op != opVariable {
			continue
		}
		if err := s.checkInst(in); err != nil {
			return err
		}
	}
	for _, fn := range s.fns {
		if err := s.checkFunction(fn); err != nil {
			return err
		}
	}
	return s.recursion()
}

// call is the view of one instruction that the type rules work with.
type call struct {
	*shader
	in  *inst
	t   *typ // result type, nil if the opcode has none
	a   []uint32
	bad error
}

// arg is the type of operand k, or nil.
func (c *call) arg(k int) *typ {
	if k >= len(c.a) {
		return nil
	}
	return c.typeOf(c.a[k])
}

// want records an error unless ok. It returns ok.
func (c *call) want(ok bool, format string, args ...any) bool {
	if !ok && c.bad == nil {
		c.bad = invalid("%v: %s", c.in, fmt.Sprintf(format, args...))
	}
	return ok
}

func (s *shader) checkInst(in *inst) error {
	c := &call{shader: s, in: in, t: s.types[in.typ], a: in.args()}
	op := in.op
	if op == opSpecConstantOp {
		op, c.a = opcode(c.a[0]), c.a[1:]
	}
	if in.typ != 0 && op != opFunction && op != opFunctionCall && op != opExtInst && c.t.is(opTypeVoid) {
		return invalid("%v: result type is void", in)
	}
	// Each group says whether op is one of its own.
	_ = c.memory(op) || c.composite(op) || c.arithmetic(op) || c.logic(op) || c.convert(op) ||
		c.atomic(op) || c.group(op) || c.image(op) || c.flow(op)
	return c.bad
}

// flow checks calls, branches and the rest; it is the last group.
func (c *call) flow(op opcode) bool {
	switch op {
	case opFunctionCall:
		def := c.at(c.a[0])
		ft := c.types[def.args()[1]]
		if !c.want(ft.is(opTypeFunction) && len(ft.members) == len(c.a)-1, "wrong number of arguments") {
			return true
		}
		c.want(c.t == ft.elem, "result is %v, the function returns %v", c.t, ft.elem)
		for k, p := range ft.members {
			c.want(c.arg(k+1) == p, "argument %d is %v (want %v)", k, c.arg(k+1), p)
		}
	case opBranchConditional:
		c.want(c.arg(0).is(opTypeBool), "condition is %v (want bool)", c.arg(0))
		c.want(len(c.a) == 3 || len(c.a) == 5 && (c.a[3]|c.a[4]) != 0, "branch weights (got %d, want none or 2)", len(c.a)-3)
		c.want(c.version < 0x10600 || c.a[1] != c.a[2], "both ways lead to %%%d", c.a[1])
	case opReturn, opReturnValue:
		ret := c.types[c.fnOf[c.index(c.in)].def.typ]
		if op == opReturn {
			c.want(ret.is(opTypeVoid), "returns nothing (want %v)", ret)
		} else {
			c.want(c.arg(0) == ret, "returns %v (want %v)", c.arg(0), ret)
		}
	case opSelectionMerge:
		c.want(c.a[1] < 3, "selection control %#x", c.a[1])
	case opLoopMerge:
		want := 3
		for bit := 2; bit <= 8; bit++ { // the controls from DependencyLength on carry a literal, but for DependencyInfinite
			if bit != 2 && c.a[2]>>bit&1 != 0 {
				want++
			}
		}
		c.want(c.a[2] < 1<<9 && len(c.a) == want && c.a[2]&3 != 3, "loop control %#x with %d parameters", c.a[2], len(c.a)-3)
	case opPhi:
		c.want(!c.t.is(opTypeVoid), "result type is void")
	case opExtInst:
		c.extended()
	}
	return true
}

// checkFunction checks a function's declaration against its type.
func (s *shader) checkFunction(fn *function) error {
	a := fn.def.args()
	ft := s.types[a[1]]
	if !ft.is(opTypeFunction) {
		return invalid("%v: %%%d is not a function type", fn.def, a[1])
	}
	if s.types[fn.def.typ] != ft.elem {
		return invalid("%v: result type differs from that of its function type", fn.def)
	}
	if a[0] > 15 {
		return invalid("%v: function control %#x", fn.def, a[0])
	}
	if len(fn.params) != len(ft.members) {
		return invalid("%v: parameters (got %d, want %d)", fn.def, len(fn.params), len(ft.members))
	}
	for k, p := range fn.params {
		if s.types[p.typ] != ft.members[k] {
			return invalid("%v: type differs from parameter %d of its function type", p, k)
		}
	}
	return nil
}

// recursion refuses functions that call themselves, by whatever way.
func (s *shader) recursion() error {
	byID := map[uint32]*function{}
	for _, fn := range s.fns {
		byID[fn.def.res] = fn
		for _, b := range fn.blocks {
			for _, in := range b.body {
				if in.op == opFunctionCall {
					fn.calls = append(fn.calls, in.args()[0])
				}
			}
		}
	}
	state := map[*function]int{} // 1 being visited, 2 done
	type frame struct {
		fn   *function
		next int
	}
	for _, root := range s.fns {
		if state[root] != 0 {
			continue
		}
		state[root] = 1
		for stack := []frame{{root, 0}}; len(stack) > 0; {
			f := &stack[len(stack)-1]
			if f.next == len(f.fn.calls) {
				state[f.fn] = 2
				stack = stack[:len(stack)-1]
				continue
			}
			callee := byID[f.fn.calls[f.next]]
			f.next++
			switch state[callee] {
			case 0:
				state[callee] = 1
				stack = append(stack, frame{callee, 0})
			case 1:
				return invalid("function %%%d calls itself", callee.def.res)
			}
		}
	}
	return nil
}
