package lathe_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

func roundTrip[T lathe.Element](t *testing.T, dev *lathe.Device, dtype tensor.DType, data ...T) {
	t.Helper()
	x := must(lathe.FromSlice(t.Context(), dev, data))(t)
	if want := tensor.Contiguous(dtype, len(data)).String(); x.String() != want {
		t.Errorf("a slice of %T became %v, want %s", data, x, want)
	}
	if got := must(lathe.ToSlice[T](t.Context(), x))(t); !slices.Equal(got, data) {
		t.Errorf("%v came back as %v", data, got)
	}
}

// must fails the test if err is not nil.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestSlices(t *testing.T) {
	dev := open(t)
	roundTrip(t, dev, tensor.F32, 1, -2.5, float32(math.Inf(1)))
	roundTrip(t, dev, tensor.F64, 1, -2.5, math.Pi)
	roundTrip[int32](t, dev, tensor.I32, math.MinInt32, 7, math.MaxInt32)
	roundTrip[int64](t, dev, tensor.I64, math.MinInt64, 7)
	roundTrip[uint32](t, dev, tensor.U32, 0, math.MaxUint32)
	roundTrip[uint64](t, dev, tensor.U64, 0, math.MaxUint64, 1<<53+1)
	roundTrip[int16](t, dev, tensor.I16, math.MinInt16, 7, math.MaxInt16)
	roundTrip[uint16](t, dev, tensor.U16, 0, math.MaxUint16, 5)
	roundTrip[int8](t, dev, tensor.I8, -128, 127, 3)
	roundTrip[uint8](t, dev, tensor.U8, 0, 255, 1, 2, 3)
	roundTrip(t, dev, tensor.Bool, true, false, true)
	roundTrip[float32](t, dev, tensor.F32)

	odd := must(dev.NewTensor(tensor.Contiguous(tensor.Bool, 3)))(t)
	if err := dev.Write(t.Context(), odd, []byte{0, 2, 255}); err != nil {
		t.Fatal(err)
	}
	if got := must(lathe.ToSlice[bool](t.Context(), odd))(t); got[0] != false || got[1] != true || got[2] != true {
		t.Errorf("bytes 0, 2, 255 as bools: %v", got)
	}
	if new(lathe.Tensor).Handle() != 0 {
		t.Error("a zero Tensor has a handle")
	}

	x := must(lathe.FromSlice(t.Context(), dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3))(t)
	if _, err := lathe.ToSlice[float64](t.Context(), x); !errors.Is(err, lathe.ErrType) {
		t.Errorf("f32 read as float64: got %v, want ErrType", err)
	}
	for _, shape := range [][]int{{7}, {2, 2}, {-1, -6}, {0}, {math.MaxInt, 2}} {
		if _, err := lathe.FromSlice(t.Context(), dev, make([]float32, 6), shape...); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("6 elements as %v: got %v, want ErrInvalidArgument", shape, err)
		}
	}
	for _, dtype := range []tensor.DType{tensor.F16, tensor.BF16, tensor.F32, tensor.F64, tensor.I8, tensor.I64} {
		h := must(lathe.FromFloats(t.Context(), dev, dtype, []float64{-1, 0, 2, 96}, 2, 2))(t)
		if got := must(lathe.ToFloats[float32](t.Context(), h))(t); !slices.Equal(got, []float32{-1, 0, 2, 96}) {
			t.Errorf("%v: came back as %v", h, got)
		}
	}
	if _, err := lathe.FromFloats(t.Context(), dev, tensor.Invalid, []float32{1}); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("an invalid dtype: got %v", err)
	}
}

