//go:build !nowgpu && cgo

package wgpu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spirv"
)

// work uses every part of a device: whole and partial writes, dispatches in
// place and not, a prepared list, freeing while pending, and reading.
func work(t testing.TB, d *Device) error {
	ctx := context.Background()
	var hs [3]gpu.Handle
	for i := range hs {
		h, err := d.Alloc(256)
		if err != nil {
			return err
		}
		hs[i] = h
	}
	if err := d.Write(ctx, hs[0], 0, testkit.Words(1, 2, 3, 4)); err != nil {
		return err
	}
	if err := d.Write(ctx, hs[0], 17, []byte{5}); err != nil {
		return err
	}
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	list := []gpu.Dispatch{testgpu.Affine(m, hs[0], hs[1], 5, 2, 1), testgpu.Affine(m, hs[1], hs[1], 5, 1, 1), testgpu.Affine(m, hs[1], hs[2], 5, 1, 0)}
	if err := d.Submit(list); err != nil {
		return err
	}
	p, err := d.Prepare([]gpu.Dispatch{testgpu.Affine(m, hs[2], hs[2], 5, 3, 0), testgpu.Affine(m, hs[2], hs[2], 5, 1, 1)})
	if err != nil {
		return err
	}
	if err := errors.Join(p.Submit(), p.Submit(), p.Free()); err != nil {
		return err
	}
	if err := errors.Join(d.Free(hs[0]), d.Free(hs[1])); err != nil {
		return err
	}
	buf := make([]byte, 20)
	if err := d.Read(ctx, hs[2], 0, buf); err != nil {
		return err
	}
	var want []byte // what the three calls give, and two submissions of the prepared list make of it
	for _, v := range []uint32{4, 6, 8, 10, 2*5<<8 + 2} {
		want = binary.LittleEndian.AppendUint32(want, (v*3+1)*3+1)
	}
	if string(buf) != string(want) {
		return fmt.Errorf("read %v, want %v", buf, want)
	}
	return errors.Join(d.Free(hs[2]), d.Sync(ctx))
}

// inject makes calls of the library fail until the test ends: those for which
// fail, told the number of the call, is true. It returns how many there were.
func inject(t testing.TB, err error, fail func(n int) bool) func() int {
	var n atomic.Int64
	f := func(name string) error {
		if fail(int(n.Add(1))) {
			return fmt.Errorf("wgpu: %s: %w: injected", name, err)
		}
		return nil
	}
	fault.Store(&f)
	t.Cleanup(func() { fault.Store(nil) })
	return func() int { return int(n.Load()) }
}

// TestFaults lets every call of a session that can fail do so in turn, alone
// and with all that follow. No object may stay behind, and the device must be
// usable afterwards.
func TestFaults(t *testing.T) {
	_ = openTest(t, Options{}).Close()
	calls := inject(t, gpu.ErrOutOfMemory, func(int) bool { return false })
	if err := session(t); err != nil {
		t.Fatal(err)
	}
	most := calls()
	if most < 8 {
		t.Fatalf("%d calls that can fail", most)
	}
	for n := 1; n <= most; n++ {
		for _, rest := range []bool{false, true} {
			calls := inject(t, gpu.ErrOutOfMemory, func(k int) bool { return k == n || rest && k > n })
			err := session(t)
			fault.Store(nil)
			// Alone, an allocation that fails is tried again.
			if rest && calls() >= n && !errors.Is(err, gpu.ErrOutOfMemory) {
				t.Errorf("call %d of %d fails (and the rest: %v): got %v", n, most, rest, err)
			}
			clean(t)
		}
	}
}

// session is the life of a device: open, work, close.
func session(t testing.TB) error {
	d, err := Open(context.Background(), Options{Warn: func(string) {}})
	if err != nil {
		return err
	}
	err = work(t, d)
	if err != nil {
		fault.Store(nil)
		_ = d.Sync(context.Background()) // takes what else failed
		if again := work(t, d); again != nil {
			t.Errorf("the device is not usable after %q: %v", err, again)
		}
	}
	return errors.Join(err, d.Close())
}

