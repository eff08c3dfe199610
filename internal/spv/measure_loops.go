package spv

// Unbounded is a Module's Iterations where no bound can be proven.
const Unbounded = 1<<64 - 1

// maxLoopWork bounds what looking for bounds may cost: loops times blocks of a function.
const maxLoopWork = 1 << 22

// iterations bounds how many loop iterations an invocation runs, all loops
// together, those of functions at every call included. It proves what
// compilers make of counting loops with constant ends, and no more.
func (s *shader) iterations(m *Module) error {
	users := s.pointerUsers()
	byID := map[uint32]*function{}
	for _, fn := range s.fns {
		byID[fn.def.res] = fn
	}
	totals := map[*function]uint64{}
	var total func(fn *function) uint64
	total = func(fn *function) uint64 {
		if n, ok := totals[fn]; ok {
			return n
		}
		var headers []*block
		counts := map[*block]uint64{}
		loops := 0
		for _, b := range fn.blocks {
			if b.merge != nil && b.merge.op == opLoopMerge {
				loops++
			}
		}
		if loops*(len(fn.blocks)+len(fn.calls)) > maxLoopWork {
			totals[fn] = Unbounded
			return Unbounded
		}
		for _, b := range fn.blocks {
			if b.merge != nil && b.merge.op == opLoopMerge && b.shape.reached {
				headers = append(headers, b)
				counts[b] = s.count(fn, b, users)
			}
		}
		times := func(b *block) uint64 { // how often b runs
			n := uint64(1)
			for _, h := range headers {
				if b == h || fn.in(b, h) {
					n = timesOr(n, counts[h])
				}
			}
			return n
		}
		sum := uint64(0)
		for _, h := range headers {
			sum = plusOr(sum, times(h))
		}
		if len(fn.calls) > 0 {
			for _, b := range fn.blocks {
				for _, in := range b.body {
					if in.op == opFunctionCall && b.shape.reached {
						if inside := total(byID[in.args()[0]]); inside > 0 {
							sum = plusOr(sum, timesOr(times(b), inside))
						}
					}
				}
			}
		}
		totals[fn] = sum
		return sum
	}
	for i := range s.insts {
		if in := &s.insts[i]; in.op == opEntryPoint {
			m.Iterations = plusOr(m.Iterations, total(byID[in.args()[1]]))
		}
	}
	return nil
}

// plusOr and timesOr are sums and products up to Unbounded.
func plusOr(a, b uint64) uint64 {
	if a > Unbounded-b {
		return Unbounded
	}
	return a + b
}

func timesOr(a, b uint64) uint64 {
	if a != 0 && b > Unbounded/a {
		return Unbounded
	}
	return a * b
}

// pointerUsers lists, for each variable of a function, the instructions that use it.
func (s *shader) pointerUsers() map[uint32][]*inst {
	users := map[uint32][]*inst{}
	for i := range s.insts {
		in := &s.insts[i]
		if s.fnOf[i] == nil {
			continue
		}
		_ = s.values(in, func(_ int, id uint32) error { // f fails never
			if d := s.at(id); d.op == opVariable && d.args()[0] == classFunction {
				users[id] = append(users[id], in)
			}
			return nil
		})
	}
	return users
}

// count bounds the iterations of one loop each time it is entered. There must be a
// test that every iteration passes, which leaves the loop unless a counter is below
// (or above) a constant; and the counter must begin with a constant and go up (or
// down) by one.
func (s *shader) count(fn *function, h *block, users map[uint32][]*inst) uint64 {
	m := fn.at[h.merge.args()[0]]
	var back *block
	for _, p := range h.pred {
		if dominates(shapeOf, h, p) {
			if back != nil {
				return Unbounded
			}
			back = p
		}
	}
	if back == nil {
		return 1 // it never comes round
	}
	best := uint64(Unbounded)
	for _, b := range fn.blocks {
		if b.term.op != opBranchConditional || !b.flow.reached || !dominates(flowOf, h, b) || !dominates(flowOf, b, back) {
			continue
		}
		a := b.term.args()
		yes, no := fn.at[a[1]], fn.at[a[2]]
		if (yes == m) == (no == m) {
			continue
		}
		best = min(best, s.counter(fn, h, back, s.at(a[0]), no == m, users))
	}
	return best
}

// mirrored is the comparison with its operands in the other order, negated the
// one that is true where it is false.
var (
	mirrored = map[opcode]opcode{opUGreaterThan: opULessThan, opSGreaterThan: opSLessThan, opUGreaterThanEqual: opULessThanEqual, opSGreaterThanEqual: opSLessThanEqual,
		opULessThan: opUGreaterThan, opSLessThan: opSGreaterThan, opULessThanEqual: opUGreaterThanEqual, opSLessThanEqual: opSGreaterThanEqual, opINotEqual: opINotEqual}
	negated = map[opcode]opcode{opUGreaterThan: opULessThanEqual, opSGreaterThan: opSLessThanEqual, opUGreaterThanEqual: opULessThan, opSGreaterThanEqual: opSLessThan,
		opULessThan: opUGreaterThanEqual, opSLessThan: opSGreaterThanEqual, opULessThanEqual: opUGreaterThan, opSLessThanEqual: opSGreaterThan}
)

