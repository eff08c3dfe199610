package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// line is a number that rises by the same amount from each invocation of a workgroup to the
// next. Numbers are counted modulo 2^32.
type line struct {
	terms []term
	// by is the difference of neighbours, and plus is added to the terms.
	by, plus int32
}

// term is a value that is the same for the workgroup, times a constant. If v is nil, it is
// the number of the workgroup in x.
type term struct {
	v     *ir.Value
	leaf  int
	order int // the position of v in the function
	times int32
}

// maxTerms bounds the terms of a line.
const maxTerms = 6

// add returns the sum of two lines, of which the second one is multiplied.
func (a line) add(b line, times int32) (line, bool) {
	sum := line{terms: slices.Clone(a.terms), by: a.by + b.by*times, plus: a.plus + b.plus*times}
	for _, t := range b.terms {
		t.times *= times
		i, known := slices.BinarySearchFunc(sum.terms, t, func(x, y term) int {
			if x.order != y.order {
				return x.order - y.order
			}
			return x.leaf - y.leaf
		})
		switch {
		case !known:
			sum.terms = slices.Insert(sum.terms, i, t)
		case sum.terms[i].times+t.times == 0:
			sum.terms = slices.Delete(sum.terms, i, i+1)
		default:
			sum.terms[i].times += t.times
		}
	}
	// Distances within a workgroup stay far below 2^31.
	return sum, len(sum.terms) <= maxTerms && sum.by > -1<<15 && sum.by < 1<<15
}

// key names all lines that differ by a constant.
func (a line) key() string {
	var b strings.Builder
	for _, t := range a.terms {
		fmt.Fprintf(&b, "%d.%d*%d ", t.order, t.leaf, t.times)
	}
	fmt.Fprintf(&b, "by %d", a.by)
	return b.String()
}

// lines finds lines in a function.
type lines struct {
	s     *shapes
	size  [3]uint32
	fixed map[*ir.Value]bool // are the same for the workgroup, see fixedValues
	order map[*ir.Value]int
	known map[leafOf]*line // nil if it is none
}

// leafOf is a leaf of a value.
type leafOf struct {
	v *ir.Value
	i int
}

func newLines(p *ir.Program, s *shapes) *lines {
	l := &lines{s: s, size: p.LocalSize, fixed: map[*ir.Value]bool{}, order: map[*ir.Value]int{}, known: map[leafOf]*line{}}
	for _, b := range p.Entry.Blocks {
		for _, v := range b.Values {
			l.order[v] = len(l.order) + 1
			l.fixed[v] = l.isFixed(v)
		}
	}
	return l
}

// isFixed reports whether a value is the same for a workgroup and depends on no memory that
// shaders write, so that it can be computed before the first vector.
func (l *lines) isFixed(v *ir.Value) bool {
	if v.Type == nil || v.Type.Kind == ir.Void {
		return false
	}
	for _, sh := range l.s.of(v) {
		if sh != uniform {
			return false
		}
	}
	switch v.Op {
	case ir.Load:
		root := rootOf(v.Args[0])
		if root == nil || v.Type.Kind == ir.TexelBuffer {
			return false
		}
		if !root.Var.IsBuiltin && root.Var.Class != ir.PushConstant { // Buffers may be written meanwhile.
			return false
		}
	case ir.AccessChain:
		if root := rootOf(v); root == nil || isPrivate(root) {
			return false
		}
	case ir.ExtInst, ir.Select, ir.ShiftLeftLogical, ir.ShiftRightLogical, ir.ShiftRightArithmetic, ir.Not, ir.SNegate, ir.LogicalNot,
		ir.UDiv, ir.UMod, ir.SDiv, ir.SRem, ir.SMod, ir.ArrayLength,
		ir.CopyObject, ir.CompositeConstruct, ir.CompositeExtract, ir.CompositeInsert, ir.VectorShuffle,
		ir.Bitcast, ir.UConvert, ir.SConvert, ir.ConvertFToU, ir.ConvertFToS, ir.ConvertSToF, ir.ConvertUToF:
	default:
		if _, ok := simple[v.Op]; !ok {
			return false
		}
	}
	for i, a := range v.Args {
		pointer := a.Type != nil && a.Type.Kind == ir.Pointer && (v.Op != ir.Load && v.Op != ir.AccessChain && v.Op != ir.ArrayLength || i > 0)
		if pointer || a.Block != nil && !l.fixed[a] || a.Block == nil && a.Op != ir.Const && a.Op != ir.Variable {
			return false
		}
	}
	return true
}

