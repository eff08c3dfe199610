package graph

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Plan is a compiled graph before it has memory. It shows what a run does. It does not change.
type Plan struct {
	// Graph is the graph after all passes. Nodes of the Program count in it.
	Graph *mir.Graph
	// Program is the schedule.
	Program *lir.Program
	// Report says what the passes have done.
	Report Report

	options Options
	device  device
}

// Report says what the passes have done to a graph.
type Report struct {
	// Calls is the number of calls before.
	Calls int
	// Changes says for each pass how many nodes it has changed or left out.
	Changes map[string]int
	// Fusion says which elementwise calls share launches.
	Fusion FusionReport
	// Idioms says which spelled-out forms have become calls of another operation.
	Idioms IdiomReport
	// Stack says which calls that share inputs have become one.
	Stack StackReport
}

// Step is a call of a Plan, for readers.
type Step struct {
	Node int `json:"node"`
	// Body is the body of an If or a While that the call is in, such as "5 then" for a body of node 5, in whose graph Node counts. It is empty for a call of the graph
	// itself.
	Body    string   `json:"body,omitempty"`
	Call    string   `json:"call"`
	Class   string   `json:"class"`
	Label   string   `json:"label,omitempty"`
	In      []string `json:"in"`
	Out     []string `json:"out"`
	Kernels []string `json:"kernels"`
	Once    bool     `json:"once,omitempty"`
	// Prepare says that the call runs before the first run after a weight was set, and not each time.
	Prepare bool `json:"prepare,omitempty"`
	// Fixed says of each kernel whether its launch runs only with such calls. It is nil if none does.
	Fixed []bool `json:"fixed,omitempty"`
	// Flops and Moved are the arithmetic and the bytes of memory traffic that the call needs at least.
	Flops int64 `json:"flops"`
	Moved int64 `json:"bytes"`
}

// Steps lists the calls in the order in which they run. Those that run once, when the graph is compiled, come first, and then those that run once after
// weights were set. Those of the bodies of an If or a While follow it.
func (p *Plan) Steps() []Step {
	if p == nil || p.Program == nil {
		return nil
	}
	var all []Step
	for k, steps := range [][]lir.Step{p.Program.Once, p.Program.Prepare, p.Program.Steps} {
		for _, s := range list(p.Program, steps, "") {
			s.Once, s.Prepare = k == 0, k == 1
			if k < 2 {
				s.Fixed = nil
			}
			all = append(all, s)
		}
	}
	return all
}

// list lists steps of a schedule, which is that of a body unless body is empty.
func list(l *lir.Program, steps []lir.Step, body string) []Step {
	var all []Step
	for i := range steps {
		s := &steps[i]
		step := Step{Node: s.Node, Body: body, Label: s.Label, In: []string{}, Out: []string{}, Kernels: s.Kernels()}
		step.Fixed, _ = l.Fixed(s)
		var descs []tensor.Desc
		for _, o := range s.In {
			step.In, descs = append(step.In, place(l, o)), append(descs, o.Desc)
		}
		for _, o := range s.Out {
			step.Out = append(step.Out, place(l, o))
		}
		if s.Control != nil {
			step.Call, step.Class = s.Control.Kind.String(), classOfControl
			if s.Control.Most > 0 {
				step.Call += fmt.Sprintf(" at most %d times", s.Control.Most)
			}
			all = append(all, step)
			for k, b := range s.Control.Bodies {
				all = append(all, list(b, b.Steps, strings.TrimSpace(fmt.Sprintf("%s %d %s", body, s.Node, s.Control.Name(k))))...)
			}
			continue
		}
		step.Call = spec.FormatBrief(s.Call)
		if call, err := spec.Resolve(s.Call); err == nil {
			op := call.Spec()
			if step.Class = classOf(call).String(); op.Cost != nil && valid(call, descs) {
				c := op.Cost(call, descs)
				step.Flops, step.Moved = c.Flops, c.Bytes
			}
		}
		all = append(all, step)
	}
	return all
}

