package backends_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// busySource keeps a device at work for as long as its size says.
const busySource = `layout(local_size_x = 64) in;
layout(binding = 0) buffer X { float x[]; };
layout(push_constant) uniform Params { float start; };
void main() {
	float v = start;
	for (int i = 0; i < 20000; i++) v = sin(v) + 1.0;
	if (v < -9.0) x[0] = v;
}`

// busy returns a function that gives the device work for about so long, and returns when it
// was given.
func busy(t *testing.T, dev *lathe.Device, long time.Duration) func() time.Time {
	t.Helper()
	k, x := load(t, dev, busySource), must(dev.NewTensor(tensor.Contiguous(tensor.F32, 1)))(t)
	run := func(n int) {
		t.Helper()
		if err := k.Run(t.Context(), []int{n}, struct{ Start float32 }{1}, x); err != nil {
			t.Fatal(err)
		}
	}
	measure := func(n int) time.Duration {
		begin := time.Now()
		run(n)
		if err := dev.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		return time.Since(begin)
	}
	n := 256
	measure(n) // compiles
	took := measure(n)
	for took < long/20 && n < 1<<21 {
		n *= 4
		took = measure(n)
	}
	n = min(max(n, int(float64(n)*float64(long)/float64(took))), 1<<21)
	return func() time.Time {
		begin := time.Now()
		run(n)
		return begin
	}
}

// TestNoContextNoWait makes calls without a context, and uploads, while the device is busy. They
// return long before it is done. Calls with a context that wait for the device return when the
// context ends.
func TestNoContextNoWait(t *testing.T) {
	testlevel.Turn(t, 5)
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		ctx := t.Context()
		x := must(lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3))(t)
		fresh := func() *lathe.Tensor { return must(lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3))(t) }
		var last *lathe.Tensor
		calls := map[string]func(){
			"upload":     func() { fresh() },
			"rows":       func() { must(lathe.FromRows(ctx, dev, [][]int32{{1}, {2}}))(t) },
			"new tensor": func() { must(dev.NewTensor(tensor.Contiguous(tensor.F32, 1000)))(t) },
			"add":        func() { must(dev.Add(x, x))(t) },
			"two":        func() { must(dev.Softmax(must(dev.MatMul(x, must(x.Transpose())(t)))(t), -1))(t) },
			"free": func() {
				if err := dev.Free(fresh()); err != nil {
					t.Error(err)
				}
			},
			"in place": func() {
				if err := dev.Run(ctx, ops.Neg{}, []*lathe.Tensor{x}, []*lathe.Tensor{x}); err != nil {
					t.Error(err)
				}
			},
			"result": func() { last = must(dev.ReduceSum(x))(t) },
		}
		for _, call := range calls { // compile
			call()
		}
		begin := busy(t, dev, time.Second)()
		took := map[string]time.Duration{}
		for name, call := range calls {
			at := time.Now()
			call()
			took[name] = time.Since(at)
		}
		enqueued := time.Since(begin)
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		at := time.Now()
		_, readErr := lathe.ToSlice[float32](short, last)
		syncErr := dev.Sync(short)
		writeErr := dev.Write(short, x, make([]byte, 24))
		waited := time.Since(at)
		if err := dev.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		long := time.Since(begin)
		if enqueued > long/2 {
			t.Errorf("the calls took %v of %v in which the device was busy: %v", enqueued, long, took)
		}
		if !errors.Is(readErr, context.DeadlineExceeded) || !errors.Is(syncErr, context.DeadlineExceeded) || !errors.Is(writeErr, context.DeadlineExceeded) {
			t.Errorf("read: %v, sync: %v, write: %v, want the error of the context", readErr, syncErr, writeErr)
		}
		if waited > long/2 {
			t.Errorf("the context ended after 20 ms, and the calls after %v of %v", waited, long)
		}
		must(lathe.ToSlice[float32](ctx, last))(t)
	})
}

