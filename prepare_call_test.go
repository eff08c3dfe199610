package lathe_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ahead are calls of tensor operations with the descriptions of their inputs.
func ahead() map[string]struct {
	call spec.Call
	in   []tensor.Desc
} {
	f := func(shape ...int) tensor.Desc { return tensor.Contiguous(tensor.F32, shape...) }
	turned := f(33, 20)
	turned.Strides = []int{1, 33}
	return map[string]struct {
		call spec.Call
		in   []tensor.Desc
	}{
		"matmul":          {ops.MatMul{}, []tensor.Desc{f(64, 33), f(33, 20)}},
		"matmul, turned":  {ops.MatMul{}, []tensor.Desc{f(64, 33), turned}},
		"a batch":         {ops.MatMul{TransB: true}, []tensor.Desc{f(3, 17, 8), f(9, 8)}},
		"broadcast":       {ops.Add{}, []tensor.Desc{f(64, 33), f(33)}},
		"a scalar":        {ops.Mul{}, []tensor.Desc{f(64, 33), f()}},
		"halves":          {ops.GELU{}, []tensor.Desc{tensor.Contiguous(tensor.F16, 1001)}},
		"softmax":         {&ops.Softmax{Dim: -1}, []tensor.Desc{f(64, 10)}},
		"layer norm":      {ops.LayerNormGrad{Eps: 1e-5}, []tensor.Desc{f(64, 33), f(33), f(64, 33)}},
		"two results":     {ops.CrossEntropy{}, []tensor.Desc{f(64, 10), tensor.Contiguous(tensor.I32, 64)}},
		"in place":        {ops.AdamUpdate{LR: 0.1, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, Step: 1}, []tensor.Desc{f(33), f(33), f(33), f(33)}},
		"rows by index":   {ops.Embedding{}, []tensor.Desc{tensor.Contiguous(tensor.I64, 7), f(100, 33)}},
		"many":            {ops.Concat{Dim: 1}, []tensor.Desc{f(4, 3), f(4, 5), f(4, 1)}},
		"attention":       {ops.Attention{Scale: 0.1}, []tensor.Desc{f(2, 40, 16), f(2, 50, 16), f(2, 50, 16)}},
		"a large sum":     {ops.ReduceSum{}, []tensor.Desc{f(1 << 18)}},
		"no inputs":       {ops.Fill{Value: 1, DType: tensor.F32, Shape: []int{100}}, nil},
		"no elements":     {ops.Neg{}, []tensor.Desc{f(0, 3)}},
		"an image's size": {ops.Transpose{Perm: []int{2, 0, 1}}, []tensor.Desc{tensor.Contiguous(tensor.U8, 48, 64, 3)}},
	}
}

