package backends_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// bench is a device of a backend, a Capture on it, and short forms of calls that must not fail.
type bench struct {
	testing.TB
	ctx context.Context
	dev *lathe.Device
	c   *lathe.Capture
}

func eachBench(t *testing.T, f func(b bench)) {
	for _, backend := range []string{"vk", "wgpu", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			ctx := context.Background()
			testkit.Built(t, drivers.Built(), backend)
			dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithoutCache(), lathe.WithTuneMode("off"))
			testkit.Device(t, dev, err)
			c, err := dev.NewCapture(4)
			b := bench{t, ctx, dev, c}
			b.check(err)
			defer func() { b.check(c.Close()) }()
			f(b)
		})
	}
}

func (b bench) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b bench) wantErr(what string, err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

// tensor makes a tensor of words that begin at first.
func (b bench) tensor(n int, first uint32) *lathe.Tensor {
	b.Helper()
	t, err := lathe.FromSlice(b.ctx, b.dev, words(n, first), n)
	b.check(err)
	return t
}

// view makes a tensor of n zeros at a byte of a larger buffer.
func (b bench) view(n, at, room int) *lathe.Tensor {
	b.Helper()
	whole, err := b.dev.NewTensor(tensor.Contiguous(tensor.U32, room))
	b.check(err)
	v, err := whole.Narrow(0, at/4, n)
	b.check(err)
	return v
}

func words(n int, first uint32) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = first + uint32(i*i)
	}
	return list
}

func (b bench) fill(t *lathe.Tensor, list []uint32) {
	b.Helper()
	fresh, err := lathe.FromSlice(b.ctx, b.dev, list, len(list))
	b.check(err)
	b.check(b.dev.Run(b.ctx, ops.Copy{}, []*lathe.Tensor{fresh}, []*lathe.Tensor{t}))
	b.check(b.dev.Free(fresh))
}

func (b bench) words(t *lathe.Tensor) []uint32 {
	b.Helper()
	got, err := lathe.ToSlice[uint32](b.ctx, t)
	b.check(err)
	return got
}

func (b bench) replay(key uint64, want bool, list ...lathe.Rebind) {
	b.Helper()
	if ok, err := b.c.ReplayWith(b.ctx, key, list...); err != nil || ok != want {
		b.Fatalf("replay: got %v, %v, want %v", ok, err, want)
	}
}

// chain records y = (x + x)·3 + fixed, with an intermediate, where x and y are bindable.
func (b bench) chain(key uint64, x, fixed, y *lathe.Tensor) {
	b.Helper()
	b.check(b.c.Record(b.ctx, key, func() error {
		if err := b.c.Bindable(x); err != nil {
			return err
		}
		s := b.c.Device().Scope(b.ctx)
		z := s.Mul(s.Add(x, x), lathe.Scalar(3))
		if err := s.Err(); err != nil {
			return err
		}
		if err := b.c.Device().Run(b.ctx, ops.Add{}, []*lathe.Tensor{z, fixed}, []*lathe.Tensor{y}); err != nil {
			return err
		}
		return errors.Join(s.Close(), b.c.Bindable(y))
	}))
}

func chained(x, fixed []uint32) []uint32 {
	y := make([]uint32, len(x))
	for i := range y {
		y[i] = x[i]*6 + fixed[i]
	}
	return y
}
