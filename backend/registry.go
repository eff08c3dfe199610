package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

// Env is the environment variable that names the backend to open where the
// program names none.
const Env = drivers.Env

// Auto is the name that Open takes for the best backend there is.
const Auto = drivers.Auto

// registered is a backend that can be opened.
type registered struct {
	name     string
	priority int
	open     func(context.Context) (Backend, error)
}

var registry struct {
	sync.Mutex
	list []registered // best first
}

func init() {
	if vk.Built {
		Register("vk", 100, func(ctx context.Context) (Backend, error) { return over(vk.Open(ctx, vk.Options{})) })
	}
	if wgpu.Built {
		Register("wgpu", 50, func(ctx context.Context) (Backend, error) { return over(wgpu.Open(ctx, wgpu.Options{})) })
	}
}

// over is New of a device that was opened, or not.
func over(dev gpu.Device, err error) (Backend, error) {
	if err != nil {
		return nil, err
	}
	b, err := New(dev)
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return b, nil
}

// Register makes a backend known by name; of several that would do, Open takes
// the one of the highest priority (vk has 100, wgpu 50). A backend must report the
// ABIFingerprint of this program, or Open refuses it. One that has a method
// Info() *gpu.Info is taken for hardware unless that says CPU; one without is
// taken for hardware. Register panics if the name is taken: that is a mistake
// of the program's text.
func Register(name string, priority int, open func(context.Context) (Backend, error)) {
	registry.Lock()
	defer registry.Unlock()
	if name == "" || name == Auto || open == nil || slices.ContainsFunc(registry.list, func(r registered) bool { return r.name == name }) {
		panic(fmt.Sprintf("backend: cannot register %q: empty, reserved, or registered before", name))
	}
	registry.list = append(registry.list, registered{name, priority, open})
	slices.SortStableFunc(registry.list, func(a, b registered) int { return b.priority - a.priority })
}

// Names lists the registered backends, the best first.
func Names() []string {
	var names []string
	for _, r := range backends() {
		names = append(names, r.name)
	}
	return names
}

func backends() []registered {
	registry.Lock()
	defer registry.Unlock()
	return slices.Clone(registry.list)
}

// Open opens a backend by name. "auto" tries all of them, takes the first that
// runs on hardware, and one that runs on a processor only where there is no
// other. An empty name means what LATHE_BACKEND says, or "auto".
//
// Errors: ErrNoDevice (with what each backend said), ErrInvalidArgument (no such
// name), ErrABIMismatch, and those of the backend.
func Open(ctx context.Context, name string) (Backend, error) {
	b, _, err := OpenExplained(ctx, name)
	return b, err
}

// OpenExplained is Open, and says in a line for each backend looked at why it
// was taken or not.
func OpenExplained(ctx context.Context, name string) (b Backend, why []string, err error) {
	if err := errs.Context(ctx); err != nil {
		return nil, nil, fmt.Errorf("backend: open: %w", err)
	}
	source := ""
	if name == "" {
		if name = strings.TrimSpace(os.Getenv(Env)); name == "" {
			name = Auto
		} else {
			source = " (from " + Env + ")"
		}
	}
	all := backends()
	if name != Auto {
		at := slices.IndexFunc(all, func(r registered) bool { return r.name == name })
		if at < 0 {
			return nil, nil, fmt.Errorf("backend: open: %w: no backend is named %q%s (have %s, %s)", errs.ErrInvalidArgument, name, source, Auto, strings.Join(Names(), ", "))
		}
		if b, err = all[at].start(ctx); err != nil {
			return nil, nil, err
		}
		return b, []string{fmt.Sprintf("%s: taken: it was asked for by name%s", name, source)}, nil
	}
	return auto(ctx, all)
}

func auto(ctx context.Context, all []registered) (best Backend, why []string, err error) {
	var failed []error
	for _, r := range all {
		if err := errs.Context(ctx); err != nil {
			return nil, why, errors.Join(err, closeIf(best))
		}
		b, err := r.start(ctx)
		switch {
		case err != nil:
			failed = append(failed, err)
			why = append(why, fmt.Sprintf("%s: not taken: %v", r.name, err))
		case hardware(b):
			why = append(why, fmt.Sprintf("%s: taken: %s", r.name, describe(b)))
			if err := closeIf(best); err != nil {
				why = append(why, fmt.Sprintf("closing the one before: %v", err))
			}
			return b, why, nil
		case best == nil:
			best = b
			why = append(why, fmt.Sprintf("%s: no hardware, taken where there is nothing better: %s", r.name, describe(b)))
		default:
			why = append(why, fmt.Sprintf("%s: not taken: no hardware, and after one like it: %s", r.name, describe(b)))
			if err := b.Close(); err != nil {
				why = append(why, fmt.Sprintf("closing it: %v", err))
			}
		}
	}
	if best == nil {
		return nil, why, fmt.Errorf("backend: open: %w: %w", errs.ErrNoDevice, errors.Join(failed...))
	}
	return best, why, nil
}

func closeIf(b Backend) error {
	if b == nil {
		return nil
	}
	return b.Close()
}

// start opens a backend and compares its fingerprint with that of the program.
func (r registered) start(ctx context.Context) (Backend, error) {
	b, err := r.open(ctx)
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

func hardware(b Backend) bool {
	i, ok := b.(informer)
	return !ok || i.Info().Kind != gpu.CPU
}

func describe(b Backend) string {
	if i, ok := b.(informer); ok {
		return fmt.Sprintf("%s (%v)", i.Info().Name, i.Info().Kind)
	}
	return b.Name()
}
