package lathe_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestScalar computes with numbers as operands, and with tensors of one element.
func TestScalar(t *testing.T) {
	dev := open(t)
	ctx := t.Context()
	x := must(lathe.FromSlice(ctx, dev, []float32{1, 2, 4, 9, 16, 25}, 2, 3))(t)
	n := must(lathe.FromSlice(ctx, dev, []int32{-7, 0, 7}))(t)
	turned := must(x.Transpose())(t)
	for name, c := range map[string]struct {
		got  *lathe.Tensor
		want []float64
	}{
		"x·2":             {must(dev.Mul(x, lathe.Scalar(2)))(t), []float64{2, 4, 8, 18, 32, 50}},
		"1−x":             {must(dev.Sub(lathe.Scalar(1), x))(t), []float64{0, -1, -3, -8, -15, -24}},
		"x/0":             {must(dev.Div(x, lathe.Scalar(0)))(t), slices.Repeat([]float64{math.Inf(1)}, 6)},
		"√x":              {must(dev.Pow(x, lathe.Scalar(0.5)))(t), []float64{1, math.Sqrt2, 2, 3, 4, 5}},
		"max(x, 4)":       {must(dev.Maximum(x, lathe.Scalar(float32(4))))(t), []float64{4, 4, 4, 9, 16, 25}},
		"min(3, x)":       {must(dev.Minimum(lathe.Scalar(uint8(3)), x))(t), []float64{1, 2, 3, 3, 3, 3}},
		"xᵀ+0.5":          {must(dev.Add(turned, lathe.Scalar(0.5)))(t), []float64{1.5, 9.5, 2.5, 16.5, 4.5, 25.5}},
		"x+−Inf":          {must(dev.Add(x, lathe.Scalar(math.Inf(-1))))(t), slices.Repeat([]float64{math.Inf(-1)}, 6)},
		"n+3":             {must(dev.Add(n, lathe.Scalar(3.0)))(t), []float64{-4, 3, 10}},
		"n−2147483647":    {must(dev.Sub(lathe.Scalar(math.MaxInt32), n))(t), []float64{math.MinInt32 + 6, math.MaxInt32, math.MaxInt32 - 7}},
		"of no elements":  {must(dev.Add(must(x.Narrow(0, 1, 0))(t), lathe.Scalar(1)))(t), nil},
		"a scalar tensor": {must(dev.Add(must(must(x.Narrow(1, 2, 1))(t).Narrow(0, 0, 1))(t), lathe.Scalar(1)))(t), []float64{5}},
		"by Call":         {must(dev.Call(ctx, ops.Add{}, x, lathe.Scalar(1)))(t)[0], []float64{2, 3, 5, 10, 17, 26}},
		"three operands":  {must(dev.Concat(0, n, n))(t), []float64{-7, 0, 7, -7, 0, 7}},
	} {
		got := must(lathe.ToFloats[float64](ctx, c.got))(t)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-5 }) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	if err := dev.Run(ctx, ops.Mul{}, []*lathe.Tensor{x, lathe.Scalar(0.5)}, []*lathe.Tensor{x}); err != nil {
		t.Fatal(err)
	}
	if got := must(lathe.ToSlice[float32](ctx, x))(t); !slices.Equal(got, []float32{0.5, 1, 2, 4.5, 8, 12.5}) {
		t.Errorf("in place: %v", got)
	}
	for _, dtype := range []tensor.DType{tensor.F16, tensor.BF16} {
		h := must(lathe.FromFloats(ctx, dev, dtype, []float32{1, 2}))(t)
		if got := must(lathe.ToFloats[float32](ctx, must(dev.Mul(h, lathe.Scalar(1.5)))(t)))(t); !slices.Equal(got, []float32{1.5, 3}) {
			t.Errorf("%v: %v", dtype, got)
		}
	}
}

// writes is a device that notes what is written.
type writes struct {
	*null.Device
	mu   sync.Mutex
	data [][]byte
}

func (w *writes) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) error {
	w.mu.Lock()
	w.data = append(w.data, bytes.Clone(data))
	w.mu.Unlock()
	return w.Device.Write(ctx, h, offset, data)
}

