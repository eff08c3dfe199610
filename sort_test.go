package lathe_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestSortOfTruth sorts bytes of truth values that are neither 0 nor 1, and are true. They keep their
// order, whichever way they are sorted: by their ranks, or by parts of a key.
func TestSortOfTruth(t *testing.T) {
	dev := open(t)
	for _, n := range []int{4, 5000} {
		data := make([]byte, n)
		for i, v := range []byte{2, 0, 1, 255} {
			data[n-4+i] = v
		}
		x, err := dev.NewTensor(tensor.Contiguous(tensor.Bool, n))
		if err != nil {
			t.Fatal(err)
		}
		if err := dev.Write(t.Context(), x, data); err != nil {
			t.Fatal(err)
		}
		out, err := dev.Call(t.Context(), ops.Sort{Axis: -1}, x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := dev.Read(t.Context(), out[0])
		if err != nil {
			t.Fatal(err)
		}
		if want := append(make([]byte, n-3), 2, 1, 255); !slices.Equal(got, want) {
			t.Errorf("%d bytes end with %v (want %v)", n, got[n-4:], want[n-4:])
		}
	}
}

// TestArgOfIntegers finds the largest and the least of integers that F64 does not tell apart.
func TestArgOfIntegers(t *testing.T) {
	dev := open(t)
	for _, c := range []struct {
		dtype  tensor.DType
		shape  []int // of one dimension if empty
		values []int64
		calls  []spec.Call
		want   []uint32 // the first elements of the results
	}{
		{
			tensor.I64, nil, []int64{1<<60 + 1, 1<<60 + 2, 1<<60 + 2, 1 << 31, -1, math.MinInt64, math.MinInt64},
			[]spec.Call{ops.ArgMax{}, ops.ArgMax{SelectLastIndex: true}, ops.ArgMin{}, ops.ArgMin{SelectLastIndex: true}}, []uint32{1, 2, 5, 6},
		},
		{
			tensor.I32, nil, []int64{math.MinInt32, 5, math.MaxInt32 - 1, math.MaxInt32, math.MinInt32, math.MaxInt32},
			[]spec.Call{ops.ArgMax{}, ops.ArgMax{SelectLastIndex: true}, ops.ArgMin{}, ops.ArgMin{SelectLastIndex: true}}, []uint32{3, 5, 0, 4},
		},
		{
			tensor.I64, nil, []int64{math.MinInt64, math.MinInt64}, // as an accumulator begins
			[]spec.Call{ops.ArgMax{}, ops.ArgMax{SelectLastIndex: true}}, []uint32{0, 1},
		},
		{ // columns, of which there are an odd number
			tensor.I64, []int{3, 3}, []int64{1 << 53, 7, 7, 1<<53 + 1, 7, 7, 1<<53 + 1, 7, 7},
			[]spec.Call{ops.ArgMax{Dim: 0}, ops.ArgMax{Dim: 0, SelectLastIndex: true}, ops.ArgMin{Dim: 0}}, []uint32{1, 2, 0},
		},
	} {
		var data []byte
		for _, v := range c.values {
			if c.dtype == tensor.I64 {
				data = binary.LittleEndian.AppendUint64(data, uint64(v))
			} else {
				data = binary.LittleEndian.AppendUint32(data, uint32(v))
			}
		}
		shape := c.shape
		if len(shape) == 0 {
			shape = []int{len(c.values)}
		}
		x, err := dev.NewTensor(tensor.Contiguous(c.dtype, shape...))
		if err != nil {
			t.Fatal(err)
		}
		if err := dev.Write(t.Context(), x, data); err != nil {
			t.Fatal(err)
		}
		for i, call := range c.calls {
			out, err := dev.Call(t.Context(), call, x)
			if err != nil {
				t.Fatal(err)
			}
			got, err := dev.Read(t.Context(), out[0])
			if err != nil {
				t.Fatal(err)
			}
			if at := binary.LittleEndian.Uint32(got); at != c.want[i] {
				t.Errorf("%s of %v %v: index %d (want %d)", spec.FormatCall(call), c.dtype, c.values, at, c.want[i])
			}
		}
	}
}