// clean wants nothing to be left in the library.
func clean(t testing.TB) {
	t.Helper()
	for name, n := range map[string]*atomic.Int64{"devices": &objects.devices, "buffers": &objects.buffers, "pipelines": &objects.pipelines, "flights": &objects.flights} {
		if v := n.Load(); v != 0 {
			t.Errorf("%d %s left", v, name)
			n.Store(0)
		}
	}
}

// TestLost loses the device while work and reads are under way: every call says
// so, at once, and Close gives everything back.
func TestLost(t *testing.T) {
	d := openTest(t, Options{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	m := testgpu.Kernel(t, testgpu.AffineKernel)
	h, err := d.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	list := []gpu.Dispatch{testgpu.Affine(m, h, h, 1<<18, 1, 1)}
	p, err := d.Prepare(list)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				err := d.Submit([]gpu.Dispatch{testgpu.Affine(m, h, h, 1<<18, 1, 1)})
				if err == nil {
					err = d.Read(ctx, h, 0, make([]byte, 1<<20))
				}
				if err != nil {
					if !errors.Is(err, gpu.ErrDeviceLost) {
						t.Errorf("got %v, want ErrDeviceLost", err)
					}
					return
				}
			}
			t.Error("the device was never lost")
		})
	}
	time.Sleep(30 * time.Millisecond)
	d.lose()
	wg.Wait()
	_, err = d.Alloc(4)
	_, prepared := d.Prepare(list)
	for name, err := range map[string]error{"alloc": err, "prepare": prepared, "submit of a prepared list": p.Submit(), "free": d.Free(h), "write": d.Write(ctx, h, 0, testkit.Words(1)),
		"read": d.Read(ctx, h, 0, make([]byte, 4)), "submit": d.Submit(nil), "sync": d.Sync(ctx)} {
		if !errors.Is(err, gpu.ErrDeviceLost) {
			t.Errorf("%s: got %v, want ErrDeviceLost", name, err)
		}
	}
	if err := d.Close(); err != nil && !errors.Is(err, gpu.ErrDeviceLost) {
		t.Error(err)
	}
	clean(t)
}

// TestConcurrentReads makes thousands of reads at once, some of them cancelled
// and some as the device closes.
func TestConcurrentReads(t *testing.T) {
	for _, closing := range []bool{false, true} {
		d := openTest(t, Options{})
		ctx := context.Background()
		m := testgpu.Kernel(t, testgpu.AffineKernel)
		var wg sync.WaitGroup
		for g := range 16 {
			h, err := d.Alloc(4096)
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				want := uint32(0)
				buf := make([]byte, 4096)
				for i := range 250 {
					err := d.Submit([]gpu.Dispatch{testgpu.Affine(m, h, h, 1024, 1, uint32(g))})
					if err == nil {
						want += uint32(g)
						if i%7 == 3 {
							short, cancel := context.WithTimeout(ctx, time.Duration(i)*time.Microsecond)
							err = d.Read(short, h, 0, buf)
							cancel()
							if errors.Is(err, context.DeadlineExceeded) {
								continue
							}
						} else {
							err = d.Read(ctx, h, 0, buf)
						}
					}
					if closing && errors.Is(err, gpu.ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					if got := binary.LittleEndian.Uint32(buf[4092:]); got != want {
						t.Errorf("goroutine %d, round %d: got %d, want %d", g, i, got, want)
						return
					}
				}
			})
		}
		if closing {
			time.Sleep(20 * time.Millisecond)
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		wg.Wait()
	}
}

// TestRefused gives shaders that the library cannot take: the error names what
// they have, and the device goes on.
func TestRefused(t *testing.T) {
	d := openTest(t, Options{})
	h, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	m, err := spirv.Module("move/cast.f64.f32")
	if err != nil {
		t.Fatal(err)
	}
	err = d.Submit([]gpu.Dispatch{{Module: m, Bindings: []gpu.Binding{{Buffer: h}, {Buffer: h}}, Params: make([]byte, m.ParamSize), Groups: [3]uint32{1, 1, 1}}})
	if !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), m.Name) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want ErrUnsupported that names the kernel, in one line", err)
	}
	if err := work(t, d); err != nil {
		t.Errorf("after a refusal: %v", err)
	}
}

