package cpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// launch is a dispatch on one buffer.
func launch(m *spv.Module, h gpu.Handle, groups uint32, params ...uint32) gpu.Dispatch {
	return gpu.Dispatch{Module: m, Bindings: []gpu.Binding{{Buffer: h}}, Params: testkit.Words(params...), Groups: [3]uint32{groups, 1, 1}}
}

// clean wants nothing to be left.
func clean(t testing.TB) {
	t.Helper()
	for name, n := range map[string]*atomic.Int64{"memories": &objects.memories, "engines": &objects.engines, "kernels": &objects.kernels} {
		if v := n.Load(); v != 0 {
			t.Errorf("%d %s left", v, name)
			n.Store(0)
		}
	}
}

// TestTrap checks that a kernel that fails stops its list and nothing else.
func TestTrap(t *testing.T) {
	d := openTest(t, Options{})
	ctx := t.Context()
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	h := testgpu.Load(t, d, testkit.Words(5))
	for round := range 3 {
		list := []gpu.Dispatch{testgpu.Affine(m, h, h, 1, 2, 0), launch(trapModule, h, 1), testgpu.Affine(m, h, h, 1, 100, 0)}
		if err := d.Submit(list); err != nil {
			t.Fatal(err)
		}
		if err := d.Submit([]gpu.Dispatch{testgpu.Affine(m, h, h, 1, 1, 3)}); err != nil {
			t.Fatal(err)
		}
		err := d.Sync(ctx)
		if !errors.Is(err, gpu.ErrUnsupported) || errors.Is(err, gpu.ErrDeviceLost) || !strings.Contains(err.Error(), "cpu/trap: unsupported: the kernel failed: unreachable") {
			t.Fatalf("round %d: got %v", round, err)
		}
		if err := d.Sync(ctx); err != nil {
			t.Fatalf("the error came twice: %v", err)
		}
	}
	// Each round computes 2x + 1 + 3.
	if got, want := testgpu.Read(t, d, h, 1)[0], uint32(((5*2+4)*2+4)*2+4); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
	// All workers may fail at the same time.
	for range 20 {
		if err := d.Submit([]gpu.Dispatch{launch(trapModule, h, 1000)}); err != nil {
			t.Fatal(err)
		}
		if err := d.Read(ctx, h, 0, make([]byte, 4)); !errors.Is(err, gpu.ErrUnsupported) {
			t.Fatalf("read: got %v", err)
		}
	}
}

