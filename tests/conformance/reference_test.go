package conformance_test

import (
	"image"
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// checkAgainstReference compares a U8 picture with the operation's reference in float64.
func checkAgainstReference(t *testing.T, c spec.Call, src, got *image.NRGBA) {
	t.Helper()
	d := tensor.Contiguous(tensor.U8, src.Rect.Dy(), src.Rect.Dx(), 4)
	in, want := &tensor.Host{Desc: d, Data: src.Pix}, tensor.NewHost(d)
	c.Spec().Reference(c, []*tensor.Host{in}, []*tensor.Host{want})
	tol := c.Spec().Tolerance(c, tensor.U8, nil)
	wrong, first := 0, -1
	for i, w := range want.Data {
		if math.Abs(float64(got.Pix[i])-float64(w)) > tol.Abs+tol.Rel*float64(w) {
			if wrong++; first < 0 {
				first = i
			}
		}
	}
	if may := int(math.Ceil(tol.Flips * float64(len(want.Data)))); wrong > may {
		t.Errorf("%v %s: %d bytes wrong, %d may be; the first at %d: got %d, want %d", src.Rect, spec.FormatCall(c), wrong, may, first, got.Pix[first], want.Data[first])
	}
}
