package drivers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
)

func info(backend, name string, kind gpu.Kind, vendor uint32) gpu.Info {
	return gpu.Info{Backend: backend, Name: name, Kind: kind, Vendor: vendor}
}

func TestSame(t *testing.T) {
	list := []gpu.Info{
		info("vk", "A", gpu.Discrete, 1), info("vk", "A", gpu.Discrete, 1), info("vk", "B", gpu.CPU, 2),
		info("wgpu", "A", gpu.Discrete, 1), info("wgpu", "A", gpu.Discrete, 1), info("wgpu", "A", gpu.Discrete, 1), info("wgpu", "B", gpu.CPU, 3),
	}
	if got, want := Same(list), []int{0, 1, 2, 0, 1, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}

// TestCheckSelector: the selector "cpu" does not go with another backend, and the error says
// which variables say so.
func TestCheckSelector(t *testing.T) {
	for _, c := range []struct{ backend, selector, backendEnv, selectorEnv, want string }{
		{"vk", "cpu", "", "", `"cpu" is the device of the backend cpu, but the backend is vk; choose`},
		{"", "CPU", "vk", "", `but the backend is vk (from LATHE_BACKEND); choose`},
		{"wgpu", "", "vk", "cpu", `"cpu" (from LATHE_DEVICE) is the device of the backend cpu, but the backend is wgpu; choose`},
		{"", "", "wgpu", "cpu", `"cpu" (from LATHE_DEVICE) is the device of the backend cpu, but the backend is wgpu (from LATHE_BACKEND); choose`},
		{"cpu", "cpu", "vk", "", ""}, {"auto", "cpu", "vk", "", ""}, {"", "cpu", "", "", ""}, {"vk", "llvm", "", "cpu", ""}, {"vk", "", "", "", ""},
	} {
		t.Setenv(Env, c.backendEnv)
		t.Setenv(gpu.SelectorEnv, c.selectorEnv)
		err := CheckSelector(c.backend, c.selector)
		if c.want == "" && err == nil {
			continue
		}
		if c.want == "" || !errors.Is(err, gpu.ErrNoDevice) || Has(CPU) && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

func TestName(t *testing.T) {
	t.Setenv(Env, "")
	for given, want := range map[string]string{"": Auto, "vk": "vk", "wgpu": "wgpu", "cpu": CPU, "auto": Auto} {
		if got, err := Name(given); got != want || err != nil {
			t.Errorf("%q: got %q, %v", given, got, err)
		}
	}
	t.Setenv(Env, " wgpu ")
	if got, err := Name(""); got != "wgpu" || err != nil {
		t.Errorf("from the environment: got %q, %v", got, err)
	}
	t.Setenv(Env, "cuda")
	for _, f := range []func() error{
		func() error { _, err := Name(""); return err },
		func() error { _, err := List(context.Background(), ""); return err },
		func() error { _, err := Open(context.Background(), Options{}); return err },
	} {
		if err := f(); !errors.Is(err, gpu.ErrInvalidArgument) || !strings.Contains(err.Error(), "cuda") {
			t.Errorf("got %v, want ErrInvalidArgument that names it", err)
		}
	}
}
