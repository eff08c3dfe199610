package lathe_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestReadInto reads tensors and views of several types into slices that it has.
func TestReadInto(t *testing.T) {
	dev := open(t)
	ctx := t.Context()
	x := must(lathe.FromSlice(ctx, dev, []float32{0, 1, 2, 3, 4, 5}, 2, 3))(t)
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
		if err := lathe.ReadInto(ctx, c.view, dst); err != nil {
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
	if err := lathe.ReadInto(ctx, odd, truth); err != nil {
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
	dev, closed := open(t), open(t)
	ctx := t.Context()
	old := must(lathe.FromSlice(ctx, closed, []float32{1, 2, 3, 4}, 2, 2))(t)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	x := must(lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4}, 2, 2))(t)
	freed := must(lathe.FromSlice(ctx, dev, []float32{1}))(t)
	if err := dev.Free(freed); err != nil {
		t.Fatal(err)
	}
	var noContext context.Context
	four := []float32{7, 7, 7, 7}
	for name, c := range map[string]struct {
		err, want error
	}{
		"a slice too short":  {lathe.ReadInto(ctx, x, four[:3]), lathe.ErrInvalidArgument},
		"a slice too long":   {lathe.ReadInto(ctx, x, make([]float32, 5)), lathe.ErrInvalidArgument},
		"no slice":           {lathe.ReadInto[float32](ctx, x, nil), lathe.ErrInvalidArgument},
		"another type":       {lathe.ReadInto(ctx, x, make([]int32, 4)), lathe.ErrType},
		"no tensor":          {lathe.ReadInto(ctx, nil, four), lathe.ErrInvalidHandle},
		"an empty tensor":    {lathe.ReadInto(ctx, &lathe.Tensor{}, four), lathe.ErrInvalidHandle},
		"a freed tensor":     {lathe.ReadInto(ctx, freed, four[:1]), lathe.ErrInvalidHandle},
		"a closed device":    {lathe.ReadInto(ctx, old, four), lathe.ErrClosed},
		"slice, closed":      {second(lathe.ToSlice[float32](ctx, old)), lathe.ErrClosed},
		"slice, none":        {second(lathe.ToSlice[float32](ctx, &lathe.Tensor{})), lathe.ErrInvalidHandle},
		"floats, closed":     {second(lathe.ToFloats[float64](ctx, must(old.Transpose())(t))), lathe.ErrClosed},
		"floats, none":       {second(lathe.ToFloats[float32](ctx, nil)), lathe.ErrInvalidHandle},
		"rows, closed":       {second(lathe.ToRows[float32](ctx, old)), lathe.ErrClosed},
		"a cancelled wait":   {lathe.ReadInto(stopped, x, four), context.Canceled},
		"no context":         {lathe.ReadInto(noContext, x, four), lathe.ErrInvalidArgument},
		"rows of no tensor":  {second(lathe.ToRows[float32](ctx, nil)), lathe.ErrInvalidHandle},
		"rows, another type": {second(lathe.ToRows[int32](ctx, x)), lathe.ErrType},
		"rows of a vector":   {second(lathe.ToRows[float32](ctx, must(x.Reshape(4))(t))), lathe.ErrInvalidArgument},
		"rows, no device":    {second(lathe.FromRows(ctx, nil, [][]float32{{1}})), lathe.ErrNotInitialized},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.err, c.want)
		}
	}
	if !slices.Equal(four, []float32{7, 7, 7, 7}) {
		t.Errorf("a refused read wrote %v", four)
	}
}

// TestReadsNameThemselves reads in ways that fail before and on the device. Each error names the
// call that was made, once.
func TestReadsNameThemselves(t *testing.T) {
	faults := faulty.New(null.NewRecorder(nil))
	dev, err := lathe.Open(t.Context(), lathe.WithGPU(faults), lathe.WithoutCache(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	lost := errors.New("a wire is loose")
	x := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 4, 4, 3)))(t)
	reads := map[string]func(*lathe.Tensor) error{
		"to slice":  func(x *lathe.Tensor) error { return second(lathe.ToSlice[float32](t.Context(), x)) },
		"read into": func(x *lathe.Tensor) error { return lathe.ReadInto(t.Context(), x, make([]float32, 48)) },
		"to floats": func(x *lathe.Tensor) error { return second(lathe.ToFloats[float32](t.Context(), x)) },
		"to image":  func(x *lathe.Tensor) error { return second(lathe.ToImage(t.Context(), x, lathe.ImageLayout{})) },
		"to rows": func(x *lathe.Tensor) error {
			if x != nil {
				x = must(x.Reshape(6, 8))(t)
			}
			return second(lathe.ToRows[float32](t.Context(), x))
		},
	}
	check := func(name, when string, err, want error) {
		t.Helper()
		if err == nil || !errors.Is(err, want) || !strings.HasPrefix(err.Error(), "lathe: "+name+": ") || strings.Count(err.Error(), "lathe:") != 1 {
			t.Errorf("%s: got %v, want %q of %q", when, err, want, name)
		}
	}
	for name, read := range reads {
		check(name, "no tensor", read(nil), lathe.ErrInvalidHandle)
		faults.Fail(faulty.Read, 1, lost)
		check(name, "a device that fails", read(x), lost)
	}
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	for name, read := range reads {
		check(name, "a closed device", read(x), lathe.ErrClosed)
	}
}

