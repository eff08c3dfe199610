package drivers

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
)

// program makes this test program one that has the backends given, on a system. The devices
// of a backend are those of the list. A backend without devices returns ErrNoDevice.
func program(t *testing.T, system string, devices map[string][]gpu.Info) {
	t.Helper()
	t.Setenv(Env, "")
	t.Setenv(gpu.SelectorEnv, "")
	beforeGoos, before := goos, present
	t.Cleanup(func() { goos, present = beforeGoos, before })
	goos, present = system, map[string]*Backend{}
	for name, infos := range devices {
		for i := range infos {
			infos[i].Backend = name
		}
		Register(Backend{Name: name, Built: true, Find: func(context.Context, Options) (*Found, error) {
			if len(infos) == 0 {
				return nil, gpu.ErrNoDevice
			}
			return FoundBy(&list{infos}, nil), nil
		}})
	}
}

// list is an Enumeration of made-up devices.
type list struct{ infos []gpu.Info }

func (l *list) Infos() []gpu.Info { return l.infos }
func (l *list) Close()            {}
func (l *list) Open(_ context.Context, i int) (*madeUp, error) {
	return &madeUp{info: &l.infos[i]}, nil
}

// madeUp is a device of a list.
type madeUp struct {
	gpu.Device
	info *gpu.Info
}

func (d *madeUp) Info() *gpu.Info { return d.info }
func (d *madeUp) Close() error    { return nil }

// TestRegister wants the backends in the order in which they are preferred, whatever the
// order in which they come.
func TestRegister(t *testing.T) {
	for _, names := range [][]string{{}, {"cpu"}, {"wgpu", "vk"}, {"cpu", "wgpu", "vk"}, {"vk", "cpu"}} {
		program(t, "linux", nil)
		for _, name := range names {
			Register(Backend{Name: name, Built: true})
		}
		want := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return !slices.Contains(names, name) })
		if got := Built(); !slices.Equal(got, want) {
			t.Errorf("%q: got %q", names, got)
		}
	}
	program(t, "linux", nil)
	Register(Backend{Name: "vk"})
	if Has("vk") || len(Built()) > 0 {
		t.Error("a backend that is not built counts as one")
	}
	for _, name := range []string{"vk", "cuda", "auto", ""} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was registered", name)
				}
			}()
			Register(Backend{Name: name})
		}()
	}
}

// TestWithoutImport asks a program for a backend that it does not import.
func TestWithoutImport(t *testing.T) {
	for name, want := range map[string]string{
		"wgpu": importWebGPU, "cpu": "nocpu", "vk": `import _ "github.com/lathe-gpu/lathe/vk"`,
	} {
		devices := map[string][]gpu.Info{"vk": {card}, "cpu": {own}}
		delete(devices, name)
		program(t, "linux", devices)
		for what, f := range map[string]func() error{
			"Open":     func() error { _, err := Open(t.Context(), Options{Backend: name}); return err },
			"List":     func() error { _, err := List(t.Context(), name); return err },
			"variable": func() error { t.Setenv(Env, name); _, err := Open(t.Context(), Options{}); return err },
			"source": func() error {
				s, done := SourceOf(name, Options{})
				defer done()
				_, err := s.List(t.Context())
				return err
			},
		} {
			if err := f(); !errors.Is(err, gpu.ErrNoDevice) || strings.Count(err.Error(), want) != 1 {
				t.Errorf("%s by %s: got %v, want ErrNoDevice that names %s", name, what, err, want)
			}
		}
	}
}