// TestScalarElements asks for the elements that numbers become in each dtype. A number that the
// dtype does not have is an error that says which it has.
func TestScalarElements(t *testing.T) {
	le := binary.LittleEndian
	u16 := func(v uint16) []byte { return le.AppendUint16(nil, v) }
	u32 := func(v uint32) []byte { return le.AppendUint32(nil, v) }
	u64 := func(v uint64) []byte { return le.AppendUint64(nil, v) }
	f32 := func(v float32) []byte { return u32(math.Float32bits(v)) }
	for _, c := range []struct {
		dtype tensor.DType
		v     *lathe.Tensor
		want  []byte // nil for an error
	}{
		{tensor.F32, lathe.Scalar(2), f32(2)}, {tensor.F32, lathe.Scalar(0.1), f32(0.1)}, {tensor.F32, lathe.Scalar(1 << 24), f32(1 << 24)},
		{tensor.F32, lathe.Scalar(1<<24 + 1), f32(1 << 24)}, // rounded, ties to even
		{tensor.F32, lathe.Scalar(1e39), nil}, {tensor.F32, lathe.Scalar(-1e39), nil}, {tensor.F32, lathe.Scalar(math.Inf(-1)), f32(float32(math.Inf(-1)))},
		{tensor.F32, lathe.Scalar(1e-60), f32(0)}, {tensor.F32, lathe.Scalar(math.Copysign(0, -1)), u32(1 << 31)},
		{tensor.F64, lathe.Scalar(0.1), u64(math.Float64bits(0.1))}, {tensor.F64, lathe.Scalar(1e39), u64(math.Float64bits(1e39))},
		{tensor.F16, lathe.Scalar(1.5), u16(0x3e00)}, {tensor.F16, lathe.Scalar(65504), u16(0x7bff)}, {tensor.F16, lathe.Scalar(70000), nil},
		{tensor.BF16, lathe.Scalar(1.5), u16(0x3fc0)}, {tensor.BF16, lathe.Scalar(1e39), nil},
		{tensor.I8, lathe.Scalar(-128), []byte{0x80}}, {tensor.I8, lathe.Scalar(128), nil}, {tensor.I8, lathe.Scalar(-129.0), nil},
		{tensor.U8, lathe.Scalar(255), []byte{255}}, {tensor.U8, lathe.Scalar(300), nil}, {tensor.U8, lathe.Scalar(-1), nil}, {tensor.U8, lathe.Scalar(0.5), nil},
		{tensor.U8, lathe.Scalar(7.0), []byte{7}}, {tensor.U8, lathe.Scalar(math.NaN()), nil},
		{tensor.I32, lathe.Scalar(math.MinInt32), u32(1 << 31)}, {tensor.I32, lathe.Scalar(int64(1 << 31)), nil}, {tensor.I32, lathe.Scalar(math.Inf(1)), nil},
		{tensor.U32, lathe.Scalar(uint32(math.MaxUint32)), u32(math.MaxUint32)}, {tensor.U32, lathe.Scalar(int64(1 << 32)), nil}, {tensor.U32, lathe.Scalar(int8(-1)), nil},
		{tensor.I64, lathe.Scalar(int64(math.MaxInt64)), u64(math.MaxInt64)}, {tensor.I64, lathe.Scalar(int64(1<<53 + 1)), u64(1<<53 + 1)},
		{tensor.I64, lathe.Scalar(float64(1 << 63)), nil}, {tensor.I64, lathe.Scalar(-float64(1 << 63)), u64(1 << 63)},
		{tensor.I64, lathe.Scalar(uint64(1 << 63)), nil}, {tensor.U64, lathe.Scalar(uint64(math.MaxUint64)), u64(math.MaxUint64)}, {tensor.U64, lathe.Scalar(-1), nil},
		{tensor.U64, lathe.Scalar(float64(1 << 63)), u64(1 << 63)}, {tensor.U64, lathe.Scalar(0x1p64), nil}, {tensor.U64, lathe.Scalar(-1.0), nil},
		{tensor.I16, lathe.Scalar(int16(-32768)), u16(0x8000)}, {tensor.I16, lathe.Scalar(32768), nil}, {tensor.U16, lathe.Scalar(uint16(65535)), u16(65535)}, {tensor.U16, lathe.Scalar(-1), nil},
		{tensor.Bool, lathe.Scalar(1), []byte{1}}, {tensor.Bool, lathe.Scalar(0.0), []byte{0}}, {tensor.Bool, lathe.Scalar(2), nil},
	} {
		w := &writes{Device: null.NewRecorder(nil)}
		dev := must(lathe.Open(t.Context(), lathe.WithGPU(w), lathe.WithoutCache(), quiet))(t)
		x := must(dev.NewTensor(tensor.Contiguous(c.dtype, 3)))(t)
		_, err := dev.Add(x, c.v) // which not every dtype has
		switch {
		case c.want == nil && (!errors.Is(err, lathe.ErrInvalidArgument) || !strings.HasPrefix(err.Error(), "lathe: add: ") || !strings.Contains(err.Error(), "want a")):
			t.Errorf("%v as %v: got %v, want ErrInvalidArgument that says what there is", c.v, c.dtype, err)
		case c.want != nil && (errors.Is(err, lathe.ErrInvalidArgument) || len(w.data) != 1 || !bytes.Equal(w.data[0], c.want)):
			t.Errorf("%v as %v: wrote %x (%v), want %x", c.v, c.dtype, w.data, err, c.want)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
	w := &writes{Device: null.NewRecorder(nil)}
	dev := must(lathe.Open(t.Context(), lathe.WithGPU(w), lathe.WithoutCache(), quiet))(t)
	defer dev.Close()
	x := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 3)))(t)
	if _, err := dev.Add(x, lathe.Scalar(math.NaN())); err != nil || len(w.data) != 1 || !math.IsNaN(float64(math.Float32frombits(le.Uint32(w.data[0])))) {
		t.Errorf("NaN as f32: wrote %x (%v)", w.data, err)
	}
	for range 5 { // the number is written once
		must(dev.Mul(x, lathe.Scalar(3)))(t)
		must(dev.Mul(x, lathe.Scalar(3.0)))(t)
	}
	if len(w.data) != 2 {
		t.Errorf("%d numbers were written, want 2", len(w.data))
	}
}

