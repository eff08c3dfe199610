package backends_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
)

// affine are the push constants of testgpu.AffineKernel.
type affine struct{ Count, Scale, Shift uint32 }

// TestPatch replaces the push constants of two recorded shaders of the program, one called as a Kernel and one by DispatchCompute, and also rebinds tensors.
func TestPatch(t *testing.T) {
	eachBench(t, func(b bench) {
		const n = 101
		code := testgpu.Kernel(b, testgpu.AffineKernel).Code
		k, err := b.c.Device().LoadKernel(code)
		b.check(err)
		x, y, z := b.tensor(n, 1), b.tensor(n, 0), b.tensor(n, 0)
		var first, second *lathe.Patch
		b.check(b.c.Record(b.ctx, 1, func() (err error) {
			first, err = b.c.Patchable(func() error { return k.Run(b.ctx, []int{n}, affine{n, 2, 1}, x, y) })
			if err != nil {
				return err
			}
			b.wantErr("while it is recorded", first.SetParams(affine{n, 3, 3}), lathe.ErrCapture)
			second, err = b.c.Patchable(func() error {
				return b.c.Device().DispatchCompute(b.ctx, code, []*lathe.Tensor{y, z}, testkit.Words(n, 5, 0), [3]uint32{2, 1, 1})
			})
			return errors.Join(err, b.c.Bindable(x, z))
		}))
		other, out := b.tensor(n, 50), b.tensor(n, 0)
		compare := func(what string, got *lathe.Tensor, from uint32, a, c affine) {
			b.Helper()
			want := words(n, from)
			for i, w := range want {
				if want[i] = 0; i < int(c.Count) {
					want[i] = (w*a.Scale+a.Shift)*c.Scale + c.Shift
				}
			}
			if got := b.words(got); !slices.Equal(got, want) {
				b.Fatalf("%s: got %v, want %v", what, got, want)
			}
		}
		with := []lathe.Rebind{{From: x, To: other}, {From: z, To: out}}
		a, c := affine{n, 2, 1}, affine{n, 5, 0}
		for round := range uint32(6) {
			b.replay(1, true)
			b.replay(1, true, with...)
			compare(fmt.Sprint("recorded ", round), z, 1, a, c)
			compare(fmt.Sprint("rebound ", round), out, 50, a, c)
			if a = (affine{n, 7 + round, round}); round%2 == 0 {
				c = affine{n, round, 11}
				b.check(second.SetPush(testkit.Words(c.Count, c.Scale, c.Shift)))
			}
			b.check(first.SetParams(&a))
		}
		b.wantErr("too short", second.SetPush(testkit.Words(n, 1)), lathe.ErrInvalidArgument)
		b.wantErr("too long", second.SetPush(testkit.Words(n, 1, 1, 1)), lathe.ErrInvalidArgument)
		b.wantErr("no struct", first.SetParams(3), lathe.ErrInvalidArgument)
		if err := first.SetParams(3); !strings.HasPrefix(err.Error(), "lathe: patch: ") {
			b.Errorf("the error does not begin with the call: %v", err)
		}
		b.wantErr("another struct", first.SetParams(struct{ A, B uint32 }{}), lathe.ErrInvalidArgument)
		b.wantErr("nil", first.SetParams(nil), lathe.ErrInvalidArgument)
		b.wantErr("no Patch", new(lathe.Patch).SetPush(nil), lathe.ErrNotInitialized)
		b.replay(1, true)
		compare("after errors", z, 1, a, c)
		for range 30 { // replays in flight keep their own params
			a.Shift++
			b.check(first.SetParams(a))
			b.replay(1, true)
		}
		compare("the last", z, 1, a, c)

		b.check(b.c.Begin(b.ctx))
		_, err = b.c.Patchable(func() error { return nil })
		b.wantErr("no call", err, lathe.ErrInvalidArgument)
		_, err = b.c.Patchable(func() error { return b.dev.Run(b.ctx, ops.Copy{}, []*lathe.Tensor{x}, []*lathe.Tensor{z}) })
		b.wantErr("a call of another Device", err, lathe.ErrInvalidArgument)
		_, err = b.c.Patchable(func() error {
			return b.c.Device().Run(b.ctx, ops.Copy{}, []*lathe.Tensor{x}, []*lathe.Tensor{z})
		})
		b.wantErr("an operation", err, lathe.ErrInvalidArgument)
		_, err = b.c.Patchable(func() error {
			return errors.Join(k.Run(b.ctx, []int{n}, a, x, y), k.Run(b.ctx, []int{n}, a, x, y))
		})
		b.wantErr("two calls", err, lathe.ErrInvalidArgument)
		_, err = b.c.Patchable(func() error { return k.Run(b.ctx, []int{n}, a, x) })
		b.wantErr("a call that fails", err, lathe.ErrInvalidArgument)
		_, err = b.c.Patchable(nil)
		b.wantErr("nil", err, lathe.ErrInvalidArgument)
		b.check(b.c.Abort())
		_, err = b.c.Patchable(func() error { return k.Run(b.ctx, []int{n}, a, x, y) })
		b.wantErr("nothing is recorded", err, lathe.ErrCapture)
		b.check(b.c.Reset(1))
		b.wantErr("forgotten", first.SetParams(a), lathe.ErrInvalidHandle)
	})
}