// TestHint wants the import of WebGPU to be named where it would help, and nowhere else.
func TestHint(t *testing.T) {
	none := []gpu.Info{}
	for _, c := range []struct {
		name     string
		goos     string
		devices  map[string][]gpu.Info
		backend  string
		selector string
		want     string // "" for no hint
		opens    bool   // with a warning, which has the hint
	}{
		{"a Mac without MoltenVK", "darwin", map[string][]gpu.Info{"vk": none, "cpu": {own}}, "auto", "", "Metal", true},
		{"a Mac with MoltenVK", "darwin", map[string][]gpu.Info{"vk": {chip}, "cpu": {own}}, "auto", "", "", true},
		{"Vulkan by name on a Mac", "darwin", map[string][]gpu.Info{"vk": none, "cpu": {own}}, "vk", "", "Metal", false},
		{"a name that fits nothing, on a Mac", "darwin", map[string][]gpu.Info{"vk": none, "cpu": {own}}, "auto", "Apple", "Metal", false},
		{"a name that fits nothing, and a GPU", "darwin", map[string][]gpu.Info{"vk": {chip}, "cpu": {own}}, "auto", "Apple", "", false},
		{"cpu by name on a Mac", "darwin", map[string][]gpu.Info{"vk": none, "cpu": {own}}, "cpu", "", "", true},
		{"cpu as device on a Mac", "darwin", map[string][]gpu.Info{"vk": none, "cpu": {own}}, "auto", "cpu", "", true},
		{"cpu as device, left out", "darwin", map[string][]gpu.Info{"vk": none}, "auto", "cpu", "", false},
		{"imported on a Mac", "darwin", map[string][]gpu.Info{"vk": none, "wgpu": none}, "auto", "", "", false},
		{"imported on a Mac, and cpu", "darwin", map[string][]gpu.Info{"vk": none, "wgpu": none, "cpu": {own}}, "auto", "", "", true},
		{"Windows", "windows", map[string][]gpu.Info{"vk": {plain}, "cpu": {own}}, "auto", "", "Direct3D", true},
		{"nothing on Windows", "windows", map[string][]gpu.Info{"vk": none}, "auto", "", "Direct3D", false},
		{"Linux", "linux", map[string][]gpu.Info{"vk": none, "cpu": {own}}, "auto", "", "", true},
		{"a CPU driver on Linux", "linux", map[string][]gpu.Info{"vk": {plain}, "cpu": {own}}, "auto", "", "", true},
		{"a name that fits nothing, on Linux", "linux", map[string][]gpu.Info{"vk": none, "cpu": {own}}, "auto", "card", "", false},
		{"Vulkan by name on Linux", "linux", map[string][]gpu.Info{"vk": none, "cpu": {own}}, "vk", "", "", false},
		{"nothing on Linux", "linux", map[string][]gpu.Info{"vk": none}, "auto", "", "OpenGL", false},
		{"a system without WebGPU", "freebsd", map[string][]gpu.Info{"vk": none}, "auto", "", "", false},
		{"a browser", "js", map[string][]gpu.Info{"vk": none}, "auto", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			program(t, c.goos, maps.Clone(c.devices))
			var said []string
			_, err := Open(t.Context(), Options{Backend: c.backend, Device: c.selector, Warn: func(text string) { said = append(said, text) }})
			text := strings.Join(said, "\n")
			if c.opens != (err == nil) {
				t.Fatalf("opens: got %v", err)
			}
			if err != nil {
				if text = err.Error(); !errors.Is(err, gpu.ErrNoDevice) {
					t.Errorf("got %v, want ErrNoDevice", err)
				}
			}
			if got := strings.Count(text, importWebGPU); c.want == "" && got != 0 || c.want != "" && (got != 1 || !strings.Contains(text, c.want)) {
				t.Errorf("said %q; want the import once with %q, or never without", text, c.want)
			}
		})
	}
	program(t, "darwin", map[string][]gpu.Info{"vk": none})
	if _, err := List(t.Context(), Auto); !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), importWebGPU) {
		t.Errorf("List: got %v", err)
	}
	if _, err := Open(t.Context(), Options{Validation: true}); err == nil || strings.Contains(err.Error(), importWebGPU) {
		t.Errorf("validation: got %v; WebGPU has none", err)
	}
}
