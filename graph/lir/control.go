package lir

import (
	"errors"
	"fmt"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// The bodies of a While.
const (
	Condition = iota
	Body
	Carry
)

// Control is an If or a While of a schedule. The host reads a condition from the device, and submits a body then. Inputs and outputs of a body lie where
// operands of the step do, and its arena in scratch memory of the step.
type Control struct {
	// Kind is mir.If or mir.While.
	Kind mir.Kind
	// Bodies are the schedules of the bodies: then and else of an If; Condition, Body and Carry of a While. Each has an input for each operand that
	// the step reads, but for the condition of an If; Carry has one for each value of the state. Nothing of them runs once, and they have no Constants: these are
	// among those of the whole program.
	Bodies []*Program
	// Names name the bodies.
	Names []string
	// Kept is where the memory Kept of each body begins in that of the program, in bytes.
	Kept []int64
	// Most is the largest number of steps of a While, or 0.
	Most int
	// Scratch lists the sizes in bytes of the temporary memory. First comes the arena, buffer by buffer, which the bodies share: one of them runs at a time. A While has two ranges
	// more for its condition and for each value of its state: odd steps write the results of the While, and even ones these ranges.
	Scratch []int64

	arenas int   // buffers of the arena
	lower  int64 // of the arena
}

// Arenas is the number of buffers of the arena of the bodies, which are the first ones of Scratch.
func (c *Control) Arenas() int {
	if c == nil {
		return 0
	}
	return c.arenas
}

// Name names body k, such as "then".
func (c *Control) Name(k int) string {
	if c == nil || k < 0 || k >= len(c.Names) {
		return fmt.Sprintf("body %d", k)
	}
	return c.Names[k]
}

// IsWhile reports whether it is a While, and no If.
func (c *Control) IsWhile() bool { return c != nil && c.Kind == mir.While }

// Bodies are the schedules of the bodies of an If or a While, and none for a call.
func (s *Step) Bodies() []*Program {
	if s == nil || s.Control == nil {
		return nil
	}
	return s.Control.Bodies
}

// scratch lists the sizes of the scratch memory.
func (s *Step) scratch() []int64 {
	if s.Control != nil {
		return s.Control.Scratch
	}
	return s.Code.Scratch()
}

// least is what must be there at one time of range k of the scratch memory, or 0 for all of it.
func (s *Step) least(k int) int64 {
	if s.Control == nil || k > 0 || s.Control.arenas != 1 {
		return 0
	}
	return s.Control.lower
}

// control schedules the bodies of a node. Calls that the device refuses are added to bad.
func (s *scheduler) control(step *Step, n *mir.Node, bad *LegaliseError) error {
	c := &Control{Kind: n.Kind, Most: n.Most}
	step.Control = c
	for _, v := range n.In {
		step.In = append(step.In, s.operand(v))
	}
	for _, v := range n.Out {
		step.Out = append(step.Out, s.operand(v))
	}
	if want := map[mir.Kind]int{mir.If: 2, mir.While: 3}[n.Kind]; len(n.Bodies) != want {
		return fmt.Errorf("lir: node %d, %v: %w: %d bodies (want %d: WithOwnOutputs makes them)", step.Node, n.Kind, errs.ErrInvalidArgument, len(n.Bodies), want)
	}
	for k, body := range n.Bodies {
		p, err := schedule(body, s.c, true)
		var refused *LegaliseError
		if errors.As(err, &refused) {
			for _, r := range refused.Nodes {
				r.Body = fmt.Sprintf("%d %s", step.Node, n.BodyName(k)) + map[bool]string{true: " " + r.Body}[r.Body != ""]
				bad.Nodes = append(bad.Nodes, r)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("lir: node %d, %s: %w", step.Node, n.BodyName(k), err)
		}
		s.addBody(c, p, n.BodyName(k))
	}
	if n.Kind == mir.While {
		c.Scratch = append(c.Scratch, 1)
		for _, v := range n.Out {
			size := max(s.g.Desc(v).Bytes(), 1)
			if s.roundUp(size) > s.most {
				return fmt.Errorf("lir: node %d, a state of %d bytes: %w", step.Node, size, &errs.LimitError{Name: "MaxBuffer", Want: size, Have: s.most})
			}
			c.Scratch = append(c.Scratch, size)
		}
	}
	return nil
}

// addBody gives a body its memory: the arena of the step, and a part of what is kept.
func (s *scheduler) addBody(c *Control, p *Program, name string) {
	for i, size := range p.Arena {
		if i == c.arenas {
			c.Scratch, c.arenas = append(c.Scratch, 0), i+1
		}
		c.Scratch[i] = max(c.Scratch[i], size)
	}
	c.lower = max(c.lower, p.Bytes.Lower)
	c.Bodies, c.Names, c.Kept = append(c.Bodies, p), append(c.Names, name), append(c.Kept, s.p.Kept)
	for _, constant := range p.Constants {
		constant.Offset += s.p.Kept
		s.p.Constants = append(s.p.Constants, constant)
	}
	p.Constants = nil
	s.p.Kept += p.Kept
	s.p.Bytes.Values += p.Bytes.Values
}
