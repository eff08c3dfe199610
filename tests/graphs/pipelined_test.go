package graphs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// pipeline is a graph of products of matrices [n, n], and tensors for runs in flight.
type pipeline struct {
	dev     *lathe.Device
	exe     *lathe.Executable
	in, out []*lathe.Tensor
	rows    []*lathe.Tensor // of each run
}

// newPipeline compiles a graph of so many products, with inputs and outputs for k runs. With checked, it gathers rows by an input, which the device checks.
func newPipeline(tb testing.TB, backend string, n, products, k int, checked bool) *pipeline {
	tb.Helper()
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
	testkit.Opened(tb, err)
	tb.Cleanup(func() { dev.Close() })
	g := graph.New()
	v := g.Input("x", tensor.F32, n, n)
	if checked {
		v = g.Gather(v, g.Input("rows", tensor.I32, n), 0)
	}
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
		if checked {
			p.rows = append(p.rows, p.indices(tb, n, 0))
		}
	}
	return p
}

// indices are 0 to n−1, the last one larger by off.
func (p *pipeline) indices(tb testing.TB, n, off int) *lathe.Tensor {
	tb.Helper()
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	list[n-1] += int32(off)
	x, err := lathe.FromSlice(context.Background(), p.dev, list, n)
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

func (p *pipeline) run(tb testing.TB, i int) {
	tb.Helper()
	in := p.in[i : i+1]
	if p.rows != nil {
		in = []*lathe.Tensor{p.in[i], p.rows[i]}
	}
	if err := p.exe.RunInto(context.Background(), in, p.out[i:i+1]); err != nil {
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
	both(t, []string{"vk", "cpu", "wgpu"}, func(t *testing.T, backend string, checked bool) {
		p := newPipeline(t, backend, 32, 8, k, checked)
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

// TestReadWhileRunning reads the result of a run while a later one is not done.
func TestReadWhileRunning(t *testing.T) {
	// on WebGPU a read is a copy that the queue does last
	both(t, []string{"vk", "cpu"}, func(t *testing.T, backend string, checked bool) {
		p := newPipeline(t, backend, 512, 6, 2, checked)
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

// both runs a test on each backend, for graphs without checks on the device and with them.
func both(t *testing.T, backends []string, test func(t *testing.T, backend string, checked bool)) {
	for _, backend := range backends {
		for _, checked := range []bool{false, true} {
			name := backend
			if checked {
				name += "/checked"
			}
			t.Run(name, func(t *testing.T) { test(t, backend, checked) })
		}
	}
}

// TestErrorsInFlight submits runs, one of which has an index out of range. The reads of results before it succeed, while no more
// than 4 are in flight. A read of its own result says what is wrong, and so does one of what a call has made of it. Each error is returned once.
func TestErrorsInFlight(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"vk", "cpu", "wgpu"} {
		for _, k := range []int{4, 11} {
			t.Run(fmt.Sprintf("%s/%d", backend, k), func(t *testing.T) {
				const n = 16
				p := newPipeline(t, backend, n, 1, k, true)
				good, bad := p.rows[0], p.indices(t, n, 1)
				refused := func(x *lathe.Tensor) bool {
					t.Helper()
					_, err := p.dev.Read(ctx, x)
					if err != nil && (!errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), "gather")) {
						t.Fatal(err)
					}
					return err != nil
				}
				for at := range k {
					for i := range k {
						if p.rows[i] = good; i == at {
							p.rows[i] = bad
						}
						p.run(t, i)
					}
					var derived *lathe.Tensor
					switch at % 3 {
					case 1:
						var err error
						if derived, err = p.dev.Neg(p.out[at]); err != nil {
							t.Fatal(err)
						}
					case 2: // in place of the result of an earlier run
						derived = p.out[0]
						if err := p.dev.Run(ctx, ops.Neg{}, p.out[at:at+1], p.out[:1]); err != nil {
							t.Fatal(err)
						}
					}
					found := 0
					for i := range at {
						if p.out[i] != derived && refused(p.out[i]) {
							found++
						}
					}
					if found > 0 && k <= 4 {
						t.Errorf("a result before run %d is refused", at)
					}
					own := p.out[at]
					if derived != nil {
						own = derived
					}
					if refused(own) {
						found++
					}
					if found != 1 {
						t.Errorf("the result of run %d, or one before it, is refused %d times", at, found)
					}
					for i := range k {
						if refused(p.out[i]) {
							t.Errorf("the error of run %d is returned twice", at)
						}
					}
				}
			})
		}
	}
}

// BenchmarkRunsInFlight reads each result of a small graph on the host, with so many runs in flight.
func BenchmarkRunsInFlight(b *testing.B) {
	for _, backend := range []string{"vk", "cpu", "wgpu"} {
		for _, k := range []int{1, 2, 4} {
			b.Run(backend+"/"+strconv.Itoa(k), func(b *testing.B) {
				p := newPipeline(b, backend, 64, 4, k, false)
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
