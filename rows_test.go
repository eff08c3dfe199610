package lathe_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestReadInto reads tensors and views of several types into slices that it has.
func TestReadInto(t *testing.T) {
	dev := open(t)
	ctx := t.Context()
	x := must(lathe.FromSlice(dev, []float32{0, 1, 2, 3, 4, 5}, 2, 3))(t)
	whole := []float32{9, 9, 9, 9, 9, 9, 9, 9}
	for _, c := range []struct {
		view *lathe.Tensor
		want []float32
	}{
		{x, []float32{0, 1, 2, 3, 4, 5}},
		{must(x.Transpose())(t), []float32{0, 3, 1, 4, 2, 5}},
		{must(x.Narrow(1, 1, 2))(t), []float32{1, 2, 4, 5}},
		{must(x.Narrow(0, 1, 1))(t), []float32{3, 4, 5}},
		{must(must(x.Narrow(0, 1, 1))(t).Expand(2, 3))(t), []float32{3, 4, 5, 3, 4, 5}},
		{must(x.Narrow(0, 1, 0))(t), nil},
	} {
		dst := whole[1 : 1+len(c.want)]
		if err := lathe.ReadInto(ctx, dev, c.view, dst); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(dst, c.want) {
			t.Errorf("%v: got %v, want %v", c.view, dst, c.want)
		}
		if whole[0] != 9 || whole[7] != 9 {
			t.Errorf("%v: elements around the slice changed: %v", c.view, whole)
		}
	}
	odd := must(dev.NewTensor(tensor.Contiguous(tensor.Bool, 3)))(t)
	if err := dev.Write(ctx, odd, []byte{0, 2, 255}); err != nil {
		t.Fatal(err)
	}
	truth := make([]bool, 3)
	if err := lathe.ReadInto(ctx, dev, odd, truth); err != nil {
		t.Fatal(err)
	}
	for i, v := range []int{0, 1, 1} {
		if n := map[bool]int{true: 1}[truth[i]]; n != v { // as a key, a bool of byte 2 is no true
			t.Errorf("bools %v, want false, true, true", truth)
		}
	}
}

// TestReadIntoRefuses returns errors for slices of another length or type, and for what is no
// tensor of the device.
func TestReadIntoRefuses(t *testing.T) {
	dev, other := open(t), open(t)
	ctx := t.Context()
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	x := must(lathe.FromSlice(dev, []float32{1, 2, 3, 4}, 2, 2))(t)
	freed := must(lathe.FromSlice(dev, []float32{1}))(t)
	if err := dev.Free(freed); err != nil {
		t.Fatal(err)
	}
	var noContext context.Context
	four := []float32{7, 7, 7, 7}
	for name, c := range map[string]struct {
		err, want error
	}{
		"a slice too short":  {lathe.ReadInto(ctx, dev, x, four[:3]), lathe.ErrInvalidArgument},
		"a slice too long":   {lathe.ReadInto(ctx, dev, x, make([]float32, 5)), lathe.ErrInvalidArgument},
		"no slice":           {lathe.ReadInto[float32](ctx, dev, x, nil), lathe.ErrInvalidArgument},
		"another type":       {lathe.ReadInto(ctx, dev, x, make([]int32, 4)), lathe.ErrType},
		"no tensor":          {lathe.ReadInto(ctx, dev, nil, four), lathe.ErrInvalidHandle},
		"an empty tensor":    {lathe.ReadInto(ctx, dev, &lathe.Tensor{}, four), lathe.ErrInvalidHandle},
		"a freed tensor":     {lathe.ReadInto(ctx, dev, freed, four[:1]), lathe.ErrInvalidHandle},
		"another device":     {lathe.ReadInto(ctx, other, x, four), lathe.ErrInvalidHandle},
		"no device":          {lathe.ReadInto(ctx, nil, x, four), lathe.ErrNotInitialized},
		"a cancelled wait":   {lathe.ReadInto(stopped, dev, x, four), context.Canceled},
		"no context":         {lathe.ReadInto(noContext, dev, x, four), lathe.ErrInvalidArgument},
		"rows of no tensor":  {second(lathe.ToRows[float32](ctx, dev, nil)), lathe.ErrInvalidHandle},
		"rows, another type": {second(lathe.ToRows[int32](ctx, dev, x)), lathe.ErrType},
		"rows of a vector":   {second(lathe.ToRows[float32](ctx, dev, must(x.Reshape(4))(t))), lathe.ErrInvalidArgument},
		"rows, no device":    {second(lathe.FromRows(nil, [][]float32{{1}})), lathe.ErrNotInitialized},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.err, c.want)
		}
	}
	if !slices.Equal(four, []float32{7, 7, 7, 7}) {
		t.Errorf("a refused read wrote %v", four)
	}
}

