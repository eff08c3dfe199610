package lathe_test

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestZeroOfAttributes checks the sign of zeros that come from attributes. spec.Given marks a zero by
// its sign, which must not reach the elements. A −0 that a program gives must.
func TestZeroOfAttributes(t *testing.T) {
	dev := open(t)
	ctx := t.Context()
	x := must(lathe.FromSlice(ctx, dev, []float32{-1, -2, 3}))(t)
	call := func(c spec.Call, in ...*lathe.Tensor) *lathe.Tensor { return must(dev.Call(ctx, c, in...))(t)[0] }
	text := func(s string) spec.Call { return must(spec.ParseCall(s))(t) }
	minus := math.Copysign(0, -1)
	for name, c := range map[string]struct {
		got  *lathe.Tensor
		want []float64
	}{
		"fill":           {must(dev.Fill(0, tensor.F32, 2))(t), []float64{0, 0}},
		"fill, as text":  {call(text("fill value=0 shape=2 dtype=f32")), []float64{0, 0}},
		"fill with −0":   {must(dev.Fill(minus, tensor.F32, 2))(t), []float64{minus, minus}},
		"clip":           {must(dev.Clip(x, 0, 2))(t), []float64{0, 0, 2}},
		"clip, as text":  {call(text("clip min=0 max=2"), x), []float64{0, 0, 2}},
		"clip, a struct": {call(ops.Clip{Min: spec.Given(0.0), Max: 2}, x), []float64{0, 0, 2}},
		"clip, an end":   {must(dev.Clip(x, -1, 0))(t), []float64{-1, -1, 0}},
		"pad":            {must(dev.PadTensor(ops.PadTensor{Pads: []int{1, -2}}, x))(t), []float64{0, -1}},
		"leaky relu":     {must(dev.LeakyReLU(x, 0))(t), []float64{minus, minus, 3}}, // 0·x
	} {
		for i, got := range must(lathe.ToFloats[float64](ctx, c.got))(t) {
			if got != c.want[i] || math.Signbit(got) != math.Signbit(c.want[i]) {
				t.Errorf("%s, element %d: got %v, want %v", name, i, got, c.want[i])
			}
		}
		if n := c.got.Desc().Elems(); n != len(c.want) {
			t.Errorf("%s: %d elements, want %d", name, n, len(c.want))
		}
	}
}
