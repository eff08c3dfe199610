package drivers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
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
	for given, want := range map[string]string{"": Auto, "vk": "vk", "wgpu": "wgpu", "auto": Auto} {
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

// TestOpen opens every device of every backend by each of its names.
func TestOpen(t *testing.T) {
	ctx := context.Background()
	t.Setenv(Env, "")
	t.Setenv(gpu.SelectorEnv, "")
	quiet := func(string) {}
	infos, err := List(ctx, Auto)
	if len(Built()) == 0 {
		testkit.Built(t, nil, "vk")
	}
	testkit.Opened(t, err)
	for i := range infos {
		for _, o := range []Options{{Device: infos[i].UUID.String()}, {Device: string(rune('0' + i))}, {Backend: infos[i].Backend, Device: infos[i].Name}} {
			o.Warn, o.NoCache = quiet, true
			d, err := Open(ctx, o)
			if err != nil {
				t.Errorf("%+v: %v", o, err)
				continue
			}
			if got := d.Info(); got.Backend != infos[i].Backend || got.Name != infos[i].Name {
				t.Errorf("%+v: got %s by %s", o, got.Name, got.Backend)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	d, err := Open(ctx, Options{Warn: quiet, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	byVK, _ := List(ctx, "vk")
	byWGPU, _ := List(ctx, "wgpu")
	if want, _ := Explain([]string{"vk", "wgpu"}, [][]gpu.Info{byVK, byWGPU}); d.Info().Backend != want {
		t.Errorf("took %s, and Explain says %s", d.Info().Backend, want)
	}
	_, err = Open(ctx, Options{Backend: "wgpu", Validation: true})
	if !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("validation of wgpu: got %v", err)
	}
}
