package picture

import (
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPictures checks that tensors which are no pictures are refused, and strides that no
// kernel can work with.
func TestPictures(t *testing.T) {
	for _, c := range []struct {
		d    tensor.Desc
		want error
	}{
		{tensor.Contiguous(tensor.U8, 2, 3, 4), nil},
		{tensor.Contiguous(tensor.F32, 2, 3, 1), nil},
		{tensor.Contiguous(tensor.F32, 0, 3, 3), nil},
		{tensor.Contiguous(tensor.U8, 2, 3, 3), errs.ErrInvalidArgument},
		{tensor.Contiguous(tensor.F32, 2, 3, 2), errs.ErrInvalidArgument},
		{tensor.Contiguous(tensor.I32, 2, 3, 4), errs.ErrInvalidArgument},
		{tensor.Contiguous(tensor.F32, 2, 3), errs.ErrInvalidArgument},
		{tensor.Contiguous(tensor.F32, -1, 3, 4), errs.ErrInvalidArgument},
		{tensor.Desc{DType: tensor.F32, Shape: []int{2, 3, 4}, Strides: []int{20, 4, 1}}, nil},
		{tensor.Desc{DType: tensor.F32, Shape: []int{2, 3, 4}, Strides: []int{21, 4, 1}}, errs.ErrUnsupported},
		{tensor.Desc{DType: tensor.F32, Shape: []int{2, 3, 4}, Strides: []int{4, 8, 1}}, errs.ErrUnsupported},
		{tensor.Desc{DType: tensor.F32, Shape: []int{2, 3, 4}, Strides: []int{1, 2, 6}}, errs.ErrUnsupported},
		{tensor.Desc{DType: tensor.F32, Shape: []int{2, 3, 4}, Strides: []int{0, 4, 1}}, errs.ErrUnsupported},
	} {
		if _, err := layoutOf(c.d); !errors.Is(err, c.want) || err != nil && c.want == nil {
			t.Errorf("%v: got %v, want %v", c.d, err, c.want)
		}
	}
}
