package rawptr_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/rawptr"
)

// fake is a backend of a kind of hardware, which may fail to open.
type fake struct {
	*rawptr.Device
	name   string
	fails  error
	closed *[]string
}

func (f fake) Name() string { return f.name }

func (f fake) Init(ctx context.Context) error {
	if f.fails != nil {
		return f.fails
	}
	return f.Device.Init(ctx)
}

func (f fake) Close() error {
	*f.closed = append(*f.closed, f.name)
	return f.Device.Close()
}

func TestRegistry(t *testing.T) {
	t.Setenv("LATHE_BACKEND", "")
	var closed []string
	broken := errors.New("it is broken")
	r := &rawptr.Registry{}
	add := func(name string, priority int, kind gpu.Kind, fails error) {
		t.Helper()
		err := r.Register(name, priority, func() rawptr.Backend {
			info := null.DefaultInfo()
			info.Kind = kind
			return fake{rawptr.New(rawptr.WithGPU(null.NewRecorder(&info))), name, fails, &closed}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	opened := func(want string, names ...string) {
		t.Helper()
		b, err := r.Open(t.Context(), names...)
		if err != nil {
			t.Errorf("open %q: %v", names, err)
			return
		}
		if b.Name() != want || !b.IsInitialized() {
			t.Errorf("open %q: got %s, initialized: %v; want %s", names, b.Name(), b.IsInitialized(), want)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err := r.Open(t.Context())
	wantError(t, "open of no backends", err, errs.ErrNoDevice)
	add("processor", 90, gpu.CPU, nil)
	opened("processor")
	add("small", 10, gpu.Integrated, nil)
	opened("small") // hardware comes first
	add("large", 50, gpu.Discrete, nil)
	add("broken", 60, gpu.Discrete, broken)
	add("hidden", -1, gpu.Discrete, nil)
	if got, want := r.Names(), []string{"processor", "broken", "large", "small", "hidden"}; !slices.Equal(got, want) {
		t.Errorf("names %q (want %q)", got, want)
	}
	opened("large") // the best that can be opened
	opened("small", "broken", "small", "large")
	opened("hidden", "hidden")
	opened("processor", "processor", "large")
	t.Setenv("LATHE_BACKEND", "small")
	opened("small")
	closed = nil
	_, err = r.Open(t.Context(), "broken", "broken")
	if !errors.Is(err, errs.ErrNoDevice) || !errors.Is(err, broken) {
		t.Errorf("open of broken ones: %v", err)
	}
	if !slices.Equal(closed, []string{"broken", "broken"}) {
		t.Errorf("closed %q", closed)
	}
	_, err = r.Open(t.Context(), "small", "unknown")
	wantInvalid(t, "an unknown name", err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = r.Open(ended)
	wantError(t, "a context that has ended", err, context.Canceled)
	_, err = r.New("unknown")
	wantInvalid(t, "New of an unknown name", err)
	wantInvalid(t, "a name that is taken", r.Register("small", 1, func() rawptr.Backend { return nil }))
	wantInvalid(t, "no name", r.Register("", 1, func() rawptr.Backend { return nil }))
	wantInvalid(t, "auto", r.Register("auto", 1, func() rawptr.Backend { return nil }))
	wantInvalid(t, "no function", r.Register("x", 1, nil))
	if err := r.Register("nothing", 99, func() rawptr.Backend { return (*rawptr.Device)(nil) }); err != nil {
		t.Fatal(err)
	}
	_, err = r.New("nothing")
	wantInvalid(t, "a backend that is nil", err)
	t.Setenv("LATHE_BACKEND", "auto")
	opened("large")
}

// A new registry has the backends of the program, and takes none but real ones.
func TestNewRegistry(t *testing.T) {
	r := rawptr.NewRegistry()
	names := r.Names()
	if !slices.Contains(names, rawptr.NullName) || names[len(names)-1] != rawptr.NullName {
		t.Errorf("names %q (want null as the last one)", names)
	}
	d := open(t)
	b, err := r.Open(t.Context(), d.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.Name() != d.Name() {
		t.Errorf("%s was opened (want %s)", b.Name(), d.Name())
	}
	x := put(t, b, []float32{-1, 2})
	if err := b.Unary(rawptr.ReLU, x, x, 2); err != nil {
		t.Fatal(err)
	}
	if got := get[float32](t, b, x, 2); !slices.Equal(got, []float32{0, 2}) {
		t.Errorf("relu: %v", got)
	}
	best, err := r.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer best.Close()
	if best.Name() == rawptr.NullName {
		t.Error("the null backend was chosen")
	}
	list, err := best.AvailableDevices(t.Context())
	if err != nil || len(list) == 0 || list[0].Backend != best.Name() {
		t.Errorf("devices %v, %v (want those of %s)", list, err, best.Name())
	}
}

// The null backend has memory, checks arguments and computes nothing.
func TestNull(t *testing.T) {
	b, err := rawptr.NewRegistry().Open(t.Context(), rawptr.NullName)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.Name() != rawptr.NullName {
		t.Errorf("name %q", b.Name())
	}
	x := put(t, b, []float32{-1, 2})
	if err := b.Unary(rawptr.ReLU, x, x, 2); err != nil {
		t.Fatal(err)
	}
	if got := get[float32](t, b, x, 2); !slices.Equal(got, []float32{-1, 2}) {
		t.Errorf("the null backend computed %v", got)
	}
	wantInvalid(t, "an unknown function", b.Unary(0, x, x, 2))
	wantInvalid(t, "past the end", b.Unary(rawptr.ReLU, x, x, 3))
}

func TestAvailableDevices(t *testing.T) {
	d := open(t)
	list, err := rawptr.AvailableDevices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list, func(i gpu.Info) bool { return i.Name == c.Device.Name }) {
		t.Errorf("%q is not in the list %v", c.Device.Name, list)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = rawptr.AvailableDevices(ended)
	wantError(t, "a context that has ended", err, context.Canceled)
	if strings.TrimSpace(d.Name()) == "" {
		t.Error("no name")
	}
}