func TestViews(t *testing.T) {
	dev := open(t)
	x := must(lathe.FromSlice(t.Context(), dev, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4))(t)
	row := must(x.Narrow(0, 1, 1))(t)
	for _, c := range []struct {
		view *lathe.Tensor
		text string
		want []float32
	}{
		{must(x.Reshape(2, -1))(t), "f32[2,6]", []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{must(x.Transpose())(t), "f32[4,3] strides [1 4]", []float32{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
		{must(must(x.Transpose(1, 0))(t).Transpose(1, 0))(t), "f32[3,4]", []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{must(x.Transpose(-1, 0))(t), "f32[4,3] strides [1 4]", []float32{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
		{must(must(x.Reshape(1, 3, 4))(t).Transpose(-3, -1, 1))(t), "f32[1,4,3] strides [4 1 4]", []float32{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
		{must(x.Narrow(-1, -3, 2))(t), "f32[3,2] strides [4 1]", []float32{1, 2, 5, 6, 9, 10}},
		{must(x.Narrow(0, -3, 1))(t), "f32[1,4]", []float32{0, 1, 2, 3}},
		{must(x.Narrow(-1, 1, 2))(t), "f32[3,2] strides [4 1]", []float32{1, 2, 5, 6, 9, 10}},
		{must(x.Narrow(0, 2, 1))(t), "f32[1,4]", []float32{8, 9, 10, 11}},
		{must(x.Narrow(0, 3, 0))(t), "f32[0,4]", []float32{}},
		{must(row.Expand(2, 3, 4))(t), "f32[2,3,4] strides [0 0 1]", slices.Repeat([]float32{4, 5, 6, 7}, 6)},
		{must(must(row.Narrow(1, 2, 1))(t).Reshape())(t), "f32[]", []float32{6}},
	} {
		if c.view.String() != c.text {
			t.Errorf("view %v, want %s", c.view, c.text)
		}
		if got := must(lathe.ToSlice[float32](t.Context(), c.view))(t); !slices.Equal(got, c.want) {
			t.Errorf("%s: elements %v, want %v", c.text, got, c.want)
		}
		copied := must(dev.Copy(c.view))(t)
		if got := must(lathe.ToSlice[float32](t.Context(), copied))(t); !slices.Equal(got, c.want) || !copied.Desc().IsContiguous() {
			t.Errorf("copy of %s: %v with elements %v, want %v", c.text, copied, got, c.want)
		}
		relu := must(dev.ReLU(c.view))(t)
		if got := must(lathe.ToSlice[float32](t.Context(), relu))(t); !slices.Equal(got, c.want) {
			t.Errorf("an operation on %s: elements %v, want %v", c.text, got, c.want)
		}
	}
	// An order without dimensions is the default and leaves the caller's slice alone.
	order := []int{1, 0}
	if must(x.Transpose(order[:0]...))(t); !slices.Equal(order, []int{1, 0}) {
		t.Errorf("Transpose wrote %v into its argument", order)
	}
	wide := must(row.Expand(3, 4))(t)
	if err := dev.Run(t.Context(), ops.ReLU{}, []*lathe.Tensor{x}, []*lathe.Tensor{wide}); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), "output out: strides") {
		t.Errorf("an expanded output: got %v, want ErrInvalidArgument that names the output and its strides", err)
	}
	turned := must(x.Transpose())(t)
	for name, try := range map[string]func() (*lathe.Tensor, error){
		"reshape to more":     func() (*lathe.Tensor, error) { return x.Reshape(13) },
		"reshape -1 twice":    func() (*lathe.Tensor, error) { return x.Reshape(-1, -1) },
		"reshape -1 by 5":     func() (*lathe.Tensor, error) { return x.Reshape(5, -1) },
		"reshape -1 by 0":     func() (*lathe.Tensor, error) { return x.Reshape(0, -1) },
		"reshape a transpose": func() (*lathe.Tensor, error) { return turned.Reshape(12) },
		"transpose twice 0":   func() (*lathe.Tensor, error) { return x.Transpose(0, 0) },
		"transpose of one":    func() (*lathe.Tensor, error) { return x.Transpose(0) },
		"transpose far":       func() (*lathe.Tensor, error) { return x.Transpose(0, 2) },
		"transpose -3":        func() (*lathe.Tensor, error) { return x.Transpose(-3, 0) },
		"transpose 1 and -1":  func() (*lathe.Tensor, error) { return x.Transpose(1, -1) },
		"narrow from before":  func() (*lathe.Tensor, error) { return x.Narrow(0, -4, 1) },
		"narrow from far":     func() (*lathe.Tensor, error) { return x.Narrow(0, math.MinInt, 1) },
		"narrow dimension":    func() (*lathe.Tensor, error) { return x.Narrow(2, 0, 1) },
		"narrow too far":      func() (*lathe.Tensor, error) { return x.Narrow(0, 2, 2) },
		"narrow overflow":     func() (*lathe.Tensor, error) { return x.Narrow(0, math.MaxInt, math.MaxInt) },
		"narrow negative":     func() (*lathe.Tensor, error) { return x.Narrow(0, -1, 2) },
		"expand 4 to 5":       func() (*lathe.Tensor, error) { return x.Expand(3, 5) },
		"expand to fewer":     func() (*lathe.Tensor, error) { return x.Expand(4) },
		"expand to negative":  func() (*lathe.Tensor, error) { return x.Expand(-1, 3, 4) },
	} {
		if v, err := try(); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("%s: got %v, %v, want ErrInvalidArgument", name, v, err)
		}
	}
}

func TestCallRefuses(t *testing.T) {
	dev, other := open(t), open(t)
	x := must(lathe.FromSlice(t.Context(), dev, []float32{1, -2}))(t)
	if _, err := dev.Call(t.Context(), nil, x); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("no call: got %v", err)
	}
	if _, err := dev.Call(t.Context(), ops.ReLU{}, x, x); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("an input too many: got %v", err)
	}
	if _, err := dev.ReLU(nil); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("nil: got %v", err)
	}
	if _, err := other.ReLU(x); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("another device: got %v", err)
	}
	v := must(x.Reshape(2, 1))(t)
	if err := dev.Free(x); err != nil {
		t.Fatal(err)
	}
	if _, err := dev.ReLU(v); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("a view of what was freed: got %v", err)
	}
	if err := dev.Free(v); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("freeing a view of what was freed: got %v", err)
	}
}

