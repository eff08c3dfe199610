package gradients_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/hir"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// mlp is a perceptron with a norm, whose weights are used twice, and the mean cross entropy.
func mlp(b *building) *graph.Value {
	g, w := b.g, b.leaf("w", 6, 6)
	x := hir.Linear(g, b.leaf("x", 5, 6), w, b.leaf("b", 6), nil)
	_, x = hir.ResidualLayerNorm(g, x, g.GELU(g.MatMul(x, w)), b.leaf("gamma", 6), b.leaf("beta", 6), 1e-3)
	loss, _ := g.CrossEntropy(g.MatMulBias(x, b.leaf("v", 6, 4), b.leaf("c", 4)), b.classes(5, 4))
	return g.ReduceMean(loss)
}

// cnn is a convolutional network with both kinds of pools and a norm over the batch.
func cnn(b *building) *graph.Value {
	g := b.g
	x := g.Conv(ops.Conv{Pads: []int{1, 1, 1, 1}, Group: 1}, b.leaf("x", 2, 2, 8, 8), b.leaf("w1", 4, 2, 3, 3), b.leaf("b1", 4))
	x, _, _, _, _ = g.BatchNormTrain(x, b.leaf("gamma", 4), b.leaf("beta", 4), b.leaf("mean", 4), b.leaf("var", 4), 1e-3, 0.9)
	x = g.MaxPool(ops.MaxPool{Kernel: []int{2, 2}, Strides: []int{2, 2}}, g.ReLU(x))
	x = g.Conv(ops.Conv{Strides: []int{2, 2}, AutoPad: "SAME_UPPER", Group: 2}, x, b.leaf("w2", 4, 2, 3, 3), nil)
	x = g.AvgPool(ops.AvgPool{Kernel: []int{2, 2}}, g.SiLU(x))
	loss, _ := g.CrossEntropy(g.MatMul(x.Reshape(2, -1), b.leaf("w3", 4, 3)), b.classes(2, 3))
	return g.ReduceMean(loss)
}

// llama is a block of Llama with fewer heads of keys and values, and the mean cross entropy of the next token.
func llama(b *building) *graph.Value {
	const d, positions, tokens = 8, 5, 7
	g := b.g
	cos, sin, err := hir.Angles(0, positions, d/4, 10000)
	if err != nil {
		panic(err)
	}
	angles := func(h *tensor.Host) *graph.Value {
		if b.dtype == tensor.F32 {
			return g.Constant(h)
		}
		return g.Cast(g.Constant(h), b.dtype)
	}
	table := b.leaf("table", tokens, d)
	x := g.Embedding(b.classes(positions, tokens), table)
	x = hir.LlamaBlock(g, x, hir.LlamaWeights{
		AttentionNorm: b.leaf("n1", d), FeedForwardNorm: b.leaf("n2", d),
		Attention: hir.AttentionWeights{Q: b.leaf("q", d, d), K: b.leaf("k", d, d/2), V: b.leaf("v", d, d/2), O: b.leaf("o", d, d)},
		Gate:      b.leaf("gate", d, 12), Up: b.leaf("up", d, 12), Down: b.leaf("down", 12, d),
	}, hir.Heads{Q: 4, KV: 2}, 1e-3, angles(cos), angles(sin))
	loss, _ := g.CrossEntropy(g.MatMul(x, table.Transpose()), b.classes(positions, tokens))
	return g.ReduceMean(loss)
}

// penalty has gradients in its loss: the square of the gradient of a perceptron by its input.
func penalty(b *building) *graph.Value {
	g, x := b.g, b.leaf("x", 3, 4)
	y := g.Softmax(g.MatMul(g.GELU(g.MatMul(x, b.leaf("w", 4, 5))), b.leaf("v", 5, 3)), -1)
	d := g.Gradients(g.ReduceSum(g.Mul(y, g.Tanh(y))), x)[0]
	return g.Add(g.ReduceSum(g.Mul(d, d)), g.ReduceMean(y))
}

// TestNetworks compares the gradients of whole networks.
func TestNetworks(t *testing.T) {
	for _, c := range []struct {
		backend string
		dtype   tensor.DType
		most    float64
	}{{"cpu", tensor.F64, 1e-6}, {"cpu", tensor.F32, 5e-4}, {"vk", tensor.F32, 5e-4}} {
		dev, err := lathe.Open(context.Background(), lathe.WithBackend(c.backend), lathe.WithLogger(nil))
		testkit.Opened(t, err)
		defer dev.Close()
		for name, net := range map[string]network{"mlp": mlp, "cnn": cnn, "llama": llama, "penalty": penalty} {
			t.Run(fmt.Sprintf("%s/%s/%v", c.backend, name, c.dtype), func(t *testing.T) { checkNetwork(t, dev, net, c.dtype, c.most) })
		}
	}
}

// TestViews compares the gradients of random views of views: the loss is linear, so the slopes are exact.
func TestViews(t *testing.T) {
	dev, err := lathe.Open(context.Background(), lathe.WithBackend("cpu"), lathe.WithLogger(nil))
	testkit.Opened(t, err)
	defer dev.Close()
	for seed := range uint64(60) {
		net := func(b *building) *graph.Value {
			rng := rand.New(rand.NewPCG(seed, 7))
			v := b.leaf("x", 1+rng.IntN(3), 1+rng.IntN(4), 1+rng.IntN(4))
			for range 1 + rng.IntN(5) {
				v = randomView(rng, v)
			}
			factors := make([]float64, v.Desc().Elems())
			for i := range factors {
				factors[i] = float64(rng.IntN(9) - 4)
			}
			h, err := tensor.FromFloats(b.dtype, v.Shape(), factors)
			if err != nil {
				panic(err)
			}
			return b.g.ReduceSum(b.g.Mul(v, b.g.Constant(h)))
		}
		if checkNetwork(t, dev, net, tensor.F64, 1e-6); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomView(rng *rand.Rand, v *graph.Value) *graph.Value {
	rank := len(v.Shape())
	switch rng.IntN(5) {
	case 0:
		return v.Transpose(rng.Perm(rank)...)
	case 1, 2:
		if rank == 0 {
			return v
		}
		dim := rng.IntN(rank)
		n := v.Shape()[dim]
		from := rng.IntN(n)
		return v.Narrow(dim, from, 1+rng.IntN(n-from))
	case 3:
		if rank > 5 {
			return v
		}
		return v.Expand(append([]int{1 + rng.IntN(3)}, v.Shape()...)...)
	}
	if n := v.Desc().Elems(); n%2 == 0 {
		return v.Reshape(2, n/2)
	}
	return v.Reshape(-1)
}
