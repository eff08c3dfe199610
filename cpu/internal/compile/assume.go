package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// A workgroup in the middle of the data has no use for the checks that its edges need:
// comparisons of positions with sizes, clamped positions, and whether loads are in their
// buffers. So the function has a second version of the loop over the vectors, in which these
// comparisons are constants. It runs if they hold for the first and the last invocation of
// the workgroup, and thus for all between them.

// assumption says that a comparison of two lines has a known result for all invocations.
type assumption struct {
	op    ir.Op
	a, b  line
	truth bool
}

// interior is the version for workgroups in the middle.
type interior struct {
	prog        *ir.Program
	fixed       []*ir.Value // in the order in which they are computed
	assumptions []assumption
	lines       *lines
	live        map[*ir.Value]bool
	// windows are the ranges that loads and stores use, by root and line.
	windows map[windowKey]*window
	order   []windowKey // the keys of windows
}

// windowKey names a window: by its buffer, whose name and id say nothing, and line.key.
type windowKey struct {
	root *ir.Value
	line string
}

// window is a range of a buffer that moves on by the same distance with each invocation.
type window struct {
	root *ir.Value
	at   line // its plus does not count
	// from and to bound the range that an invocation uses.
	from, to int32
	uses     int
	pointer  uint32 // local with the address of from, for the first invocation of a vector
}

// maxInterior is the number of instructions up to which a function has two versions.
const maxInterior = 3000

// newInterior makes the version of a program, which it changes. It returns nil if there is
// nothing to assume.
func newInterior(p *ir.Program) *interior {
	n := 0
	for _, b := range p.Entry.Blocks {
		n += len(b.Values)
	}
	total := p.LocalSize[0]
	if n > maxInterior || p.LocalSize[1]*p.LocalSize[2] != 1 || total%lanes != 0 || total < 4*lanes {
		return nil
	}
	s := shapesOf(graphOf(p.Entry), p)
	if s.barriers {
		return nil
	}
	l := newLines(p, s)
	in := &interior{prog: p, windows: map[windowKey]*window{}}
	before := l.fixedInOrder(p)
	in.assume(l)
	fold(p.Entry)
	p.Join()
	p.Simplify()
	p.Reuse()
	if checked {
		if err := p.Check(); err != nil {
			panic(err.Error())
		}
	}
	in.lines = newLines(p, analyse(p))
	for v := range l.fixed { // Their order stays that of the first analysis.
		in.lines.order[v] = l.order[v]
	}
	clear(in.lines.known)
	in.fixed = before
	for _, v := range in.lines.fixedInOrder(p) {
		if !l.fixed[v] {
			in.fixed = append(in.fixed, v)
		}
	}
	for _, v := range before {
		in.lines.fixed[v] = l.fixed[v]
	}
	in.findLive()
	for _, v := range in.fixed {
		if slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return a.Block != nil && !in.lines.fixed[a] }) {
			return nil
		}
	}
	return in
}

// fixedInOrder lists the fixed values.
func (l *lines) fixedInOrder(p *ir.Program) (list []*ir.Value) {
	for _, b := range p.Entry.Blocks {
		for _, v := range b.Values {
			if l.fixed[v] {
				list = append(list, v)
			}
		}
	}
	return list
}

// assume replaces comparisons, minima and maxima of lines.
func (in *interior) assume(l *lines) {
	f := in.prog.Entry
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.ExtInst {
				if to := in.bound(l, v); to != nil {
					f.Replace(v, to)
					clear(l.known)
				}
				continue
			}
			if v.Op < ir.IEqual || v.Op > ir.SLessThanEqual || v.Type.Kind != ir.Bool {
				continue
			}
			if truth, ok := in.compare(l, v.Op, v.Args[0], v.Args[1]); ok {
				bits := uint64(0)
				if truth {
					bits = 1
				}
				f.Replace(v, &ir.Value{Op: ir.Const, Type: v.Type, Bits: bits})
			}
		}
	}
}

