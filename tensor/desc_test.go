package tensor

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe/internal/errs"
)

func TestDTypes(t *testing.T) {
	want := map[string]struct {
		code DType
		size int
	}{
		"f32": {1, 4}, "f64": {2, 8}, "i32": {3, 4}, "i64": {4, 8}, "bool": {5, 1},
		"f16": {6, 2}, "bf16": {7, 2}, "u8": {8, 1}, "u32": {9, 4}, "i8": {10, 1},
		"i16": {11, 2}, "u16": {12, 2}, "u64": {13, 8},
	}
	if len(DTypes()) != len(want) {
		t.Errorf("%d element types, want %d", len(DTypes()), len(want))
	}
	for _, d := range DTypes() {
		w := want[d.String()]
		if d != w.code || d.Size() != w.size || !d.Valid() {
			t.Errorf("%v: code %d size %d valid %v, want %d %d true", d, d, d.Size(), d.Valid(), w.code, w.size)
		}
		if p, ok := ParseDType(d.String()); !ok || p != d {
			t.Errorf("ParseDType(%q): got %v, %v", d.String(), p, ok)
		}
	}
	for _, d := range []DType{Invalid, 14, 255} {
		if d.Valid() || d.Size() != 0 {
			t.Errorf("%v: valid %v size %d, want false 0", d, d.Valid(), d.Size())
		}
	}
	if d, ok := ParseDType("int"); !ok || d != I32 {
		t.Errorf("int: got %v, %v", d, ok)
	}
	for _, name := range []string{"", "F32", "float", "dtype(0)", "f8"} {
		if d, ok := ParseDType(name); ok {
			t.Errorf("%q: got %v, want none", name, d)
		}
	}
	if s := DType(77).String(); s != "dtype(77)" {
		t.Errorf("got %q", s)
	}
}

func TestDesc(t *testing.T) {
	for _, c := range []struct {
		d          Desc
		elems      int
		bytes      int64
		contiguous bool
		text       string
	}{
		{Contiguous(F32), 1, 4, true, "f32[]"},
		{Contiguous(F32, 2, 3), 6, 24, true, "f32[2,3]"},
		{Contiguous(U8, 0, 7), 0, 0, true, "u8[0,7]"},
		{Desc{F16, []int{2, 3}, []int{3, 1}}, 6, 12, true, "f16[2,3]"},
		{Desc{F32, []int{2, 3}, []int{1, 2}}, 6, 24, false, "f32[2,3] strides [1 2]"},
		{Desc{F32, []int{2, 3}, []int{10, 1}}, 6, 52, false, "f32[2,3] strides [10 1]"},
		{Desc{I64, []int{4}, []int{0}}, 4, 8, false, "i64[4] strides [0]"},
		{Desc{I64, []int{0, 4}, []int{9, 9}}, 0, 0, true, "i64[0,4]"},
		{Contiguous(Bool, 1, 1, 1, 1, 1, 1, 1, 2), 2, 2, true, "bool[1,1,1,1,1,1,1,2]"},
	} {
		if err := c.d.Check(); err != nil {
			t.Errorf("%v: %v", c.d, err)
		}
		if n := c.d.Elems(); n != c.elems {
			t.Errorf("%v: %d elements, want %d", c.d, n, c.elems)
		}
		if n := c.d.Bytes(); n != c.bytes {
			t.Errorf("%v: %d bytes, want %d", c.d, n, c.bytes)
		}
		if ok := c.d.IsContiguous(); ok != c.contiguous {
			t.Errorf("%v: contiguous %v, want %v", c.d, ok, c.contiguous)
		}
		if s := c.d.String(); s != c.text {
			t.Errorf("got %q, want %q", s, c.text)
		}
	}
	if got := Contiguous(F32, 2, 3, 4).ElementStrides(); !slices.Equal(got, []int{12, 4, 1}) {
		t.Errorf("steps %v", got)
	}
}

func TestDescCheckRefuses(t *testing.T) {
	large := []Desc{Contiguous(U8, 1<<16, 1<<16), Contiguous(U8, 3, 1<<30), Contiguous(U8, math.MaxInt, 2)} // more elements than an int of 32 bits
	if strconv.IntSize == 64 {                                                                              // more bytes than an int64
		large = []Desc{Contiguous(F32, math.MaxInt), {U8, []int{4}, []int{math.MaxInt / 2}}}
	}
	for _, d := range append(large, []Desc{
		{},
		{DType: 99, Shape: []int{1}},
		Contiguous(F32, -1),
		Contiguous(F32, 0, -1),
		{F32, []int{2, 3}, []int{3}},
		{F32, []int{2}, []int{1, 1}},
		{F32, []int{2}, []int{-1}},
		{F32, nil, []int{1}},
		Contiguous(U8, min(1<<32, math.MaxInt), min(1<<32, math.MaxInt)),
		Contiguous(F64, 1<<30, 1<<30, 2),
	}...) {
		if err := d.Check(); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%v: got %v, want ErrInvalidArgument", d, err)
		}
	}
	if err := Contiguous(F32, 0, math.MaxInt, math.MaxInt).Check(); err != nil {
		t.Errorf("an empty tensor of large other dimensions: %v", err)
	}
}

// TestDescSizesAgainstBig checks that a Desc which passes Check has the size that exact
// arithmetic gives.
func TestDescSizesAgainstBig(t *testing.T) {
	dim := rapid.OneOf(rapid.IntRange(0, 5), rapid.IntRange(0, 1<<20), rapid.IntRange(0, math.MaxInt))
	rapid.Check(t, func(t *rapid.T) {
		d := Desc{DType: rapid.SampledFrom(DTypes()).Draw(t, "dtype"), Shape: rapid.SliceOfN(dim, 0, 12).Draw(t, "shape")}
		if rapid.Bool().Draw(t, "strided") {
			d.Strides = rapid.SliceOfN(dim, len(d.Shape), len(d.Shape)).Draw(t, "strides")
		}
		if d.Check() != nil {
			t.Skip("another case: Check refuses this one, as it should, so there is nothing to measure")
		}
		elems, last, row := big.NewInt(1), big.NewInt(0), big.NewInt(1)
		for i := len(d.Shape) - 1; i >= 0; i-- {
			step := row
			if d.Strides != nil {
				step = big.NewInt(int64(d.Strides[i]))
			}
			n := big.NewInt(int64(d.Shape[i]))
			last.Add(last, new(big.Int).Mul(step, big.NewInt(int64(d.Shape[i]-1))))
			row = new(big.Int).Mul(row, n)
			elems.Mul(elems, n)
		}
		bytes := new(big.Int)
		if elems.Sign() > 0 {
			bytes.Mul(last.Add(last, big.NewInt(1)), big.NewInt(int64(d.DType.Size())))
		}
		if elems.Cmp(big.NewInt(int64(d.Elems()))) != 0 || bytes.Cmp(big.NewInt(d.Bytes())) != 0 {
			t.Fatalf("%v: %d elements %d bytes, want %v %v", d, d.Elems(), d.Bytes(), elems, bytes)
		}
	})
}

// TestDescManyStrides checks that large strides may overflow 64 bits together, although
// none does alone.
func TestDescManyStrides(t *testing.T) {
	d := Desc{DType: F64, Shape: slices.Repeat([]int{2}, 40), Strides: slices.Repeat([]int{math.MaxInt / 128}, 40)}
	if err := d.Check(); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("got %v and %d bytes, want ErrInvalidArgument", err, d.Bytes())
	}
}
