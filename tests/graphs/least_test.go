package graphs_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
)

// leastTimes runs some functions one after the other, again and again as long as b.Loop says, and returns the least time of each. So what else the
// machine does slows all of them.
func leastTimes(b *testing.B, ways ...func() error) []time.Duration {
	b.Helper()
	least := make([]time.Duration, len(ways))
	for k := range least {
		least[k] = math.MaxInt64
	}
	for b.Loop() {
		for k, way := range ways {
			begin := time.Now()
			if err := way(); err != nil {
				b.Fatal(err)
			}
			least[k] = min(least[k], time.Since(begin))
		}
	}
	return least
}

// milliseconds reports times under names, and the ratio of the first one and each other one, under names that begin with times-faster.
func milliseconds(b *testing.B, least []time.Duration, names ...string) {
	b.Helper()
	for k, name := range names {
		b.ReportMetric(float64(least[k].Microseconds())/1000, "ms-"+name)
		if k > 0 {
			b.ReportMetric(float64(least[0])/float64(least[k]), "times-faster-"+name)
		}
	}
}

// timed compiles a graph for a device, and returns a function that runs it and waits. Its params get the tensors of their names.
func timed(b *testing.B, dev *lathe.Device, g *graph.Graph, o graph.Options, given map[string]*lathe.Tensor) func() error {
	b.Helper()
	ctx := context.Background()
	exe, err := dev.Compile(ctx, g, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = exe.Free() })
	in := map[string]*lathe.Tensor{}
	for _, port := range exe.Plan().Program.Inputs {
		in[port.Name] = given[port.Name]
	}
	for _, port := range exe.Plan().Program.Params {
		if err := exe.SetParam(port.Name, given[port.Name]); err != nil {
			b.Fatal(err)
		}
	}
	run := func() error {
		out, err := exe.Run(ctx, in)
		if err != nil {
			return err
		}
		err = dev.Sync(ctx)
		for _, y := range out {
			_ = dev.Free(y)
		}
		return err
	}
	if err := run(); err != nil { // a driver compiles what it runs first
		b.Fatal(err)
	}
	return run
}
