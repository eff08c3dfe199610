package view_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/view"
	"github.com/lathe-gpu/lathe/tensor"
)

// places are the elements of axes in row-major order.
func places(dims [][]view.Axis, offset int) []int {
	list := []int{offset}
	for _, axes := range dims {
		for _, a := range axes {
			var next []int
			for _, at := range list {
				for i := range a.Size {
					next = append(next, at+i*a.Stride)
				}
			}
			list = next
		}
	}
	return list
}

// TestThrough sees through random copies, and compares each element with that of the copy.
func TestThrough(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	some := func(n int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = []int{1, 2, 2, 3, 4}[rng.IntN(5)]
		}
		return list
	}
	seen := 0
	for range 20000 {
		// The copy has the elements of a view with strides, repeated dimensions among them.
		d := tensor.Desc{DType: tensor.F32, Shape: some(1 + rng.IntN(4))}
		d.Strides = make([]int, len(d.Shape))
		for i := range d.Strides {
			d.Strides[i] = rng.IntN(4) * rng.IntN(9)
		}
		copied := places(view.Axes(d), 0)
		// The view of the copy: its dimensions in another order, or others.
		shape := d.Shape
		if rng.IntN(2) == 0 {
			if shape = some(1 + rng.IntN(4)); tensor.Contiguous(tensor.F32, shape...).Elems() > len(copied) {
				continue
			}
		}
		of := tensor.Contiguous(tensor.F32, shape...)
		perm := rng.Perm(len(shape))
		v, err := view.Transpose(of, perm...)
		if err != nil {
			t.Fatal(err)
		}
		offset := 0
		if dim := rng.IntN(len(perm)); v.Shape[dim] > 1 && rng.IntN(3) == 0 {
			var bytes int64
			if v, bytes, err = view.Narrow(v, dim, 1, v.Shape[dim]-1); err != nil {
				t.Fatal(err)
			}
			offset = int(bytes / 4)
		}
		dims, from, ok := view.Through(view.Axes(v), offset, d)
		if !ok {
			continue
		}
		seen++
		want := places(view.Axes(v), offset)
		for i, at := range want {
			want[i] = copied[at]
		}
		if got := places(dims, from); !slices.Equal(got, want) {
			t.Fatalf("%v at %d of a copy of %v: %v at %d reads %v, want %v", v, offset, d, dims, from, got, want)
		}
		for i, axes := range dims {
			n := 1
			for _, a := range axes {
				n *= a.Size
			}
			if n != v.Shape[i] {
				t.Fatalf("dimension %d of %v is %v", i, v, axes)
			}
		}
	}
	if seen < 5000 {
		t.Errorf("%d of 20000 views are seen through", seen)
	}
}

// TestThroughGroups sees through the forms in which heads share keys.
func TestThroughGroups(t *testing.T) {
	heads := tensor.Desc{DType: tensor.F32, Shape: []int{2, 3, 4, 5, 7}, Strides: []int{105, 35, 0, 7, 1}} // 3 heads, each for a group of 4
	dims, from, ok := view.Through(view.Axes(tensor.Contiguous(tensor.F32, 2, 12, 5, 7)), 0, heads)
	if want := []view.Axis{{Size: 3, Stride: 35}, {Size: 4}}; !ok || from != 0 || !slices.Equal(dims[1], want) || len(dims[0])+len(dims[2])+len(dims[3]) != 3 {
		t.Errorf("%v at %d, %v; want %v for the heads", dims, from, ok, want)
	}
	if _, _, ok := view.Through(view.Axes(tensor.Contiguous(tensor.F32, 0, 3)), 0, tensor.Contiguous(tensor.F32, 3, 0)); ok {
		t.Error("a view without elements is seen through")
	}
}
