package graphs_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

// pipeline is a graph of products of matrices [n, n], and tensors for runs in flight.
type pipeline struct {
	dev     *lathe.Device
	exe     *lathe.Executable
	in, out []*lathe.Tensor
}

// newPipeline compiles a graph of so many products, with inputs and outputs for k runs.
func newPipeline(tb testing.TB, backend string, n, products, k int) *pipeline {
	tb.Helper()
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
	testkit.Opened(tb, err)
	tb.Cleanup(func() { dev.Close() })
	g := graph.New()
	v := g.Input("x", tensor.F32, n, n)
	for range products {
		v = g.Tanh(g.MatMul(v, v))
	}
	g.Output("y", v)
	p := &pipeline{dev: dev}
	if p.exe, err = dev.Compile(ctx, g, graph.Options{}); err != nil {
		tb.Fatal(err)
	}
	for i := range k {
		data := make([]float32, n*n)
		for j := range data {
			data[j] = float32((j*31+i*7)%17)/64 - 0.1
		}
		x, err := lathe.FromSlice(ctx, dev, data, n, n)
		if err != nil {
			tb.Fatal(err)
		}
		y, err := dev.NewTensor(x.Desc())
		if err != nil {
			tb.Fatal(err)
		}
		p.in, p.out = append(p.in, x), append(p.out, y)
	}
	return p
}

func (p *pipeline) run(tb testing.TB, i int) {
	tb.Helper()
	if err := p.exe.RunInto(context.Background(), p.in[i:i+1], p.out[i:i+1]); err != nil {
		tb.Fatal(err)
	}
}

func (p *pipeline) read(tb testing.TB, i int) []byte {
	tb.Helper()
	data, err := p.dev.Read(context.Background(), p.out[i])
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// TestRunsInFlight submits many runs of one Executable before it reads a result, more than a device keeps at once, and reads the
// results in another order. Each is that of its own input.
func TestRunsInFlight(t *testing.T) {
	const k = 12
	for _, backend := range []string{"vk", "cpu", "wgpu"} {
		t.Run(backend, func(t *testing.T) {
			p := newPipeline(t, backend, 32, 8, k)
			want := make([][]byte, k)
			for i := range k {
				p.run(t, i)
				want[i] = p.read(t, i)
				if i > 0 && slices.Equal(want[i], want[0]) {
					t.Fatal("the results of two inputs are the same")
				}
			}
			for round := range 20 {
				for j := range 4 * k {
					p.run(t, (j*5+round)%k)
				}
				for i := range k {
					if at := (i*7 + round) % k; !slices.Equal(p.read(t, at), want[at]) {
						t.Fatalf("round %d: the result of input %d is another one", round, at)
					}
				}
			}
		})
	}
}

// TestReadWhileRunning reads the result of a run while a later one is not done.
func TestReadWhileRunning(t *testing.T) {
	for _, backend := range []string{"vk", "cpu"} { // on WebGPU a read is a copy that the queue does last
		t.Run(backend, func(t *testing.T) {
			p := newPipeline(t, backend, 512, 6, 2)
			for i := range p.in {
				p.run(t, i)
				p.read(t, i)
			}
			for range 5 { // a machine that is busy may stop this goroutine while the second run ends
				p.run(t, 0)
				p.run(t, 1)
				p.read(t, 0)
				soon, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				_, err := p.dev.Read(soon, p.out[1])
				cancel()
				if errors.Is(err, context.DeadlineExceeded) {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Error("the first result was read after the second run only")
		})
	}
}

// BenchmarkRunsInFlight reads each result of a small graph on the host, with so many runs in flight.
func BenchmarkRunsInFlight(b *testing.B) {
	for _, backend := range []string{"vk", "cpu", "wgpu"} {
		for _, k := range []int{1, 2, 4} {
			b.Run(backend+"/"+strconv.Itoa(k), func(b *testing.B) {
				p := newPipeline(b, backend, 64, 4, k)
				i := 0
				for ; i < k; i++ {
					p.run(b, i)
				}
				for b.Loop() {
					p.read(b, i%k)
					p.run(b, i%k)
					i++
				}
				if err := p.dev.Sync(context.Background()); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
