package lathe

import (
	"context"
	"fmt"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
)

// Executable is a compiled graph on a Device. Device.Compile and Model.At make one. Its methods may be called from any goroutine, but only one
// at a time may run it: Run returns ErrGraphBusy for a second one. Several Executables, of one graph too, run beside each other.
type Executable struct {
	dev     *Device
	plan    *graph.Plan
	program *session.Program
}

// PlanGraph compiles a graph and returns what a run of it would do: its calls, their launches, and how much memory they need. It
// takes no memory on the device and runs nothing.
// Errors: as Compile.
func (d *Device) PlanGraph(g *graph.Graph, o graph.Options) (*graph.Plan, error) {
	if err := d.open("plan graph"); err != nil {
		return nil, err
	}
	return graph.Compile(g, d.session.GraphCompiler(), o)
}

// Compile compiles a graph, to run it many times. It takes the memory that a run needs for intermediate values, and computes what
// depends on constants only.
//
//	g := graph.New()
//	x := g.Input("x", tensor.F32, 64, 784)
//	w := g.Param("w", tensor.F32, 784, 10)
//	g.Output("p", g.Softmax(g.MatMul(x, w), -1))
//	exe, err := dev.Compile(ctx, g, graph.Options{})
//	if err != nil {
//		return err
//	}
//	defer exe.Free()
//	err = exe.SetParam("w", weights)
//	results, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": digits})
//
// The results are those of the same calls of Device, bit for bit, but for the sign of a NaN, and for results of 16 bits inside of a fused launch,
// which are not rounded unless Options.Strict is set. Compile waits for the device if the device checks constants, such as indices.
// Errors: ErrGraph, which lists the mistakes in the graph; ErrGraphRefused, which lists each call that the device cannot run; *LimitError,
// ErrOutOfMemory, ctx.Err().
func (d *Device) Compile(ctx context.Context, g *graph.Graph, o graph.Options) (*Executable, error) {
	plan, err := d.PlanGraph(g, o)
	if err != nil {
		return nil, err
	}
	p, err := d.session.Load(ctx, plan.Program, nil)
	if err != nil {
		return nil, err
	}
	return &Executable{dev: d, plan: plan, program: p}, nil
}

// CompileLIR is Compile for a schedule that the program has made, or changed, such as the Program of a Plan with calls in another order or at other
// places. It checks the schedule as lir.Link does. Plan of the Executable has no Graph.
// Errors: ErrInvalidArgument, which names the step of the mistake; ErrGraphRefused, as Compile; *LimitError, ErrOutOfMemory, ctx.Err().
func (d *Device) CompileLIR(ctx context.Context, p *lir.Program) (*Executable, error) {
	if err := d.open("compile lir"); err != nil {
		return nil, err
	}
	linked, err := lir.Link(p, d.session.GraphCompiler())
	if err != nil {
		return nil, err
	}
	loaded, err := d.session.Load(ctx, linked, nil)
	if err != nil {
		return nil, err
	}
	return &Executable{dev: d, plan: &graph.Plan{Program: linked}, program: loaded}, nil
}

// Plan shows what a run does.
func (e *Executable) Plan() *graph.Plan {
	if e == nil {
		return nil
	}
	return e.plan
}

// ready returns an error for an Executable that Compile did not make, and after the device was closed.
func (e *Executable) ready(op string) error {
	if e == nil || e.program == nil {
		return fmt.Errorf("lathe: %s: %w: an Executable that Device.Compile or Model.At did not make", op, errs.ErrNotInitialized)
	}
	return e.dev.open(op)
}

// indexOf is the number of the port of a name.
func indexOf(op, kind string, ports []lir.Port, name string) (int, error) {
	for i, p := range ports {
		if p.Name == name {
			return i, nil
		}
	}
	var names []string
	for _, p := range ports {
		names = append(names, p.Name)
	}
	return 0, fmt.Errorf("lathe: %s: %w: there is no %s %q (want one of %q)", op, errs.ErrInvalidArgument, kind, name, names)
}

// SetParam gives a param its tensor. Later runs read the tensor itself, and not a copy: what the program writes to it, they see. So a
// result of one run can be a param of the next one. Of a weight, which Graph.Weight declares, they see what is there at the next run only. All params must be set before the first run. A view with strides, or one
// that begins at an odd place, is copied once. Executables of one Model share their params.
// Errors: ErrInvalidArgument (no such param, another dtype or shape), ErrInvalidHandle, ErrClosed.
func (e *Executable) SetParam(name string, t *Tensor) error {
	if err := e.ready("set param"); err != nil {
		return err
	}
	i, err := indexOf("set param", "param", e.plan.Program.Params, name)
	if err != nil {
		return err
	}
	if t, err = e.direct("set param", t, e.plan.Program.Params[i]); err != nil {
		return fmt.Errorf("%w (param %q)", err, name)
	}
	return e.program.SetParam(i, t.inSession())
}

// Param returns a copy of a param as the next run will read it. After Feed that is the state of a loop, such as weights in training.
// Errors: ErrInvalidArgument (no such param), ErrNotInitialized (it was not set), ErrInvalidHandle, ErrOutOfMemory, ErrClosed.
func (e *Executable) Param(name string) (*Tensor, error) {
	if err := e.ready("param"); err != nil {
		return nil, err
	}
	i, err := indexOf("param", "param", e.plan.Program.Params, name)
	if err != nil {
		return nil, err
	}
	t, err := e.program.Param(i)
	if err != nil {
		return nil, err
	}
	if t.Buffer == nil {
		return nil, fmt.Errorf("lathe: param: %w: param %q was not set", errs.ErrNotInitialized, name)
	}
	return e.dev.Copy(&Tensor{memory: t, dev: e.dev})
}

