package session

import (
	"context"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
)

// subgraph is a schedule, or that of a body of an If or a While, as segments.
type subgraph struct {
	lir      *lir.Program
	segments []segment
	at       []place // by slot
}

// segment is what is submitted at once, and then what the host decides. One of both may be nil.
type segment struct {
	seq     *exec.Sequence
	control *control
}

// place is where memory begins.
type place struct {
	h      gpu.Handle
	offset int64
}

// control is an If or a While.
type control struct {
	step   *lir.Step
	bodies []*subgraph
	flag   [1]byte // the condition, as it was read; a field, so that a read allocates nothing
}

// subgraph makes the sequences of the calls of a schedule, over so many slots.
func (s *Session) subgraph(l *lir.Program, calls []exec.SlotCall, slots int) (*subgraph, error) {
	g := &subgraph{lir: l, at: make([]place, slots)}
	from := 0
	for i := range l.Steps {
		step := &l.Steps[i]
		if step.Control == nil {
			continue
		}
		c := &control{step: step}
		for _, b := range step.Control.Bodies {
			calls, err := slotCalls(b, b.Steps)
			if err != nil {
				return nil, err
			}
			body, err := s.subgraph(b, calls, slot(b, lir.Arena, len(b.Arena)))
			if err != nil {
				return nil, err
			}
			c.bodies = append(c.bodies, body)
		}
		if err := s.addSegment(g, calls[from:i], c); err != nil {
			return nil, err
		}
		from = i + 1
	}
	if from < len(l.Steps) || from == 0 {
		if err := s.addSegment(g, calls[from:], nil); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (s *Session) addSegment(g *subgraph, calls []exec.SlotCall, c *control) error {
	p := segment{control: c}
	if len(calls) > 0 || c == nil {
		var err error
		if p.seq, err = s.run.NewSequence(len(g.at), calls); err != nil {
			return err
		}
	}
	g.segments = append(g.segments, p)
	return nil
}

// set says where a slot begins.
func (g *subgraph) set(slot int, h gpu.Handle, offset int64) error {
	g.at[slot] = place{h, offset}
	for _, p := range g.segments {
		if p.seq == nil {
			continue
		}
		if err := p.seq.Set(slot, h, offset); err != nil {
			return err
		}
	}
	return nil
}

// run submits the segments. It waits for what a control depends on.
func (g *subgraph) run(ctx context.Context, r *exec.Runner) error {
	for _, p := range g.segments {
		if p.seq != nil {
			if err := p.seq.Submit(ctx); err != nil {
				return err
			}
		}
		if p.control == nil {
			continue
		}
		run := p.control.choose
		if p.control.step.Control.IsWhile() {
			run = p.control.loop
		}
		if err := run(ctx, r, g); err != nil {
			return err
		}
	}
	return nil
}

// close releases what the device keeps of the sequences.
func (g *subgraph) close() {
	if g == nil {
		return
	}
	for _, p := range g.segments {
		p.seq.Close()
		if p.control != nil {
			for _, b := range p.control.bodies {
				b.close()
			}
		}
	}
}

// of is where an operand lies.
func (g *subgraph) of(o lir.Operand) place {
	at := g.at[slot(g.lir, o.Memory, o.Buffer)]
	return place{at.h, at.offset + o.Offset}
}

// scratch is where range k of the scratch memory of a control lies.
func (c *control) scratch(g *subgraph, k int) place {
	r := c.step.Scratch[k]
	return g.of(lir.Operand{Memory: lir.Arena, Buffer: r.Buffer, Offset: r.Offset})
}

// truth reads a condition.
func (c *control) truth(ctx context.Context, r *exec.Runner, at place) (bool, error) {
	err := r.Read(ctx, at.h, at.offset, c.flag[:])
	return c.flag[0] != 0, err
}

// own gives body k what is its own: a part of what is kept, and of the arena.
func (c *control) own(g *subgraph, k int) error {
	body := c.bodies[k]
	kept := g.at[slot(g.lir, lir.Kept, 0)]
	if err := body.set(slot(body.lir, lir.Kept, 0), kept.h, kept.offset+c.step.Control.Kept[k]); err != nil {
		return err
	}
	for i := range body.lir.Arena {
		at := c.scratch(g, i)
		if err := body.set(slot(body.lir, lir.Arena, i), at.h, at.offset); err != nil {
			return err
		}
	}
	return nil
}

// input and output say where port i of body k lies.
func (c *control) input(k, i int, at place) error {
	return c.bodies[k].set(slot(c.bodies[k].lir, lir.Inputs, i), at.h, at.offset)
}

func (c *control) output(k, i int, at place) error {
	return c.bodies[k].set(slot(c.bodies[k].lir, lir.Outputs, i), at.h, at.offset)
}

// choose runs an If: the branch that its condition says.
func (c *control) choose(ctx context.Context, r *exec.Runner, g *subgraph) error {
	is, err := c.truth(ctx, r, g.of(c.step.In[0]))
	if err != nil {
		return err
	}
	k := 1
	if is {
		k = 0
	}
	if err := c.own(g, k); err != nil {
		return err
	}
	for i, o := range c.step.In[1:] {
		if err := c.input(k, i, g.of(o)); err != nil {
			return err
		}
	}
	for i, o := range c.step.Out {
		if err := c.output(k, i, g.of(o)); err != nil {
			return err
		}
	}
	return c.bodies[k].run(ctx, r)
}

// loop runs a While. The state is read where the last step has written it, so that a step copies nothing: odd steps write the results, and
// even ones scratch memory, which is copied at the end if the last step was one of these.
func (c *control) loop(ctx context.Context, r *exec.Runner, g *subgraph) error {
	flag := c.scratch(g, c.step.Control.Arenas())
	for k := range c.bodies {
		if err := c.own(g, k); err != nil {
			return err
		}
		if k == lir.Carry {
			continue
		}
		for i, o := range c.step.In[len(c.step.Out):] {
			if err := c.input(k, len(c.step.Out)+i, g.of(o)); err != nil {
				return err
			}
		}
	}
	if err := c.output(lir.Condition, 0, flag); err != nil {
		return err
	}
	steps := 0
	for ; c.step.Control.Most == 0 || steps < c.step.Control.Most; steps++ {
		if err := errs.Context(ctx); err != nil {
			return err
		}
		if err := c.stateOf(g, lir.Condition, steps); err != nil {
			return err
		}
		if err := c.bodies[lir.Condition].run(ctx, r); err != nil {
			return err
		}
		if is, err := c.truth(ctx, r, flag); err != nil || !is {
			if err != nil {
				return err
			}
			break
		}
		if err := c.stateOf(g, lir.Body, steps); err != nil {
			return err
		}
		for i := range c.step.Out {
			if err := c.output(lir.Body, i, c.state(g, i, steps+1)); err != nil {
				return err
			}
		}
		if err := c.bodies[lir.Body].run(ctx, r); err != nil {
			return err
		}
	}
	if steps%2 == 1 {
		return nil
	}
	if err := c.stateOf(g, lir.Carry, steps); err != nil {
		return err
	}
	for i, o := range c.step.Out {
		if err := c.output(lir.Carry, i, g.of(o)); err != nil {
			return err
		}
	}
	return c.bodies[lir.Carry].run(ctx, r)
}

// state is where value i of the state lies after so many steps.
func (c *control) state(g *subgraph, i, steps int) place {
	switch {
	case steps == 0:
		return g.of(c.step.In[i])
	case steps%2 == 1:
		return g.of(c.step.Out[i])
	}
	return c.scratch(g, c.step.Control.Arenas()+1+i)
}

// stateOf gives body k the state after so many steps.
func (c *control) stateOf(g *subgraph, k, steps int) error {
	for i := range c.step.Out {
		if err := c.input(k, i, c.state(g, i, steps)); err != nil {
			return err
		}
	}
	return nil
}