// TestLongWork submits work that takes the device many seconds: nothing of it may
// be taken for done early.
func TestLongWork(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
	testkit.NoRace(t, "slows what is to take seven seconds")
	d := openTest(t, Options{})
	d.flushAt = 1 << 20
	ctx, m := context.Background(), testgpu.Kernel(t, testgpu.AffineKernel)
	const n = 64 * 65535
	var hs [3]gpu.Handle
	for i := range hs {
		h, err := d.Alloc(4 * n)
		if err != nil {
			t.Fatal(err)
		}
		hs[i] = h
	}
	one := []gpu.Dispatch{testgpu.Affine(m, hs[0], hs[0], n, 1, 1)}
	if err := errors.Join(d.Submit(one), d.Sync(ctx)); err != nil { // compiles the kernel
		t.Fatal(err)
	}
	begin := time.Now()
	if err := errors.Join(d.Submit(one), d.Sync(ctx)); err != nil {
		t.Fatal(err)
	}
	// Seven seconds in one submission: the library's own wait takes work for done
	// after five.
	times := int(7*time.Second/max(time.Since(begin), 2*time.Millisecond)) + 1
	var list []gpu.Dispatch
	for range times {
		list = append(list, testgpu.Affine(m, hs[1], hs[1], n, 1, 1))
	}
	for round := range 3 {
		if err := d.Submit(list); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4)
		if err := d.Read(ctx, hs[1], 4*(n-1), buf); err != nil {
			t.Fatal(err)
		}
		if got := binary.LittleEndian.Uint32(buf); int(got) != len(list)*(round+1) {
			t.Fatalf("round %d: read %d before the work was done, want %d", round, got, len(list)*(round+1))
		}
		for range 300 {
			if err := errors.Join(d.Submit([]gpu.Dispatch{testgpu.Affine(m, hs[2], hs[2], 64, 1, 1)}), d.Sync(ctx)); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Read(ctx, hs[2], 0, buf); err != nil {
			t.Fatal(err)
		}
		if got := binary.LittleEndian.Uint32(buf); got != uint32(300*(round+1)) {
			t.Fatalf("round %d: got %d, want %d", round, got, 300*(round+1))
		}
	}
	t.Logf("%d dispatches a submission, %v in all", len(list), time.Since(begin).Round(time.Millisecond))
}

// TestUncaptured lets the library report errors that no call of ours asked for:
// they are errors of the next call, once, and the device goes on.
func TestUncaptured(t *testing.T) {
	ctx := context.Background()
	for name, call := range map[string]func(*Device) error{
		"sync":  func(d *Device) error { return d.Sync(ctx) },
		"alloc": func(d *Device) error { _, err := d.Alloc(16); return err },
		"work":  func(d *Device) error { return work(t, d) },
	} {
		d := openTest(t, Options{})
		d.upset()
		err := call(d)
		if !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), "wgpu: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want ErrUnsupported with the library's reason in one line", name, err)
		}
		if err := work(t, d); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

// TestQuiet runs a session in a process of its own and wants it to write nothing.
func TestQuiet(t *testing.T) {
	if os.Getenv("LATHE_WGPU_CHILD") == "1" {
		if err := session(t); err != nil {
			t.Fatal(err)
		}
		return
	}
	_ = openTest(t, Options{}).Close()
	for _, c := range []struct {
		log  string
		some bool
	}{{"", false}, {"info", true}} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestQuiet$")
		cmd.Env = append(os.Environ(), "LATHE_WGPU_CHILD=1", LogEnv+"="+c.log, "XDG_RUNTIME_DIR=")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		if (stderr.Len() > 0) != c.some {
			t.Errorf("%s=%s: standard error has %q", LogEnv, c.log, stderr.String())
		}
	}
}
