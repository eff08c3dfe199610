package drivers

import (
	"context"
	"errors"
	"os"
	"os/exec"
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
	var lists [][]gpu.Info
	for _, name := range Built() {
		list, _ := List(ctx, name)
		lists = append(lists, list)
	}
	if want, _ := Explain(Built(), lists); d.Info().Backend != want {
		t.Errorf("took %s, and Explain says %s", d.Info().Backend, want)
	}
	for _, name := range []string{"wgpu", CPU} {
		_, err = Open(ctx, Options{Backend: name, Validation: true})
		if !errors.Is(err, gpu.ErrUnsupported) {
			t.Errorf("validation of %s: got %v", name, err)
		}
	}
}

// loaded are the files of drivers that this process has loaded.
func loaded(t *testing.T) (files []string) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	testkit.System(t, "/proc, which tells what is loaded", err)
	for line := range strings.Lines(string(maps)) {
		for _, mark := range []string{"libvulkan", "libEGL", "libGL", "libLLVM"} {
			if strings.Contains(line, mark) {
				files = append(files, strings.TrimSpace(line))
			}
		}
	}
	return files
}

// TestCPU opens the device of package cpu in a process of its own, by each of its names.
// No driver is loaded for it.
func TestCPU(t *testing.T) {
	if os.Getenv("LATHE_TEST_CHILD") != "" {
		openCPU(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCPU$", "-test.v")
	cmd.Env = append(os.Environ(), "LATHE_TEST_CHILD=1", Env+"=", gpu.SelectorEnv+"=", testkit.RequireTools+"=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func openCPU(t *testing.T) {
	warn := func(text string) { t.Errorf("warned: %s", text) }
	for name, o := range map[string]Options{"device": {Device: "cpu"}, "capitals": {Device: "CPU"}, "backend": {Backend: CPU}, "both": {Backend: CPU, Device: "0"},
		"variable for the device": {}, "variable for the backend": {}} {
		t.Run(name, func(t *testing.T) {
			switch name {
			case "variable for the device":
				t.Setenv(gpu.SelectorEnv, "cpu")
			case "variable for the backend":
				t.Setenv(Env, CPU)
			}
			o.Warn, o.NoCache = warn, true
			d, err := Open(t.Context(), o)
			if !CPUBuilt {
				if !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), "nocpu") {
					t.Errorf("got %v, want ErrNoDevice that names the tag", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Info(); got.Backend != CPU {
				t.Errorf("got %s by %s", got.Name, got.Backend)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if files := loaded(t); len(files) > 0 {
		t.Errorf("drivers were loaded:\n%s", strings.Join(files, "\n"))
	}
}

// TestCPUElsewhere asks for the device of package cpu by another backend.
func TestCPUElsewhere(t *testing.T) {
	want := "the backend is vk"
	if !CPUBuilt {
		want = "nocpu"
	}
	if _, err := Open(t.Context(), Options{Device: "cpu", Validation: true}); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("validation: got %v, want ErrUnsupported", err)
	}
	for name, o := range map[string]Options{"flags": {Backend: "vk", Device: "cpu"}, "variable": {Backend: "vk"}} {
		if name == "variable" {
			t.Setenv(gpu.SelectorEnv, "cpu")
		}
		if _, err := Open(t.Context(), o); !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want ErrNoDevice that says %q", name, err, want)
		}
	}
}

// TestBuiltWithout names the tags of a program that has no backend.
func TestBuiltWithout(t *testing.T) {
	if len(Built()) > 0 {
		if names, err := sourceNames(Auto); err != nil || !slices.Equal(names, Built()) {
			t.Errorf("got %q, %v", names, err)
		}
		return
	}
	for _, f := range []func() error{
		func() error { _, err := List(t.Context(), Auto); return err },
		func() error { _, err := Open(t.Context(), Options{Backend: Auto}); return err },
	} {
		if err := f(); !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), "nocpu") || !strings.Contains(err.Error(), "novk") {
			t.Errorf("got %v, want ErrNoDevice that names the tags", err)
		}
	}
}
