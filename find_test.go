package lathe_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// load makes a tensor of any shape, also of none.
func load(t *testing.T, dev *lathe.Device, values []float32, shape ...int) *lathe.Tensor {
	t.Helper()
	x, err := lathe.FromSlice(t.Context(), dev, values)
	if err != nil {
		t.Fatal(err)
	}
	if x, err = x.Reshape(shape...); err != nil {
		t.Fatal(err)
	}
	return x
}

// find returns the shape and the elements of what Device.Find returns for x, and frees it.
func find[T lathe.Element](t *testing.T, dev *lathe.Device, c spec.Call, in ...*lathe.Tensor) ([]int, []T) {
	t.Helper()
	found, err := dev.Find(t.Context(), c, in...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := lathe.ToSlice[T](t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	shape := slices.Clone(found.Shape())
	if err := dev.Free(found); err != nil {
		t.Error(err)
	}
	return shape, got
}

// TestFindNonZero finds elements whose number only the device knows: none, some and all. NaN and the
// least number are not zero, and −0 is.
func TestFindNonZero(t *testing.T) {
	dev := open(t)
	zero, least, nan := float32(math.Copysign(0, -1)), float32(math.SmallestNonzeroFloat32), float32(math.NaN())
	for _, c := range []struct {
		values        []float32
		rows, columns []int32
	}{
		{[]float32{0, 1, zero, -2, 0, 3}, []int32{0, 1, 1}, []int32{1, 0, 2}},
		{[]float32{nan, zero, least, 0, -least, 0}, []int32{0, 0, 1}, []int32{0, 2, 1}},
		{[]float32{0, zero, 0, 0, 0, 0}, nil, nil},
		{[]float32{1, 1, 1, 1, 1, 1}, []int32{0, 0, 0, 1, 1, 1}, []int32{0, 1, 2, 0, 1, 2}},
	} {
		x := load(t, dev, c.values, 2, 3)
		shape, got := find[int32](t, dev, ops.NonZero{}, x)
		if want := slices.Concat(c.rows, c.columns); !slices.Equal(got, want) || !slices.Equal(shape, []int{2, len(c.rows)}) {
			t.Errorf("%v: found %v of shape %v (want %v)", c.values, got, shape, want)
		}
	}
	x := load(t, dev, []float32{0, 1, 2, 0, 0, 3}, 2, 3)
	across, err := x.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	if _, got := find[int64](t, dev, ops.NonZero{Wide: true}, across); !slices.Equal(got, []int64{1, 2, 2, 0, 0, 1}) {
		t.Errorf("a view: found %v", got)
	}
	for _, v := range []float32{0, 5} { // A number has no dimensions, and so no indices.
		shape, got := find[int32](t, dev, ops.NonZero{}, load(t, dev, []float32{v}))
		if n := min(int(v), 1); len(got) != 0 || !slices.Equal(shape, []int{0, n}) {
			t.Errorf("the number %v: found %v of shape %v", v, got, shape)
		}
	}
	if shape, _ := find[int32](t, dev, ops.NonZero{}, load(t, dev, nil, 3, 0, 2)); !slices.Equal(shape, []int{3, 0}) {
		t.Errorf("no elements: shape %v", shape)
	}
}

// TestFindCompress keeps slices along each dimension and elements. The condition may be shorter than
// the dimension, and empty. Whatever is not 0 is true.
func TestFindCompress(t *testing.T) {
	dev := open(t)
	x := load(t, dev, []float32{1, 2, 3, 4, 5, 6}, 3, 2)
	for _, c := range []struct {
		call      ops.Compress
		condition []byte
		shape     []int
		want      []float32
	}{
		{ops.Compress{}, []byte{0, 1, 1}, []int{2, 2}, []float32{3, 4, 5, 6}},
		{ops.Compress{}, []byte{0, 255}, []int{1, 2}, []float32{3, 4}},
		{ops.Compress{}, []byte{0, 0, 0}, []int{0, 2}, nil},
		{ops.Compress{}, nil, []int{0, 2}, nil},
		{ops.Compress{Axis: 1}, []byte{0, 2}, []int{3, 1}, []float32{2, 4, 6}},
		{ops.Compress{Axis: -2}, []byte{1, 1, 1}, []int{3, 2}, []float32{1, 2, 3, 4, 5, 6}},
		{ops.Compress{Flatten: true}, []byte{0, 1, 0, 0, 1}, []int{2}, []float32{2, 5}},
	} {
		condition, err := dev.NewTensor(tensor.Contiguous(tensor.Bool, len(c.condition)))
		if err != nil {
			t.Fatal(err)
		}
		if err := dev.Write(t.Context(), condition, c.condition); err != nil {
			t.Fatal(err)
		}
		if shape, got := find[float32](t, dev, c.call, x, condition); !slices.Equal(got, c.want) || !slices.Equal(shape, c.shape) {
			t.Errorf("%+v %v: got %v of shape %v (want %v of %v)", c.call, c.condition, got, shape, c.want, c.shape)
		}
	}
	long, err := lathe.FromSlice(t.Context(), dev, []bool{true, true, true})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]spec.Call{
		"an operation that counts nothing": ops.Neg{}, "a wrong dimension": ops.Compress{Axis: 2},
		"a condition that is too long": ops.Compress{Axis: 1}, "a dimension of what is flat": ops.Compress{Axis: 1, Flatten: true},
	} {
		if _, err := dev.Find(t.Context(), c, x, long); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("%s: %v (want ErrInvalidArgument)", name, err)
		}
	}
}
