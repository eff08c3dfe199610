package session

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/spec"
)

// GraphCompiler compiles the calls of graphs for the device.
func (s *Session) GraphCompiler() lir.Compiler {
	return graphCompiler{s.run, s.Info().Limits.MaxBuffer}
}

type graphCompiler struct {
	run  *exec.Runner
	most int64
}

func (c graphCompiler) Target() spec.Target { return c.run.Target() }
func (c graphCompiler) Align() int64        { return c.run.Align() }
func (c graphCompiler) MaxBuffer() int64    { return c.most }

func (c graphCompiler) Compile(call spec.Call, in, out []spec.Place) (lir.Code, error) {
	compiled, err := c.run.Compile(call, in, out)
	if err != nil {
		return nil, err
	}
	return code{compiled}, nil
}

// code is a compiled call of a graph.
type code struct{ compiled *exec.Compiled }

func (c code) Scratch() []int64  { return c.compiled.Scratch }
func (c code) Kernels() []string { return c.compiled.Kernels() }

// Fixed implements lir.Parts.
func (c code) Fixed(fixed []bool) (launches, scratch []bool) { return c.compiled.Fixed(fixed) }

// Program is a compiled graph in the memory of a Session: its schedule with constants, and an arena. Load makes one. Any goroutine
// may run it, but only one at a time may run the Programs of one State.
type Program struct {
	session *Session
	lir     *lir.Program
	main    *subgraph
	hoisted *hoisted  // nil if nothing depends on weights only
	packed  []*Buffer // the scratch memory that what is hoisted and what runs once leave
	state   *State
	own     bool // the State is this program's alone
	params  []*param
	outs    atomic.Pointer[outputs]
	all     []Tensor // the outputs of one run, kept for the next one
	kept    *Buffer
	freed   atomic.Bool
}

// Load gives a schedule memory, writes its constants, and runs what depends on them only. The schedule was made by Session.GraphCompiler.
// st has the arena and the params; nil stands for a State of the program's own. Load waits for what runs once only if the device
// checks its inputs.
// Errors: ErrInvalidArgument (a schedule of another compiler, or constants that a call refuses on the device), *LimitError, ErrOutOfMemory,
// ErrClosed (st was freed), ctx.Err().
func (s *Session) Load(ctx context.Context, l *lir.Program, st *State) (p *Program, err error) {
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("%s: load: %w", s.surface, err)
	}
	if s.holder.recording() { // what runs once would be recorded
		return nil, fmt.Errorf("%s: load: %w: a graph is compiled while another one is recorded (compile it before Begin)", s.surface, errs.ErrCapture)
	}
	p = &Program{session: s, lir: l, state: st, own: st == nil}
	if p.own {
		p.state = s.NewState()
	}
	defer func() {
		if err != nil {
			_ = p.Free() // it fails on a closed device only
			p, err = nil, fmt.Errorf("%s: load: %w", s.surface, err)
		}
	}()
	once, err := p.sequences()
	if err != nil {
		return
	}
	if p.kept, err = s.memory.allocate(l.Kept); err != nil {
		return
	}
	for _, c := range l.Constants {
		if err = s.gpu.Write(ctx, p.kept.handle, c.Offset, c.Data); err != nil {
			return
		}
	}
	err = p.prepare(ctx, once)
	return
}

// prepare makes room in the arena, finds the params, and runs what runs once.
func (p *Program) prepare(ctx context.Context, once *exec.Sequence) error {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if err := p.usable("load"); err != nil {
		return err
	}
	if err := p.state.grow(p.lir.Arena); err != nil {
		return err
	}
	for _, port := range p.lir.Params {
		p.params = append(p.params, p.state.param(port.Name))
	}
	if once.Launches() == 0 {
		return nil
	}
	if err := p.setOwn(once.Set); err != nil {
		return err
	}
	return once.SubmitAndCheck(ctx, nil)
}

// slot is the number of the buffer of an operand in the sequences of a schedule.
func slot(l *lir.Program, m lir.Memory, buffer int) int {
	switch m {
	case lir.Inputs:
		return buffer
	case lir.Params:
		return len(l.Inputs) + buffer
	case lir.Outputs:
		return len(l.Inputs) + len(l.Params) + buffer
	case lir.Kept:
		return len(l.Inputs) + len(l.Params) + len(l.Outputs)
	}
	return len(l.Inputs) + len(l.Params) + len(l.Outputs) + 1 + buffer
}

// Schedule is the schedule of the program.
func (p *Program) Schedule() *lir.Program { return p.lir }

// SetParam gives a param its tensor, which the programs of the State read in every later run. It is not copied.
// Errors: ErrInvalidArgument, ErrInvalidHandle, and ErrClosed after Free.
func (p *Program) SetParam(i int, t Tensor) error {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if err := p.usable("set param"); err != nil {
		return err
	}
	if err := p.fits("set param", "param", p.lir.Params[i], t); err != nil {
		return err
	}
	p.params[i].to(t)
	return nil
}

