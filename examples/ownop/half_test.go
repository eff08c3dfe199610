package main

import (
	"bytes"
	"context"
	"image"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// half swaps red and blue of the first half of a picture. It leaves the rest of the
// result unwritten, and does not promise anything else.
type half struct{}

func (half) Spec() *spec.Op { return halfOp }

var halfOp = defineSwap[half]("half", 2)

// TestUnwritten wants elements that a plan does not write to keep their old value. They
// must never show memory that was freed.
func TestUnwritten(t *testing.T) {
	onBackends(t, func(t *testing.T, open func(...lathe.Option) *lathe.Device) {
		dev, ctx := open(), context.Background()
		const rows, columns = 64, 200
		junk := bytes.Repeat([]byte{7}, rows*columns*4)
		source := func() *lathe.Tensor {
			t.Helper()
			x, err := lathe.FromSlice(ctx, dev, junk, rows, columns, 4)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		check := func(what string, x *lathe.Tensor, rest byte) {
			t.Helper()
			got, err := lathe.ToSlice[byte](ctx, x)
			want := slices.Concat(junk[:len(junk)/2], bytes.Repeat([]byte{rest}, len(junk)/2))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: the elements that are not written are not %d, error %v", what, rest, err)
			}
		}
		free := func(xs ...*lathe.Tensor) {
			t.Helper()
			for _, x := range xs {
				if err := dev.Free(x); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 4 {
			a, b := source(), source()
			if err := dev.Sync(ctx); err != nil {
				t.Fatal(err)
			}
			free(b) // The result may lie in its memory.
			out, err := dev.Call(ctx, half{}, a)
			if err != nil {
				t.Fatal(err)
			}
			check("Call", out[0], 0)
			free(out[0])
			into, err := dev.NewTensor(tensor.Contiguous(tensor.U8, rows, columns, 4))
			if err != nil {
				t.Fatal(err)
			}
			if err := dev.Run(ctx, half{}, []*lathe.Tensor{a}, []*lathe.Tensor{into}); err != nil {
				t.Fatal(err)
			}
			check("Run", into, 0)
			free(into, a)
		}
		// The result has strides, so that the operation writes to scratch memory first.
		a := source()
		wide, err := lathe.FromSlice(ctx, dev, bytes.Repeat([]byte{9}, 2*len(junk)), rows, 2*columns, 4)
		if err != nil {
			t.Fatal(err)
		}
		view, err := wide.Narrow(1, 0, columns)
		if err != nil {
			t.Fatal(err)
		}
		if err := dev.Run(ctx, half{}, []*lathe.Tensor{a}, []*lathe.Tensor{view}); err != nil {
			t.Fatal(err)
		}
		check("Run into a view", view, 9)
		// A picture must not show the picture before. This one is too small to be computed
		// in the memory of the caller.
		size := image.Rect(0, 0, 100, 64)
		first, second := image.NewNRGBA(size), image.NewNRGBA(size)
		for i := range first.Pix {
			first.Pix[i] = 77
		}
		for _, picture := range []*image.NRGBA{first, second} {
			got, err := dev.Apply(ctx, picture, half{})
			if err != nil {
				t.Fatal(err)
			}
			if picture == second && bytes.Contains(got.Pix, []byte{77}) {
				t.Error("Apply: the result has pixels of the picture before")
			}
		}
	})
}
