package graphs_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// maker makes the values of a network: those of a graph, or tensors one by one.
type maker[V any] interface {
	leaf(shape ...int) V
	call(c spec.Call, in ...V) V
	reshape(v V, shape ...int) V
	transpose(v V, perm ...int) V
}

// chain is eight elementwise calls on three operands.
func chain[V any](m maker[V]) V {
	x, y, z := m.leaf(4096, 1024), m.leaf(4096, 1024), m.leaf(1024)
	v := m.call(ops.Mul{}, m.call(ops.Add{}, x, z), y)
	v = m.call(ops.ReLU{}, m.call(ops.Sub{}, v, x))
	v = m.call(ops.Maximum{}, m.call(ops.Mul{}, v, z), y)
	return m.call(ops.Neg{}, m.call(ops.Add{}, v, x))
}

// mlp has a hidden layer.
func mlp[V any](m maker[V]) V {
	h := m.call(ops.ReLU{}, m.call(ops.Add{}, m.call(ops.MatMul{}, m.leaf(64, 784), m.leaf(784, 256)), m.leaf(256)))
	return m.call(ops.Softmax{Dim: -1}, m.call(ops.Add{}, m.call(ops.MatMul{}, h, m.leaf(256, 10)), m.leaf(10)))
}

// block is a block of a transformer.
func block[V any](m maker[V]) V {
	const n, d, heads = 128, 256, 8
	mul := func(a, b V) V { return m.call(ops.MatMul{}, a, b) }
	split := func(v V) V { return m.transpose(m.reshape(v, n, heads, d/heads), 1, 0, 2) }
	x := m.leaf(n, d)
	h := m.call(ops.RMSNorm{Dim: -1, Eps: 1e-5}, x, m.leaf(d))
	q, k, v := split(mul(h, m.leaf(d, d))), split(mul(h, m.leaf(d, d))), split(mul(h, m.leaf(d, d)))
	a := m.reshape(m.transpose(m.call(ops.Attention{Scale: 1 / math.Sqrt(d/heads)}, q, k, v), 1, 0, 2), n, d)
	x = m.call(ops.Add{}, x, mul(a, m.leaf(d, d)))
	h = m.call(ops.RMSNorm{Dim: -1, Eps: 1e-5}, x, m.leaf(d))
	up := m.call(ops.Mul{}, m.call(ops.SiLU{}, mul(h, m.leaf(d, 4*d))), mul(h, m.leaf(d, 4*d)))
	return m.call(ops.Add{}, x, mul(up, m.leaf(4*d, d)))
}

// cnn has two convolutions.
func cnn[V any](m maker[V]) V {
	conv := func(v V, from, to int) V {
		v = m.call(ops.Conv{Group: 1, AutoPad: "SAME_UPPER"}, v, m.leaf(to, from, 3, 3), m.leaf(to))
		return m.call(ops.MaxPool{Kernel: []int{2, 2}, Strides: []int{2, 2}}, m.call(ops.ReLU{}, v))
	}
	v := m.reshape(conv(conv(m.leaf(16, 1, 28, 28), 1, 16), 16, 32), 16, -1)
	return m.call(ops.Softmax{Dim: -1}, m.call(ops.Add{}, m.call(ops.MatMul{}, v, m.leaf(32*7*7, 10)), m.leaf(10)))
}

var networks = []struct {
	name  string
	graph func(maker[*graph.Value]) *graph.Value
	eager func(maker[*lathe.Tensor]) *lathe.Tensor
}{
	{"chain", chain[*graph.Value], chain[*lathe.Tensor]},
	{"mlp", mlp[*graph.Value], mlp[*lathe.Tensor]},
	{"block", block[*graph.Value], block[*lathe.Tensor]},
	{"cnn", cnn[*graph.Value], cnn[*lathe.Tensor]},
}

// ofGraph makes values of a graph, and a tensor for each leaf.
type ofGraph struct {
	g      *graph.Graph
	tensor func(shape ...int) *lathe.Tensor
	leaves []*lathe.Tensor
}

func (m *ofGraph) leaf(shape ...int) *graph.Value {
	m.leaves = append(m.leaves, m.tensor(shape...))
	return m.g.Input(fmt.Sprint("x", len(m.leaves)), tensor.F32, shape...)
}
func (m *ofGraph) call(c spec.Call, in ...*graph.Value) *graph.Value  { return m.g.Call(c, in...)[0] }
func (m *ofGraph) reshape(v *graph.Value, shape ...int) *graph.Value  { return v.Reshape(shape...) }
func (m *ofGraph) transpose(v *graph.Value, perm ...int) *graph.Value { return v.Transpose(perm...) }

// oneByOne runs each call at once. Its leaves are those of an ofGraph.
type oneByOne struct {
	s      *lathe.Scope
	leaves []*lathe.Tensor
}

