package graphs_test

import (
	"context"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/networks"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// prepare compiles a network on a backend.
func prepare(tb testing.TB, backend string, n *networks.Network, o graph.Options) (*lathe.Device, *networks.Prepared) {
	tb.Helper()
	dev, err := lathe.Open(tb.Context(), lathe.WithBackend(backend), lathe.WithLogger(nil))
	testkit.Opened(tb, err)
	tb.Cleanup(func() { dev.Close() })
	p, err := n.Prepare(tb.Context(), dev, o)
	if err != nil {
		tb.Fatal(err)
	}
	return dev, p
}

// oneByOne computes a network call by call and waits for it.
func oneByOne(ctx context.Context, dev *lathe.Device, p *networks.Prepared, check func(*lathe.Tensor)) error {
	s := dev.Scope(ctx)
	y := p.Eager(s)
	if check != nil {
		check(y)
	}
	if err := s.Close(); err != nil {
		return err
	}
	return dev.Sync(ctx)
}

// TestNetworks compares each network as a graph with the same calls one by one, bit for bit, and looks at its launches and memory.
func TestNetworks(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"vk", "cpu", "wgpu"} {
		for i := range networks.All {
			n := &networks.All[i]
			t.Run(backend+"/"+n.Name, func(t *testing.T) {
				dev, p := prepare(t, backend, n, graph.Options{})
				result, err := p.Compiled(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if err := oneByOne(ctx, dev, p, func(y *lathe.Tensor) { compare(t, dev, result, y) }); err != nil {
					t.Fatal(err)
				}
				plan := p.Exe.Plan()
				if b := plan.Program.Bytes; float64(b.Arena) > 1.15*float64(b.Lower) {
					t.Errorf("an arena of %d bytes, at least %d", b.Arena, b.Lower)
				}
				if plan.Report.Fusion.Launches == 0 && n.Name != "cnn" {
					t.Errorf("nothing is fused:\n%v", plan)
				}
				t.Logf("%d launches for %d calls, %+v", plan.Program.Launches(), plan.Report.Calls, plan.Program.Bytes)
			})
		}
	}
}

// BenchmarkNetworks runs each network one by one and as a graph, and reports the ratio of the least times, and the times in
// milliseconds.
func BenchmarkNetworks(b *testing.B) {
	ctx := context.Background()
	for _, backend := range []string{"vk", "cpu"} {
		for i := range networks.All {
			n := &networks.All[i]
			b.Run(backend+"/"+n.Name, func(b *testing.B) {
				dev, p := prepare(b, backend, n, graph.Options{})
				ways := []func() error{func() error { return oneByOne(ctx, dev, p, nil) }, func() error {
					if _, err := p.Compiled(ctx); err != nil {
						return err
					}
					return dev.Sync(ctx)
				}}
				milliseconds(b, leastTimes(b, ways...), "one-by-one", "graph")
				b.ReportMetric(float64(p.Exe.Plan().Program.Launches()), "launches")
			})
		}
	}
}
