package graph

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

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
}

// Step is a call of a Plan, for readers.
type Step struct {
	Node    int      `json:"node"`
	Call    string   `json:"call"`
	Label   string   `json:"label,omitempty"`
	In      []string `json:"in"`
	Out     []string `json:"out"`
	Kernels []string `json:"kernels"`
	Once    bool     `json:"once,omitempty"`
	// Flops and Moved are the arithmetic and the bytes of memory traffic that the call needs at least.
	Flops int64 `json:"flops"`
	Moved int64 `json:"bytes"`
}

// Steps lists the calls in the order in which they run. Those that run once, when the graph is compiled, come first.
func (p *Plan) Steps() []Step {
	if p == nil || p.Program == nil {
		return nil
	}
	var list []Step
	for _, once := range []bool{true, false} {
		steps := p.Program.Steps
		if once {
			steps = p.Program.Once
		}
		for _, s := range steps {
			step := Step{Node: s.Node, Call: spec.FormatBrief(s.Call), Label: s.Label, In: []string{}, Out: []string{}, Kernels: s.Code.Kernels(), Once: once}
			var descs []tensor.Desc
			for _, o := range s.In {
				step.In, descs = append(step.In, place(o)), append(descs, o.Desc)
			}
			for _, o := range s.Out {
				step.Out = append(step.Out, place(o))
			}
			if cost := s.Call.Spec().Cost; cost != nil {
				c := cost(s.Call, descs)
				step.Flops, step.Moved = c.Flops, c.Bytes
			}
			list = append(list, step)
		}
	}
	return list
}

// place is where an operand lies, such as "v3 f32[64,10] arena+4096".
func place(o lir.Operand) string {
	switch {
	case o.Value == mir.None:
		return "-"
	case o.Memory == lir.Kept || o.Memory == lir.Arena && o.Buffer == 0:
		return fmt.Sprintf("%v %v %v+%d", o.Value, o.Desc, o.Memory, o.Offset)
	case o.Offset != 0:
		return fmt.Sprintf("%v %v %v[%d]+%d", o.Value, o.Desc, o.Memory, o.Buffer, o.Offset)
	}
	return fmt.Sprintf("%v %v %v[%d]", o.Value, o.Desc, o.Memory, o.Buffer)
}

// String returns the plan as text: a line for each call, and a summary.
func (p *Plan) String() string {
	if p == nil || p.Program == nil {
		return "no plan\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "node\tcall\tlaunches\tin\tout")
	for _, s := range p.Steps() {
		call := s.Call
		if s.Label != "" {
			call += " (" + s.Label + ")"
		}
		if s.Once {
			call += ", once"
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%s\t%s\n", s.Node, call, len(s.Kernels), strings.Join(s.In, ", "), strings.Join(s.Out, ", "))
	}
	w.Flush()
	bytes := p.Program.Bytes
	fmt.Fprintf(&b, "\n%d calls of %d, %d launches", len(p.Program.Steps), p.Report.Calls, p.Program.Launches())
	for _, pass := range Passes() {
		if n := p.Report.Changes[pass.Name]; n > 0 && pass.Name != "fuse" {
			fmt.Fprintf(&b, ", %s %d", pass.Name, n)
		}
	}
	if f := p.Report.Fusion; f.Launches > 0 {
		fmt.Fprintf(&b, ", %d fused from %d", f.Launches, f.Calls)
	}
	fmt.Fprintf(&b, "\narena %d bytes (at least %d; %d without sharing), constants %d bytes\n", bytes.Arena, bytes.Lower, bytes.Values, bytes.Kept)
	for _, m := range p.Report.Fusion.Missed {
		fmt.Fprintf(&b, "not fused: node %d, %s: %s\n", m.Node, m.Call, m.Reason)
	}
	return b.String()
}

// MarshalJSON returns the plan as JSON: its ports, its steps as Steps lists them, its memory and what the passes have done.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if p == nil || p.Program == nil {
		return []byte("null"), nil
	}
	type port struct {
		Name string `json:"name"`
		Desc string `json:"tensor"`
	}
	ports := func(list []lir.Port) []port {
		out := []port{}
		for _, l := range list {
			out = append(out, port{l.Name, l.Desc.String()})
		}
		return out
	}
	return json.Marshal(struct {
		Inputs   []port         `json:"inputs"`
		Params   []port         `json:"params"`
		Outputs  []port         `json:"outputs"`
		Steps    []Step         `json:"steps"`
		Launches int            `json:"launches"`
		Bytes    lir.Bytes      `json:"memory"`
		Calls    int            `json:"calls_before"`
		Changes  map[string]int `json:"changes"`
		Fusion   FusionReport   `json:"fusion"`
	}{ports(p.Program.Inputs), ports(p.Program.Params), ports(p.Program.Outputs), p.Steps(), p.Program.Launches(), p.Program.Bytes, p.Report.Calls, p.Report.Changes, p.Report.Fusion})
}
