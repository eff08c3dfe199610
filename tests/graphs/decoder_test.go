package graphs_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/networks"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/tensor"
)

// decode runs steps of a text that begins with a token, and returns the tokens that follow.
func decode(tb testing.TB, p *networks.Decoding, step func(context.Context) (*lathe.Tensor, error), first int32, steps int) []int32 {
	tb.Helper()
	tokens, err := p.Draw(tb.Context(), step, first, steps)
	if err != nil {
		tb.Fatal(err)
	}
	return tokens
}

// prepareDecoder makes a decoder on a backend.
func prepareDecoder(tb testing.TB, backend string, d *networks.Decoder) (*lathe.Device, *networks.Decoding) {
	tb.Helper()
	dev, err := lathe.Open(tb.Context(), lathe.WithBackend(backend), lathe.WithLogger(nil))
	testkit.Opened(tb, err)
	tb.Cleanup(func() { dev.Close() })
	p, err := d.Prepare(tb.Context(), dev, graph.Options{Strict: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.Free)
	return dev, p
}

// replayed records a step of a decoder that was prepared on the Device of a Capture, and returns a function that replays it.
func replayed(tb testing.TB, c *lathe.Capture, p *networks.Decoding) func(context.Context) (*lathe.Tensor, error) {
	tb.Helper()
	replay, err := p.Replayed(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	return replay
}

// prepareReplay makes a decoder whose steps can be recorded.
func prepareReplay(tb testing.TB, dev *lathe.Device, d *networks.Decoder) (*lathe.Capture, *networks.Decoding) {
	tb.Helper()
	c, err := dev.NewCapture(1)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	p, err := d.Prepare(tb.Context(), c.Device(), graph.Options{Strict: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.Free)
	return c, p
}

// changed is what the calls of a decoder have changed.
func changed(tb testing.TB, p *networks.Decoding) map[string][]byte {
	tb.Helper()
	all, err := p.Changed(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// TestDecoder draws a text of a small decoder call by call, as a graph, and by replays of one recorded step, token for token, twice.
func TestDecoder(t *testing.T) {
	steps := 64
	if testlevel.IsFull() {
		steps = 256
	}
	for _, backend := range []string{"vk", "cpu", "wgpu"} {
		for _, d := range []tensor.DType{tensor.F32, tensor.F16} {
			t.Run(backend+"/"+d.String(), func(t *testing.T) {
				dev, p := prepareDecoder(t, backend, networks.SmallDecoder(d, steps))
				want := decode(t, p, p.Eager, 5, steps)
				if got := decode(t, p, p.Compiled, 5, steps); !slices.Equal(got, want) {
					t.Errorf("the graph decodes %v\nthe calls %v", got, want)
				}
				if got := decode(t, p, p.Eager, 5, steps/2); !slices.Equal(got, want[:steps/2]) {
					t.Errorf("the same text again begins %v, before %v", got, want[:steps/2])
				}
				eager := changed(t, p)
				c, q := prepareReplay(t, dev, networks.SmallDecoder(d, steps))
				replay := replayed(t, c, q)
				for _, n := range []int{steps, steps / 2} {
					if got := decode(t, q, replay, 5, n); !slices.Equal(got, want[:n]) {
						t.Errorf("replays decode %v\nthe calls %v", got, want[:n])
					}
				}
				for name, got := range changed(t, q) {
					if !bytes.Equal(got, eager[name]) {
						t.Errorf("%s: other bytes after replays than after calls", name)
					}
				}
				if other := decode(t, p, p.Compiled, 6, steps/2); slices.Equal(other, want[:steps/2]) {
					t.Error("a text that begins with another token is the same")
				}
				if n := len(slices.Compact(slices.Sorted(slices.Values(want)))); n < steps/4 {
					t.Errorf("only %d tokens of %d differ: %v", n, steps, want)
				}
				t.Logf("%d calls a step, %d launches of the graph", p.Calls(), p.Exe.Plan().Program.Launches())
			})
		}
	}
}

// BenchmarkDecoder draws texts call by call, as a graph and by replays, and reports tokens a second. Each token is read before the next step.
func BenchmarkDecoder(b *testing.B) {
	for _, backend := range []string{"vk", "cpu"} {
		for _, d := range []tensor.DType{tensor.F32, tensor.F16} {
			b.Run(backend+"/"+d.String(), func(b *testing.B) {
				const steps = 64
				dev, p := prepareDecoder(b, backend, networks.SmallDecoder(d, steps))
				c, q := prepareReplay(b, dev, networks.SmallDecoder(d, steps))
				var ways []func() error
				for k, step := range []func(context.Context) (*lathe.Tensor, error){p.Eager, p.Compiled, replayed(b, c, q)} {
					ways = append(ways, func() error {
						decode(b, []*networks.Decoding{p, p, q}[k], step, 5, steps)
						return nil
					})
				}
				least := leastTimes(b, ways...)
				b.ReportMetric(steps/least[0].Seconds(), "tokens/s-one-by-one")
				b.ReportMetric(steps/least[1].Seconds(), "tokens/s-graph")
				b.ReportMetric(steps/least[2].Seconds(), "tokens/s-replay")
				b.ReportMetric(float64(least[0])/float64(least[1]), "graph/one-by-one")
				b.ReportMetric(float64(least[0])/float64(least[2]), "replay/one-by-one")
			})
		}
	}
}