// TestTensorsAreCollected allocates far more than the device has.
func TestTensorsAreCollected(t *testing.T) {
	info := null.DefaultInfo()
	info.Memory = 8 << 20
	low := null.New(&info)
	dev := must(lathe.Open(t.Context(), lathe.WithGPU(low)))(t)
	defer dev.Close()
	kept := must(lathe.FromSlice(t.Context(), dev, []uint8{7, 8}))(t)
	view := must(kept.Narrow(0, 1, 1))(t)
	kept = nil
	for range 4 {
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for range 100 {
					x, err := dev.NewTensor(tensor.Contiguous(tensor.U8, 1<<20))
					for start := time.Now(); errors.Is(err, lathe.ErrOutOfMemory) && time.Since(start) < 20*time.Second; {
						// The others may hold all there is at this moment.
						time.Sleep(time.Millisecond)
						x, err = dev.NewTensor(tensor.Contiguous(tensor.U8, 1<<20))
					}
					if err != nil {
						t.Error(err)
						return
					}
					if err := dev.Write(context.Background(), x, make([]byte, 1<<20)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		workers.Wait()
	}
	if got := must(lathe.ToSlice[uint8](t.Context(), view))(t); got[0] != 8 {
		t.Errorf("a view of a tensor out of reach: element %d, want 8", got[0])
	}
	runtime.KeepAlive(view)
	view = nil
	for start := time.Now(); low.Allocated() > 0; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Since(start) > 10*time.Second {
			t.Fatalf("%d bytes are still held when no tensor is", low.Allocated())
		}
	}
}

// TestMemoryStaysBounded makes garbage on a device that never says it is full.
func TestMemoryStaysBounded(t *testing.T) {
	big := null.New(nil)
	dev := must(lathe.Open(t.Context(), lathe.WithGPU(big)))(t)
	defer dev.Close()
	held := must(dev.NewTensor(tensor.Contiguous(tensor.U8, 64<<20)))(t)
	most := int64(0)
	for range 2000 {
		must(dev.NewTensor(tensor.Contiguous(tensor.U8, 4<<20)))(t)
		most = max(most, big.Allocated())
	}
	if most > 512<<20 {
		t.Errorf("%d MiB were held at a time, of which 64 in use", most>>20)
	}
	if err := dev.Free(held); err != nil {
		t.Error(err)
	}
}
