//go:build !novk && cgo

package vk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
)

// idle is the number of instances that are kept and that nothing uses.
func idle() int64 {
	shared.Lock()
	defer shared.Unlock()
	n := int64(0)
	for _, in := range shared.of {
		if in.refs == 0 {
			n++
		}
	}
	return n
}

// anotherInstance gives the test an instance of its own, which is destroyed when the test ends. One
// that was there before keeps the drivers loaded.
func anotherInstance(t *testing.T) {
	t.Helper()
	openTest(t, Options{}).Close()
	t.Setenv("VK_LATHE_TEST", t.Name())
	key := environmentKey()
	t.Cleanup(func() {
		shared.Lock()
		defer shared.Unlock()
		if in := shared.of[key]; in != nil && in.refs == 0 {
			delete(shared.of, key)
			in.destroy()
		}
	})
}

// TestInstanceShared opens devices at once: they share an instance.
func TestInstanceShared(t *testing.T) {
	noObjects(t)
	a := openTest(t, Options{})
	b := openTest(t, Options{})
	if n := counts()["instances"]; n != 1 {
		t.Errorf("two devices: got %d instances, want 1", n)
	}
	h := alloc(t, a, 1, 2, 3)
	if err := b.Free(h); !errors.Is(err, gpu.ErrInvalidHandle) {
		t.Errorf("a handle of another device: got %v, want ErrInvalidHandle", err)
	}
	a.Close()
	if got := testgpu.Read(t, b, alloc(t, b, 7), 1); got[0] != 7 {
		t.Errorf("after the other device is closed: got %v", got)
	}
	b.Close()
	noObjects(t)
}

// TestInstanceKept opens devices one after the other: the driver is loaded once. A program that sets
// a variable of the loader gets another instance, and after that the first one again.
func TestInstanceKept(t *testing.T) {
	handle := func() any {
		d := openTest(t, Options{})
		defer d.Close()
		return d.inst.handle
	}
	first, before := handle(), objects.instances.Load()
	if before == 0 {
		t.Error("no instance is kept")
	}
	for range 3 {
		if handle() != first {
			t.Error("the instance is another one")
		}
	}
	if n := objects.instances.Load(); n != before {
		t.Errorf("got %d instances, want %d as after the first device", n, before)
	}
	t.Run("variable", func(t *testing.T) {
		anotherInstance(t)
		if handle() == first {
			t.Error("with another variable of the loader: the same instance")
		}
	})
	if handle() != first {
		t.Error("after that: the instance is another one")
	}
	if n := objects.instances.Load(); n != before {
		t.Errorf("after that: got %d instances, want %d", n, before)
	}
}

// TestDriverInstalled installs a driver while the program runs. The instance that has found no device
// is not kept, and the next one sees the driver.
func TestDriverInstalled(t *testing.T) {
	openTest(t, Options{}).Close() // skips without a device
	before := objects.instances.Load()
	folder := t.TempDir()
	t.Setenv("VK_DRIVER_FILES", folder)
	t.Setenv("VK_ICD_FILENAMES", folder)
	if _, err := List(t.Context()); !errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("an empty folder: got %v, want ErrNoDevice", err)
	}
	empty := environmentKey()
	if err := os.WriteFile(filepath.Join(folder, "driver.json"), []byte("no manifest"), 0o644); err != nil {
		t.Fatal(err)
	}
	if environmentKey() == empty {
		t.Error("a new manifest makes no new key")
	}
	if _, err := List(t.Context()); !errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("a broken manifest: got %v, want ErrNoDevice", err)
	}
	if n := objects.instances.Load(); n != before {
		t.Errorf("got %d instances, want %d: those without a device are not kept", n, before)
	}
}

// TestInstanceFails lets each Vulkan call fail with which a new instance and its devices are found.
// The instance is not kept, and the next one is good.
func TestInstanceFails(t *testing.T) {
	anotherInstance(t)
	before := objects.instances.Load()
	failed := map[string]bool{}
	for at := 1; ; at++ {
		n, name := 0, ""
		f := func(call string) result {
			if n++; n == at {
				name = call
				return initFailed
			}
			return success
		}
		fault.Store(&f)
		_, err := List(t.Context())
		fault.Store(nil)
		if name == "" { // all calls have failed once
			if err != nil {
				t.Errorf("without a failure: %v", err)
			}
			break
		}
		failed[name] = true
		if !errors.Is(err, gpu.ErrNoDevice) {
			t.Errorf("%s: got %v, want ErrNoDevice", name, err)
		}
		if n := objects.instances.Load(); n != before {
			t.Errorf("%s: got %d instances, want %d", name, n, before)
		}
	}
	if !failed["vkCreateInstance"] {
		t.Errorf("calls that failed: %v, want vkCreateInstance among them", failed)
	}
}
