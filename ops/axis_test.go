package ops_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestWrongDimension has errors that say which dimensions there are.
func TestWrongDimension(t *testing.T) {
	for _, c := range []struct {
		call  spec.Call
		shape []int
		want  string
	}{
		{&ops.Sort{Axis: 2}, []int{4, 5}, "dimension 2 of a tensor of rank 2 (want -2 to 1)"},
		{&ops.TopK{K: 1, Axis: -3}, []int{4, 5}, "dimension -3 of a tensor of rank 2 (want -2 to 1)"},
		{&ops.Argsort{}, nil, "dimension 0 of a scalar, which has none"},
	} {
		_, err := c.call.Spec().Shape(c.call, []tensor.Desc{tensor.Contiguous(tensor.F32, c.shape...)})
		if !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %v: got %v, want ErrInvalidArgument with %q", spec.FormatCall(c.call), c.shape, err, c.want)
		}
	}
}