// TestPrepareCallLaunchesAll prepares calls and makes them. No module is launched for the first
// time then, and the memory that was used is not more than that of the operands.
func TestPrepareCallLaunchesAll(t *testing.T) {
	for _, kind := range []string{"GPU", "CPU driver", "processor"} {
		info := null.DefaultInfo()
		if kind != "GPU" {
			info.Kind = gpu.CPU
		}
		info.Features.HostVectors = kind == "processor"
		for name, c := range ahead() {
			rec := null.NewRecorder(&info)
			dev := must(lathe.Open(t.Context(), lathe.WithGPU(rec), lathe.WithoutCache(), lathe.WithTuneMode("off"), quiet))(t)
			if err := dev.PrepareCall(t.Context(), c.call, c.in...); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			ready := map[*gpu.Module]bool{}
			for _, d := range rec.Recorded() {
				ready[d.Module] = true
				if d.Groups != [3]uint32{1, 1, 1} {
					t.Errorf("%s, %s: %s: %v workgroups, want one", kind, name, d.Module.Name, d.Groups)
				}
			}
			before := len(rec.Recorded())
			var in []*lathe.Tensor
			for _, d := range c.in {
				in = append(in, must(dev.NewTensor(d))(t))
			}
			var err error
			if op := c.call.Spec(); op.Updates(0) >= 0 {
				err = dev.Run(t.Context(), c.call, in, []*lathe.Tensor{in[0], in[2], in[3]})
			} else {
				_, err = dev.Call(t.Context(), c.call, in...)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			launched := rec.Recorded()[before:]
			if len(launched) == 0 && name != "no elements" {
				t.Errorf("%s: the call launched nothing", name)
			}
			for _, d := range launched {
				if !ready[d.Module] {
					t.Errorf("%s, %s: %s was not prepared", kind, name, d.Module.Name)
				}
			}
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestPrepareCall prepares on the device that there is, on several goroutines, while others work
// there. What they compute does not change.
func TestPrepareCall(t *testing.T) {
	dev := open(t)
	x := must(lathe.FromSlice(t.Context(), dev, []float32{1, 2, 3, 4}, 2, 2))(t)
	var all sync.WaitGroup
	for name, c := range ahead() {
		all.Go(func() {
			if err := dev.PrepareCall(context.Background(), c.call, c.in...); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		all.Go(func() {
			y, err := dev.MatMul(x, x)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := lathe.ToSlice[float32](context.Background(), y); err != nil || !slices.Equal(got, []float32{7, 10, 15, 22}) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	all.Wait()
	if err := dev.Sync(t.Context()); err != nil { // an index out of range in the scratch memory is no error
		t.Error(err)
	}
}

func TestPrepareCallRefuses(t *testing.T) {
	faults := faulty.New(null.NewRecorder(nil))
	failing := must(lathe.Open(t.Context(), lathe.WithGPU(faults), lathe.WithoutCache(), quiet))(t)
	defer failing.Close()
	dev, closed := open(t), open(t)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	var noContext context.Context
	full := errors.New("full")
	faults.Fail(faulty.Alloc, 2, full)
	x := tensor.Contiguous(tensor.F32, 2, 3)
	for name, c := range map[string]struct{ got, want error }{
		"shapes":      {dev.PrepareCall(ctx, ops.MatMul{}, x, x), lathe.ErrInvalidArgument},
		"dtype":       {dev.PrepareCall(ctx, ops.Softmax{Dim: -1}, tensor.Contiguous(tensor.U8, 3)), lathe.ErrUnsupported},
		"inputs":      {dev.PrepareCall(ctx, ops.Add{}, x), lathe.ErrInvalidArgument},
		"attributes":  {dev.PrepareCall(ctx, ops.Softmax{Dim: 5}, x), lathe.ErrInvalidArgument},
		"no dtype":    {dev.PrepareCall(ctx, ops.Neg{}, tensor.Desc{}), lathe.ErrInvalidArgument},
		"negative":    {dev.PrepareCall(ctx, ops.Neg{}, tensor.Contiguous(tensor.F32, -1)), lathe.ErrInvalidArgument},
		"strides":     {dev.PrepareCall(ctx, ops.Neg{}, tensor.Desc{DType: tensor.F32, Shape: []int{2}, Strides: []int{1, 1}}), lathe.ErrInvalidArgument},
		"too large":   {dev.PrepareCall(ctx, ops.Neg{}, tensor.Contiguous(tensor.F32, 1<<20, 1<<20)), lathe.ErrLimit},
		"no call":     {dev.PrepareCall(ctx, nil, x), lathe.ErrInvalidArgument},
		"a nil call":  {dev.PrepareCall(ctx, (*ops.Neg)(nil), x), lathe.ErrInvalidArgument},
		"no context":  {dev.PrepareCall(noContext, ops.Neg{}, x), lathe.ErrInvalidArgument},
		"cancelled":   {dev.PrepareCall(stopped, ops.Neg{}, x), context.Canceled},
		"closed":      {closed.PrepareCall(ctx, ops.Neg{}, x), lathe.ErrClosed},
		"no device":   {(*lathe.Device)(nil).PrepareCall(ctx, ops.Neg{}, x), lathe.ErrNotInitialized},
		"zero device": {(&lathe.Device{}).PrepareCall(ctx, ops.Neg{}, x), lathe.ErrNotInitialized},
		"no memory":   {failing.PrepareCall(ctx, ops.Neg{}, x), full},
	} {
		if !errors.Is(c.got, c.want) || strings.Count(c.got.Error(), "lathe: ") != 1 {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
	if err := failing.PrepareCall(ctx, ops.Neg{}, x); err != nil {
		t.Errorf("after a failure: %v", err)
	}
}
