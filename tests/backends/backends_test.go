// Package backends_test tests a program that has all backends: how devices are listed, chosen
// and opened. Package internal/drivers cannot test this, because "go mod tidy" of a user's
// program would fetch WebGPU for such tests.
package backends_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

// TestOpen opens every device of every backend by each of its names.
func TestOpen(t *testing.T) {
	ctx := context.Background()
	t.Setenv(drivers.Env, "")
	t.Setenv(gpu.SelectorEnv, "")
	quiet := func(string) {}
	infos, err := drivers.List(ctx, drivers.Auto)
	if len(drivers.Built()) == 0 {
		testkit.Built(t, nil, "vk")
	}
	testkit.Opened(t, err)
	for i := range infos {
		for _, o := range []drivers.Options{{Device: infos[i].UUID.String()}, {Device: string(rune('0' + i))}, {Backend: infos[i].Backend, Device: infos[i].Name}} {
			o.Warn, o.NoCache = quiet, true
			d, err := drivers.Open(ctx, o)
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
	d, err := drivers.Open(ctx, drivers.Options{Warn: quiet, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var lists [][]gpu.Info
	for _, name := range drivers.Built() {
		list, _ := drivers.List(ctx, name)
		lists = append(lists, list)
	}
	if want, _ := drivers.Explain(drivers.Built(), lists); d.Info().Backend != want {
		t.Errorf("took %s, and Explain says %s", d.Info().Backend, want)
	}
	for _, name := range []string{"wgpu", drivers.CPU} {
		_, err = drivers.Open(ctx, drivers.Options{Backend: name, Validation: true})
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
	cmd.Env = append(os.Environ(), "LATHE_TEST_CHILD=1", drivers.Env+"=", gpu.SelectorEnv+"=", testkit.RequireTools+"=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func openCPU(t *testing.T) {
	warn := func(text string) { t.Errorf("warned: %s", text) }
	for name, o := range map[string]drivers.Options{"device": {Device: "cpu"}, "capitals": {Device: "CPU"}, "backend": {Backend: drivers.CPU}, "both": {Backend: drivers.CPU, Device: "0"},
		"variable for the device": {}, "variable for the backend": {}} {
		t.Run(name, func(t *testing.T) {
			switch name {
			case "variable for the device":
				t.Setenv(gpu.SelectorEnv, "cpu")
			case "variable for the backend":
				t.Setenv(drivers.Env, drivers.CPU)
			}
			o.Warn, o.NoCache = warn, true
			d, err := drivers.Open(t.Context(), o)
			if !drivers.Has(drivers.CPU) {
				if !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), "nocpu") {
					t.Errorf("got %v, want ErrNoDevice that names the tag", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Info(); got.Backend != drivers.CPU {
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
	if !drivers.Has(drivers.CPU) {
		want = "nocpu"
	}
	if _, err := drivers.Open(t.Context(), drivers.Options{Device: "cpu", Validation: true}); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("validation: got %v, want ErrUnsupported", err)
	}
	for name, o := range map[string]drivers.Options{"flags": {Backend: "vk", Device: "cpu"}, "variable": {Backend: "vk"}} {
		if name == "variable" {
			t.Setenv(gpu.SelectorEnv, "cpu")
		}
		if _, err := drivers.Open(t.Context(), o); !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want ErrNoDevice that says %q", name, err, want)
		}
	}
}

// TestBuilt wants the backends in the order in which they are preferred.
func TestBuilt(t *testing.T) {
	var want []string
	for _, b := range []struct {
		name  string
		built bool
	}{{"vk", vk.Built}, {"wgpu", wgpu.Built}, {drivers.CPU, drivers.Has(drivers.CPU)}} {
		if b.built {
			want = append(want, b.name)
		}
		if drivers.Has(b.name) != b.built {
			t.Errorf("%s: Has says %v, want %v", b.name, !b.built, b.built)
		}
	}
	if got := drivers.Built(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := backend.Names(); !slices.Equal(got, want) {
		t.Errorf("package backend: got %q, want %q", got, want)
	}
}

// TestBuiltWithout names the tags of a program that lacks some backends, or all.
func TestBuiltWithout(t *testing.T) {
	t.Setenv(gpu.SelectorEnv, "")
	without := map[string]string{}
	for name, tag := range map[string]string{"vk": "novk", "wgpu": "nowgpu", drivers.CPU: "nocpu"} {
		if !drivers.Has(name) {
			without[name] = tag
		}
	}
	if len(drivers.Built()) == 0 {
		without[drivers.Auto] = "novk"
	}
	for name, tag := range without {
		for what, f := range map[string]func() error{
			"drivers.List": func() error { _, err := drivers.List(t.Context(), name); return err },
			"drivers.Open": func() error { _, err := drivers.Open(t.Context(), drivers.Options{Backend: name}); return err },
			"lathe.Open":   func() error { _, err := lathe.Open(t.Context(), lathe.WithBackend(name)); return err },
		} {
			err := f()
			if !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), tag) || name == drivers.Auto && !strings.Contains(err.Error(), "nocpu") {
				t.Errorf("%s of %s: got %v, want ErrNoDevice that names the tag %s", what, name, err, tag)
			}
			if strings.Contains(err.Error(), "import") {
				t.Errorf("%s of %s: %v; the program has the import", what, name, err)
			}
		}
		if _, err := backend.Open(t.Context(), name); !errors.Is(err, gpu.ErrNoDevice) {
			t.Errorf("backend.Open of %s: got %v, want ErrNoDevice", name, err)
		}
	}
}

// TestTraceWebGPU wants to hear which backend cannot.
func TestTraceWebGPU(t *testing.T) {
	testkit.Built(t, drivers.Built(), "wgpu")
	var file bytes.Buffer
	dev, err := lathe.Open(t.Context(), lathe.WithLogger(nil), lathe.WithBackend("wgpu"), lathe.WithTrace(&file))
	if errors.Is(err, lathe.ErrNoDevice) {
		testkit.Opened(t, err)
	}
	if err == nil {
		dev.Close()
	}
	if !errors.Is(err, lathe.ErrUnsupported) || !strings.Contains(err.Error(), `"wgpu"`) {
		t.Errorf("got %v, want ErrUnsupported and the name of the backend", err)
	}
}