// Feed makes an output the param after each run, from the next run on: a loop that trains reads its new weights so, and one that
// decodes its cache. SetParam sets what the first run reads. Such an output is no result of Run and no output of RunInto any more; Param
// returns a copy of it. Feed takes memory for two tensors, which runs write in turn, so that a run allocates nothing. They never write a tensor that SetParam was given.
//
//	err := errors.Join(exe.SetParam("w", weights), exe.Feed("w", "w.new"))
//	for range steps {
//		results, err := exe.Run(ctx, batch) // reads w, writes w.new, which is w of the next run
//	}
//
// If Run returns an error, the params stay as they are. After an error of a read, which says that the device has refused an index or a
// label in a run, the params of later runs mean nothing: set them again. Executables of one Model share their params, and what feeds them.
// Errors: ErrInvalidArgument (no such param or output, another dtype or shape, one that Feed was called for before), ErrOutOfMemory, ErrClosed.
func (e *Executable) Feed(param, output string) error {
	if err := e.ready("feed"); err != nil {
		return err
	}
	i, err := indexOf("feed", "param", e.plan.Program.Params, param)
	if err != nil {
		return err
	}
	o, err := indexOf("feed", "output", e.plan.Program.Outputs, output)
	if err != nil {
		return err
	}
	return e.program.Feed(i, o)
}

// direct is a tensor that the program can use where it lies: t, or a copy of it.
func (e *Executable) direct(op string, t *Tensor, p lir.Port) (*Tensor, error) {
	if err := t.live(op); err != nil {
		return nil, err
	}
	if !t.dev.shares(e.dev) {
		return nil, fmt.Errorf("lathe: %s: %w: %v is a tensor of another device", op, errs.ErrInvalidHandle, t)
	}
	if e.dev.session.Direct(t.memory) || t.memory.Desc.DType != p.Desc.DType {
		return t, nil
	}
	return e.dev.Copy(t)
}

// Run computes the results of the graph for such inputs, by name, and does not wait for them, unless the graph has control flow (Graph.If and Graph.While of package graph): its
// conditions are read, so that Run waits for all that they depend on, and for all earlier work. The results are new tensors.
// Errors: ErrInvalidArgument (an input that is missing, unknown, or of another dtype or shape), ErrInvalidHandle, ErrNotInitialized (a
// param that was not set), ErrGraphBusy, ErrOutOfMemory, ErrClosed, ctx.Err(). Nothing has been run then, or with control flow perhaps a part, and what the device has
// refused up to its last condition is an error too. What only the device can see is
// an error of the next Sync, or of the next Read of a result of this run or of later work.
func (e *Executable) Run(ctx context.Context, inputs map[string]*Tensor) (map[string]*Tensor, error) {
	if err := e.ready("run"); err != nil {
		return nil, err
	}
	l := e.plan.Program
	in := make([]*Tensor, len(l.Inputs))
	for name, t := range inputs {
		i, err := indexOf("run", "input", l.Inputs, name)
		if err != nil {
			return nil, err
		}
		in[i] = t
	}
	for i, t := range in {
		if t == nil {
			return nil, fmt.Errorf("lathe: run: %w: input %q is missing (want %v)", errs.ErrInvalidArgument, l.Inputs[i].Name, l.Inputs[i].Desc)
		}
	}
	outputs := e.program.Outputs()
	out := make([]*Tensor, len(outputs))
	free := func() {
		for _, t := range out {
			if t != nil {
				_ = e.dev.Free(t) // nobody has seen it
			}
		}
	}
	for i, p := range outputs {
		t, err := e.dev.NewTensor(p.Desc)
		if err != nil {
			free()
			return nil, err
		}
		out[i] = t
	}
	if err := e.RunInto(ctx, in, out); err != nil {
		free()
		return nil, err
	}
	results := make(map[string]*Tensor, len(out))
	for i, p := range outputs {
		results[p.Name] = out[i]
	}
	return results, nil
}

// RunInto is Run into tensors of the caller, with inputs and outputs in the order in which the graph declares them. It allocates
// nothing for up to 8 inputs and 8 outputs, unless an input is a view that must be copied. An output has row-major order without gaps, and may not overlap an input, a param or another output.
// Errors: as Run.
func (e *Executable) RunInto(ctx context.Context, in, out []*Tensor) error {
	if err := e.ready("run"); err != nil {
		return err
	}
	l, outputs := e.plan.Program, e.program.Outputs()
	if len(in) != len(l.Inputs) || len(out) != len(outputs) {
		return fmt.Errorf("lathe: run: %w: %d inputs and %d outputs (want %d and %d)", errs.ErrInvalidArgument, len(in), len(out), len(l.Inputs), len(outputs))
	}
	var fewIn, fewOut [few]session.Tensor
	ins, outs := fewIn[:0], fewOut[:0]
	for i, t := range in {
		t, err := e.direct("run", t, l.Inputs[i])
		if err != nil {
			return fmt.Errorf("%w (input %q)", err, l.Inputs[i].Name)
		}
		ins = append(ins, t.memory)
	}
	for i, t := range out {
		if err := t.live("run"); err != nil {
			return fmt.Errorf("%w (output %q)", err, outputs[i].Name)
		}
		outs = append(outs, t.memory)
	}
	return e.program.Run(ctx, ins, outs)
}

// Free ends the life of the Executable and gives back its memory. Work that was submitted still finishes. Freeing twice is harmless.
// The arena and the params of a Model stay, and Model.At compiles the graph again.
func (e *Executable) Free() error {
	if err := e.ready("free"); err != nil {
		return err
	}
	return e.program.Free()
}
