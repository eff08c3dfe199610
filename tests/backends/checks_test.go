package backends_test

import (
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestReadAfterReplay reads what a replay has written from a tensor that a refused run should have written. The run before the refused one has written the tensor that is read.
func TestReadAfterReplay(t *testing.T) {
	eachBench(t, func(b bench) {
		g := graph.New()
		g.Output("y", g.Gather(g.Input("table", tensor.U32, 10), g.Input("index", tensor.I32, 3), 0))
		exe, err := b.dev.Compile(b.ctx, g, graph.Options{})
		b.check(err)
		table, y, z, other := b.tensor(10, 1), b.tensor(3, 0), b.tensor(3, 0), b.tensor(3, 0)
		good, err := lathe.FromSlice(b.ctx, b.dev, []int32{1, 2, 3}, 3)
		b.check(err)
		bad, err := lathe.FromSlice(b.ctx, b.dev, []int32{1, 99, 3}, 3)
		b.check(err)
		for key, to := range []*lathe.Tensor{y, other} {
			b.check(b.c.Record(b.ctx, uint64(key), func() error {
				return errors.Join(b.c.Device().Run(b.ctx, ops.Copy{}, []*lathe.Tensor{z}, []*lathe.Tensor{to}), b.c.Bindable(to))
			}))
		}
		for key, with := range [][]lathe.Rebind{nil, {{From: other, To: y}}} {
			b.check(exe.RunInto(b.ctx, []*lathe.Tensor{table, good}, []*lathe.Tensor{y}))
			b.check(exe.RunInto(b.ctx, []*lathe.Tensor{table, bad}, []*lathe.Tensor{z}))
			b.replay(uint64(key), true, with...)
			_, err := lathe.ToSlice[uint32](b.ctx, y)
			b.wantErr("a read after a replay", err, lathe.ErrInvalidArgument)
			b.check(b.dev.Sync(b.ctx)) // each error is returned once
		}
	})
}

// TestChecksOfBothDevices has a call refused by one of the two Devices of a capture, copies what it should have written by the other one, and reads the copy.
func TestChecksOfBothDevices(t *testing.T) {
	eachBench(t, func(b bench) {
		table, z, y := b.tensor(10, 1), b.tensor(3, 0), b.tensor(3, 0)
		bad, err := lathe.FromSlice(b.ctx, b.dev, []int32{1, 99, 3}, 3)
		b.check(err)
		for _, devices := range [][2]*lathe.Device{{b.dev, b.c.Device()}, {b.c.Device(), b.dev}} {
			first, second := devices[0], devices[1]
			gather := func() { b.check(first.Run(b.ctx, ops.Gather{}, []*lathe.Tensor{table, bad}, []*lathe.Tensor{z})) }
			gather()
			b.check(second.Run(b.ctx, ops.Copy{}, []*lathe.Tensor{z}, []*lathe.Tensor{y}))
			_, err := second.Read(b.ctx, y)
			b.wantErr("a read of the other device", err, lathe.ErrInvalidArgument)
			b.check(first.Sync(b.ctx)) // each error is returned once
			gather()
			b.wantErr("a sync of the other device", second.Sync(b.ctx), lathe.ErrInvalidArgument)
			b.check(first.Sync(b.ctx))
		}
		gather := func() {
			b.check(b.c.Device().Run(b.ctx, ops.Gather{}, []*lathe.Tensor{table, bad}, []*lathe.Tensor{z}))
		}
		gather()
		b.check(b.c.Begin(b.ctx))
		b.wantErr("a sync while the capture records", b.dev.Sync(b.ctx), lathe.ErrInvalidArgument)
		b.check(b.c.Abort())
		gather()
		b.check(b.c.Close())
		b.wantErr("a sync after the capture was closed", b.dev.Sync(b.ctx), lathe.ErrInvalidArgument)
	})
}
