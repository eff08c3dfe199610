package main

import (
	"context"
	"fmt"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/networks"
)

// benchGraphs measures small networks as compiled graphs, in turns with the same calls one by one. It leaves dev open.
func benchGraphs(ctx context.Context, dev gpu.Device, o *bench.Options) ([]bench.Graph, error) {
	d, err := lathe.Open(ctx, lathe.WithGPU(dev), lathe.WithLogger(nil)) // not closed, because that would close dev
	if err != nil {
		return nil, err
	}
	var rows []bench.Graph
	for i := range networks.All {
		row, err := benchGraph(ctx, d, &networks.All[i], o)
		if err != nil {
			return rows, fmt.Errorf("graph %s: %w", networks.All[i].Name, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func benchGraph(ctx context.Context, d *lathe.Device, n *networks.Network, o *bench.Options) (row bench.Graph, err error) {
	p, err := n.Prepare(ctx, d, graph.Options{})
	if err != nil {
		return row, err
	}
	defer p.Free()
	var off []string
	for _, pass := range graph.Passes() {
		off = append(off, pass.Name)
	}
	alone, err := d.PlanGraph(n.Build(), graph.Options{Without: off})
	if err != nil {
		return row, err
	}
	plan := p.Exe.Plan()
	cost := plan.Cost()
	row = bench.Graph{Name: n.Name, Calls: len(plan.Program.Steps), Launches: plan.Program.Launches(), EagerCalls: len(alone.Program.Steps), EagerLaunches: alone.Program.Launches(),
		Flops: cost.Flops, Bytes: cost.Bytes, EagerBytes: alone.Cost().Bytes, Arena: plan.Program.Bytes.Arena}
	return row, row.Measure(o, func() error {
		if _, err := p.Compiled(ctx); err != nil {
			return err
		}
		return d.Sync(ctx)
	}, func() error {
		s := d.Scope(ctx)
		p.Eager(s)
		if err := s.Close(); err != nil {
			return err
		}
		return d.Sync(ctx)
	})
}
