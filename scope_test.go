package lathe_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestScope computes a chain in a Scope, and the same by methods of Device.
func TestScope(t *testing.T) {
	dev := open(t)
	ctx := t.Context()
	a := must(lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3))(t)
	s := dev.Scope(ctx)
	scores := s.Mul(s.MatMul(a, s.Take(a.Transpose())), lathe.Scalar(0.25))
	y := s.Keep(s.Softmax(scores, -1))
	targets := s.Take(lathe.FromSlice(ctx, dev, []int32{1, 0}))
	loss, probs := s.CrossEntropy(scores, targets)
	sum := s.Call(ops.ReduceSum{Dims: []int{-1}, KeepDims: true}, y)[0]
	inPlace := s.Copy(y)
	s.Run(ops.Neg{}, []*lathe.Tensor{inPlace}, []*lathe.Tensor{inPlace})
	all := s.Concat(1, y, inPlace)
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	want := must(lathe.ToSlice[float32](ctx, must(dev.Softmax(must(dev.Mul(must(dev.MatMul(a, must(a.Transpose())(t)))(t), lathe.Scalar(0.25)))(t), -1))(t)))(t)
	for name, got := range map[string]*lathe.Tensor{"the result": y, "probabilities": probs} {
		if got := must(lathe.ToSlice[float32](ctx, got))(t); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got := must(lathe.ToRows[float32](ctx, all))(t); got[1][1] != want[3] || got[1][3] != -want[3] {
		t.Errorf("a tensor and its negative: %v, want %v", got, want)
	}
	if loss.Shape()[0] != 2 || !slices.Equal(sum.Shape(), []int{2, 1}) {
		t.Errorf("loss %v, sum %v", loss, sum)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := must(lathe.ToSlice[float32](ctx, y))(t); !slices.Equal(got, want) {
		t.Errorf("kept: got %v, want %v", got, want)
	}
	must(lathe.ToSlice[float32](ctx, a))(t) // an input is the caller's
	for name, x := range map[string]*lathe.Tensor{"scores": scores, "taken": targets, "an output": loss} {
		if _, err := lathe.ToFloats[float32](ctx, x); !errors.Is(err, lathe.ErrInvalidHandle) {
			t.Errorf("%s after Close: got %v, want ErrInvalidHandle", name, err)
		}
	}
}

// here is the line of the caller, as errors of a Scope have it.
func here(offset int) string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf(" at scope_test.go:%d: ", line+offset)
}