// Param returns the tensor of a param as the next run will read it. It has no Buffer if it was not set.
// Errors: ErrClosed after Free.
func (p *Program) Param(i int) (Tensor, error) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if err := p.usable("param"); err != nil {
		return Tensor{}, err
	}
	return p.params[i].tensor, nil
}

// usable returns ErrClosed after Free.
func (p *Program) usable(op string) error {
	if p.freed.Load() {
		return fmt.Errorf("%s: %s: %w: the program was freed", p.session.surface, op, errs.ErrClosed)
	}
	return p.state.usable(op)
}

// Run computes the outputs and does not wait for them, unless the schedule has an If or a While, whose condition it reads. in has a tensor for each input, and out for each of Outputs, which are Direct. No
// output overlaps an input, a param or another output.
// Errors: ErrInvalidArgument, ErrInvalidHandle, ErrNotInitialized (a param that was not set), ErrClosed, ErrGraphBusy if another
// goroutine runs a program of the State, and those of Device.Submit. Nothing has been run then. With an If or a While also those of Runner.Read, and
// the outputs mean nothing then.
func (p *Program) Run(ctx context.Context, in, out []Tensor) error {
	if !p.state.running.CompareAndSwap(false, true) {
		return fmt.Errorf("%s: run: %w: another goroutine runs the program (each needs its own)", p.session.surface, errs.ErrGraphBusy)
	}
	defer p.state.running.Store(false)
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if err := p.usable("run"); err != nil {
		return err
	}
	if p.controlled() && p.session.holder.recording() { // the host decides what runs, and a recording is one list
		return fmt.Errorf("%s: run: %w: a graph with If or While cannot be recorded (run it outside of the capture)", p.session.surface, errs.ErrCapture)
	}
	outs := p.outputs()
	if len(in) != len(p.lir.Inputs) || len(out) != len(outs.given) {
		return fmt.Errorf("%s: run: %w: %d inputs and %d outputs (want %d and %d)", p.session.surface, errs.ErrInvalidArgument, len(in), len(out), len(p.lir.Inputs), len(outs.given))
	}
	p.all = outs.withFed(p.all[:0], out)
	defer clear(p.all)
	if err := p.bind(in, p.all); err != nil {
		return err
	}
	if err := p.session.WaitForRoom(ctx); err != nil {
		return fmt.Errorf("%s: run: %w", p.session.surface, err)
	}
	err := p.prepareWeights(ctx)
	if err == nil {
		err = p.main.run(ctx, p.session.run)
	}
	runtime.KeepAlive(p) // whose constants nobody else may hold
	runtime.KeepAlive(in)
	runtime.KeepAlive(out)
	if err != nil {
		return fmt.Errorf("%s: run: %w", p.session.surface, err)
	}
	outs.turn()
	return nil
}

// controlled reports whether the schedule has an If or a While.
func (p *Program) controlled() bool {
	return slices.ContainsFunc(p.lir.Steps, func(s lir.Step) bool { return s.Control != nil })
}

// bind checks the tensors of a run and sets their slots.
func (p *Program) bind(in, out []Tensor) error {
	l := p.lir
	for i := range in {
		if err := p.fits("run", "input", l.Inputs[i], in[i]); err != nil {
			return err
		}
	}
	for i, param := range p.params {
		if param.tensor.Buffer == nil {
			return fmt.Errorf("%s: run: %w: param %q was not set", p.session.surface, errs.ErrNotInitialized, l.Params[i].Name)
		}
		if err := p.fits("run", "param", l.Params[i], param.tensor); err != nil {
			return err
		}
	}
	for i := range out {
		if err := p.fits("run", "output", l.Outputs[i], out[i]); err != nil {
			return err
		}
		if p.overlaps(out[i], in, out[:i]) {
			return fmt.Errorf("%s: run: %w: output %q overlaps an input, a param or another output (want memory of its own)", p.session.surface, errs.ErrInvalidArgument, l.Outputs[i].Name)
		}
	}
	if err := p.setOwn(p.main.set); err != nil {
		return err
	}
	for i, param := range p.params {
		if err := p.main.set(slot(l, lir.Params, i), param.tensor.Buffer.handle, param.tensor.Offset); err != nil {
			return err
		}
	}
	for i := range in {
		if err := p.main.set(slot(l, lir.Inputs, i), in[i].Buffer.handle, in[i].Offset); err != nil {
			return err
		}
	}
	for i := range out {
		if err := p.main.set(slot(l, lir.Outputs, i), out[i].Buffer.handle, out[i].Offset); err != nil {
			return err
		}
	}
	return nil
}

// Free ends the life of the program and releases its memory, but not a State that Load was given. Work that was submitted still
// finishes. Freeing twice is harmless.
func (p *Program) Free() error {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.freed.Swap(true) {
		return nil
	}
	p.params = nil
	p.main.close()
	if p.hoisted != nil {
		p.hoisted.seq.Close()
	}
	var err error
	if p.kept != nil {
		err = p.kept.free()
	}
	for _, b := range p.packed {
		err = errors.Join(err, b.free())
	}
	if p.own {
		err = errors.Join(err, p.state.release())
	}
	return err
}

// Freed reports whether Free was called.
func (p *Program) Freed() bool { return p.freed.Load() }
