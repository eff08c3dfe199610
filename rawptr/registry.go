package rawptr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Registry has backends by name, and chooses among them. NewRegistry makes one with the backends of
// Lathe. The zero Registry has none. Any goroutine may call the methods.
type Registry struct {
	mu   sync.Mutex
	list []registered // the best first
}

// registered is a backend that can be made.
type registered struct {
	name     string
	priority int
	build    func() Backend
	own      bool // it is one of Lathe's, so its devices can be listed without opening it
}

// priorities are those of Lathe's own backends.
var priorities = map[string]int{"vk": 100, "wgpu": 50, "cpu": 25}

// NewRegistry returns a registry of the backends that the program has: vk with the priority 100, wgpu
// with 50 if the program imports package wgpu, cpu with 25, and the null backend by its name only.
func NewRegistry() *Registry {
	r := &Registry{}
	for _, name := range drivers.Built() {
		r.add(registered{name, priorities[name], func() Backend { return New(WithBackend(name)) }, true})
	}
	r.add(registered{NullName, -1, func() Backend { return NewNull() }, false})
	return r
}

// add keeps the list in order. The caller holds the lock, or is the only one to know r.
func (r *Registry) add(b registered) {
	r.list = append(r.list, b)
	slices.SortStableFunc(r.list, func(a, b registered) int { return b.priority - a.priority })
}

// Register makes a backend known. build makes one that is not open yet. If several backends fit, Open
// takes the one with the highest priority. It takes one with a priority below 0 only by its name.
// Errors: ErrInvalidArgument (no name, a name that is taken or "auto", no build, a priority beyond ±2³⁰).
func (r *Registry) Register(name string, priority int, build func() Backend) error {
	if r == nil {
		return fmt.Errorf("rawptr: register: %w: a nil Registry", errs.ErrNotInitialized)
	}
	const most = 1 << 30
	if priority < -most || priority > most || build == nil || name == "" || name == drivers.Auto {
		return fmt.Errorf("rawptr: register: %w: name %q with priority %d (want a name, a priority up to %d, and a function)", errs.ErrInvalidArgument, name, priority, most)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.list, func(b registered) bool { return b.name == name }) {
		return fmt.Errorf("rawptr: register: %w: a backend named %q is there already", errs.ErrInvalidArgument, name)
	}
	r.add(registered{name, priority, build, false})
	return nil
}

// backends are all backends, the best first.
func (r *Registry) backends() []registered {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// Names lists the backends, the best first.
func (r *Registry) Names() []string {
	var names []string
	for _, b := range r.backends() {
		names = append(names, b.name)
	}
	return names
}

// New makes the backend of a name. It is not open yet.
// Errors: ErrInvalidArgument (no such name, nothing made).
func (r *Registry) New(name string) (Backend, error) {
	for _, b := range r.backends() {
		if b.name != name {
			continue
		}
		if made := b.build(); !errs.Nil(made) {
			return made, nil
		}
		return nil, fmt.Errorf("rawptr: new: %w: backend %q made nothing", errs.ErrInvalidArgument, name)
	}
	return nil, fmt.Errorf("rawptr: new: %w: no backend is named %q (have %s)", errs.ErrInvalidArgument, name, strings.Join(r.Names(), ", "))
}

// Open makes a backend and opens it. The names are a chain: Open returns the first backend of them that
// can be opened. Without names it takes the one that LATHE_BACKEND names. If that is empty or "auto", it chooses among all whose priority is 0 or more, as lathe.Open does:
// hardware comes before the processor, the device cpu before other drivers on the processor, and
// a higher priority before a lower one. If the best cannot be opened, it goes on to the next.
// Errors: ErrNoDevice with what each backend said, ErrInvalidArgument (an unknown name), ctx.Err().
func (r *Registry) Open(ctx context.Context, names ...string) (Backend, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("rawptr: open: %w", err)
	}
	if len(names) == 0 {
		name, _ := drivers.Given("")
		if name == drivers.Auto {
			return r.best(ctx)
		}
		names = []string{name}
	}
	known := r.Names()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("rawptr: open: %w: no backend is named %q (have %s)", errs.ErrInvalidArgument, name, strings.Join(known, ", "))
		}
	}
	var failed []error
	for _, name := range names {
		b, err := r.New(name)
		if err == nil {
			b, err = initialized(ctx, b)
		}
		if err == nil {
			return b, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("rawptr: open: %w", ctx.Err())
		}
		failed = append(failed, fmt.Errorf("%s: %w", name, err))
	}
	return nil, fmt.Errorf("rawptr: open: %w: %w", errs.ErrNoDevice, errors.Join(failed...))
}

// best opens the best backend.
func (r *Registry) best(ctx context.Context) (Backend, error) {
	warn := drivers.DefaultWarn
	var sources []drivers.Source[Backend]
	for _, b := range r.backends() {
		if b.priority < 0 {
			continue
		}
		s, done := b.source(warn)
		defer done()
		sources = append(sources, s)
	}
	b, choice, err := drivers.Choose(ctx, sources, "", warn)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, fmt.Errorf("rawptr: open: %w", ctx.Err())
	case err != nil:
		return nil, choice.Hinted(fmt.Errorf("rawptr: open: %w: %w", errs.ErrNoDevice, err), drivers.Auto)
	}
	drivers.Warn(choice, drivers.Auto, "", warn)
	return b, nil
}

// source is the backend as the chooser of drivers wants it. One of another program lists no devices, so
// the chooser opens it to see what it runs on.
func (b registered) source(warn func(string)) (s drivers.Source[Backend], done func()) {
	if b.own {
		devices, done := drivers.SourceOf(b.name, drivers.Options{Warn: warn})
		return drivers.Source[Backend]{
			Name: b.name, List: devices.List, Skip: devices.Skip,
			Open: func(ctx context.Context, i int) (Backend, error) {
				dev, err := devices.Open(ctx, i)
				if err != nil {
					return nil, err
				}
				return initialized(ctx, New(WithGPU(dev), WithBackend(b.name)))
			},
		}, done
	}
	return drivers.Source[Backend]{
		Name: b.name,
		Open: func(ctx context.Context, _ int) (Backend, error) {
			made := b.build()
			if errs.Nil(made) {
				return nil, fmt.Errorf("%w: backend %q made nothing", errs.ErrInvalidArgument, b.name)
			}
			return initialized(ctx, made)
		},
		Info: func(b Backend) *gpu.Info {
			if c, err := b.Capabilities(); err == nil {
				return &c.Device
			}
			return nil
		},
	}, func() {}
}

// initialized opens a backend, or closes it.
func initialized(ctx context.Context, b Backend) (Backend, error) {
	if err := b.Init(ctx); err != nil {
		_ = b.Close() // the error of Init says more
		return nil, err
	}
	return b, nil
}
