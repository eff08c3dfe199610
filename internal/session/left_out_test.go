package session_test

import (
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/ops"
)

// TestLeftOut makes memory for inputs that a call leaves out once, keeps the list of the caller as it is, and
// refuses calls that leave out other inputs.
func TestLeftOut(t *testing.T) {
	s, dev := open(t, 1<<30)
	in := make([]session.Tensor, 6) // x, w, r, and then b, sequence_lens and initial_h
	for i, shape := range map[int][]int{0: {5, 2, 3}, 1: {1, 12, 3}, 2: {1, 12, 4}, 5: {1, 2, 4}} {
		x, err := s.NewTensor(f32(shape...))
		if err != nil {
			t.Fatal(err)
		}
		in[i] = x
	}
	var used int64
	for k := range 3 {
		out, err := s.Call(t.Context(), ops.GRU{Direction: "forward"}, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range out {
			if err := s.Free(x); err != nil {
				t.Fatal(err)
			}
		}
		if n := dev.Allocated(); k > 0 && n != used {
			t.Errorf("call %d: %d bytes are used, %d before", k, n, used)
		} else {
			used = n
		}
	}
	if in[3].Buffer != nil || in[4].Buffer != nil {
		t.Error("the list of inputs was changed")
	}
	in[1] = session.Tensor{}
	if _, err := s.Call(t.Context(), ops.GRU{Direction: "forward"}, in); !errors.Is(err, errs.ErrInvalidHandle) {
		t.Errorf("no weights: got %v, want ErrInvalidHandle", err)
	}
	if err := s.Run(t.Context(), ops.GRU{Direction: "forward"}, in, nil); !errors.Is(err, errs.ErrInvalidHandle) {
		t.Errorf("run without weights: got %v, want ErrInvalidHandle", err)
	}
}