// TestScopeFirstError fails in the middle of a chain. The first error stays and says where it
// is, nothing runs after it, and reading a result returns it.
func TestScopeFirstError(t *testing.T) {
	faults := faulty.New(null.NewRecorder(nil))
	dev := must(lathe.Open(t.Context(), lathe.WithGPU(faults), lathe.WithoutCache(), quiet))(t)
	defer dev.Close()
	ctx := t.Context()
	x, v := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 2, 3)))(t), must(dev.NewTensor(tensor.Contiguous(tensor.F32, 3)))(t)
	tired := errors.New("tired")
	for name, fail := range map[string]func(s *lathe.Scope) (at string, y *lathe.Tensor){
		"matmul": func(s *lathe.Scope) (string, *lathe.Tensor) { return here(0), s.MatMul(x, x) },
		"neg":    func(s *lathe.Scope) (string, *lathe.Tensor) { return here(0), s.Call(ops.Neg{}, x, x)[0] },
		"add":    func(s *lathe.Scope) (string, *lathe.Tensor) { return here(0), s.Add(nil, x) },
		"take":   func(s *lathe.Scope) (string, *lathe.Tensor) { return here(0), s.Take(x.Reshape(4)) },
		"call":   func(s *lathe.Scope) (string, *lathe.Tensor) { return here(0), s.Call(nil, x)[0] },
		"cross_entropy": func(s *lathe.Scope) (string, *lathe.Tensor) {
			_, y := s.CrossEntropy(x, x)
			return here(-1), y
		},
		"adam_update": func(s *lathe.Scope) (string, *lathe.Tensor) {
			s.AdamUpdate(ops.AdamUpdate{LR: 1, Step: -1}, x, x, x, x)
			return here(-1), s.Neg(x)
		},
		"exp": func(s *lathe.Scope) (string, *lathe.Tensor) {
			faults.Fail(faulty.Alloc, 1, tired)
			return here(0), s.Exp(x)
		},
	} {
		s := dev.Scope(ctx)
		s.Neg(x)
		at, y := fail(s)
		first := s.Err()
		if first == nil || !strings.HasPrefix(first.Error(), "lathe: scope: "+name+at) {
			t.Errorf("%s: got %v, want an error of %q%s", name, first, name, at)
			continue
		}
		allocs, submits := faults.Calls(faulty.Alloc), faults.Calls(faulty.Submit)
		// All that follows takes what was not made.
		s.Add(y, s.MatMul(v, y))
		s.Run(ops.Neg{}, []*lathe.Tensor{x}, []*lathe.Tensor{x})
		dx, dgamma, dbeta := s.LayerNormGrad(y, v, y, 1e-5)
		z := s.Keep(s.Take(s.Take(y.Transpose()).Narrow(0, 0, 1)))
		if faults.Calls(faulty.Alloc) != allocs || faults.Calls(faulty.Submit) != submits {
			t.Errorf("%s: calls after the error were not ignored", name)
		}
		_, errDevice := dev.Neg(y)
		_, errRead := lathe.ToSlice[float32](ctx, dbeta)
		_, errImage := lathe.ToImage(ctx, dgamma, lathe.ImageLayout{})
		for what, err := range map[string]error{"Err": s.Err(), "a read": errRead, "an image": errImage, "a method of Device": errDevice, "a read in between": second(lathe.ToRows[float32](ctx, z)), "Close": s.Close(), "Close again": s.Close()} {
			if err != first {
				t.Errorf("%s: %s returns %v, want %v", name, what, err, first)
			}
		}
		if dx.String() != "no tensor" || dx.Desc().Elems() != 1 || dev.Free(dx) == nil {
			t.Errorf("%s: what was not made is %v", name, dx)
		}
	}
	if faults.Pending() != 0 {
		t.Error("a fault was not met")
	}
}

// TestScopeFrees looks at the memory that is left after Close, also after an error.
func TestScopeFrees(t *testing.T) {
	inner := null.NewRecorder(nil)
	faults := faulty.New(inner)
	dev := must(lathe.Open(t.Context(), lathe.WithGPU(faults), lathe.WithoutCache(), quiet))(t)
	defer dev.Close()
	ctx := t.Context()
	weight := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 8, 8)))(t)
	step := func(s *lathe.Scope) *lathe.Tensor {
		x := s.Take(lathe.FromRows(ctx, dev, [][]float32{make([]float32, 8), make([]float32, 8)}))
		img := s.Take(lathe.FromImage(ctx, dev, noise(8, 8), lathe.ImageLayout{DType: tensor.U8, Channels: 4}))
		s.Copy(img)
		y := s.MatMul(x, s.Take(weight.Transpose())) // a view of what the Scope does not own
		mean := s.ReduceMean(s.Mul(y, lathe.Scalar(2)), -1)
		return s.Keep(s.Take(s.Take(mean.Reshape(2, 1)).Transpose())) // keeps mean
	}
	free := func(ts ...*lathe.Tensor) {
		t.Helper()
		for _, x := range ts {
			if err := dev.Free(x); err != nil {
				t.Error(err)
			}
		}
	}
	s := dev.Scope(ctx)
	kept := step(s) // with scratch memory and the number 2, which the device keeps
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	free(kept)
	base := inner.Allocated()
	for range 3 {
		s := dev.Scope(ctx)
		kept := step(s)
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if got := inner.Allocated() - base; got != 2*4 {
			t.Errorf("%d bytes are left beside the mean of 8 bytes", got-8)
		}
		free(kept)
	}
	allocs := faults.Calls(faulty.Alloc)
	s = dev.Scope(ctx)
	free(step(s))
	s.Close()
	allocs = faults.Calls(faulty.Alloc) - allocs
	for n := range allocs { // each allocation fails once
		faults.Fail(faulty.Alloc, n+1, errors.New("no memory"))
		s := dev.Scope(ctx)
		kept := step(s)
		if s.Err() == nil {
			free(kept)
		}
		err := s.Close()
		if left := inner.Allocated() - base; err == nil || left != 0 {
			t.Errorf("allocation %d failed: %v, and %d bytes are left", n+1, err, left)
		}
	}
	// What the program frees itself is freed once.
	s = dev.Scope(ctx)
	free(s.Neg(weight))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := inner.Allocated(); got != base {
		t.Errorf("%d bytes are left", got-base)
	}
	must(lathe.ToSlice[float32](ctx, weight))(t)
}