func (m *oneByOne) leaf(...int) *lathe.Tensor {
	x := m.leaves[0]
	m.leaves = m.leaves[1:]
	return x
}
func (m *oneByOne) call(c spec.Call, in ...*lathe.Tensor) *lathe.Tensor { return m.s.Call(c, in...)[0] }
func (m *oneByOne) reshape(v *lathe.Tensor, shape ...int) *lathe.Tensor {
	if !v.Desc().IsContiguous() {
		v = m.s.Copy(v)
	}
	return m.s.Take(v.Reshape(shape...))
}
func (m *oneByOne) transpose(v *lathe.Tensor, perm ...int) *lathe.Tensor {
	return m.s.Take(v.Transpose(perm...))
}

// prepared is a network as an Executable and one by one.
type prepared struct {
	dev    *lathe.Device
	exe    *lathe.Executable
	leaves []*lathe.Tensor
	result *lathe.Tensor
	eager  func(maker[*lathe.Tensor]) *lathe.Tensor
}

// prepare compiles network i on a backend.
func prepare(tb testing.TB, backend string, i int, o graph.Options) *prepared {
	tb.Helper()
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
	testkit.Opened(tb, err)
	tb.Cleanup(func() { dev.Close() })
	m := &ofGraph{g: graph.New(), tensor: func(shape ...int) *lathe.Tensor {
		data := make([]float32, tensor.Contiguous(tensor.F32, shape...).Elems())
		for i := range data {
			data[i] = float32(i%13)/64 - 0.1
		}
		x, err := lathe.FromSlice(ctx, dev, data, shape...)
		if err != nil {
			tb.Fatal(err)
		}
		return x
	}}
	out := networks[i].graph(m)
	m.g.Output("y", out)
	p := &prepared{dev: dev, leaves: m.leaves, eager: networks[i].eager}
	if p.exe, err = dev.Compile(ctx, m.g, o); err != nil {
		tb.Fatal(err)
	}
	if p.result, err = dev.NewTensor(out.Desc()); err != nil {
		tb.Fatal(err)
	}
	return p
}

// asGraph and oneByOne compute the network and wait for it.
func (p *prepared) asGraph(ctx context.Context) error {
	if err := p.exe.RunInto(ctx, p.leaves, []*lathe.Tensor{p.result}); err != nil {
		return err
	}
	return p.dev.Sync(ctx)
}

func (p *prepared) oneByOne(ctx context.Context, check func(*lathe.Tensor)) error {
	s := p.dev.Scope(ctx)
	y := p.eager(&oneByOne{s, p.leaves})
	if check != nil {
		check(y)
	}
	if err := s.Close(); err != nil {
		return err
	}
	return p.dev.Sync(ctx)
}

// TestNetworks compares each network as a graph with the same calls one by one, bit for bit, and looks at its launches and memory.
func TestNetworks(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"vk", "cpu", "wgpu"} {
		for i, n := range networks {
			t.Run(backend+"/"+n.name, func(t *testing.T) {
				p := prepare(t, backend, i, graph.Options{})
				if err := p.asGraph(ctx); err != nil {
					t.Fatal(err)
				}
				if err := p.oneByOne(ctx, func(y *lathe.Tensor) { compare(t, p.dev, p.result, y) }); err != nil {
					t.Fatal(err)
				}
				plan := p.exe.Plan()
				if b := plan.Program.Bytes; float64(b.Arena) > 1.15*float64(b.Lower) {
					t.Errorf("an arena of %d bytes, at least %d", b.Arena, b.Lower)
				}
				if plan.Report.Fusion.Launches == 0 && n.name != "cnn" {
					t.Errorf("nothing is fused:\n%v", plan)
				}
				t.Logf("%d launches for %d calls, %+v", plan.Program.Launches(), plan.Report.Calls, plan.Program.Bytes)
			})
		}
	}
}

// BenchmarkNetworks runs each network one by one and as a graph, in turns, and reports the ratio of the least times, and the times in
// milliseconds.
func BenchmarkNetworks(b *testing.B) {
	ctx := context.Background()
	for _, backend := range []string{"vk", "cpu"} {
		for i, n := range networks {
			b.Run(backend+"/"+n.name, func(b *testing.B) {
				p := prepare(b, backend, i, graph.Options{})
				ways := []func() error{func() error { return p.oneByOne(ctx, nil) }, func() error { return p.asGraph(ctx) }}
				var least [2]time.Duration
				for b.Loop() {
					for k, run := range ways {
						begin := time.Now()
						if err := run(); err != nil {
							b.Fatal(err)
						}
						if d := time.Since(begin); least[k] == 0 || d < least[k] {
							least[k] = d
						}
					}
				}
				b.ReportMetric(float64(least[0])/float64(least[1]), "ratio")
				b.ReportMetric(float64(least[0].Microseconds())/1000, "ms-one-by-one")
				b.ReportMetric(float64(least[1].Microseconds())/1000, "ms-graph")
				b.ReportMetric(float64(p.exe.Plan().Program.Launches()), "launches")
			})
		}
	}
}
