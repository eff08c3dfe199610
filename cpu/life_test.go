package cpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/cpu/internal/compile"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// addresses is the size of the address space of the process in bytes.
func addresses(t *testing.T) int64 {
	text, err := os.ReadFile("/proc/self/statm")
	testkit.System(t, "/proc, which tells the size of the address space", err)
	var pages int64
	fmt.Sscan(string(text), &pages)
	return pages * int64(os.Getpagesize())
}

// skipJS skips a test in a program for GOOS=js, which lacks what the test needs.
func skipJS(t *testing.T, needs string) {
	t.Helper()
	if runtime.GOOS == "js" {
		testkit.System(t, needs, errors.ErrUnsupported)
	}
}

// TestManyDevices opens and closes devices with 4 GiB of addresses. Neither addresses nor
// goroutines may stay behind.
func TestManyDevices(t *testing.T) {
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	use := func(d *Device) {
		h := testgpu.Load(t, d, make([]byte, 4<<16))
		if err := d.Submit([]gpu.Dispatch{testgpu.Affine(m, h, h, 1<<16, 1, 1)}); err != nil {
			t.Fatal(err)
		}
		if got := testgpu.Read(t, d, h, 1)[0]; got != 1 {
			t.Fatalf("got %d", got)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	use(openUnclosed(t, Options{Workers: 3}))
	before, goroutines := addresses(t), runtime.NumGoroutine()
	for range 100 {
		use(openUnclosed(t, Options{Workers: 3}))
	}
	var many []*Device
	for range 20 {
		many = append(many, openUnclosed(t, Options{Workers: 2}))
	}
	for _, d := range many {
		use(d)
	}
	if grown := addresses(t) - before; grown > 1<<30 && runtime.GOOS != "js" { // which releases them later
		t.Errorf("the address space grew by %d MiB", grown>>20)
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	clean(t)
}

// TestGrowWhileInstantiated makes instances of a kernel while the memory grows, for the race
// detector.
func TestGrowWhileInstantiated(t *testing.T) {
	for range 20 {
		d := openTest(t, Options{Workers: 1})
		h := testgpu.Load(t, d, make([]byte, 4))
		if err := d.CompileModule(nothingModule); err != nil {
			t.Fatal(err)
		}
		ran := make(chan error)
		go func() {
			err := d.Submit([]gpu.Dispatch{launch(nothingModule, h, 1)})
			ran <- errors.Join(err, d.Sync(context.Background()))
		}()
		for range 900 { // each grows the memory by 4 MiB
			if _, err := d.Alloc(4 << 20); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}
}

// TestMemoryReturned checks that large freed buffers do not stay resident.
func TestMemoryReturned(t *testing.T) {
	skipJS(t, "memory that can be given back")
	d := openTest(t, Options{})
	ctx := t.Context()
	testkit.Flat(t, 3, 1, 32<<20, idleBytes/4, func() {
		var hs []gpu.Handle
		for range 10 {
			h, err := d.Alloc(64 << 20)
			if err == nil {
				err = d.Write(ctx, h, 0, []byte{1})
			}
			if err == nil {
				err = d.Submit([]gpu.Dispatch{launch(nothingModule, h, 1)})
			}
			if err != nil {
				t.Fatal(err)
			}
			hs = append(hs, h)
		}
		for _, h := range hs {
			if err := d.Free(h); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Sync(ctx); err != nil {
			t.Fatal(err)
		}
	})
	d.life.Lock()
	defer d.life.Unlock()
	if d.heap.dirty > idleBytes {
		t.Errorf("%d bytes of free memory keep their pages", d.heap.dirty)
	}
}

// TestAllGroupsRun checks that each workgroup of a large dispatch runs once, for costs that
// change from dispatch to dispatch.
func TestAllGroupsRun(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		d := openTest(t, Options{Workers: workers})
		const groups = 300
		h := testgpu.Load(t, d, make([]byte, 4*groups))
		rounds := uint32(0)
		for i := range 40 {
			n := []uint32{groups, 1, 17, groups}[i%4]
			if n == groups {
				rounds++
			}
			x := launch(slowModule, h, n, 0)
			if i%13 == 5 && !testkit.Race && compiles() {
				x = launch(slowModule, h, n, 1)
			}
			if err := d.Submit([]gpu.Dispatch{x}); err != nil {
				t.Fatal(err)
			}
		}
		got := testgpu.Read(t, d, h, groups)
		for i, v := range got {
			want := uint32(20)
			if i < 17 {
				want += 10
			}
			if i < 1 {
				want += 10
			}
			if v != want {
				t.Fatalf("%d workers: workgroup %d ran %d times, want %d", workers, i, v, want)
			}
		}
	}
}

// TestUnset checks that new buffers in used memory are zero, whatever is done first.
func TestUnset(t *testing.T) {
	d := openTest(t, Options{MaxMemory: 8 << 20})
	ctx := t.Context()
	const size = 1<<20 + 5
	junk := bytes.Repeat([]byte{0xA5}, 3<<20)
	for name, first := range map[string]func(h gpu.Handle, want []byte) error{
		"read": func(gpu.Handle, []byte) error { return nil },
		"write": func(h gpu.Handle, want []byte) error {
			copy(want[1000:], "middle")
			return d.Write(ctx, h, 1000, []byte("middle"))
		},
		"submit": func(h gpu.Handle, want []byte) error {
			want[0] = 1
			return d.Submit([]gpu.Dispatch{launch(slowModule, h, 1, 0)})
		},
		"a part is discarded": func(h gpu.Handle, want []byte) error {
			want[16] = 1
			x := launch(slowModule, h, 1, 0)
			x.Bindings[0].Offset, x.Bindings[0].Discard = 16, true
			return d.Submit([]gpu.Dispatch{x})
		},
	} {
		t.Run(name, func(t *testing.T) {
			old := testgpu.Load(t, d, junk)
			if err := d.Free(old); err != nil {
				t.Fatal(err)
			}
			h, err := d.Alloc(size)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Free(h)
			want, got := make([]byte, size), make([]byte, size)
			if err := first(h, want); err != nil {
				t.Fatal(err)
			}
			if err := d.Read(ctx, h, 0, got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("wrong bytes")
			}
		})
	}
	// A promise to overwrite everything saves the time.
	h, err := d.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.table.Get(h)
	if err != nil {
		t.Fatal(err)
	}
	b.unset = true
	d.mem.write(b.span.off, junk)
	x := launch(slowModule, h, 1, 0)
	x.Bindings[0].Discard = true
	if err := d.Submit([]gpu.Dispatch{x}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 8)
	if err := d.Read(ctx, h, 0, got); err != nil {
		t.Fatal(err)
	}
	if got[4] != 0xA5 {
		t.Errorf("the discarded bytes are %x", got)
	}
}

// TestCompileTogether checks that the modules of one list are compiled at the same time,
// and each one once.
func TestCompileTogether(t *testing.T) {
	skipJS(t, "two workers")
	var mu sync.Mutex
	compiled := map[string]int{}
	both := make(chan struct{}, 2)
	d := openUnclosed(t, Options{Workers: 2})
	defer d.Close()
	d.translate = func(m *spv.Module) (*compile.Kernel, error) {
		mu.Lock()
		compiled[m.Name]++
		if len(compiled) == 2 {
			close(both)
		}
		mu.Unlock()
		select {
		case <-both:
		case <-time.After(10 * time.Second):
			t.Error("one compilation waits for the other")
		}
		return translate(nothingModule)
	}
	h := testgpu.Load(t, d, make([]byte, 4))
	a, b := launch(variantOf(nothingModule, 1), h, 1), launch(variantOf(nothingModule, 2), h, 1)
	for range 2 {
		if err := d.Submit([]gpu.Dispatch{a, b, a, a, b}); err != nil {
			t.Fatal(err)
		}
	}
	if len(compiled) != 2 || compiled[a.Module.Name] != 1 || compiled[b.Module.Name] != 1 {
		t.Errorf("compiled %v", compiled)
	}
}

// TestSteady checks that work which is repeated allocates nothing in Go's heap.
func TestSteady(t *testing.T) {
	testkit.NoRace(t, "allocates")
	skipJS(t, "calls that do not allocate")
	d := openTest(t, Options{})
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	ctx := context.Background()
	h := testgpu.Load(t, d, make([]byte, 4096))
	list := []gpu.Dispatch{testgpu.Affine(m, h, h, 1024, 1, 1), testgpu.Affine(m, h, h, 1, 3, 1)}
	data := make([]byte, 4096)
	if n := testing.AllocsPerRun(200, func() {
		if err := d.Write(ctx, h, 0, data); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := d.Submit(list); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Read(ctx, h, 0, data); err != nil {
			t.Fatal(err)
		}
	}); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}