// TestScopeEnds uses a Scope that ended, or never began.
func TestScopeEnds(t *testing.T) {
	dev, closed := open(t), open(t)
	ctx := t.Context()
	x := must(lathe.FromSlice(ctx, dev, []float32{1, 2}))(t)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(ctx)
	midway := dev.Scope(stopped)
	midway.Neg(x)
	if err := midway.Err(); err != nil {
		t.Fatal(err)
	}
	cancel()
	over := dev.Scope(ctx)
	y := over.Neg(x)
	if err := over.Close(); err != nil {
		t.Fatal(err)
	}
	extra := must(lathe.FromSlice(ctx, dev, []float32{1}))(t)
	overTake := dev.Scope(ctx)
	overTake.Close()
	overTake.Take(extra, nil)
	if err := dev.Free(extra); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("a closed Scope has not freed what it took: %v", err)
	}
	var noContext context.Context
	var noScope *lathe.Scope
	var noDevice *lathe.Device
	for name, c := range map[string]struct {
		s    *lathe.Scope
		want error
	}{
		"closed": {over, lathe.ErrClosed}, "closed, take": {overTake, lathe.ErrClosed}, "cancelled": {dev.Scope(stopped), context.Canceled}, "cancelled later": {midway, context.Canceled},
		"no context": {dev.Scope(noContext), lathe.ErrInvalidArgument}, "a closed device": {closed.Scope(ctx), lathe.ErrClosed},
		"no device": {noDevice.Scope(ctx), lathe.ErrNotInitialized}, "a zero device": {(&lathe.Device{}).Scope(ctx), lathe.ErrNotInitialized},
		"a zero Scope": {&lathe.Scope{}, lathe.ErrNotInitialized}, "no Scope": {noScope, lathe.ErrNotInitialized},
	} {
		z := c.s.Add(x, x)
		c.s.Run(ops.Neg{}, []*lathe.Tensor{x}, []*lathe.Tensor{x})
		if err := c.s.Err(); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if _, err := lathe.ToSlice[float32](ctx, z); !errors.Is(err, c.want) {
			t.Errorf("%s: a read: got %v, want %v", name, err, c.want)
		}
		if err := c.s.Close(); !errors.Is(err, c.want) {
			t.Errorf("%s: close: got %v, want %v", name, err, c.want)
		}
	}
	if _, err := lathe.ToSlice[float32](ctx, y); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("a tensor of a closed Scope: got %v, want ErrInvalidHandle", err)
	}
	if got := must(lathe.ToSlice[float32](ctx, x))(t); !slices.Equal(got, []float32{1, 2}) {
		t.Errorf("a Scope that ended has changed %v", got)
	}
}

// TestScopeConcurrent uses a Scope on many goroutines while one of them closes it.
func TestScopeConcurrent(t *testing.T) {
	inner := null.NewRecorder(nil)
	dev := must(lathe.Open(t.Context(), lathe.WithGPU(inner), lathe.WithoutCache(), quiet))(t)
	defer dev.Close()
	x := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 16)))(t)
	must(dev.Mul(x, lathe.Scalar(2)))(t)
	runtime.GC()
	base := int64(-1)
	for round := range 50 {
		s := dev.Scope(t.Context())
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				for range 40 {
					y := s.Mul(x, lathe.Scalar(2))
					if y = s.Neg(y); g == 0 {
						s.Keep(y)
						_ = dev.Free(y)
					}
					if s.Err() != nil && !errors.Is(s.Err(), lathe.ErrClosed) && !errors.Is(s.Err(), lathe.ErrInvalidHandle) {
						t.Error(s.Err())
					}
				}
			})
		}
		if round%2 == 1 {
			s.Close()
		}
		all.Wait()
		s.Close()
		if round == 0 {
			base = inner.Allocated()
		}
		if got := inner.Allocated(); got > base {
			t.Fatalf("round %d: %d bytes are left", round, got-base)
		}
	}
}
