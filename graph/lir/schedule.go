package lir

import (
	"fmt"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Schedule compiles the calls of a graph and gives their operands memory. Each output of the graph must be the result of a
// call, which no other output is: the caller copies other values first.
// Errors: ErrInvalidArgument for a graph that is not so, and a *LegaliseError for calls that the Compiler refuses.
// An If or a While gets a schedule for each of its bodies. A While has a third body, which copies its state: mir.Graph.WithOwnOutputs adds it.
func Schedule(g *mir.Graph, c Compiler) (*Program, error) {
	return schedule(g, c, false)
}

// schedule is Schedule. Nothing in a body runs once: it may be what the device refuses, and the body may never run.
func schedule(g *mir.Graph, c Compiler, isBody bool) (*Program, error) {
	if err := g.Verify(); err != nil {
		return nil, err
	}
	if errs.Nil(c) {
		return nil, fmt.Errorf("lir: %w: no compiler", errs.ErrInvalidArgument)
	}
	s := &scheduler{g: g, c: c, isBody: isBody, align: max(c.Align(), 16), p: &Program{body: isBody}}
	if s.most = c.MaxBuffer() / s.align * s.align; s.most <= 0 {
		s.most = math.MaxInt64 / s.align * s.align
	}
	if err := s.ports(); err != nil {
		return nil, err
	}
	s.divide()
	s.place()
	for _, sp := range s.spans {
		if sp.size > s.most {
			return nil, fmt.Errorf("lir: a value of %d bytes: %w", sp.size, &errs.LimitError{Name: "MaxBuffer", Want: sp.size, Have: s.most})
		}
	}
	if err := s.compile(); err != nil {
		return nil, err
	}
	s.arena()
	return s.p, nil
}

// scheduler is a schedule in the making.
type scheduler struct {
	g     *mir.Graph
	c     Compiler
	align int64
	most  int64 // the size of the largest buffer, a multiple of align
	p     *Program

	isBody bool // of an If or a While

	once    []bool            // by node: it depends on constants only
	hoisted []bool            // by node: it depends on constants and weights only
	order   map[int]int       // the step of each node that runs each time
	homes   []home            // by value that is no view: where it lies
	spans   []*span           // of the arena
	uses    map[mir.Value]int // the last step that reads each value of the arena
}

// home is where a value lies.
type home struct {
	memory Memory
	buffer int
	offset int64 // of Kept
	span   *span // of the arena
}

func (s *scheduler) roundUp(n int64) int64 { return max((n+s.align-1)/s.align*s.align, s.align) }

// ports finds inputs, params and outputs.
func (s *scheduler) ports() error {
	s.homes = make([]home, s.g.Values())
	for _, n := range s.g.Nodes() {
		switch n.Kind {
		case mir.Input:
			s.homes[n.Out[0]] = home{memory: Inputs, buffer: len(s.p.Inputs)}
			s.p.Inputs = append(s.p.Inputs, Port{Name: n.Name, Desc: s.g.Desc(n.Out[0])})
		case mir.Param:
			s.homes[n.Out[0]] = home{memory: Params, buffer: len(s.p.Params)}
			s.p.Params = append(s.p.Params, Port{n.Name, s.g.Desc(n.Out[0]), n.Weight})
		}
	}
	seen := map[mir.Value]bool{}
	for i, o := range s.g.Outputs() {
		if s.g.Nodes()[s.g.Maker(o.Value)].Kind < mir.Op || seen[o.Value] {
			return fmt.Errorf("lir: output %q: %w: it is no result of a call of its own (copy it first)", o.Name, errs.ErrInvalidArgument)
		}
		seen[o.Value] = true
		s.homes[o.Value] = home{memory: Outputs, buffer: i}
		s.p.Outputs = append(s.p.Outputs, Port{Name: o.Name, Desc: s.g.Desc(o.Value)})
	}
	return nil
}

// divide says which nodes run once, or once for each set of weights, and numbers the steps of the others. A call without inputs depends on constants only. A
// call that makes an output runs each time, because every run has other memory for it.
func (s *scheduler) divide() {
	s.once, s.hoisted, s.order = make([]bool, len(s.g.Nodes())), make([]bool, len(s.g.Nodes())), map[int]int{}
	for i, n := range s.g.Nodes() {
		s.once[i] = n.Kind != mir.Input && n.Kind != mir.Param && !n.Kind.Control() && !(s.isBody && n.Kind == mir.Op)
		s.hoisted[i] = s.once[i] || n.Weight
		for _, v := range n.In {
			if v != mir.None {
				m := s.g.Maker(v)
				s.once[i], s.hoisted[i] = s.once[i] && s.once[m], s.hoisted[i] && s.hoisted[m]
			}
		}
		for _, v := range n.Out {
			if n.Kind == mir.Op && s.homes[v].memory == Outputs {
				s.once[i], s.hoisted[i] = false, false
			}
		}
		if n.Kind >= mir.Op && !s.hoisted[i] {
			s.order[i] = len(s.order)
		}
	}
}

// place gives values of Kept their offsets, and values of the arena their spans.
func (s *scheduler) place() {
	s.uses = map[mir.Value]int{}
	for i, step := range s.order {
		for _, v := range s.g.Nodes()[i].In {
			if v != mir.None {
				root, _ := s.g.Root(v)
				s.uses[root] = max(s.uses[root], step)
			}
		}
	}
	for i, n := range s.g.Nodes() {
		if n.Kind < mir.Op && n.Kind != mir.Constant {
			continue
		}
		for _, v := range n.Out {
			size := s.roundUp(s.g.Desc(v).Bytes())
			switch {
			case s.hoisted[i]:
				s.homes[v] = home{memory: Kept, offset: s.p.Kept}
				if n.Kind == mir.Constant {
					s.p.Constants = append(s.p.Constants, Constant{s.p.Kept, n.Data})
				}
				s.p.Kept += size
			case s.homes[v].memory == Outputs:
			default:
				s.p.Bytes.Values += size
				at := s.order[i]
				last := max(at, s.uses[v])
				if from := s.overwritten(&n, v, at); from != nil {
					from.last = last
					s.homes[v] = home{memory: Arena, span: from}
					continue
				}
				sp := &span{size: size, first: at, last: last}
				s.spans = append(s.spans, sp)
				s.homes[v] = home{memory: Arena, span: sp}
			}
		}
	}
}

// overwritten returns the span of an input that a result of a call can take the place of, or nil. The input is read for the
// last time, is as large, and the operation can work in place.
func (s *scheduler) overwritten(n *mir.Node, out mir.Value, step int) *span {
	if n.Kind.Control() {
		return nil
	}
	op, k := n.Call.Spec(), slices.Index(n.Out, out)
	for j, v := range n.In {
		if v == mir.None || !op.MayOverwrite(k, j) {
			continue
		}
		h := s.homes[v] // of a view it is the zero home, which is no arena
		if s.g.Nodes()[s.g.Maker(v)].Kind == mir.View || h.memory != Arena || h.span == nil || s.uses[v] != step || h.span.last != step {
			continue
		}
		if !sameDesc(s.g.Desc(v), s.g.Desc(out)) || s.readOtherwise(n, op, k, v) || s.taken(n, k, h.span) {
			continue
		}
		return h.span
	}
	return nil
}

// readOtherwise reports whether the call reads the memory of v by another input, which result k may not overwrite.
func (s *scheduler) readOtherwise(n *mir.Node, op *spec.Op, k int, v mir.Value) bool {
	for j, w := range n.In {
		if w == mir.None {
			continue
		}
		if root, _ := s.g.Root(w); root == v && (w != v || !op.MayOverwrite(k, j)) {
			return true
		}
	}
	return false
}

// taken reports whether an earlier result of the call has taken a span.
func (s *scheduler) taken(n *mir.Node, k int, sp *span) bool {
	return slices.ContainsFunc(n.Out[:k], func(v mir.Value) bool { return s.homes[v].span == sp })
}

func sameDesc(a, b tensor.Desc) bool {
	return a.DType == b.DType && slices.Equal(a.Shape, b.Shape) && a.IsContiguous() && b.IsContiguous()
}

// compile compiles the calls, and adds spans for their scratch memory.
func (s *scheduler) compile() error {
	var bad LegaliseError
	for i, n := range s.g.Nodes() {
		if n.Kind < mir.Op {
			continue
		}
		step := Step{Node: i, Label: n.Name, Call: n.Call}
		if n.Kind.Control() {
			if err := s.control(&step, &n, &bad); err != nil {
				return err
			}
			s.p.Steps = append(s.p.Steps, step)
			continue
		}
		for k, v := range n.In {
			o := Operand{Value: v}
			if v == mir.None {
				o.Desc, _ = n.Call.Spec().LeftOut(k, s.g.Desc(n.In[0]).DType)
			} else {
				o = s.operand(v)
			}
			step.In = append(step.In, o)
		}
		for _, v := range n.Out {
			step.Out = append(step.Out, s.operand(v))
		}
		code, err := s.c.Compile(n.Call, s.places(step.In), s.places(step.Out))
		if err != nil {
			bad.Nodes = append(bad.Nodes, Refused{Node: i, Label: n.Name, Op: n.Call.Spec().Name, Err: err})
			continue
		}
		step.Code = code
		switch {
		case s.once[i]:
			s.p.Once = append(s.p.Once, step)
		case s.hoisted[i]:
			s.p.Prepare = append(s.p.Prepare, step)
		default:
			s.p.Steps = append(s.p.Steps, step)
		}
	}
	if len(bad.Nodes) > 0 {
		return &bad
	}
	return nil
}

// operand is where a value lies. The offsets of the arena are not known yet, and are multiples of the alignment.
func (s *scheduler) operand(v mir.Value) Operand {
	root, offset := s.g.Root(v)
	h := s.homes[root]
	return Operand{Value: v, Memory: h.memory, Buffer: h.buffer, Offset: h.offset + offset, Desc: s.g.Desc(v)}
}

// places are the places of operands.
func (s *scheduler) places(list []Operand) []spec.Place {
	places := make([]spec.Place, len(list))
	for i, o := range list {
		places[i] = spec.Place{Desc: o.Desc, Misalignment: o.Offset % s.align}
	}
	return places
}

// arena gives the spans their offsets, and the operands and scratch ranges theirs. Calls that run once, or before a run, use the arena too, one
// after the other, when nothing else is in it.
func (s *scheduler) arena() {
	var once int64
	for _, steps := range [][]Step{s.p.Once, s.p.Prepare} {
		for i := range steps {
			once = max(once, s.ownScratch(&steps[i]))
		}
	}
	scratch := make([][]*span, len(s.p.Steps))
	for i := range s.p.Steps {
		for k, n := range s.p.Steps[i].scratch() {
			sp := &span{size: s.roundUp(n), first: i, last: i, least: s.p.Steps[i].least(k)}
			scratch[i], s.spans = append(scratch[i], sp), append(s.spans, sp)
		}
	}
	end := max(place(s.spans, s.most), once)
	at := func(offset int64) (int, int64) { return int(offset / s.most), offset % s.most }
	for i := range s.p.Steps {
		step := &s.p.Steps[i]
		for k, n := range step.scratch() {
			buffer, offset := at(scratch[i][k].offset)
			step.Scratch = append(step.Scratch, Range{buffer, offset, n})
		}
		for _, list := range [][]Operand{step.In, step.Out} {
			for k := range list {
				o := &list[k]
				if root, _ := s.g.Root(o.Value); o.Value != mir.None && o.Memory == Arena {
					buffer, offset := at(s.homes[root].span.offset)
					o.Buffer, o.Offset = buffer, offset+o.Offset
				}
			}
		}
	}
	for left := end; left > 0; left -= s.most {
		s.p.Arena = append(s.p.Arena, min(left, s.most))
	}
	s.p.Bytes.Arena, s.p.Bytes.Kept, s.p.Bytes.Lower = end, s.p.Kept, max(lowerBound(s.spans), once)
	s.p.Bytes.Packed = s.p.packed()
}

// ownScratch gives a call that runs once scratch memory from the start of the arena on, and returns its end.
func (s *scheduler) ownScratch(step *Step) (end int64) {
	for _, n := range step.Code.Scratch() {
		at := inOneBuffer(end, s.roundUp(n), s.most)
		step.Scratch = append(step.Scratch, Range{int(at / s.most), at % s.most, n})
		end = at + s.roundUp(n)
	}
	return end
}
