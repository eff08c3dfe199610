package rawptr_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/rawptr"
	"github.com/lathe-gpu/lathe/tensor"
)

// calls are calls of all methods that need an open device.
func calls(d rawptr.Backend) map[string]func() error {
	ctx := context.Background()
	shape, two := [4]int{1, 1, 1, 1}, [2]int{1, 1}
	return map[string]func() error{
		"Alloc":             func() error { _, err := d.Alloc(1); return err },
		"Free":              func() error { return d.Free(1) },
		"CopyHtoD":          func() error { return d.CopyHtoD(ctx, 0, nil) },
		"CopyDtoH":          func() error { return d.CopyDtoH(ctx, nil, 0) },
		"CopyDtoD":          func() error { return d.CopyDtoD(0, 0, 0) },
		"Synchronize":       func() error { return d.Synchronize(ctx) },
		"Capabilities":      func() error { _, err := d.Capabilities(); return err },
		"AvailableDevices":  func() error { _, err := d.AvailableDevices(ctx); return err },
		"Unary":             func() error { return d.Unary(rawptr.Exp, 0, 0, 0) },
		"Binary":            func() error { return d.Binary(rawptr.Add, 0, 0, 0, 0) },
		"Binary comparison": func() error { return d.Binary(rawptr.Less, 0, 0, 0, 0) },
		"Reduce":            func() error { return d.Reduce(rawptr.ReduceSum, 0, 0, []int{0, 3}, 1) },
		"Softmax":           func() error { return d.Softmax(0, 0, []int{0, 3}, 1) },
		"Gather":            func() error { return d.Gather(0, 0, 0, 3, 3, 0) },
		"ScatterAdd":        func() error { return d.ScatterAdd(0, 0, 0, 3, 3, 0) },
		"RecommendedTile":   func() error { _, err := d.RecommendedTile(1, 1, 1); return err },
		"Gemm":              func() error { return d.Gemm('N', 'N', 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1) },
		"GemmF32":           func() error { return d.GemmF32('N', 'N', 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1) },
		"GemmMixed":         func() error { return d.GemmMixed(tensor.F16, 'N', 'N', 0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1) },
		"BatchedGemm":       func() error { return d.BatchedGemm('N', 'N', 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0) },
		"BatchedGemmF32":    func() error { return d.BatchedGemmF32('N', 'N', 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0) },
		"BatchedGemmMixed": func() error {
			return d.BatchedGemmMixed(tensor.F16, 'N', 'N', 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0)
		},
		"Sdot":          func() error { return d.Sdot(0, 1, 1, 1, 1, 1) },
		"Snrm2":         func() error { return d.Snrm2(0, 1, 1, 1) },
		"Sasum":         func() error { return d.Sasum(0, 1, 1, 1) },
		"Isamax":        func() error { return d.Isamax(0, 1, 1, 1) },
		"Sswap":         func() error { return d.Sswap(0, 1, 1, 1, 1) },
		"Scopy":         func() error { return d.Scopy(0, 1, 1, 1, 1) },
		"Saxpy":         func() error { return d.Saxpy(0, 1, 1, 1, 1, 1) },
		"Sscal":         func() error { return d.Sscal(0, 1, 1, 1) },
		"Sgemv":         func() error { return d.Sgemv('N', 0, 0, 1, 1, 1, 1, 1, 1, 1, 1) },
		"Sger":          func() error { return d.Sger(0, 0, 1, 1, 1, 1, 1, 1, 1) },
		"Ddot":          func() error { return d.Ddot(0, 1, 1, 1, 1, 1) },
		"Dnrm2":         func() error { return d.Dnrm2(0, 1, 1, 1) },
		"Dasum":         func() error { return d.Dasum(0, 1, 1, 1) },
		"Idamax":        func() error { return d.Idamax(0, 1, 1, 1) },
		"Dswap":         func() error { return d.Dswap(0, 1, 1, 1, 1) },
		"Dcopy":         func() error { return d.Dcopy(0, 1, 1, 1, 1) },
		"Daxpy":         func() error { return d.Daxpy(0, 1, 1, 1, 1, 1) },
		"Dscal":         func() error { return d.Dscal(0, 1, 1, 1) },
		"Dgemv":         func() error { return d.Dgemv('N', 0, 0, 1, 1, 1, 1, 1, 1, 1, 1) },
		"Dger":          func() error { return d.Dger(0, 0, 1, 1, 1, 1, 1, 1, 1) },
		"Attention":     func() error { return d.Attention(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, true) },
		"Ssyrk":         func() error { return d.Ssyrk('U', 'N', 0, 0, 1, 0, 1, 0, 0, 1) },
		"Dsyrk":         func() error { return d.Dsyrk('U', 'N', 0, 0, 1, 0, 1, 0, 0, 1) },
		"Strmm":         func() error { return d.Strmm('L', 'U', 'N', 'N', 0, 0, 1, 0, 1, 0, 1) },
		"Dtrmm":         func() error { return d.Dtrmm('L', 'U', 'N', 'N', 0, 0, 1, 0, 1, 0, 1) },
		"Strsm":         func() error { return d.Strsm('L', 'U', 'N', 'N', 0, 0, 1, 0, 1, 0, 1) },
		"Dtrsm":         func() error { return d.Dtrsm('L', 'U', 'N', 'N', 0, 0, 1, 0, 1, 0, 1) },
		"Conv2DForward": func() error { return d.Conv2DForward(0, shape, 0, shape, 0, shape, two, two, rawptr.Conv2DOptions{}) },
		"Conv2DBackwardData": func() error {
			return d.Conv2DBackwardData(0, shape, 0, shape, 0, shape, two, two, rawptr.Conv2DOptions{})
		},
		"Conv2DBackwardFilter": func() error {
			return d.Conv2DBackwardFilter(0, shape, 0, shape, 0, shape, two, two, rawptr.Conv2DOptions{})
		},
	}
}

