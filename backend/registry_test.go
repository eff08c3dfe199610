package backend_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
)

// other is a backend of someone else's.
type other struct {
	*backend.Device
	fingerprint uint64
}

func (o other) ABIFingerprint() uint64 { return o.Device.ABIFingerprint() + o.fingerprint }

func opener(kind gpu.Kind, off uint64, opened *[]other) func(context.Context) (backend.Backend, error) {
	return func(context.Context) (backend.Backend, error) {
		info := null.DefaultInfo()
		info.Kind = kind
		b, err := backend.New(null.New(&info))
		if err != nil {
			return nil, err
		}
		*opened = append(*opened, other{b, off})
		return other{b, off}, nil
	}
}

func TestRegistry(t *testing.T) {
	var opened []other
	backend.Register("test-mismatch", 1000, opener(gpu.Discrete, 1, &opened))
	backend.Register("test-cpu", 900, opener(gpu.CPU, 0, &opened))
	backend.Register("test-gpu", 800, opener(gpu.Discrete, 0, &opened))
	if names := backend.Names(); !slices.Equal(names, append([]string{"test-mismatch", "test-cpu", "test-gpu"}, drivers.Built()...)) {
		t.Errorf("names %q", names)
	}
	_, err := backend.Open(t.Context(), "test-mismatch")
	if !errors.Is(err, errs.ErrABIMismatch) {
		t.Errorf("another fingerprint: got %v, want ErrABIMismatch", err)
	}
	if opened[0].IsAvailable() {
		t.Error("a refused backend was left open")
	}
	b, why, err := backend.OpenExplained(t.Context(), "auto")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(why, "\n")
	if b.(other).Info().Kind != gpu.Discrete || len(why) != 3 || !strings.Contains(text, "test-gpu: taken") || !strings.Contains(text, "ABI mismatch") {
		t.Errorf("auto took %v:\n%s", b.(other).Info().Kind, text)
	}
	for _, o := range opened {
		if o.IsAvailable() != (o.Device == b.(other).Device) {
			t.Errorf("after auto, a backend on %v is available: %v", o.Info().Kind, o.IsAvailable())
		}
	}
	t.Setenv(backend.Env, "test-cpu")
	if b, err := backend.Open(t.Context(), ""); err != nil || b.(other).Info().Kind != gpu.CPU {
		t.Errorf("%s=test-cpu: got %v", backend.Env, err)
	}
	t.Setenv(backend.Env, "nobody")
	if _, err := backend.Open(t.Context(), ""); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), backend.Env) {
		t.Errorf("%s=nobody: got %v, want ErrInvalidArgument that names the variable", backend.Env, err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := backend.Open(stopped, "auto"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a second backend of a name was registered")
		}
	}()
	backend.Register("test-gpu", 1, opener(gpu.CPU, 0, &opened))
}
