package conformance_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestCaptures records a call of each operation, at the quick level of a third of them, and compares four replays with the same call that runs at
// once, bit for bit. Two of them are on other tensors. Each replay begins with the inputs written anew and the outputs filled with other bytes. The device is in a guard, which finds writes outside of buffers.
func TestCaptures(t *testing.T) {
	testlevel.Turn(t, 5)
	ctx := t.Context()
	devices(t, func(t *testing.T, opened gpu.Device) {
		dev, err := lathe.Open(ctx, lathe.WithGPU(guard.New(opened)), lathe.WithoutCache(), lathe.WithTuneMode("off"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
		}()
		c, err := dev.NewCapture(2)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
		list := inShard()
		if !testlevel.IsFull() {
			list = aThird(testlevel.Seed(t), list)
		}
		compared := 0
		for _, op := range list {
			dtypes := op.Cases.DTypes
			if !testlevel.IsFull() {
				dtypes = dtypes[:min(len(dtypes), 1)]
			}
			for _, dtype := range dtypes {
				if err := captureOf(t, dev, c, op, dtype); errors.Is(err, errNoCase) || errors.Is(err, lathe.ErrUnsupported) || errors.Is(err, lathe.ErrLimit) {
					continue
				} else if err != nil {
					t.Errorf("%s %v: %v", op.Name, dtype, err)
					continue
				}
				compared++
			}
		}
		t.Logf("%d calls were captured", compared)
		if compared == 0 && len(list) > 0 {
			t.Error("no call was captured")
		}
	})
}

// errNoCase says that an operation has no case of a dtype, as Sample finds.
var errNoCase = errors.New("no case")

// captureOf compares replays of a call with the call.
func captureOf(t *testing.T, dev *lathe.Device, c *lathe.Capture, op *spec.Op, dtype tensor.DType) error {
	ctx := t.Context()
	call, hosts, want, err := conformance.Sample(op, dtype, 37)
	if err != nil {
		return errNoCase
	}
	in, out := make([]*lathe.Tensor, len(hosts)), make([]*lathe.Tensor, len(want))
	defer func() {
		for _, x := range append(in, out...) {
			_ = dev.Free(x) // an output may be an input
		}
	}()
	for i, h := range hosts {
		if in[i], err = dev.NewTensor(h.Desc); err != nil {
			return err
		}
	}
	for i, h := range want {
		if at := op.Updates(i); at >= 0 && at < len(in) {
			out[i] = in[at]
		} else if out[i], err = dev.NewTensor(h.Desc); err != nil {
			return err
		}
	}
	result := func(in, out []*lathe.Tensor, run func() error) (all [][]byte, err error) {
		for _, x := range out {
			if err := dev.Write(ctx, x, bytes.Repeat([]byte{0x3C}, int(x.Desc().Bytes()))); err != nil {
				return nil, err
			}
		}
		for i, h := range hosts {
			if err := dev.Write(ctx, in[i], h.Data); err != nil {
				return nil, err
			}
		}
		if err := run(); err != nil {
			return nil, err
		}
		for _, x := range out {
			data, err := dev.Read(ctx, x)
			if err != nil {
				return nil, err
			}
			all = append(all, data)
		}
		return all, nil
	}
	eager, err := result(in, out, func() error { return dev.Run(ctx, call, in, out) })
	if err != nil {
		return err
	}
	if err := c.Begin(ctx); err != nil {
		return err
	}
	if err := errors.Join(c.Bindable(in...), c.Device().Run(ctx, call, in, out), c.Bindable(out...)); err != nil {
		return errors.Join(err, c.Abort())
	}
	if err := c.End(ctx, 1); err != nil {
		return err
	}
	ins, outs, with, err := replacements(dev, in, out)
	defer func() {
		for _, w := range with {
			_ = dev.Free(w.To)
		}
	}()
	if err != nil {
		return err
	}
	for i := range 4 {
		replay, of, to := func() (bool, error) { return c.Replay(ctx, 1) }, in, out
		if i%2 == 1 { // on other tensors
			replay, of, to = func() (bool, error) { return c.ReplayWith(ctx, 1, with...) }, ins, outs
		}
		got, err := result(of, to, func() error {
			ok, err := replay()
			if err == nil && !ok {
				err = errors.New("there is no graph")
			}
			return err
		})
		if err != nil {
			return err
		}
		for k := range got {
			if !bytes.Equal(got[k], eager[k]) {
				t.Errorf("%s: output %d of replay %d differs from that of the call", spec.FormatCall(call), k, i)
			}
		}
	}
	return nil
}

// replacements makes tensors like those of a call, for replays on others.
func replacements(dev *lathe.Device, in, out []*lathe.Tensor) (ins, outs []*lathe.Tensor, with []lathe.Rebind, err error) {
	made := map[*lathe.Tensor]*lathe.Tensor{}
	other := func(list []*lathe.Tensor) (others []*lathe.Tensor) {
		for _, x := range list {
			if made[x] == nil && err == nil { // an output may be an input
				if made[x], err = dev.NewTensor(x.Desc()); err == nil {
					with = append(with, lathe.Rebind{From: x, To: made[x]})
				}
			}
			others = append(others, made[x])
		}
		return others
	}
	ins, outs = other(in), other(out)
	return ins, outs, with, err
}
