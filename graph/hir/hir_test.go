package hir_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/hir"
	"github.com/lathe-gpu/lathe/tensor"
)

func Example() {
	g := graph.New()
	x := g.Input("x", tensor.F32, 64, 784)
	h := hir.Linear(g, x, g.Param("w1", tensor.F32, 784, 256), g.Param("b1", tensor.F32, 256), (*graph.Graph).GELU)
	y := hir.Linear(g, h, g.Param("w2", tensor.F32, 256, 10), nil, nil)
	g.Output("y", y)
	fmt.Println(y, g.Err())
	// Output: f32[64,10] <nil>
}

// matrix is a host matrix in float64.
type matrix [][]float64

func (a matrix) mul(b matrix) matrix {
	out := zeros(len(a), len(b[0]))
	for i := range a {
		for j := range b[0] {
			for k := range b {
				out[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return out
}

func zeros(n, m int) matrix {
	out := make(matrix, n)
	for i := range out {
		out[i] = make([]float64, m)
	}
	return out
}

func (a matrix) each(f func(i, j int, v float64) float64) matrix {
	out := zeros(len(a), len(a[0]))
	for i := range a {
		for j := range a[i] {
			out[i][j] = f(i, j, a[i][j])
		}
	}
	return out
}

func (a matrix) add(b matrix) matrix {
	return a.each(func(i, j int, v float64) float64 { return v + b[i][j] })
}

func silu(v float64) float64 { return v / (1 + math.Exp(-v)) }

// rms is the RMS norm of each row.
func (a matrix) rms(gamma []float64, eps float64) matrix {
	return a.each(func(i, j int, v float64) float64 {
		sum := 0.0
		for _, w := range a[i] {
			sum += w * w
		}
		return v / math.Sqrt(sum/float64(len(a[i]))+eps) * gamma[j]
	})
}

// rotate is RoPE of the columns from..from+d.
func (a matrix) rotate(from, d, first int) {
	for p := range a {
		for i := range d / 2 {
			angle := float64(first+p) * math.Pow(10000, -2*float64(i)/float64(d))
			x, y := a[p][from+i], a[p][from+d/2+i]
			a[p][from+i], a[p][from+d/2+i] = x*math.Cos(angle)-y*math.Sin(angle), y*math.Cos(angle)+x*math.Sin(angle)
		}
	}
}

// attend is causal attention of head h of q and head h/group of k and v.
func attend(q, k, v matrix, heads, group, size int) matrix {
	out := zeros(len(q), heads*size)
	for h := range heads {
		for i := range q {
			scores, sum := make([]float64, i+1), 0.0
			for j := range scores {
				for e := range size {
					scores[j] += q[i][h*size+e] * k[j][h/group*size+e]
				}
				scores[j] = math.Exp(scores[j] / math.Sqrt(float64(size)))
				sum += scores[j]
			}
			for j, s := range scores {
				for e := range size {
					out[i][h*size+e] += s / sum * v[j][h/group*size+e]
				}
			}
		}
	}
	return out
}

// network makes the same values as params of a graph and on the host.
type network struct {
	t      *testing.T
	dev    *lathe.Device
	g      *graph.Graph
	params map[string]*lathe.Tensor
	seed   uint64
}

func (n *network) param(rows, columns int) (*graph.Value, matrix) {
	data, host := make([]float32, rows*columns), zeros(rows, columns)
	for i := range data {
		n.seed = n.seed*6364136223846793005 + 1442695040888963407
		data[i] = float32(int32(n.seed>>32)) / (1 << 31)
		host[i/columns][i%columns] = float64(data[i])
	}
	name := fmt.Sprint("p", len(n.params))
	x, err := lathe.FromSlice(context.Background(), n.dev, data, rows, columns)
	if err != nil {
		n.t.Fatal(err)
	}
	if rows == 1 {
		if x, err = x.Reshape(columns); err != nil {
			n.t.Fatal(err)
		}
		n.params[name] = x
		return n.g.Param(name, tensor.F32, columns), host
	}
	n.params[name] = x
	return n.g.Param(name, tensor.F32, rows, columns), host
}

// check compares the result of the graph with a matrix.
func (n *network) check(y *graph.Value, want matrix) {
	n.t.Helper()
	ctx := context.Background()
	n.g.Output("y", y)
	exe, err := n.dev.Compile(ctx, n.g, graph.Options{})
	if err != nil {
		n.t.Fatal(err)
	}
	defer exe.Free()
	for name, x := range n.params {
		if err := exe.SetParam(name, x); err != nil {
			n.t.Fatal(err)
		}
	}
	out, err := exe.Run(ctx, nil)
	if err != nil {
		n.t.Fatal(err)
	}
	got, err := lathe.ToSlice[float32](ctx, out["y"])
	if err != nil {
		n.t.Fatal(err)
	}
	if len(got) != len(want)*len(want[0]) {
		n.t.Fatalf("%d elements, want %d×%d", len(got), len(want), len(want[0]))
	}
	for i, v := range got {
		// Sums of some dozens of products of numbers up to 1 come before.
		if w := want[i/len(want[0])][i%len(want[0])]; math.Abs(float64(v)-w) > 2e-5*(1+math.Abs(w)) || math.IsNaN(float64(v)) {
			n.t.Fatalf("element %d: got %v, want %v", i, v, w)
		}
	}
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	dev, err := lathe.Open(context.Background(), lathe.WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return &network{t: t, dev: dev, g: graph.New(), params: map[string]*lathe.Tensor{}, seed: 7}
}

func TestLinear(t *testing.T) {
	n := newNetwork(t)
	x, hx := n.param(5, 7)
	w, hw := n.param(7, 3)
	b, hb := n.param(1, 3)
	n.check(hir.Linear(n.g, x, w, b, (*graph.Graph).SiLU), hx.mul(hw).each(func(_, j int, v float64) float64 { return silu(v + hb[0][j]) }))
}

func TestSwiGLU(t *testing.T) {
	n := newNetwork(t)
	x, hx := n.param(5, 6)
	gate, hg := n.param(6, 11)
	up, hu := n.param(6, 11)
	down, hd := n.param(11, 6)
	u := hx.mul(hu)
	n.check(hir.SwiGLU(n.g, x, gate, up, down), hx.mul(hg).each(func(i, j int, v float64) float64 { return silu(v) * u[i][j] }).mul(hd))
}

func TestResidualNorms(t *testing.T) {
	n := newNetwork(t)
	x, hx := n.param(3, 8)
	r, hr := n.param(3, 8)
	gamma, hg := n.param(1, 8)
	sum, norm := hir.ResidualRMSNorm(n.g, x, r, gamma, 1e-5)
	hs := hx.add(hr)
	n.check(n.g.Add(sum, norm), hs.add(hs.rms(hg[0], 1e-5)))

	n = newNetwork(t)
	x, hx = n.param(3, 8)
	r, hr = n.param(3, 8)
	gamma, hg = n.param(1, 8)
	beta, hb := n.param(1, 8)
	_, norm = hir.ResidualLayerNorm(n.g, x, r, gamma, beta, 1e-5)
	hs = hx.add(hr)
	n.check(norm, hs.each(func(i, j int, v float64) float64 {
		mean, square := 0.0, 0.0
		for _, w := range hs[i] {
			mean += w / 8
		}
		for _, w := range hs[i] {
			square += (w - mean) * (w - mean) / 8
		}
		return (v-mean)/math.Sqrt(square+1e-5)*hg[0][j] + hb[0][j]
	}))
}

// TestLlamaBlock compares a block with 4 heads of queries and 2 of keys and values with one in float64.
func TestLlamaBlock(t *testing.T) {
	const positions, d, heads, kv, inner, first = 5, 16, 4, 2, 24, 3
	n := newNetwork(t)
	var w hir.LlamaWeights
	var hw struct{ an, fn, q, k, v, o, gate, up, down matrix }
	x, hx := n.param(positions, d)
	w.AttentionNorm, hw.an = n.param(1, d)
	w.FeedForwardNorm, hw.fn = n.param(1, d)
	w.Attention.Q, hw.q = n.param(d, d)
	w.Attention.K, hw.k = n.param(d, d*kv/heads)
	w.Attention.V, hw.v = n.param(d, d*kv/heads)
	w.Attention.O, hw.o = n.param(d, d)
	w.Gate, hw.gate = n.param(d, inner)
	w.Up, hw.up = n.param(d, inner)
	w.Down, hw.down = n.param(inner, d)
	cos, sin, err := hir.Angles(first, positions, d/heads, 10000)
	if err != nil {
		t.Fatal(err)
	}

	h := hx.rms(hw.an[0], 1e-5)
	q, k, v := h.mul(hw.q), h.mul(hw.k), h.mul(hw.v)
	for i := range heads {
		q.rotate(i*d/heads, d/heads, first)
	}
	for i := range kv {
		k.rotate(i*d/heads, d/heads, first)
	}
	sum := hx.add(attend(q, k, v, heads, heads/kv, d/heads).mul(hw.o))
	h = sum.rms(hw.fn[0], 1e-5)
	up := h.mul(hw.up)
	want := sum.add(h.mul(hw.gate).each(func(i, j int, v float64) float64 { return silu(v) * up[i][j] }).mul(hw.down))

	n.check(hir.LlamaBlock(n.g, x, w, hir.Heads{Q: heads, KV: kv}, 1e-5, n.g.Constant(cos), n.g.Constant(sin)), want)
}

// TestBatch compares attention of two sequences at once with the same one by one.
func TestBatch(t *testing.T) {
	const positions, d = 3, 8
	n := newNetwork(t)
	x, hx := n.param(2*positions, d)
	var w hir.AttentionWeights
	var hq, hk, hv, ho matrix
	w.Q, hq = n.param(d, d)
	w.K, hk = n.param(d, d)
	w.V, hv = n.param(d, d)
	w.O, ho = n.param(d, d)
	var want matrix
	for i := range 2 {
		part := hx[i*positions : (i+1)*positions]
		want = append(want, attend(part.mul(hq), part.mul(hk), part.mul(hv), 2, 1, d/2).mul(ho)...)
	}
	n.check(hir.Attention(n.g, x.Reshape(2, positions, d), w, hir.Heads{Q: 2}, nil, nil), want)
}

// TestMistakes gives blocks what they cannot take. The graph has the mistakes, and nothing panics.
func TestMistakes(t *testing.T) {
	build := func(f func(g *graph.Graph, x *graph.Value) *graph.Value) error {
		g := graph.New()
		g.Output("y", f(g, g.Input("x", tensor.F32, 5, 8)))
		return g.Err()
	}
	w := func(g *graph.Graph) hir.AttentionWeights {
		p := g.Param("w", tensor.F32, 8, 8)
		return hir.AttentionWeights{Q: p, K: p, V: p, O: p}
	}
	for name, f := range map[string]func(g *graph.Graph, x *graph.Value) *graph.Value{
		"heads that do not divide": func(g *graph.Graph, x *graph.Value) *graph.Value {
			return hir.Attention(g, x, w(g), hir.Heads{Q: 3}, nil, nil)
		},
		"no heads": func(g *graph.Graph, x *graph.Value) *graph.Value {
			return hir.Attention(g, x, w(g), hir.Heads{}, nil, nil)
		},
		"more of KV": func(g *graph.Graph, x *graph.Value) *graph.Value {
			return hir.Attention(g, x, w(g), hir.Heads{Q: 2, KV: 4}, nil, nil)
		},
		"no weights": func(g *graph.Graph, x *graph.Value) *graph.Value {
			return hir.Attention(g, x, hir.AttentionWeights{}, hir.Heads{Q: 2}, nil, nil)
		},
		"one dimension": func(g *graph.Graph, x *graph.Value) *graph.Value {
			return hir.Attention(g, x.Reshape(-1), w(g), hir.Heads{Q: 2}, nil, nil)
		},
		"no value": func(g *graph.Graph, x *graph.Value) *graph.Value { return hir.Linear(g, nil, x, nil, nil) },
		"a wrong bias": func(g *graph.Graph, x *graph.Value) *graph.Value {
			return hir.Linear(g, x, g.Param("w", tensor.F32, 8, 3), x, nil)
		},
		"angles of a scalar": func(g *graph.Graph, x *graph.Value) *graph.Value { return hir.RoPE(g, nil, x, x) },
		"no weights of Llama": func(g *graph.Graph, x *graph.Value) *graph.Value {
			return hir.LlamaBlock(g, x, hir.LlamaWeights{}, hir.Heads{Q: 2}, 1e-5, nil, nil)
		},
	} {
		if err := build(f); err == nil || !strings.Contains(err.Error(), "(hir_test.go:") {
			t.Errorf("%s: %v, without a place in the program", name, err)
		}
	}
	for _, c := range [][2]int{{-1, 8}, {4, 7}, {4, -2}, {math.MaxInt, math.MaxInt - 1}, {math.MaxInt, 0}} {
		if _, _, err := hir.Angles(0, c[0], c[1], 10000); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("%d positions of %d elements: %v", c[0], c[1], err)
		}
	}
	if cos, _, err := hir.Angles(0, 0, 8, 10000); err != nil || cos.Elems() != 0 {
		t.Errorf("no positions: %v", err)
	}
}
