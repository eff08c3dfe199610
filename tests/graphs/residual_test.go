package graphs_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/hir"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestResidualNorms looks at the calls of a residual sum and a norm: the sum is computed by the norm that reads it alone, or by the product that
// makes one of its operands. Only a sum of inputs that others read too is a call of its own.
func TestResidualNorms(t *testing.T) {
	const n, d = 16, 64
	forms := []struct {
		name           string
		product, other bool // the sum reads a product, and another call reads the sum
		want           []string
	}{
		{"inputs", false, false, []string{"prologue"}},
		{"inputs, read again", false, true, []string{"add", "norm"}},
		{"a product", true, false, []string{"epilogue", "norm"}},
		{"a product, read again", true, true, []string{"epilogue", "norm"}},
	}
	for _, backend := range []string{"vk", "cpu", "wgpu"} {
		t.Run(backend, func(t *testing.T) {
			dev, err := lathe.Open(context.Background(), lathe.WithBackend(backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			for _, norm := range []string{"rms_norm", "layer_norm"} {
				for _, f := range forms {
					g := graph.New()
					x, residual := g.Input("x", tensor.F32, n, d), g.Input("residual", tensor.F32, n, d)
					if f.product {
						x = g.MatMul(x, g.Param("w", tensor.F32, d, d))
					}
					gamma, beta := g.Param("gamma", tensor.F32, d), g.Param("beta", tensor.F32, d)
					sum, y := hir.ResidualRMSNorm(g, x, residual, gamma, 1e-5)
					if norm == "layer_norm" {
						sum, y = hir.ResidualLayerNorm(g, x, residual, gamma, beta, 1e-5)
					}
					g.Output("y", y)
					if f.other {
						g.Output("sum", sum)
					}
					plan, err := dev.PlanGraph(g, graph.Options{})
					if err != nil {
						t.Fatal(err)
					}
					var got []string
					for _, s := range plan.Steps() {
						name, _, _ := strings.Cut(s.Call, " ")
						got = append(got, strings.Replace(name, norm, "norm", 1))
					}
					if !slices.Equal(got, f.want) {
						t.Errorf("%s, %s: %v (want %v)\n%v", norm, f.name, got, f.want, plan)
					}
				}
			}
			// In a block of Llama both residual sums are computed by products.
			g := graph.New()
			param := func(name string, shape ...int) *graph.Value { return g.Param(name, tensor.F32, shape...) }
			w := hir.LlamaWeights{
				AttentionNorm: param("n1", d), FeedForwardNorm: param("n2", d), Gate: param("g", d, 2*d), Up: param("u", d, 2*d), Down: param("d", 2*d, d),
				Attention: hir.AttentionWeights{Q: param("q", d, d), K: param("k", d, d/2), V: param("v", d, d/2), O: param("o", d, d)},
			}
			g.Output("y", hir.LlamaBlock(g, g.Input("x", tensor.F32, n, d), w, hir.Heads{Q: 4, KV: 2}, 1e-5, nil, nil))
			plan, err := dev.PlanGraph(g, graph.Options{})
			if err != nil {
				t.Fatal(err)
			}
			sums := 0
			for _, s := range plan.Steps() {
				if name, _, _ := strings.Cut(s.Call, " "); name == "add" {
					t.Errorf("a sum is a call of its own:\n%v", plan)
				}
				if s.Call == "epilogue" && s.Label == "matmul, add" {
					sums++
				}
			}
			if sums != 2 {
				t.Errorf("%d sums are epilogues of products (want 2):\n%v", sums, plan)
			}
		})
	}
}