// compare assumes what a comparison results in where a workgroup is in the middle: positions
// are below sizes, and above constants.
func (in *interior) compare(l *lines, op ir.Op, x, y *ir.Value) (truth, ok bool) {
	a, oka := l.of(x, 0)
	b, okb := l.of(y, 0)
	if !oka || !okb || (a.by == 0) == (b.by == 0) || len(a.terms)+len(b.terms) == 0 {
		return false, false
	}
	switch op {
	case ir.IEqual, ir.INotEqual:
		truth = op == ir.INotEqual
	case ir.ULessThan, ir.ULessThanEqual, ir.SLessThan, ir.SLessThanEqual:
		truth = a.by != 0
	case ir.UGreaterThan, ir.UGreaterThanEqual, ir.SGreaterThan, ir.SGreaterThanEqual:
		truth = b.by != 0
	default:
		return false, false
	}
	if op != ir.IEqual && op != ir.INotEqual && (a.by == 0 && len(a.terms) == 0 || b.by == 0 && len(b.terms) == 0) {
		truth = !truth
	}
	in.assumptions = append(in.assumptions, assumption{op, a, b, truth})
	return truth, true
}

// bound returns the operand that a minimum, a maximum or a clamp is assumed to be.
func (in *interior) bound(l *lines, v *ir.Value) *ir.Value {
	if v.Type.Kind != ir.Int || v.Type.Bits != 32 {
		return nil
	}
	less, greater := ir.SLessThanEqual, ir.SGreaterThanEqual
	number := v.Literals[0]
	if number == glslUMin || number == glslUMax || number == glslUClamp {
		less, greater = ir.ULessThanEqual, ir.UGreaterThanEqual
	}
	moves := func(k int) bool { a, ok := l.of(v.Args[k], 0); return ok && a.by != 0 }
	rests := func(k int) (line, bool) { a, ok := l.of(v.Args[k], 0); return a, ok && a.by == 0 }
	hold := func(op ir.Op, x line, y line) {
		in.assumptions = append(in.assumptions, assumption{op, x, y, true})
	}
	switch number {
	case glslSMin, glslUMin, glslSMax, glslUMax:
		op := less
		if number == glslSMax || number == glslUMax {
			op = greater
		}
		for k := range 2 {
			if other, ok := rests(1 - k); ok && moves(k) {
				x, _ := l.of(v.Args[k], 0)
				hold(op, x, other)
				return v.Args[k]
			}
		}
	case glslSClamp, glslUClamp:
		low, okl := rests(1)
		high, okh := rests(2)
		if okl && okh && moves(0) {
			x, _ := l.of(v.Args[0], 0)
			hold(greater, x, low)
			hold(less, x, high)
			return v.Args[0]
		}
	}
	return nil
}

// findLive finds the values that are needed. Addresses of windows are not.
func (in *interior) findLive() {
	in.live = map[*ir.Value]bool{}
	var list []*ir.Value
	need := func(v *ir.Value) {
		if v.Block != nil && !in.live[v] {
			in.live[v] = true
			list = append(list, v)
		}
	}
	needLine := func(a line) {
		for _, t := range a.terms {
			if t.v != nil {
				need(t.v)
			}
		}
	}
	for _, a := range in.assumptions {
		needLine(a.a)
		needLine(a.b)
	}
	for _, b := range in.prog.Entry.Blocks {
		for v := range b.Instructions() {
			if v.Type == nil || v.Type.Kind == ir.Void || isAtomic(v.Op) || v.Op == ir.ExtInst || v == b.Term || v.Op >= ir.GroupNonUniformElect && v.Op <= ir.GroupNonUniformLogicalXor {
				need(v)
			}
		}
	}
	for len(list) > 0 {
		v := list[len(list)-1]
		list = list[:len(list)-1]
		for i, a := range v.Args {
			if i == 0 && (v.Op == ir.Load || v.Op == ir.Store) {
				if at, ok := in.address(a); ok {
					needLine(at)
					continue
				}
			}
			need(a)
		}
	}
}

// address returns the line of an address that needs a window.
func (in *interior) address(p *ir.Value) (line, bool) {
	root := rootOf(p)
	if root == nil || root.Var.IsBuiltin || root.Var.Class != ir.StorageBuffer && root.Var.Class != ir.Uniform {
		return line{}, false
	}
	at, ok := in.lines.of(p, 0)
	if !ok || at.by < 0 || at.by > 1<<12 || at.plus < -mostApart || at.plus > mostApart {
		return line{}, false
	}
	for _, a := range (layout{}).accesses(placeOf(p)) {
		if a.offset > mostApart || a.span > mostApart {
			return line{}, false
		}
	}
	return at, true
}

// mostApart bounds the distances in a window, so that sums of them are below 2^31.
const mostApart = 1 << 27

// window returns the local with the address of an access for the first invocation of a
// vector, the offset to add, and the line of the address.
func (e *emitter) window(p, root *ir.Value, a *access) (pointer, offset uint32, at line, ok bool) {
	if e.in == nil {
		return 0, 0, line{}, false
	}
	if at, ok = e.in.address(p); !ok {
		return 0, 0, line{}, false
	}
	from := at.plus + int32(a.offset)
	w := e.in.window(root, at, from, from+int32(a.span))
	w.uses++
	return w.pointer, uint32(from - w.from), at, true
}

