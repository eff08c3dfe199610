package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/networks"
	"github.com/lathe-gpu/lathe/tensor"
)

// benchDecoders measures steps of a small decoder call by call, as a graph and replayed, in turns. It leaves dev open.
func benchDecoders(ctx context.Context, dev gpu.Device, o *bench.Options) ([]bench.Decoder, error) {
	d, err := lathe.Open(ctx, lathe.WithGPU(dev), lathe.WithLogger(nil)) // not closed, because that would close dev
	if err != nil {
		return nil, err
	}
	var rows []bench.Decoder
	for _, dtype := range []tensor.DType{tensor.F32, tensor.F16} {
		row, err := benchDecoder(ctx, d, dtype, o)
		if err != nil {
			return rows, fmt.Errorf("decoder %s: %w", dtype, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func benchDecoder(ctx context.Context, d *lathe.Device, dtype tensor.DType, o *bench.Options) (row bench.Decoder, err error) {
	const tokens, first = 64, 5
	c, err := d.NewCapture(1)
	if err != nil {
		return row, err
	}
	defer c.Close()
	p, err := networks.SmallDecoder(dtype, tokens).Prepare(ctx, c.Device(), graph.Options{})
	if err != nil {
		return row, err
	}
	defer p.Free()
	replay, err := p.Replayed(ctx, c)
	if err != nil {
		return row, err
	}
	row = bench.Decoder{Name: "two layers, " + dtype.String(), Tokens: tokens, Calls: p.Calls()}
	want, err := p.Draw(ctx, p.Eager, first, tokens)
	if err != nil {
		return row, err
	}
	draw := func(step func(context.Context) (*lathe.Tensor, error), same bool) func() error {
		return func() error {
			got, err := p.Draw(ctx, step, first, tokens)
			if err == nil && same && !slices.Equal(got, want) {
				err = fmt.Errorf("replays draw %v, and the calls %v", got, want)
			}
			return err
		}
	}
	// The kernels of the graph may round otherwise, and then it draws another text, which takes as long.
	return row, row.Measure(o, draw(p.Eager, true), draw(p.Compiled, false), draw(replay, true))
}