// counter bounds a loop that goes on while cond is as stay says.
func (s *shader) counter(fn *function, h, back *block, cond *inst, stay bool, users map[uint32][]*inst) uint64 {
	op := cond.op
	if _, ok := mirrored[op]; !ok {
		return Unbounded
	}
	x, y := cond.w[3], cond.w[4]
	if _, ok := s.literal(x); ok {
		x, y, op = y, x, mirrored[op]
	}
	if !stay {
		if op = negated[op]; op == 0 {
			return Unbounded
		}
	}
	end, ok := s.literal(y)
	t := s.typeOf(x)
	if !ok || t.width != 32 {
		return Unbounded
	}
	start, step, ok := s.induction(fn, h, back, x, users)
	if !ok {
		return Unbounded
	}
	from, to := int64(int32(start)), int64(int32(end))
	if op == opULessThan || op == opULessThanEqual || op == opUGreaterThan || op == opUGreaterThanEqual || op == opINotEqual && !t.signed {
		from, to = int64(uint32(start)), int64(uint32(end))
	}
	const edge = 1 << 30 // far from where numbers wrap round, of either sign
	if from < -edge || from > edge || to < -edge || to > edge || step < -edge || step > edge {
		return Unbounded
	}
	switch {
	case step > 0 && (op == opULessThan || op == opSLessThan || op == opULessThanEqual || op == opSLessThanEqual):
	case step < 0 && (op == opSGreaterThan || op == opSGreaterThanEqual || op == opUGreaterThan):
		if op == opUGreaterThan && step != -1 {
			return Unbounded // it may step over zero, and wrap round
		}
		from, to, step = -from, -to, -step
	case op == opINotEqual && step == 1 && from <= to && s.at(x).op != opLoad: // a variable may be stepped over it
	default:
		return Unbounded
	}
	if to < from {
		return 1
	}
	return uint64((to-from)/step) + 2 // the last test, and where the end counts
}

// literal is the value of a constant; specialisation constants have their defaults
// here.
func (s *shader) literal(id uint32) (uint64, bool) {
	v, ok := s.scalars[id]
	return v, ok
}

// induction tells how the value x of a loop counts: from a constant, by a constant.
func (s *shader) induction(fn *function, h, back *block, x uint32, users map[uint32][]*inst) (start uint64, step int64, ok bool) {
	// added reports whether id is base(…) + or − a constant, and which.
	added := func(id uint32, isBase func(uint32) bool) (int64, bool) {
		d := s.at(id)
		if d.op != opIAdd && d.op != opISub {
			return 0, false
		}
		if v, ok := s.literal(d.w[4]); ok && isBase(d.w[3]) {
			if n := int64(int32(v)); d.op == opIAdd {
				return n, true
			} else {
				return -n, true
			}
		}
		v, ok := s.literal(d.w[3])
		return int64(int32(v)), ok && d.op == opIAdd && isBase(d.w[4])
	}
	d := s.at(x)
	switch d.op {
	case opIAdd, opISub: // the test of a loop that looks at the next value
		for _, base := range d.w[3:5] {
			if p := s.at(base); p.op == opPhi && s.blockOf[s.def[base]] == h {
				if start, step, ok = s.induction(fn, h, back, base, users); ok {
					by, isNext := added(x, func(id uint32) bool { return id == base })
					return start, step, isNext && by == step
				}
			}
		}
	case opPhi:
		if s.blockOf[s.def[x]] != h || len(d.args()) != 4 {
			return 0, 0, false
		}
		a := d.args()
		first, next := a[0], a[2]
		if fn.at[a[1]] == back {
			first, next = next, first
		}
		start, ok = s.literal(first)
		step, isNext := added(next, func(id uint32) bool { return id == x })
		return start, step, ok && isNext
	case opLoad:
		return s.variable(fn, h, back, d.w[3], added, users)
	}
	return 0, 0, false
}

// variable is induction of a variable of the function, as compilers that do not
// optimise have it.
func (s *shader) variable(fn *function, h, back *block, v uint32, added func(uint32, func(uint32) bool) (int64, bool), users map[uint32][]*inst) (start uint64, step int64, ok bool) {
	if d := s.at(v); d.op != opVariable || d.args()[0] != classFunction || len(d.args()) > 1 {
		return 0, 0, false
	}
	loaded := func(id uint32) bool { d := s.at(id); return d.op == opLoad && d.w[3] == v }
	steps, starts, before := 0, 0, false
	for _, in := range users[v] {
		b := s.blockOf[s.index(in)]
		switch {
		case in.op == opLoad || in.op == opName:
		case in.op != opStore || in.w[1] != v || b == nil:
			return 0, 0, false // its address goes somewhere
		case b == h || fn.in(b, h):
			by, isNext := added(in.w[2], loaded)
			if !isNext || !dominates(flowOf, b, back) {
				return 0, 0, false
			}
			step = by
			steps++
		default:
			c, isConst := s.literal(in.w[2])
			if !isConst || starts > 0 && c != start {
				return 0, 0, false
			}
			start = c
			starts++
			before = before || dominates(flowOf, b, h)
		}
	}
	return start, step, steps == 1 && before
}
