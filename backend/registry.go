package backend

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
	"github.com/lathe-gpu/lathe/spirv"
)

// Env is the environment variable that names the backend to open where the
// program names none.
const Env = drivers.Env

// Auto is the name for the best backend.
const Auto = drivers.Auto

// registered is a backend that can be opened.
type registered struct {
	name     string
	priority int
	open     func(context.Context) (Backend, error) // nil for one of Lathe's own
}

// registry has the backends of Register. Lathe's own are in internal/drivers.
var registry struct {
	sync.Mutex
	list []registered
}

// priorities are those of Lathe's own backends.
var priorities = map[string]int{"vk": 100, "wgpu": 50, "cpu": 25}

// Register makes a backend known by name. If several fit, Open takes the one with
// the highest priority. vk has 100, wgpu 50 and cpu 25. A backend must report the ABIFingerprint of
// this program, or Open refuses it. A backend counts as hardware, unless it has a method
// Info() *gpu.Info that says CPU. Register panics if the name is taken, or is that of a backend
// of Lathe, in the program or not, because that is a mistake in the program.
func Register(name string, priority int, open func(context.Context) (Backend, error)) {
	if name == "" || name == Auto || open == nil || drivers.Known(name) || slices.Contains(Names(), name) {
		panic(fmt.Sprintf("backend: cannot register %q: empty, reserved, or registered before", name))
	}
	registry.Lock()
	defer registry.Unlock()
	registry.list = append(registry.list, registered{name, priority, open})
}

// Names lists the backends that this program has and those of Register, the best first. vk and
// cpu are in every program. An import of package wgpu adds wgpu.
func Names() []string {
	var names []string
	for _, r := range backends() {
		names = append(names, r.name)
	}
	return names
}

// backends are all backends, the best first.
func backends() []registered {
	var all []registered
	for _, name := range drivers.Built() {
		all = append(all, registered{name: name, priority: priorities[name]})
	}
	registry.Lock()
	all = append(all, registry.list...)
	registry.Unlock()
	slices.SortStableFunc(all, func(a, b registered) int { return b.priority - a.priority })
	return all
}

// Open opens a backend by name. "auto" takes the first one that has hardware. If none has,
// it takes cpu, and CPU drivers of vk and wgpu only if that cannot be opened. A backend of
// Register that runs on the CPU comes before cpu if its priority is above that of vk. Open
// decides by the devices that the backends list, and opens only the one it takes. A backend of Register lists no devices. So Open opens it to see what it
// runs on, and closes it if it takes another. An empty name means the name in
// LATHE_BACKEND, or "auto" if there is none.
//
// Errors: ErrNoDevice (with what each backend said, and for wgpu in a program that does not
// import it, with the import), ErrInvalidArgument (no such name), ErrABIMismatch, and those of
// the backend.
func Open(ctx context.Context, name string) (Backend, error) {
	b, _, err := OpenExplained(ctx, name)
	return b, err
}

// OpenExplained is Open. It also returns a line for each backend that it looked at, which
// says why the backend was taken or not.
func OpenExplained(ctx context.Context, name string) (b Backend, why []string, err error) {
	if err := errs.Context(ctx); err != nil {
		return nil, nil, fmt.Errorf("backend: open: %w", err)
	}
	asked := name
	name, from := drivers.Given(asked)
	all := backends()
	if name != Auto {
		all = slices.DeleteFunc(all, func(r registered) bool { return r.name != name })
		switch {
		case len(all) == 0 && drivers.Known(name): // and not in the program: SourceOf says how it gets there
			all = []registered{{name: name}}
		case len(all) == 0:
			return nil, nil, fmt.Errorf("backend: open: %w: no backend is named %q%s (have %s, %s)", errs.ErrInvalidArgument, name, from, Auto, strings.Join(Names(), ", "))
		}
	}
	if err := drivers.CheckSelector(asked, ""); err != nil {
		return nil, nil, err
	}
	warn := drivers.DefaultWarn
	var sources []drivers.Source[Backend]
	for _, r := range all {
		s, done := r.source(drivers.Options{Warn: warn})
		defer done()
		sources = append(sources, s)
	}
	b, choice, err := drivers.Choose(ctx, sources, "", warn)
	switch {
	case err == nil:
		drivers.Warn(choice, name, "", warn)
	case name == Auto && ctx.Err() == nil:
		return nil, choice.Why, choice.Hinted(fmt.Errorf("backend: open: %w: %w", errs.ErrNoDevice, err), name)
	default:
		return nil, choice.Why, choice.Hinted(err, name)
	}
	if name != Auto {
		return b, []string{fmt.Sprintf("%s: taken: it was asked for by name%s", name, from)}, nil
	}
	return b, choice.Why, nil
}

// source is the backend as the chooser takes it.
func (r registered) source(o drivers.Options) (s drivers.Source[Backend], done func()) {
	if r.open != nil {
		return drivers.Source[Backend]{
			Name: r.name,
			Open: func(ctx context.Context, _ int) (Backend, error) {
				b, err := r.open(ctx)
				return r.verified(b, err)
			},
			Info: func(b Backend) *gpu.Info {
				if i, ok := b.(informer); ok {
					return i.Info()
				}
				return nil
			},
		}, func() {}
	}
	devices, done := drivers.SourceOf(r.name, o)
	return drivers.Source[Backend]{
		Name: r.name, List: devices.List, Skip: devices.Skip,
		Open: func(ctx context.Context, i int) (Backend, error) {
			dev, err := devices.Open(ctx, i)
			if err != nil {
				return r.verified(nil, err)
			}
			b, err := New(dev)
			if err != nil {
				return r.verified(nil, err)
			}
			return r.verified(b, nil)
		},
	}, done
}

// verified compares the fingerprint of a backend that was opened, or not, with that of
// the program.
func (r registered) verified(b Backend, err error) (Backend, error) {
	if err != nil {
		return nil, fmt.Errorf("backend: open %s: %w", r.name, err)
	}
	if have, want := b.ABIFingerprint(), spirv.Fingerprint(); have != want {
		err := fmt.Errorf("backend: open %s: %w: it reports %016x, this program has %016x; build both from the same release", r.name, errs.ErrABIMismatch, have, want)
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// informer is a backend that says what it runs on.
type informer interface{ Info() *gpu.Info }
