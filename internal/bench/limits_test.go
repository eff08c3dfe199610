package bench

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
)

// counting counts the buffers that are live.
type counting struct {
	gpu.Device
	live atomic.Int64
}

func (c *counting) Alloc(n int64) (gpu.Handle, error) {
	h, err := c.Device.Alloc(n)
	if err == nil {
		c.live.Add(1)
	}
	return h, err
}

func (c *counting) Free(h gpu.Handle) error {
	c.live.Add(-1)
	return c.Device.Free(h)
}

// TestCopyBeyondLimits measures a call that fits the limits of a device, where a copy of as many bytes does not. All
// memory of the device beside it is free afterwards.
func TestCopyBeyondLimits(t *testing.T) {
	testlevel.Need(t, testlevel.Full) // adds tensors of 256 MiB
	dev, other := open(t), &counting{Device: open(t)}
	limits, kind, first := dev.Info().Limits, gpu.Discrete, true
	limits.MaxBuffer = 300 << 20
	rep, err := Run(t.Context(), guard.Restrict(dev, limits), Options{
		Ops: []*spec.Op{ops.Add{}.Spec()}, Quick: true, Beside: other, as: &kind,
		Keep: func(c spec.BenchCase) bool {
			keep := c.GPU && first
			first = first && !c.GPU
			return keep
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Rows) != 1 || rep.Rows[0].Unsupported != "" || rep.Rows[0].Beside == nil {
		t.Errorf("got %+v, want one row with times of both devices", rep.Rows)
	}
	if n := other.live.Load(); n != 0 {
		t.Errorf("%d buffers live on the other device", n)
	}
}

func TestSampleTimes(t *testing.T) {
	if got := (Sample{4 * time.Second, 6}).times(3, 2); got[0] != 6*time.Second || got[1] != 9 {
		t.Errorf("got %v", got)
	}
}