// TestCloseTakesError checks that Close returns an error that nobody has seen.
func TestCloseTakesError(t *testing.T) {
	d := openUnclosed(t, Options{})
	if err := d.Submit([]gpu.Dispatch{launch(trapModule, testgpu.Load(t, d, make([]byte, 4)), 1)}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("close: got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
	clean(t)
}

// TestBadModules checks that modules that cannot be compiled are refused, each time.
func TestBadModules(t *testing.T) {
	d := openTest(t, Options{})
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	h := testgpu.Load(t, d, testkit.Words(1))
	for range 2 {
		for _, bad := range []*spv.Module{invalidModule, unknownModule} {
			err := d.Submit([]gpu.Dispatch{testgpu.Affine(m, h, h, 1, 7, 7), launch(bad, h, 1)})
			want := gpu.ErrUnsupported
			if bad == unknownModule {
				want = gpu.ErrInvalidShader // It has no code at all.
			}
			if !errors.Is(err, want) {
				t.Errorf("%s: got %v", bad.Name, err)
			}
			if err := d.CompileModule(bad); !errors.Is(err, want) {
				t.Errorf("compile %s: got %v", bad.Name, err)
			}
		}
	}
	if got := testgpu.Read(t, d, h, 1)[0]; got != 1 {
		t.Errorf("a refused list ran: %d", got)
	}
}

// noCollector keeps the garbage collector away until the test ends. The collector cannot stop
// a kernel that does not yield, so the whole program would wait for the kernel.
func noCollector(t *testing.T) {
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	runtime.GC() // ends a collection that had begun
}

// TestHung closes devices whose kernels do not end by themselves.
func TestHung(t *testing.T) {
	skipJS(t, "another thread than that of the kernel")
	noCollector(t)
	for _, m := range []*spv.Module{hungModule, yieldModule} {
		for _, groups := range []uint32{1, 100} {
			d := openUnclosed(t, Options{CloseTimeout: 50 * time.Millisecond})
			h := testgpu.Load(t, d, make([]byte, 4))
			if err := d.Submit([]gpu.Dispatch{launch(m, h, groups), launch(slowModule, h, 1, 1)}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			begin := time.Now()
			for name, err := range map[string]error{"sync": d.Sync(ctx), "read": d.Read(ctx, h, 0, make([]byte, 4)), "write": d.Write(ctx, h, 0, make([]byte, 4))} {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: got %v", name, err)
				}
			}
			err := d.Close()
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "it was stopped") {
				t.Errorf("%s: close: got %v", m.Name, err)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("%s: %v", m.Name, took)
			}
			clean(t)
		}
	}
}

// TestHungYields checks that a kernel which yields stops neither the garbage collector nor
// other devices.
func TestHungYields(t *testing.T) {
	d := openUnclosed(t, Options{CloseTimeout: time.Millisecond})
	if err := d.Submit([]gpu.Dispatch{launch(yieldModule, testgpu.Load(t, d, make([]byte, 4)), 64)}); err != nil {
		t.Fatal(err)
	}
	other := openTest(t, Options{})
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	h := testgpu.Load(t, other, testkit.Words(0))
	for i := range uint32(5) {
		runtime.GC()
		if err := other.Submit([]gpu.Dispatch{testgpu.Affine(m, h, h, 1, 1, 1)}); err != nil {
			t.Fatal(err)
		}
		if got := testgpu.Read(t, other, h, 1)[0]; got != i+1 {
			t.Fatalf("got %d, want %d", got, i+1)
		}
	}
	if err := d.Close(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close: %v", err)
	}
}

// TestLeftBehind checks the error of Close if a kernel does not stop in time, and that
// everything is released when it ends.
func TestLeftBehind(t *testing.T) {
	skipJS(t, "another thread than that of the kernel")
	noCollector(t)
	defer func(grace time.Duration) { closeGrace = grace }(closeGrace)
	closeGrace = 10 * time.Millisecond
	millions := uint32(500)
	if !compiles() {
		millions = 5
	}
	d := openUnclosed(t, Options{CloseTimeout: time.Millisecond, Workers: 1})
	h := testgpu.Load(t, d, make([]byte, 4))
	if err := d.Submit([]gpu.Dispatch{launch(slowModule, h, 1, millions)}); err != nil { // it does not read the stop word
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); d.team.job.next.Load() == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // A kernel that has not begun never begins.
	}
	err := d.Close()
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("close: got %v", err)
	}
	if !strings.Contains(err.Error(), "left behind until it does: 1 lists of work, 1 buffers of 4 bytes") {
		t.Errorf("close: got %v", err)
	}
	for end := time.Now().Add(30 * time.Second); objects.memories.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	clean(t)
}

// TestOutOfMemory fills a small memory and checks that the device works on.
func TestOutOfMemory(t *testing.T) {
	d := openTest(t, Options{MaxMemory: 4 << 20})
	ctx := t.Context()
	var hs []gpu.Handle
	for {
		h, err := d.Alloc(100_000)
		if err != nil {
			if !errors.Is(err, gpu.ErrOutOfMemory) {
				t.Fatalf("got %v", err)
			}
			break
		}
		hs = append(hs, h)
	}
	if n := len(hs); n < 35 || n > 42 {
		t.Errorf("%d buffers of 100 kB in 4 MiB", n)
	}
	// There is no room for frames either.
	for range 2 {
		if h, err := d.Alloc(1000); err != nil {
			break
		} else {
			hs = append(hs, h)
		}
	}
	for range 1000 {
		if _, err := d.Alloc(64); err != nil {
			break
		}
	}
	for i := range 3 {
		if err := d.Free(hs[i]); err != nil {
			t.Fatal(err)
		}
	}
	h, err := d.Alloc(200_000) // the three were neighbours
	if err != nil {
		t.Fatal(err)
	}
	// Freed memory comes back when pending work has ended.
	for range 50 {
		if err := d.Submit([]gpu.Dispatch{launch(slowModule, h, 1, 1)}); err != nil {
			t.Fatal(err)
		}
		if err := d.Free(h); err != nil {
			t.Fatal(err)
		}
		if h, err = d.Alloc(200_000); err != nil {
			t.Fatal(err)
		}
		if got := testgpu.Read(t, d, h, 1)[0]; got != 0 {
			t.Fatalf("new memory has %#x", got)
		}
	}
	if err := d.Sync(ctx); err != nil {
		t.Error(err)
	}
}