// window returns the window of a line, which reaches from a distance to another one at least.
func (in *interior) window(root *ir.Value, at line, from, to int32) *window {
	key := windowKey{root, at.key()}
	w := in.windows[key]
	if w == nil {
		w = &window{root: root, at: at, from: from, to: from}
		in.windows[key] = w
		in.order = append(in.order, key)
	}
	w.from, w.to = min(w.from, from), max(w.to, to)
	return w
}

// pushInterior computes what the version needs, and pushes whether it may run.
func (e *emitter) pushInterior() {
	last := e.prog.LocalSize[0] - 1
	e.I32Const(1)
	for _, a := range e.in.assumptions {
		e.pushAssumption(a, last)
		e.Op(wasm.I32And)
	}
	for _, key := range e.in.order {
		w := e.in.windows[key]
		b := e.bufs[w.root.ID]
		extent := w.at.by*int32(last) + w.to - w.from
		w.pointer = e.Local(wasm.I32)
		at := w.at
		at.plus = w.from
		e.pushLine(at, 0)
		e.Set(w.pointer)
		e.Get(b.size)
		e.I32Const(extent)
		e.Op(wasm.I32GeU)
		e.Op(wasm.I32And)
		e.Get(w.pointer)
		e.Get(b.size)
		e.I32Const(extent)
		e.Op(wasm.I32Sub)
		e.Op(wasm.I32LeU)
		e.Op(wasm.I32And)
		e.Get(w.pointer)
		e.Get(b.base)
		e.Op(wasm.I32Add)
		e.Set(w.pointer)
	}
}

// pushAssumption pushes whether an assumption holds.
func (e *emitter) pushAssumption(x assumption, last uint32) {
	signed := x.op >= ir.SGreaterThan && (x.op == ir.SGreaterThan || x.op == ir.SGreaterThanEqual || x.op == ir.SLessThan || x.op == ir.SLessThanEqual)
	rises := wasm.I32LeU
	if signed {
		rises = wasm.I32LeS
	}
	ends := func(a line) (first, end uint32) {
		e.pushLine(a, 0)
		first = e.newLocal(wasm.I32)
		e.Get(first)
		e.I32Const(a.by * int32(last))
		e.Op(wasm.I32Add)
		return first, e.newLocal(wasm.I32)
	}
	a0, a1 := ends(x.a)
	b0, b1 := ends(x.b)
	for i, l := range []line{x.a, x.b} {
		low, high := a0, a1
		if i == 1 {
			low, high = b0, b1
		}
		if l.by < 0 {
			low, high = high, low
		}
		e.Get(low)
		e.Get(high)
		if e.Op(rises); i == 1 {
			e.Op(wasm.I32And)
		}
	}
	if x.op == ir.IEqual || x.op == ir.INotEqual { // They are never equal: one is below the other at both ends.
		for _, op := range []wasm.Op{wasm.I32LtU, wasm.I32GtU} {
			e.Get(a0)
			e.Get(b0)
			e.Op(op)
			e.Get(a1)
			e.Get(b1)
			e.Op(op)
			e.Op(wasm.I32And)
		}
		e.Op(wasm.I32Or)
		e.Op(wasm.I32And)
		return
	}
	o := simple[x.op]
	for _, pair := range [][2]uint32{{a0, b0}, {a1, b1}} {
		e.Get(pair[0])
		e.Get(pair[1])
		if e.Op(o.i32); !x.truth {
			e.Op(wasm.I32Eqz)
		}
		e.Op(wasm.I32And)
	}
}

// advance moves the windows on to the next vector.
func (e *emitter) advance() {
	for _, key := range e.in.order {
		if w := e.in.windows[key]; w.at.by != 0 {
			e.Get(w.pointer)
			e.I32Const(lanes * w.at.by)
			e.Op(wasm.I32Add)
			e.Set(w.pointer)
		}
	}
}

// reach touches the end of the windows that are used several times. The engine checks each
// access, but not those before one that it has checked.
func (e *emitter) reach() {
	for _, key := range e.in.order {
		if w := e.in.windows[key]; w.uses > 1 {
			e.Get(w.pointer)
			e.Memory(wasm.I32Load8U, 0, uint32((lanes-1)*w.at.by+w.to-w.from-1))
			e.Op(wasm.Drop)
		}
	}
}