// TestUploadEnds uploads more than a device takes at once, behind work that runs. An upload that has
// to wait ends with its context.
func TestUploadEnds(t *testing.T) {
	testlevel.Turn(t, 5)
	check := func(t *testing.T, dev *lathe.Device) {
		data := make([]float32, 16<<20) // 64 MiB
		data[len(data)-1] = 1
		give := busy(t, dev, 2*time.Second)
		if err := dev.Free(must(lathe.FromSlice(t.Context(), dev, data))(t)); err != nil { // New memory is slow.
			t.Fatal(err)
		}
		begin := give()
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		x, err := lathe.FromSlice(short, dev, data)
		took := time.Since(begin)
		if err := dev.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		long := time.Since(begin)
		t.Logf("%v after %v of %v", err, took, long)
		if took > long*9/10 || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v after %v, want the error of the context or a tensor before %v", err, took, long)
		}
		if err != nil {
			x = must(lathe.FromSlice(t.Context(), dev, data))(t)
		}
		last := must(lathe.ToSlice[float32](t.Context(), must(x.Narrow(0, -2, 2))(t)))(t)
		if last[0] != 0 || last[1] != 1 {
			t.Errorf("the last elements are %v, want 0 and 1", last)
		}
	}
	onBackends(t, check)
	t.Run("vk, staging", func(t *testing.T) {
		testkit.Built(t, drivers.Built(), "vk")
		if testkit.ToolIfAny(t, "glslc") == "" {
			return
		}
		t.Setenv("LATHE_VK_STAGING", "1")
		dev, err := lathe.Open(t.Context(), quiet, lathe.WithBackend("vk"))
		check(t, testkit.Device(t, dev, err))
	})
}

// TestFarAhead gives a busy device more work until there is no room for it. A call with a context
// then waits, and returns when the context ends.
func TestFarAhead(t *testing.T) {
	testlevel.Turn(t, 5)
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		x := must(lathe.FromSlice(t.Context(), dev, []float32{1, 2, 3}))(t)
		in := []*lathe.Tensor{x}
		if err := dev.Run(t.Context(), ops.Neg{}, in, in); err != nil {
			t.Fatal(err)
		}
		const patience = 500 * time.Millisecond
		n := 0
		// On a busy machine the device may end earlier than was measured before. Then it is tried
		// again with more work.
		for work := 2 * time.Second; ; work *= 2 {
			begin := busy(t, dev, work)()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var err error
			slowest := time.Duration(0)
			for err == nil {
				at := time.Now()
				if err = dev.Run(ctx, ops.Neg{}, in, in); err == nil {
					n++
				}
				slowest = max(slowest, time.Since(at))
			}
			ended := time.Since(begin)
			if err := dev.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			long := time.Since(begin)
			t.Logf("%d calls, the slowest took %v, the device was busy for %v", n, slowest, long)
			if long < 3*patience && work < 16*time.Second {
				continue
			}
			if !errors.Is(err, context.DeadlineExceeded) || ended > long*3/4 {
				t.Errorf("got %v after %v of %v, want the error of the context after %v", err, ended, long, patience)
			}
			break
		}
		want := []float32{1, 2, 3}
		if n%2 == 0 {
			want = []float32{-1, -2, -3}
		}
		if got := must(lathe.ToSlice[float32](t.Context(), x))(t); got[0] != want[0] || got[2] != want[2] {
			t.Errorf("after %d calls: %v, want %v", n, got, want)
		}
	})
}

// TestBackendNoWait is TestNoContextNoWait for package backend.
func TestBackendNoWait(t *testing.T) {
	testlevel.Turn(t, 5)
	if testkit.ToolIfAny(t, "glslc") == "" {
		return
	}
	for _, name := range drivers.Built() {
		t.Run(name, func(t *testing.T) {
			dev, err := lathe.Open(t.Context(), quiet, lathe.WithBackend(name))
			testkit.Device(t, dev, err)
			b := must(backend.New(dev.GPU()))(t)
			x, y := must(b.AllocTensor([]int{2, 3}, tensor.F32))(t), must(b.AllocTensor([]int{2, 3}, tensor.F32))(t)
			calls := func() {
				t.Helper()
				z := must(b.AllocTensor([]int{5}, tensor.U8))(t)
				sum := must(b.Call("add", nil, x, x))(t)
				if err := errors.Join(b.Softmax(x, y, -1), b.CallInto("mul", nil, []backend.TensorHandle{x, y}, sum), b.FreeTensor(z), b.FreeTensor(sum[0])); err != nil {
					t.Error(err)
				}
			}
			calls() // compile
			begin := busy(t, dev, time.Second)()
			calls()
			enqueued := time.Since(begin)
			short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if _, err := b.ReadTensor(short, y); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("read: got %v, want the error of the context", err)
			}
			waited := time.Since(begin)
			if err := b.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			if long := time.Since(begin); enqueued > long/2 || waited > long*3/4 {
				t.Errorf("the calls took %v, and a read of 20 ms ended after %v of %v in which the device was busy", enqueued, waited, long)
			}
		})
	}
}
