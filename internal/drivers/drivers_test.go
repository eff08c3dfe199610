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
