package device

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// NotOpened is the error of the methods of a nil or zero Device of a backend.
func NotOpened(backend string) error {
	return fmt.Errorf("%s: %w: a Device that Open did not make", backend, gpu.ErrNotInitialized)
}

// NotBuilt is the error of a backend that the program was built without. backend is
// the package, api is the API that it uses, and tag is the build tag that leaves it out.
// Errors: it wraps ErrNoDevice.
func NotBuilt(backend, api, tag string) error {
	return fmt.Errorf("%s: open: %w: this program was built without %s (tag %s, or CGO_ENABLED=0); build it with cgo, a C compiler and without the tag", backend, gpu.ErrNoDevice, api, tag)
}

// Unusable is the error of devices that exist, and that Lathe cannot use. Err says why. It
// wraps ErrNoDevice if there are no others.
type Unusable struct{ Err error }

// Error is the text of Err.
func (u *Unusable) Error() string { return u.Err.Error() }

// Unwrap returns Err.
func (u *Unusable) Unwrap() error { return u.Err }

// warned has the warnings that this process has written to slog.Default.
var warned sync.Map

// Warner returns warn. If warn is nil, it returns a function that writes to slog.Default,
// each text once in a process.
func Warner(warn func(string)) func(string) {
	if warn != nil {
		return warn
	}
	return func(text string) {
		if _, again := warned.LoadOrStore(text, true); !again {
			slog.Warn(text)
		}
	}
}

// Choose returns the index of the device that selector means, as gpu.Choose does. It
// warns if the best device runs on the CPU and the user has not selected it.
// Errors: those of gpu.Choose.
func Choose(infos []gpu.Info, selector string, warn func(string)) (int, error) {
	i, err := gpu.Choose(infos, selector)
	if err != nil {
		return 0, err
	}
	if text := gpu.OnlyCPU(&infos[i], selector); text != "" {
		warn(text)
	}
	return i, nil
}

// CheckUniform reports whether a uniform buffer may begin at offset, in bytes. align
// is the alignment that the device wants.
// Errors: ErrInvalidArgument.
func CheckUniform(info *gpu.Info, m *spv.Module, binding uint32, offset, align int64) error {
	if offset%align != 0 {
		return fmt.Errorf("%s: %s: binding %d: %w: offset %d of a uniform buffer is no multiple of %d",
			info.Backend, gpu.Label(m), binding, gpu.ErrInvalidArgument, offset, align)
	}
	return nil
}