// of returns a leaf as a line.
func (l *lines) of(v *ir.Value, i int) (line, bool) {
	at := leafOf{v, i}
	known, ok := l.known[at]
	if !ok {
		if found, is := l.find(v, i); is {
			known = &found
		}
		l.known[at] = known
	}
	if known == nil {
		return line{}, false
	}
	return *known, true
}

func (l *lines) find(v *ir.Value, i int) (line, bool) {
	if v.Op == ir.Variable {
		return line{}, true
	}
	if t := leavesOf(v.Type)[i]; t.Kind != ir.Pointer && (t.Kind != ir.Int || t.Bits != 32) {
		return line{}, false
	}
	if v.Op == ir.Const {
		return line{plus: int32(intBits(leavesOf(v.Type)[i], leafBits(v, i)))}, true
	}
	if v.Block == nil {
		return line{}, false
	}
	if sum, ok := l.compose(v, i); ok {
		return sum, true
	}
	if l.fixed[v] && v.Type.Kind != ir.Pointer {
		return line{terms: []term{{v: v, leaf: i, order: l.order[v], times: 1}}}, true
	}
	return line{}, false
}

// compose makes a line of those of the operands.
func (l *lines) compose(v *ir.Value, i int) (line, bool) {
	switch v.Op {
	case ir.Load:
		return l.builtin(v, i)
	case ir.CopyObject, ir.Bitcast, ir.UConvert, ir.SConvert:
		if countLeaves(v.Type) == countLeaves(v.Args[0].Type) {
			return l.of(v.Args[0], i)
		}
	case ir.CompositeExtract:
		_, before := partAt(v.Args[0].Type, v.Literals)
		return l.of(v.Args[0], before+i)
	case ir.CompositeConstruct:
		for _, a := range v.Args {
			n := countLeaves(a.Type)
			if i < n {
				return l.of(a, i)
			}
			i -= n
		}
	case ir.IAdd, ir.ISub:
		a, oka := l.of(v.Args[0], i)
		b, okb := l.of(v.Args[1], i)
		if oka && okb {
			times := int32(1)
			if v.Op == ir.ISub {
				times = -1
			}
			return a.add(b, times)
		}
	case ir.IMul:
		for k := range 2 {
			if c, ok := constantLeaf(v.Args[k], i); ok {
				if a, ok := l.of(v.Args[1-k], i); ok {
					return line{}.add(a, int32(c))
				}
			}
		}
	case ir.ShiftLeftLogical:
		if c, ok := constantLeaf(v.Args[1], i); ok && c < 31 {
			if a, ok := l.of(v.Args[0], i); ok {
				return line{}.add(a, 1<<c)
			}
		}
	case ir.AccessChain:
		sum, ok := l.of(v.Args[0], 0)
		for _, s := range stepsOf(v) {
			if !ok {
				break
			}
			sum.plus += int32(s.offset)
			if s.index == nil {
				continue
			}
			var a line
			if s.unit >= 1<<31 || isWide(s.index.Type) {
				return line{}, false
			}
			if a, ok = l.of(s.index, 0); ok {
				sum, ok = sum.add(a, int32(s.unit))
			}
		}
		return sum, ok
	}
	return line{}, false
}

// builtin makes a line of a component of a built-in input that numbers invocations in x.
func (l *lines) builtin(v *ir.Value, i int) (line, bool) {
	root := rootOf(v.Args[0])
	if root == nil || !root.Var.IsBuiltin || l.size[1]*l.size[2] != 1 {
		return line{}, false
	}
	if p := v.Args[0]; p.Op == ir.AccessChain {
		k, ok := constantLeaf(p.Args[1], 0)
		if !ok {
			return line{}, false
		}
		i = int(k)
	}
	switch number := root.Var.Builtin; {
	case number == builtinLocalIndex:
		return line{by: 1}, true
	case number == builtinLocalID && i == 0:
		return line{by: 1}, true
	case number == builtinGlobalID && i == 0:
		return line{terms: []term{{times: int32(l.size[0])}}, by: 1}, true
	case number == builtinWorkgroupID && i == 0:
		return line{terms: []term{{times: 1}}}, true
	}
	return line{}, false
}

// pushLine pushes what a line is for an invocation of the workgroup.
func (e *emitter) pushLine(a line, invocation uint32) {
	e.I32Const(a.plus + a.by*int32(invocation))
	for _, t := range a.terms {
		if t.v == nil {
			e.Get(e.group[0])
		} else {
			e.push(t.v, t.leaf)
		}
		if t.times != 1 {
			e.I32Const(t.times)
			e.Op(wasm.I32Mul)
		}
		e.Op(wasm.I32Add)
	}
}
