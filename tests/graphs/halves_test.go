package graphs_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestHalvesBeside compiles a product of 16 bits with a bias of f32 that has its whole shape, of 1 to 17 elements: no pack of the result may ask for
// more of the bias than there is. The results are those of single calls.
func TestHalvesBeside(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		for _, d := range []tensor.DType{tensor.F16, tensor.BF16} {
			for n := 1; n <= 17; n++ {
				g := graph.New()
				a, w, bias := g.Input("a", tensor.F32, 1, 5), g.Input("w", tensor.F32, 5, n), g.Input("bias", tensor.F32, 1, n)
				y := g.Cast(g.MatMul(g.Cast(a, d), g.Cast(w, d)), tensor.F32)
				g.Output("y", g.Cast(g.ReLU(g.Add(y, bias)), d))
				var left, right, beside []float32
				for i := range 5 {
					left = append(left, float32(i)-1.5)
				}
				for i := range 5 * n {
					right = append(right, float32(i%7)-2.25)
				}
				for i := range n {
					beside = append(beside, float32(i%3)-0.75)
				}
				in := map[string]*lathe.Tensor{"a": slice(t, dev, left, 1, 5), "w": slice(t, dev, right, 5, n), "bias": slice(t, dev, beside, 1, n)}
				var got [2][]byte
				for k, o := range []graph.Options{{Strict: true}, {Without: []string{"fuse", "epilogue", "prologue"}}} {
					out, err := compiled(t, dev, g, o).Run(context.Background(), in)
					if err == nil {
						got[k], err = dev.Read(context.Background(), out["y"])
					}
					if err != nil {
						t.Fatal(fmt.Errorf("%v, %d elements: %w", d, n, err))
					}
				}
				if !bytes.Equal(got[0], got[1]) {
					t.Errorf("%v, %d elements: joined % x, single calls % x", d, n, got[0], got[1])
				}
			}
		}
	})
}
