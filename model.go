package lathe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
)

// mostBindings is how many compiled graphs a Model keeps.
const mostBindings = 32

// Model is a function that builds a graph for sizes of its named dims. At compiles the graph for such sizes, once, and keeps it.
// Device.Model makes a Model. Any goroutine may call its methods.
//
// The Executables of a Model share their params, and one arena as large as the largest of them needs. So memory does not grow with the
// number of sizes, and to run with fewer rows than before costs nothing. Only one of them runs at a time: Run returns ErrGraphBusy for a
// second one.
type Model struct {
	dev     *Device
	build   func(*graph.Graph)
	options graph.Options
	state   *session.State

	building chan struct{} // has an element while build runs
	builder  atomic.Uint64 // the number of the goroutine in build, or 0

	mu       sync.Mutex
	freed    bool
	bindings map[string]*binding
	clock    int64               // counts calls of At
	params   map[string]struct{} // those that the program has set
}

// binding is a graph of a Model that is compiled, or that a goroutine compiles.
type binding struct {
	ready chan struct{} // closed when exe and err are there
	exe   *Executable
	err   error
	used  int64 // when At returned it last
}

// Model returns a Model of a function that builds a graph. The function asks the graph for the sizes of named dims:
//
//	model := dev.Model(func(g *graph.Graph) {
//		x := g.Input("x", tensor.F32, g.Dim("BATCH"), 784)
//		w := g.Param("w", tensor.F32, 784, 10)
//		g.Output("p", g.Softmax(g.MatMul(x, w), -1))
//	}, graph.Options{})
//	defer model.Free()
//	err := model.SetParam("w", weights)
//	exe, err := model.At(ctx, graph.Dims{"BATCH": 64})
//	results, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": digits})
//
// The function is called by At, in one goroutine at a time. It must build the same graph for the same sizes. Mistakes are errors of At.
func (d *Device) Model(build func(g *graph.Graph), o graph.Options) *Model {
	m := &Model{dev: d, build: build, options: o, building: make(chan struct{}, 1), bindings: map[string]*binding{}, params: map[string]struct{}{}}
	m.options.Without, m.options.Supported = slices.Clone(o.Without), slices.Clone(o.Supported)
	if d != nil && d.session != nil {
		m.state = d.session.NewState()
	}
	return m
}

// ready returns an error for a Model that Device.Model did not make of a function and a device, and after the device was closed.
func (m *Model) ready(op string) error {
	if m == nil || m.bindings == nil || m.state == nil {
		return fmt.Errorf("lathe: %s: %w: a Model that Device.Model of an open device did not make", op, errs.ErrNotInitialized)
	}
	return m.dev.open(op)
}

// usable returns ErrClosed after Free. The caller holds mu.
func (m *Model) usable(op string) error {
	if m.freed {
		return fmt.Errorf("lathe: %s: %w: the model was freed", op, errs.ErrClosed)
	}
	return nil
}

// At returns the graph of the model for such sizes of its dims. It compiles it the first time, and keeps the 32 graphs that
// were used last. Compiling again costs time only: an Executable that the model has dropped still works, and its memory is given back when
// nobody refers to it. Goroutines that ask for the same sizes wait for one compilation.
//
// The params of all graphs are those that SetParam has set. A param whose shape has a named dim must be set anew before a run with another size.
// Errors: those of Device.Compile; ErrGraph with ErrInvalidArgument for a dim that is missing, unknown or negative;
// ErrInvalidArgument for a param that was set before the first graph and that the graph does not have, which the next At no longer minds, and for the
// function of the model itself, which cannot call At; ErrClosed.
func (m *Model) At(ctx context.Context, dims graph.Dims) (*Executable, error) {
	if err := m.ready("at"); err != nil {
		return nil, err
	}
	if m.build == nil {
		return nil, fmt.Errorf("lathe: at: %w: a Model without a function", errs.ErrInvalidArgument)
	}
	if id := m.builder.Load(); id != 0 && id == goroutine() { // it would wait for itself
		return nil, fmt.Errorf("lathe: at %v: %w: the function that builds the graph of a model asks for the model", dims, errs.ErrInvalidArgument)
	}
	key := keyOf(dims)
	for {
		if err := errs.Context(ctx); err != nil {
			return nil, fmt.Errorf("lathe: at %v: %w", dims, err)
		}
		b, mine, err := m.binding(key)
		if err != nil {
			return nil, err
		}
		if mine {
			return m.compile(ctx, key, b, maps.Clone(dims))
		}
		select {
		case <-b.ready:
		case <-ctx.Done():
			return nil, fmt.Errorf("lathe: at %v: %w", dims, ctx.Err())
		}
		if b.err == nil {
			return b.exe, nil
		}
		if !errors.Is(b.err, context.Canceled) && !errors.Is(b.err, context.DeadlineExceeded) {
			return nil, b.err
		}
		// The goroutine that compiled it was cancelled, and this one was not.
	}
}

// keyOf is a text that is the same for the same dims only.
func keyOf(dims graph.Dims) string {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(dims)) {
		b = strconv.AppendInt(append(strconv.AppendQuote(b, name), '='), int64(dims[name]), 10)
	}
	return string(b)
}