func second[T any](_ T, err error) error { return err }

// TestReadIntoAllocates reads again and again and wants no memory for the elements. A
// backend may need some words for the wait.
func TestReadIntoAllocates(t *testing.T) {
	testkit.NoRace(t, "allocates")
	dev := open(t)
	const elements, reads = 1 << 16, 200
	x := must(lathe.FromSlice(dev, make([]float32, elements), 256, 256))(t)
	part := must(x.Narrow(0, 3, 2))(t)
	dst := make([]float32, elements)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range reads {
		if err := errors.Join(lathe.ReadInto(t.Context(), dev, x, dst), lathe.ReadInto(t.Context(), dev, part, dst[:512])); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / reads; n > 4096 {
		t.Errorf("%d bytes of garbage for two reads, of 256 KiB and of 2 KiB", n)
	}
}

// TestRows makes matrices of rows and rows of matrices.
func TestRows(t *testing.T) {
	dev := open(t)
	ctx := t.Context()
	rows := [][]int32{{1, 2, 3}, {4, 5, 6}}
	x := must(lathe.FromRows(dev, rows))(t)
	rows[0][0] = 100 // the tensor has its own elements
	if got := must(lathe.ToRows[int32](ctx, dev, x))(t); !cmp.Equal(got, [][]int32{{1, 2, 3}, {4, 5, 6}}) {
		t.Errorf("rows came back as %v", got)
	}
	turned := must(lathe.ToRows[int32](ctx, dev, must(x.Transpose())(t)))(t)
	if !cmp.Equal(turned, [][]int32{{1, 4}, {2, 5}, {3, 6}}) {
		t.Errorf("columns came as %v", turned)
	}
	if _ = append(turned[0], 7); turned[1][0] != 2 {
		t.Error("a longer row wrote over the next one")
	}
	for _, c := range []struct {
		rows [][]bool
		want string
	}{{nil, "bool[0,0]"}, {[][]bool{{}, {}}, "bool[2,0]"}, {[][]bool{{true}}, "bool[1,1]"}} {
		x := must(lathe.FromRows(dev, c.rows))(t)
		if x.String() != c.want {
			t.Errorf("%v became %v, want %s", c.rows, x, c.want)
		}
		if got := must(lathe.ToRows[bool](ctx, dev, x))(t); len(got) != len(c.rows) || len(got) > 0 && !cmp.Equal(got, c.rows) {
			t.Errorf("%v came back as %v", c.rows, got)
		}
	}
	for want, rows := range map[string][][]float64{
		"row 2 (got 1, want 2": {{1, 2}, {3, 4}, {5}},
		"row 1 (got 3, want 0": {nil, {1, 2, 3}},
	} {
		if _, err := lathe.FromRows(dev, rows); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want ErrInvalidArgument that says %s", rows, err, want)
		}
	}
}

// TestTensorDevice asks tensors and views for their device.
func TestTensorDevice(t *testing.T) {
	a, b := open(t), open(t)
	x := must(lathe.FromSlice(a, []float32{1, 2, 3, 4}, 2, 2))(t)
	y := must(lathe.FromImage(t.Context(), b, noise(2, 2), lathe.ImageLayout{}))(t)
	for name, c := range map[string]struct {
		t    *lathe.Tensor
		want *lathe.Device
	}{
		"of a slice": {x, a}, "a view": {must(must(x.Transpose())(t).Narrow(0, 1, 1))(t), a}, "a result": {must(a.MatMul(x, x))(t), a},
		"of an image": {y, b}, "zeros": {must(b.NewTensor(tensor.Contiguous(tensor.U8, 3)))(t), b}, "none": {nil, nil}, "of no device": {&lathe.Tensor{}, nil},
	} {
		if c.t.Device() != c.want {
			t.Errorf("a tensor %s: another device than its own", name)
		}
	}
	if got := must(lathe.ToSlice[float32](t.Context(), x.Device(), x))(t); !slices.Equal(got, []float32{1, 2, 3, 4}) {
		t.Errorf("read by its own device: %v", got)
	}
}