// The list has all methods but those of the lifecycle itself.
func TestCalls(t *testing.T) {
	all := calls(nowhere(t))
	methods := reflect.TypeFor[rawptr.Backend]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if all[name] == nil && !slices.Contains([]string{"Name", "Init", "IsInitialized", "Close"}, name) {
			t.Errorf("calls lacks %s", name)
		}
	}
}

func TestLifecycle(t *testing.T) {
	dev := null.NewRecorder(nil)
	d := rawptr.New(rawptr.WithGPU(dev), nil)
	all := func(want error) {
		t.Helper()
		for name, call := range calls(d) {
			wantError(t, name, call(), want)
		}
	}
	all(errs.ErrNotInitialized)
	if d.IsInitialized() || d.Name() != "null" {
		t.Errorf("before Init: %v, %q", d.IsInitialized(), d.Name())
	}
	for range 3 {
		if err := d.Init(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !d.IsInitialized() || d.Name() != "null" {
		t.Errorf("after Init: %v, %q", d.IsInitialized(), d.Name())
	}
	c, err := d.Capabilities()
	if err != nil || c.Device.Name != dev.Info().Name || !c.F64 || c.MaxAlloc != dev.Info().Limits.MaxBuffer || c.Alignment != 16 {
		t.Errorf("capabilities %+v, %v", c, err)
	}
	if list, err := d.AvailableDevices(t.Context()); err != nil || len(list) != 1 || list[0].Name != dev.Info().Name {
		t.Errorf("devices %v, %v", list, err)
	}
	p := alloc(t, d, 4)
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	all(errs.ErrClosed)
	wantError(t, "Init after Close", d.Init(t.Context()), errs.ErrClosed)
	wantError(t, "Free after Close", d.Free(p), errs.ErrClosed)
	if d.IsInitialized() {
		t.Error("initialized after Close")
	}
}

// A Device that was never opened closes the device that it was given.
func TestCloseBeforeInit(t *testing.T) {
	dev := null.NewRecorder(nil)
	d := rawptr.New(rawptr.WithGPU(dev))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := dev.Alloc(1)
	wantError(t, "the device", err, errs.ErrClosed)
	wantError(t, "Init", d.Init(t.Context()), errs.ErrClosed)
	if err := rawptr.New().Close(); err != nil {
		t.Error(err)
	}
}

func TestInitFails(t *testing.T) {
	d := rawptr.New(rawptr.WithBackend("no such backend"))
	if d.Name() != "no such backend" {
		t.Errorf("name %q", d.Name())
	}
	for range 2 { // it tries again
		wantInvalid(t, "Init", d.Init(t.Context()))
	}
	wantError(t, "Alloc", d.Synchronize(t.Context()), errs.ErrNotInitialized)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, "Init with a context that has ended", d.Init(ended), context.Canceled)
	wantInvalid(t, "no device", rawptr.New(rawptr.WithGPU((*null.Device)(nil))).Init(t.Context()))
}

// Goroutines that open the device at the same time all find it open.
func TestInitOnce(t *testing.T) {
	d := rawptr.New(rawptr.WithGPU(null.NewRecorder(nil)))
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if err := d.Init(context.Background()); err != nil || !d.IsInitialized() {
				t.Errorf("%v, %v", d.IsInitialized(), err)
			}
		})
	}
	all.Wait()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// Close and Init at the same time leave a closed device, whichever comes first.
func TestCloseDuringInit(t *testing.T) {
	for range 200 {
		dev := null.NewRecorder(nil)
		d := rawptr.New(rawptr.WithGPU(dev))
		var all sync.WaitGroup
		all.Go(func() {
			if err := d.Init(context.Background()); err != nil && !errors.Is(err, errs.ErrClosed) {
				t.Errorf("Init: %v", err)
			}
		})
		if err := d.Close(); err != nil && !errors.Is(err, errs.ErrClosed) {
			t.Errorf("Close: %v", err)
		}
		all.Wait()
		if _, err := dev.Alloc(1); !errors.Is(err, errs.ErrClosed) {
			t.Fatalf("the device is open after Close: %v", err)
		}
	}
}

// While a device is busy, calls that need none of its work go on.
func TestNoLockDuringWork(t *testing.T) {
	dev := &slow{Device: null.NewRecorder(nil), begun: make(chan struct{}), goOn: make(chan struct{})}
	d := over(t, dev)
	p := alloc(t, d, 4)
	done := make(chan error)
	go func() { done <- d.CopyHtoD(context.Background(), p, []byte{1}) }()
	<-dev.begun
	if err := d.Init(t.Context()); err != nil || !d.IsInitialized() || d.Name() != "null" {
		t.Errorf("Init: %v", err)
	}
	free(t, d, alloc(t, d, 8))
	close(dev.goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A Device that New did not make can do nothing.
func TestZeroDevice(t *testing.T) {
	for _, d := range []*rawptr.Device{nil, {}} {
		for name, call := range calls(d) {
			wantError(t, name, call(), errs.ErrNotInitialized)
		}
		wantError(t, "Init", d.Init(t.Context()), errs.ErrNotInitialized)
		wantError(t, "Close", d.Close(), errs.ErrNotInitialized)
		if d.Name() != "" || d.IsInitialized() {
			t.Error("a Device that New did not make has a name")
		}
	}
}

var _ gpu.Device = (*slow)(nil)