// TestOptions checks what Open refuses.
func TestOptions(t *testing.T) {
	for _, o := range []Options{{MaxMemory: -1}, {MaxMemory: 1}, {Workers: -1}, {Workers: 1 << 20}} {
		if dev, err := Open(o); !errors.Is(err, gpu.ErrInvalidArgument) || dev != nil {
			t.Errorf("%+v: got %v, %v", o, dev, err)
		}
		if _, err := Enumerate(t.Context(), o); !errors.Is(err, gpu.ErrInvalidArgument) {
			t.Errorf("enumerate %+v: got %v", o, err)
		}
	}
	e, err := Enumerate(t.Context(), Options{MaxMemory: 1 << 50, NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	d, err := e.Open(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := *d.Info(), e.Infos()[0]; got != want {
		t.Errorf("the device is %+v, its list says %+v", got, want)
	}
	if _, err := e.Open(t.Context(), 1); !errors.Is(err, gpu.ErrInvalidArgument) {
		t.Errorf("device 1: %v", err)
	}
	e.Close()
	if _, err := e.Open(t.Context(), 0); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := d.Submit([]gpu.Dispatch{launch(nothingModule, 0, 1)}); err == nil {
		t.Error("a zero handle passed")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// session is the life of a device.
func session(t testing.TB) error {
	o := Options{translate: translate, NoCache: true, MaxMemory: 16 << 20}
	dev, err := Open(o)
	if err != nil {
		return err
	}
	d := dev.(*Device)
	if err = work(t, d); err != nil {
		fault.Store(nil)
		_ = d.Sync(context.Background()) // takes what else failed
		if again := work(t, d); again != nil {
			t.Errorf("the device is not usable after %q: %v", err, again)
		}
	}
	return errors.Join(err, d.Close())
}

// work uses all parts of a device.
func work(t testing.TB, d *Device) error {
	ctx := context.Background()
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	var hs [2]gpu.Handle
	for i := range hs {
		h, err := d.Alloc(5 << 20)
		if err != nil {
			return err
		}
		defer d.Free(h)
		hs[i] = h
	}
	const n = 1 << 20
	if err := d.Write(ctx, hs[0], 0, testkit.Words(1, 2, 3)); err != nil {
		return err
	}
	if err := d.Submit([]gpu.Dispatch{testgpu.Affine(m, hs[0], hs[1], n, 2, 1), testgpu.Affine(m, hs[1], hs[1], n, 1, 1)}); err != nil {
		return err
	}
	got := make([]byte, 16)
	if err := d.Read(ctx, hs[1], 0, got); err != nil {
		return err
	}
	if want := testkit.Words(4, 6, 8, 2); string(got) != string(want) {
		return fmt.Errorf("read %v, want %v", got, want)
	}
	return d.Sync(ctx)
}

// TestFaults lets each call that can fail do so in turn, alone and with all that follow.
func TestFaults(t *testing.T) {
	var n atomic.Int64
	inject := func(fail func(n int64) bool) {
		n.Store(0)
		f := func(name string) error {
			if fail(n.Add(1)) {
				return fmt.Errorf("%s: %w: injected", name, gpu.ErrOutOfMemory)
			}
			return nil
		}
		fault.Store(&f)
	}
	defer fault.Store(nil)
	inject(func(int64) bool { return false })
	if err := session(t); err != nil {
		t.Fatal(err)
	}
	most := n.Load()
	if most < 8 {
		t.Fatalf("%d calls that can fail", most)
	}
	for at := int64(1); at <= most; at++ {
		for _, rest := range []bool{false, true} {
			inject(func(k int64) bool { return k == at || rest && k > at })
			err := session(t)
			fault.Store(nil)
			if rest && n.Load() >= at && err == nil {
				t.Errorf("call %d of %d fails with the rest: no error", at, most)
			}
			clean(t)
		}
	}
}
