package lathe_test

import (
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/ops"
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