// classOfControl is the class of an If or a While.
const classOfControl = "control flow"

// valid reports whether a call takes such inputs. A program may have made the schedule.
func valid(c spec.Call, in []tensor.Desc) bool {
	_, err := c.Spec().Shape(c, in)
	return err == nil
}

// launches is how many launches of the call a run has, or what runs once.
func (s *Step) launches() int {
	n := len(s.Kernels)
	for _, fixed := range s.Fixed {
		if fixed {
			n--
		}
	}
	return n
}

// place is where an operand lies, such as "v3 f32[64,10] arena+4096" or "v0 f32[64,784] input x".
func place(l *lir.Program, o lir.Operand) string {
	if o.Value == mir.None {
		return "-"
	}
	where := o.Memory.String()
	for memory, ports := range map[lir.Memory][]lir.Port{lir.Inputs: l.Inputs, lir.Params: l.Params, lir.Outputs: l.Outputs} {
		if o.Memory == memory && o.Buffer >= 0 && o.Buffer < len(ports) {
			where = strings.TrimSuffix(where, "s") + " " + ports[o.Buffer].Name
			if o.Offset == 0 {
				return fmt.Sprintf("%v %v %s", o.Value, o.Desc, where)
			}
		}
	}
	if o.Memory == lir.Arena && len(l.Arena) > 1 {
		where = fmt.Sprintf("%s[%d]", where, o.Buffer)
	}
	return fmt.Sprintf("%v %v %s+%d", o.Value, o.Desc, where, o.Offset)
}

// Calls is the number of calls of a run, with those of the bodies of an If or a While, but for copies of the state of a loop.
func (p *Plan) Calls() int {
	if p == nil {
		return 0
	}
	return callsOf(p.Program)
}

func callsOf(l *lir.Program) int {
	n := 0
	if l == nil {
		return 0
	}
	for i := range l.Steps {
		s := &l.Steps[i]
		if s.Control == nil {
			n++
		}
		for k, b := range s.Bodies() {
			if !s.Control.IsWhile() || k != lir.Carry {
				n += callsOf(b)
			}
		}
	}
	return n
}

// Cost is the sum of the arithmetic and of the memory traffic that the calls of a run need at least. Each body of an If or a While counts once.
func (p *Plan) Cost() (sum spec.Cost) {
	for _, s := range p.Steps() {
		if !s.Once && !s.Prepare {
			sum.Flops, sum.Bytes = sum.Flops+s.Flops, sum.Bytes+s.Moved
		}
	}
	return sum
}

// MarshalJSON returns the plan as JSON: its ports, its steps as Steps lists them, its memory and what the passes have done.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if p == nil || p.Program == nil {
		return []byte("null"), nil
	}
	type port struct {
		Name  string `json:"name"`
		Desc  string `json:"tensor"`
		Bytes int64  `json:"bytes"`
	}
	ports := func(list []lir.Port) []port {
		out := []port{}
		for _, l := range list {
			out = append(out, port{l.Name, l.Desc.String(), l.Desc.Bytes()})
		}
		return out
	}
	cost := p.Cost()
	return json.Marshal(struct {
		Inputs   []port         `json:"inputs"`
		Params   []port         `json:"params"`
		Outputs  []port         `json:"outputs"`
		Steps    []Step         `json:"steps"`
		Launches int            `json:"launches"`
		Flops    int64          `json:"flops"`
		Moved    int64          `json:"bytes"`
		Bytes    lir.Bytes      `json:"memory"`
		Calls    int            `json:"calls_before"`
		Changes  map[string]int `json:"changes"`
		Fusion   FusionReport   `json:"fusion"`
		Idioms   IdiomReport    `json:"idioms"`
		Stack    StackReport    `json:"stack"`
	}{ports(p.Program.Inputs), ports(p.Program.Params), ports(p.Program.Outputs), p.Steps(), p.Program.Launches(), cost.Flops, cost.Bytes, p.Program.Bytes, p.Report.Calls, p.Report.Changes, p.Report.Fusion, p.Report.Idioms, p.Report.Stack})
}
