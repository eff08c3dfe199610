package lathe_test

import (
	"context"
	"image"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// counting is a device that counts the launches of the lists that it prepares.
type counting struct {
	gpu.Device
	launches int
}

func (c *counting) Prepare(list []gpu.Dispatch) (gpu.Prepared, error) {
	c.launches += len(list)
	return gpu.Prepare(c.Device, list)
}

// TestCaptureRefusesPictures filters a picture while calls are recorded. That is an error, and nothing of it is recorded.
func TestCaptureRefusesPictures(t *testing.T) {
	ctx := context.Background()
	testkit.Built(t, drivers.Built(), "cpu")
	inner, err := cpu.Open(cpu.Options{NoCache: true})
	check(t, err)
	launches := &counting{Device: inner}
	dev, err := lathe.Open(ctx, lathe.WithGPU(launches), lathe.WithLogger(nil), lathe.WithTuneMode("off"))
	check(t, err)
	defer dev.Close()
	c, err := dev.NewCapture(1)
	check(t, err)
	m := image.NewNRGBA(image.Rect(0, 0, 40, 40))
	x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3}, 3)
	check(t, err)
	check(t, c.Record(ctx, 1, func() error {
		_, err := c.Device().Apply(ctx, m, imageops.BoxBlur{Radius: 3})
		wantErr(t, "apply", err, lathe.ErrCapture)
		wantErr(t, "apply to", c.Device().ApplyTo(ctx, m, m, imageops.InvertColors{}), lathe.ErrCapture)
		return c.Device().Run(ctx, ops.Add{}, []*lathe.Tensor{x, x}, []*lathe.Tensor{x})
	}))
	if launches.launches != 1 {
		t.Errorf("the graph has %d launches, want the one of add", launches.launches)
	}
	ok, err := c.Replay(ctx, 1)
	check(t, err)
	got, err := lathe.ToSlice[float32](ctx, x)
	check(t, err)
	if !ok || got[2] != 6 {
		t.Errorf("replayed %v: got %v, want 2, 4 and 6", ok, got)
	}
	check(t, c.Device().ApplyTo(ctx, m, m, imageops.InvertColors{}))
	if m.Pix[0] != 255 {
		t.Error("after End, the picture is not inverted")
	}
	check(t, c.Close())
}

// TestCaptureClosed calls each method of a Capture that was closed.
func TestCaptureClosed(t *testing.T) {
	ctx := context.Background()
	testkit.Built(t, drivers.Built(), "cpu")
	dev, err := lathe.Open(ctx, lathe.WithBackend("cpu"), lathe.WithLogger(nil))
	check(t, err)
	defer dev.Close()
	c, err := dev.NewCapture(1)
	check(t, err)
	x, err := dev.NewTensor(tensor.Contiguous(tensor.F32, 3))
	check(t, err)
	check(t, c.Close())
	for name, f := range map[string]func() error{
		"begin":            func() error { return c.Begin(ctx) },
		"end":              func() error { return c.End(ctx, 1) },
		"abort":            c.Abort,
		"record":           func() error { return c.Record(ctx, 1, func() error { return nil }) },
		"replay":           func() error { _, err := c.Replay(ctx, 1); return err },
		"replay with":      func() error { _, err := c.ReplayWith(ctx, 1, lathe.Rebind{From: x, To: x}); return err },
		"bindable":         func() error { return c.Bindable(x) },
		"patchable":        func() error { _, err := c.Patchable(func() error { return nil }); return err },
		"reset":            func() error { return c.Reset(1) },
		"reset all":        c.ResetAll,
		"set decode state": func() error { return c.SetDecodeState(ctx, 1, 1) },
		"decode state":     func() error { _, err := c.DecodeState(); return err },
	} {
		wantErr(t, name, f(), lathe.ErrClosed)
	}
	if c.Recording() || len(c.Keys()) != 0 {
		t.Error("a closed Capture records, or has keys")
	}
	check(t, c.Close())
	check(t, dev.Sync(ctx))
}