// binding returns the binding of a key. mine says that it is new, and that the caller compiles it.
func (m *Model) binding(key string) (b *binding, mine bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable("at"); err != nil {
		return nil, false, err
	}
	m.clock++
	b = m.bindings[key]
	if b == nil || b.exe != nil && b.exe.program.Freed() {
		b, mine = &binding{ready: make(chan struct{})}, true
		m.bindings[key] = b
	}
	b.used = m.clock
	return b, mine, nil
}

// compile compiles a binding, and drops the one that was not used for the longest time if there are too many. It ends the wait of
// others also if the function panics.
func (m *Model) compile(ctx context.Context, key string, b *binding, dims graph.Dims) (exe *Executable, err error) {
	err = fmt.Errorf("lathe: at %v: %w: the function that builds the graph did not return", dims, errs.ErrInvalidArgument)
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil && m.freed {
			err = errors.Join(m.usable("at"), exe.Free())
			exe = nil
		}
		b.exe, b.err = exe, err
		close(b.ready)
		if err != nil && m.bindings[key] == b {
			delete(m.bindings, key)
		}
		m.drop()
	}()
	g, err := m.graph(ctx, dims)
	if err != nil {
		return nil, err
	}
	plan, err := m.dev.PlanGraph(g, m.options)
	if err != nil {
		return nil, err
	}
	if err := m.known(plan); err != nil {
		return nil, err
	}
	p, err := m.dev.session.Load(ctx, plan.Program, m.state)
	if err != nil {
		return nil, err
	}
	return &Executable{dev: m.dev, plan: plan, program: p}, nil
}

// graph builds the graph of such dims.
func (m *Model) graph(ctx context.Context, dims graph.Dims) (*graph.Graph, error) {
	select {
	case m.building <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("lathe: at %v: %w", dims, ctx.Err())
	}
	defer func() { <-m.building }()
	m.builder.Store(goroutine())
	defer m.builder.Store(0)
	g := graph.NewWithDims(dims)
	m.build(g)
	return g, nil
}

// goroutine is the number of the goroutine, as panics write it, or 0 if it cannot be found out.
func goroutine() uint64 {
	var b [64]byte
	var id uint64
	_, _ = fmt.Sscanf(string(b[:runtime.Stack(b[:], false)]), "goroutine %d ", &id)
	return id
}

// known returns an error for params that were set and that neither this graph nor an earlier one has. It forgets them, so that a later At succeeds.
func (m *Model) known(plan *graph.Plan) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, port := range plan.Program.Params {
		delete(m.params, port.Name) // another size may do without it
	}
	var unknown error
	for _, name := range slices.Sorted(maps.Keys(m.params)) {
		_, err := indexOf("at", "param", plan.Program.Params, name)
		unknown = errors.Join(unknown, err)
		delete(m.params, name)
	}
	return unknown
}

// drop forgets bindings that were not used for the longest time. They are not freed, because a program may run them.
func (m *Model) drop() {
	for len(m.bindings) > mostBindings {
		oldest := ""
		for key, b := range m.bindings {
			if b.exe != nil && (oldest == "" || b.used < m.bindings[oldest].used) {
				oldest = key
			}
		}
		if _, ok := m.bindings[oldest]; !ok {
			return // all of them are being compiled
		}
		delete(m.bindings, oldest)
	}
}

// SetParam gives a param its tensor, as Executable.SetParam does, for all graphs of the model, those that are compiled later too. Each
// run compares dtype and shape with those of its graph.
// Errors: ErrInvalidArgument (no graph that is compiled has such a param), ErrInvalidHandle, ErrClosed. If none is compiled, a name that the graph does not
// have is an error of the next At.
func (m *Model) SetParam(name string, t *Tensor) error {
	if err := m.ready("set param"); err != nil {
		return err
	}
	if err := t.live("set param"); err != nil {
		return fmt.Errorf("%w (param %q)", err, name)
	}
	if !t.dev.shares(m.dev) {
		return fmt.Errorf("lathe: set param: %w: %v is a tensor of another device (param %q)", errs.ErrInvalidHandle, t, name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable("set param"); err != nil {
		return err
	}
	var err error
	for _, b := range m.bindings {
		if b.exe == nil {
			continue
		}
		if _, err = indexOf("set param", "param", b.exe.plan.Program.Params, name); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if !m.dev.session.Direct(t.memory) {
		if t, err = m.dev.Copy(t); err != nil {
			return fmt.Errorf("%w (param %q)", err, name)
		}
	}
	if err := m.state.SetParam(name, t.inSession()); err != nil {
		return err
	}
	m.params[name] = struct{}{}
	return nil
}

// Free ends the life of the model and of its Executables, and gives back their memory. Work that was submitted still finishes.
// Freeing twice is harmless.
func (m *Model) Free() error {
	if err := m.ready("free"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.freed {
		return nil
	}
	m.freed = true
	var err error
	for _, b := range m.bindings {
		if b.exe != nil {
			err = errors.Join(err, b.exe.program.Free())
		}
	}
	m.bindings = map[string]*binding{}
	return errors.Join(err, m.state.Free())
}
