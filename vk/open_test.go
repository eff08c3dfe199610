//go:build !novk && cgo

package vk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
)

// TestNoDriver points the loader at drivers that are not there, or are not
// drivers, and wants to hear so.
func TestNoDriver(t *testing.T) {
	openTest(t, Options{}).Close() // skips without a loader
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk.json")
	dead := filepath.Join(dir, "dead.json")
	os.WriteFile(junk, []byte("no json"), 0o644)
	os.WriteFile(dead, []byte(`{"file_format_version":"1.0.0","ICD":{"library_path":"/nonexistent/libvulkan_x.so","api_version":"1.3.0"}}`), 0o644)
	for name, path := range map[string]string{"missing": filepath.Join(dir, "none.json"), "junk": junk, "dead": dead, "empty folder": dir + "/x"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("VK_DRIVER_FILES", path)
			t.Setenv("VK_ICD_FILENAMES", path) // loaders before 1.3.207
			d, err := Open(context.Background(), Options{NoCache: true})
			if err == nil {
				d.Close()
				t.Fatal("opened a device")
			}
			_, lerr := List(context.Background())
			report := Probe(context.Background())
			for _, err := range []error{err, lerr, report.Error} {
				if !errors.Is(err, gpu.ErrNoDevice) {
					t.Errorf("got %v, want ErrNoDevice", err)
				}
				fix := "apt-get install"
				if _, err := os.Stat(path); err != nil {
					fix = "VK_DRIVER_FILES names no file that exists: unset it"
				}
				if n := strings.Count(err.Error(), gpu.ErrNoDevice.Error()); n != 1 {
					t.Errorf("the error says %d times that there is no device:\n%v", n, err)
				}
				for _, word := range []string{path, "VK_DRIVER_FILES", "libvulkan.so.1", fix} {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("the error does not mention %q:\n%v", word, err)
					}
				}
			}
			if report.LoaderPath == "" || len(report.Devices) != 0 || report.Env["VK_DRIVER_FILES"] != path {
				t.Errorf("probe: got %+v", report)
			}
		})
	}
	noObjects(t)
}

func TestChoice(t *testing.T) {
	d := openTest(t, Options{})
	info := d.Info()
	infos, err := List(context.Background())
	if err != nil || len(infos) == 0 {
		t.Fatalf("list: %v, %v", infos, err)
	}
	for _, selector := range []string{"0", info.UUID.String(), strings.ToUpper(info.Name[:4])} {
		var r recorder
		e := openTest(t, Options{Device: selector, Warn: r.warn})
		if selector != "0" && e.Info().UUID != info.UUID {
			t.Errorf("selector %q: got %s", selector, e.Info().Name)
		}
		if len(r.text) > 0 {
			t.Errorf("selector %q: warned of a device that was asked for: %q", selector, r.text)
		}
	}
	if _, err := Open(context.Background(), Options{Device: "no such device"}); !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), info.Name) {
		t.Errorf("unknown selector: got %v, want ErrNoDevice and the list of devices", err)
	}
	if info.Kind == gpu.CPU {
		var r recorder
		t.Setenv(gpu.SelectorEnv, "")
		openTest(t, Options{Warn: r.warn})
		if len(r.text) != 1 || !strings.Contains(r.text[0], info.Name) {
			t.Errorf("CPU device nobody asked for: warnings %q, want one that names it", r.text)
		}
	}
}

func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("open: got %v", err)
	}
	if _, err := List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("list: got %v", err)
	}
}

// TestInfo holds what the driver reports to what Lathe relies on.
func TestInfo(t *testing.T) {
	d := openTest(t, Options{})
	i := d.Info()
	l := i.Limits
	if i.Name == "" || i.Driver == "" || i.Backend != "vk" || i.UUID == [16]byte{} || i.Memory < 1<<20 {
		t.Errorf("info: %+v", i)
	}
	// The least that Vulkan 1.1 promises.
	if l.MaxBuffer < 1<<20 || l.MaxBinding < 1<<27-16 || l.MaxParamBytes < 128 || l.MaxInvocations < 128 || l.MaxSharedBytes < 16384 ||
		l.MaxGroups[0] < 65535 || l.MaxBindings < 4 || l.MaxUniform < 16384 {
		t.Errorf("limits: %+v", l)
	}
	if l.OffsetAlign&(l.OffsetAlign-1) != 0 || l.TexelAlign&(l.TexelAlign-1) != 0 || l.MaxBinding%16 != 0 {
		t.Errorf("alignments: %+v", l)
	}
	if strings.Contains(i.Name, "llvmpipe") && l.MaxIterations != 65535 {
		t.Errorf("lavapipe's loop limit: got %d", l.MaxIterations)
	}
	if strings.Contains(i.Name, "llvmpipe") && !(i.Features.FullSubgroups && i.Features.Subgroups) {
		t.Errorf("lavapipe cuts workgroups into whole subgroups, and the suite counts on it: %+v", i.Features)
	}
	if r := Probe(context.Background()); r.Error != nil || !r.Built || r.InstanceVersion == "" || len(r.Devices) == 0 || r.Devices[0].Name == "" {
		t.Errorf("probe: %+v", r)
	}
}

// counts are the Vulkan objects that exist, without the instances that are kept and not in use.
func counts() map[string]int64 {
	o := &objects
	m := map[string]int64{"instances": o.instances.Load() - idle(), "devices": o.devices.Load(), "memories": o.memories.Load(), "buffers": o.buffers.Load(),
		"batches": o.batches.Load(), "views": o.views.Load(), "modules": o.modules.Load(), "layouts": o.layouts.Load(),
		"pipelines": o.pipelines.Load(), "caches": o.caches.Load(), "queries": o.queries.Load(), "messengers": o.messengers.Load()}
	for k, n := range m {
		if n == 0 {
			delete(m, k)
		}
	}
	return m
}

// noObjects fails the test if any Vulkan object is left.
func noObjects(t testing.TB) {
	t.Helper()
	if c := counts(); len(c) > 0 {
		t.Errorf("Vulkan objects left: %v", c)
	}
}