// tornReader is a device whose reads fail after half of the bytes.
type tornReader struct{ *null.Device }

var errTorn = errors.New("torn")

func (tornReader) Read(_ context.Context, _ gpu.Handle, _ int64, dst []byte) error {
	for i := range dst[:len(dst)/2] {
		dst[i] = byte(2 + i)
	}
	return errTorn
}

// TestReadBoolsAfterAnError reads bytes that are no Go bools, and fails. Each element is a Go
// bool all the same: another byte would make b and !b true.
func TestReadBoolsAfterAnError(t *testing.T) {
	dev, err := lathe.Open(t.Context(), lathe.WithGPU(tornReader{null.NewRecorder(nil)}), lathe.WithoutCache(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	x := must(dev.NewTensor(tensor.Contiguous(tensor.Bool, 8)))(t)
	dst := make([]bool, 8)
	if err := lathe.ReadInto(t.Context(), x, dst); !errors.Is(err, errTorn) {
		t.Fatalf("got %v, want the error of the device", err)
	}
	for i, b := range unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), len(dst)) {
		if want := []byte{1, 1, 1, 1, 0, 0, 0, 0}[i]; b != want {
			t.Errorf("element %d is the byte %d, want %d", i, b, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestReadIntoAllocates reads again and again and wants no memory for the elements. A
// backend may need some words for the wait.
func TestReadIntoAllocates(t *testing.T) {
	testkit.NoRace(t, "allocates")
	dev := open(t)
	const elements, reads = 1 << 16, 200
	x := must(lathe.FromSlice(t.Context(), dev, make([]float32, elements), 256, 256))(t)
	part := must(x.Narrow(0, 3, 2))(t)
	dst := make([]float32, elements)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range reads {
		if err := errors.Join(lathe.ReadInto(t.Context(), x, dst), lathe.ReadInto(t.Context(), part, dst[:512])); err != nil {
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
	x := must(lathe.FromRows(ctx, dev, rows))(t)
	rows[0][0] = 100 // the tensor has its own elements
	if got := must(lathe.ToRows[int32](ctx, x))(t); !cmp.Equal(got, [][]int32{{1, 2, 3}, {4, 5, 6}}) {
		t.Errorf("rows came back as %v", got)
	}
	turned := must(lathe.ToRows[int32](ctx, must(x.Transpose())(t)))(t)
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
		x := must(lathe.FromRows(ctx, dev, c.rows))(t)
		if x.String() != c.want {
			t.Errorf("%v became %v, want %s", c.rows, x, c.want)
		}
		if got := must(lathe.ToRows[bool](ctx, x))(t); len(got) != len(c.rows) || len(got) > 0 && !cmp.Equal(got, c.rows) {
			t.Errorf("%v came back as %v", c.rows, got)
		}
	}
	for want, rows := range map[string][][]float64{
		"row 2 (got 1, want 2": {{1, 2}, {3, 4}, {5}},
		"row 1 (got 3, want 0": {nil, {1, 2, 3}},
	} {
		if _, err := lathe.FromRows(ctx, dev, rows); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want ErrInvalidArgument that says %s", rows, err, want)
		}
	}
}

// TestTensorDevice asks tensors and views for their device.
func TestTensorDevice(t *testing.T) {
	a, b := open(t), open(t)
	x := must(lathe.FromSlice(t.Context(), a, []float32{1, 2, 3, 4}, 2, 2))(t)
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
	if got := must(lathe.ToSlice[float32](t.Context(), x))(t); !slices.Equal(got, []float32{1, 2, 3, 4}) {
		t.Errorf("read by its own device: %v", got)
	}
}