// TestScalarRefuses takes Scalars where there is no dtype, and where memory is wanted.
func TestScalarRefuses(t *testing.T) {
	dev, closed := open(t), open(t)
	ctx := t.Context()
	two := lathe.Scalar(2)
	x := must(lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4}, 2, 2))(t)
	old := must(lathe.FromSlice(ctx, closed, []float32{1}))(t)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	for name, c := range map[string]struct{ err, want error }{
		"Scalars only":   {second(dev.Add(two, two)), lathe.ErrInvalidArgument},
		"one Scalar":     {second(dev.Neg(two)), lathe.ErrInvalidArgument},
		"a matrix":       {second(dev.MatMul(x, two)), lathe.ErrInvalidArgument},
		"an output":      {dev.Run(ctx, ops.Neg{}, []*lathe.Tensor{x}, []*lathe.Tensor{two}), lathe.ErrInvalidHandle},
		"in place":       {dev.Run(ctx, ops.Add{}, []*lathe.Tensor{two, x}, []*lathe.Tensor{two}), lathe.ErrInvalidHandle},
		"read":           {second(lathe.ToSlice[float32](ctx, two)), lathe.ErrInvalidHandle},
		"read as bytes":  {second(dev.Read(ctx, two)), lathe.ErrInvalidHandle},
		"write":          {dev.Write(ctx, two, make([]byte, 4)), lathe.ErrInvalidHandle},
		"free":           {dev.Free(two), lathe.ErrInvalidHandle},
		"view":           {second(two.Reshape(1)), lathe.ErrInvalidHandle},
		"image":          {second(lathe.ToImage(ctx, two, lathe.ImageLayout{})), lathe.ErrInvalidHandle},
		"no tensor":      {second(dev.Add(nil, two)), lathe.ErrInvalidArgument},
		"a zero tensor":  {second(dev.Add(two, &lathe.Tensor{})), lathe.ErrInvalidArgument},
		"a closed one":   {second(closed.Add(old, two)), lathe.ErrClosed},
		"another device": {second(dev.Add(old, two)), lathe.ErrInvalidHandle},
		"cancelled":      {second(dev.Call(stopped, ops.Add{}, x, lathe.Scalar(0.125))), context.Canceled},
		"no call":        {second(dev.Call(ctx, nil, x, two)), lathe.ErrInvalidArgument},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.err, c.want)
		}
	}
	if two.String() != "scalar 2" || lathe.Scalar(0.5).String() != "scalar 0.5" || two.Device() != nil || len(two.Shape()) != 0 {
		t.Errorf("a Scalar is %v, of %v", two, two.Device())
	}
}

// TestScalarMany uses more numbers than a device keeps, on many goroutines.
func TestScalarMany(t *testing.T) {
	dev := must(lathe.Open(t.Context(), lathe.WithGPU(null.NewRecorder(nil)), lathe.WithoutCache(), quiet))(t)
	defer dev.Close()
	x := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 3)))(t)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 600 {
				y, err := dev.Mul(x, lathe.Scalar(i*(g%4)))
				if err == nil {
					err = dev.Free(y)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestScalarOfWhere: the condition does not say the dtype of the numbers to choose from.
func TestScalarOfWhere(t *testing.T) {
	dev, ctx := open(t), t.Context()
	x := must(lathe.FromSlice(ctx, dev, []float32{-2, 0.5, 3}))(t)
	mask := must(dev.Less(x, lathe.Scalar(0)))(t)
	got := must(lathe.ToSlice[float32](ctx, must(dev.Where(mask, lathe.Scalar(0.25), x))(t)))(t)
	if want := []float32{0.25, 0.5, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	got = must(lathe.ToSlice[float32](ctx, must(dev.Where(mask, x, lathe.Scalar(-1)))(t)))(t)
	if want := []float32{-2, -1, -1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := dev.Where(mask, lathe.Scalar(0), lathe.Scalar(1)); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("no tensor says the dtype: %v", err)
	}
}
