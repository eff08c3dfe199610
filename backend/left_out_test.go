package backend_test

import (
	"bytes"
	"testing"

	"github.com/lathe-gpu/lathe/backend"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestLeftOutInputs leaves out inputs of a recurrent layer before others: nil of a method, and the handle 0
// of Call. Both are as a call with zeros for them.
func TestLeftOutInputs(t *testing.T) {
	b := open(t)
	var in []handle
	for _, shape := range [][]int{{5, 2, 3}, {1, 12, 3}, {1, 12, 4}, {1, 2, 4}} {
		in = append(in, put(t, b, ramp(tensor.F32, -1, 1, shape...)))
	}
	zeros, lengths := tensor.NewHost(tensor.Contiguous(tensor.F32, 1, 24)), tensor.NewHost(tensor.Contiguous(tensor.I32, 2))
	lengths.SetFloats([]float64{5, 5})
	x, w, r, h := in[0], in[1], in[2], in[3]
	want, err := b.Call("gru direction=forward", nil, x, w, r, put(t, b, zeros), put(t, b, lengths), h)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Call("gru direction=forward", nil, x, w, r, 0, 0, h)
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.AllocTensor([]int{5, 1, 2, 4}, tensor.F32)
	if err != nil {
		t.Fatal(err)
	}
	last, err := b.AllocTensor([]int{1, 2, 4}, tensor.F32)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.(*backend.Device).GRU(x, w, r, y, last, nil, nil, &h, 0, "forward", nil, nil, nil, 0, 0); err != nil {
		t.Fatal(err)
	}
	for _, have := range [][]handle{got, {y, last}} {
		for i := range want {
			if !bytes.Equal(contents(t, b, have[i:i+1]), contents(t, b, want[i:i+1])) {
				t.Errorf("output %d differs", i)
			}
		}
	}
	if _, err := b.Call("gru direction=forward", nil, x, 0, r, 0, 0, h); err == nil {
		t.Error("no weights: got no error")
	}
}
