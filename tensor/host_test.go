package tensor

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// TestHostSetRounds checks that every element type stores a number, or the nearest one
// that it can store.
func TestHostSetRounds(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		d       DType
		v, want float64
	}{
		{F32, 0.1, float64(float32(0.1))}, {F32, inf, inf}, {F64, 0.1, 0.1},
		{F16, 0.1, 0.0999755859375}, {F16, 1e6, inf}, {BF16, 0.1, 0.10009765625},
		{I32, 2.5, 2}, {I32, -3.5, -4}, {I32, 1e10, math.MaxInt32}, {I32, -1e10, math.MinInt32}, {I32, math.NaN(), 0},
		{I64, 1e18, 1e18}, {I64, 1e19, math.MaxInt64}, {I64, -1e19, math.MinInt64}, {I64, inf, math.MaxInt64}, {I64, -5, -5},
		{U32, -1, 0}, {U32, 1e10, math.MaxUint32}, {U32, 4e9, 4e9},
		{U8, 255.4, 255}, {U8, 256, 255}, {U8, -3, 0}, {U8, 7, 7},
		{I8, 127.9, 127}, {I8, -200, -128}, {I8, -7, -7},
		{I16, 32767.9, 32767}, {I16, -1e5, -32768}, {I16, -7, -7}, {I16, math.NaN(), 0},
		{U16, 65535.4, 65535}, {U16, 1e5, 65535}, {U16, -3, 0}, {U16, 40000, 40000},
		{U64, -1, 0}, {U64, 1e19, 1e19}, {U64, 1e20, math.MaxUint64}, {U64, inf, math.MaxUint64}, {U64, 0x1p63, 0x1p63}, {U64, 2.5, 2},
		{Bool, 0, 0}, {Bool, 0.1, 1}, {Bool, -5, 1},
	} {
		h := NewHost(Contiguous(c.d, 3))
		h.Set(c.v, 1)
		if got := h.At(1); got != c.want {
			t.Errorf("%v of %v: got %v, want %v", c.d, c.v, got, c.want)
		}
		if h.At(0) != 0 || h.At(2) != 0 {
			t.Errorf("%v: neighbours became %v and %v", c.d, h.At(0), h.At(2))
		}
	}
	for _, d := range []DType{F32, F64, F16, BF16} {
		h := NewHost(Contiguous(d))
		if h.Set(math.NaN()); !math.IsNaN(h.At()) {
			t.Errorf("%v: NaN became %v", d, h.At())
		}
	}
}

// TestHostBytes checks that elements are stored in little-endian order.
func TestHostBytes(t *testing.T) {
	for _, c := range []struct {
		d    DType
		want []byte
	}{
		{F32, []byte{0, 0, 0x80, 0x3F}}, {F64, []byte{0, 0, 0, 0, 0, 0, 0xF0, 0x3F}}, {F16, []byte{0, 0x3C}}, {BF16, []byte{0x80, 0x3F}},
		{I32, []byte{1, 0, 0, 0}}, {I64, []byte{1, 0, 0, 0, 0, 0, 0, 0}}, {U32, []byte{1, 0, 0, 0}}, {U8, []byte{1}}, {I8, []byte{1}}, {Bool, []byte{1}},
		{I16, []byte{1, 0}}, {U16, []byte{1, 0}}, {U64, []byte{1, 0, 0, 0, 0, 0, 0, 0}},
	} {
		h, err := FromFloats(c.d, nil, []float64{1})
		if err != nil || !slices.Equal(h.Data, c.want) {
			t.Errorf("%v: got % x, %v; want % x", c.d, h.Data, err, c.want)
		}
	}
}

func TestHostStrides(t *testing.T) {
	h := NewHost(Desc{DType: I32, Shape: []int{2, 3}, Strides: []int{1, 4}}) // columns, with a gap
	if len(h.Data) != 4*10 {
		t.Errorf("%d bytes, want 40", len(h.Data))
	}
	h.SetFloats([]float64{1, 2, 3, 4, 5, 6})
	if got := h.Floats(); !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("row-major order: %v", got)
	}
	if h.At(1, 2) != 6 || h.At(0, 1) != 2 {
		t.Errorf("at (1,2) %v, at (0,1) %v; want 6, 2", h.At(1, 2), h.At(0, 1))
	}
	var offsets []int
	h.Each(func(index []int, off int) {
		if want := index[0] + 4*index[1]; off != want {
			t.Errorf("offset of %v: got %d, want %d", index, off, want)
		}
		offsets = append(offsets, off)
	})
	if !slices.Equal(offsets, []int{0, 4, 8, 1, 5, 9}) {
		t.Errorf("offsets %v", offsets)
	}
	calls := 0
	NewHost(Contiguous(F32, 3, 0)).Each(func([]int, int) { calls++ })
	NewHost(Contiguous(F32)).Each(func(index []int, off int) { calls += 10 + len(index) + off })
	if calls != 10 {
		t.Errorf("an empty tensor and a scalar: got %d, want 10", calls)
	}
}

func TestFromFloats(t *testing.T) {
	h, err := FromFloats(F32, []int{2, 2}, []float64{1, 2, 3, 4})
	if err != nil || h.At(1, 0) != 3 {
		t.Errorf("got %v, %v", h, err)
	}
	for _, c := range []struct {
		d     DType
		shape []int
		n     int
	}{{F32, []int{2, 2}, 3}, {F32, []int{0}, 1}, {F32, []int{-1}, 1}, {F32, []int{-2, -2}, 4}, {Invalid, []int{1}, 1}, {F64, []int{math.MaxInt, 2}, 1}} {
		if _, err := FromFloats(c.d, c.shape, make([]float64, c.n)); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%v %v of %d values: got %v, want ErrInvalidArgument", c.d, c.shape, c.n, err)
		}
	}
}
