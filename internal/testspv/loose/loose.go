// Package loose rewrites modules into others that a driver may run in their place by the rules of
// Vulkan, and that some driver does. Drivers for processors compute what a module says. With this
// package they show mistakes that only a GPU would show otherwise. Tests alone import it.
package loose

// Rules are what a driver may do.
type Rules uint

const (
	// NaN: minima and maxima return the operand that is a number. A choice between the two operands of
	// a comparison is one of them. NVIDIA's driver does that.
	NaN Rules = 1 << iota
	// Order: sums and differences of floats are computed in another order where none is decorated with
	// NoContraction, and constants are multiplied into sums where the product or quotient is not decorated.
	// NVIDIA's driver does that.
	Order
)

// Rewrite returns a module that follows the rules in as many places as it finds.
// Errors: code is no module.
func Rewrite(code []byte, rules Rules) ([]byte, error) {
	m, err := parse(code)
	if err != nil {
		return nil, err
	}
	for i := range m.list {
		if rules&NaN != 0 {
			m.extremes(i)
		}
		if rules&Order != 0 {
			m.reorder(i)
		}
	}
	return m.bytes(), nil
}

// extremes makes instruction i a minimum or maximum of numbers, if it is one.
func (m *module) extremes(i int) {
	in := &m.list[i]
	switch in.op {
	case opExtInst:
		if in.words[2] != m.glsl {
			return
		}
		words := append([]uint32{}, in.words...)
		switch in.words[3] {
		case glslFMin:
			words[3] = glslNMin
		case glslFMax:
			words[3] = glslNMax
		case glslFClamp:
			words[3] = glslNClamp
		}
		in.words = words
	case opSelect:
		at, ok := m.at[in.words[2]]
		if !ok || m.list[at].op < opLessFirst || m.list[at].op > opLessLast {
			return
		}
		compare, a, b := m.list[at], in.words[3], in.words[4]
		x, y := compare.words[2], compare.words[3]
		least := (compare.op-opLessFirst)/2%2 == 0 // of < and ≤
		switch {
		case a == x && b == y:
		case a == y && b == x:
			least = !least
		default:
			return
		}
		name := uint32(glslNMax)
		if least {
			name = glslNMin
		}
		*in = inst{opExtInst, []uint32{in.words[0], in.words[1], m.extended(), name, a, b}}
	}
}

// sum is an instruction that adds or subtracts, and is not decorated: its operands.
func (m *module) sum(id, op uint32) (a, b uint32, ok bool) {
	in, ok := m.of(id, op)
	if !ok || m.kept[id] {
		return 0, 0, false
	}
	return in.words[2], in.words[3], true
}

// reorder computes instruction i in another order.
func (m *module) reorder(i int) {
	in := &m.list[i]
	if in.op != opFAdd && in.op != opFSub && in.op != opFMul && in.op != opFDiv || m.kept[in.words[1]] {
		return
	}
	typ, id, x, y := in.words[0], in.words[1], in.words[2], in.words[3]
	set := func(op uint32, operands ...uint32) { *in = inst{op, append([]uint32{typ, id}, operands...)} }
	switch in.op {
	case opFSub:
		if a, b, ok := m.sum(x, opFAdd); ok && a == y { // (y + b) − y
			set(opCopyObject, b)
		} else if ok && b == y {
			set(opCopyObject, a)
		} else if a, b, ok := m.sum(y, opFSub); ok && a == x { // x − (x − b)
			set(opCopyObject, b)
		} else if a, b, ok := m.sum(y, opFAdd); ok && a == x { // x − (x + b)
			set(opFNegate, b)
		} else if ok && b == x {
			set(opFNegate, a)
		} else if a, b, ok := m.sum(x, opFSub); ok { // (a − b) − y
			set(opFSub, a, m.insert(i, opFAdd, typ, b, y))
		}
	case opFAdd:
		a, b, ok := m.sum(x, opFSub)
		c, d, also := m.sum(y, opFSub)
		if ok && also { // (a − b) + (c − d)
			set(opFSub, m.insert(i, opFAdd, typ, a, c), m.insert(i, opFAdd, typ, b, d))
		}
	case opFMul:
		if !m.spread(i, x, y) {
			m.spread(i, y, x)
		}
	case opFDiv:
		m.spread(i, x, y)
	}
}

// spread multiplies the terms of a sum by a factor, or divides them, if the factor and a term are constants.
func (m *module) spread(i int, sum, factor uint32) bool {
	in := &m.list[i]
	typ, id := in.words[0], in.words[1]
	f, ok := m.value(factor)
	if !ok || f == 0 {
		return false
	}
	if in.op == opFDiv {
		f = 1 / f
	}
	sign := 1.0
	terms, ok := m.of(sum, opFAdd)
	if !ok {
		terms, ok = m.of(sum, opFSub)
		sign = -1
	}
	if !ok {
		return false
	}
	a, b := terms.words[2], terms.words[3]
	term, ok := m.value(b)
	if !ok && sign > 0 {
		term, ok = m.value(a)
		a = b
	}
	if !ok {
		return false
	}
	product := m.insert(i, opFMul, typ, a, m.constant(typ, f))
	*in = inst{opFAdd, []uint32{typ, id, product, m.constant(typ, sign*term*f)}}
	return true
}
