package graphs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestCastEpilogues looks at the launches of a norm that is cast to 16 bits for a product, and of a product of 16 bits that is cast back for a residual: the casts
// are computed by the kernels of the norm and of the product, which store elements of another size than they have. The results have the bits of single calls.
func TestCastEpilogues(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		for _, c := range []struct {
			name       string
			d          tensor.DType
			rows, size int
			read       bool // another call reads the norm
			lanes      bool // rows end within a pack, so that single elements are stored
		}{
			{"whole packs", tensor.F16, 3, 256, false, false},
			{"bf16", tensor.BF16, 5, 128, false, false},
			{"rows of 13", tensor.F16, 7, 13, false, true},
			{"one element", tensor.BF16, 1, 1, false, true},
			{"read again", tensor.F16, 3, 256, true, false},
		} {
			g := graph.New()
			x, w, gamma := g.Input("x", tensor.F32, c.rows, c.size), g.Input("w", c.d, c.size, c.size), g.Input("gamma", tensor.F32, c.size)
			norm := g.RMSNorm(x, gamma, -1, 1e-5)
			y := g.Cast(norm, c.d)
			g.Output("half", y)
			g.Output("y", g.Add(g.Cast(g.MatMul(y, w), tensor.F32), x))
			if c.read {
				g.Output("norm", norm)
			}
			var data, weights, scale []float32
			for i := range c.rows * c.size {
				data = append(data, float32(i%11)/4-1.3)
			}
			for i := range c.size * c.size {
				weights = append(weights, float32(i%7)/8-0.4)
			}
			for i := range c.size {
				scale = append(scale, 1+float32(i%3)/8)
			}
			half, err := dev.Cast(slice(t, dev, weights, c.size, c.size), c.d)
			if err != nil {
				t.Fatal(err)
			}
			in := map[string]*lathe.Tensor{"x": slice(t, dev, data, c.rows, c.size), "w": half, "gamma": slice(t, dev, scale, c.size)}
			exe := compiled(t, dev, g, graph.Options{Strict: true})
			plan := exe.Plan()
			// Without 16-bit storage, as in WebGPU, the halves of a word could be stored by two invocations. On a processor, single stores take too long, and on the
			// device cpu norms have no others.
			f, reason := dev.Info().Features, ""
			if !c.read && (f.HostVectors || c.lanes && (!f.F16 || !f.Storage16 || dev.Info().Kind == gpu.CPU)) {
				reason = "one by one"
			}
			joined := !c.read && reason == ""
			var got []string
			for _, s := range plan.Steps() {
				name, _, _ := strings.Cut(s.Call, " ")
				got = append(got, name)
			}
			want := []string{"rms_norm", "cast", "epilogue"}
			if joined {
				want = []string{"epilogue", "epilogue"}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v (want %v)\n%v", c.name, got, want, plan)
			}
			if missed := fmt.Sprint(plan.Report.Fusion.Missed); !strings.Contains(missed, reason) {
				t.Errorf("%s: the report does not say why, %s: %s", c.name, reason, missed)
			}
			is := run(t, dev, exe, in)
			single := run(t, dev, compiled(t, dev, g, graph.Options{Without: []string{"fuse", "epilogue", "prologue"}}), in)
			for name := range single {
				if !slices.Equal(bits(is[name]), bits(single[name])) {
					t.Errorf("%s, %s: got %v, want %v", c.name, name, is[name][:1], single[name][:1])
				}
			}
		}
	})
}
