package cpu

import (
	"fmt"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// StartTrace reports what the device does from now on, as gpu.Timer promises. All times
// are those of the clock now, which the device reads at the begin and the end of each
// command.
// Errors: ErrInvalidArgument (a sink and no clock), ErrClosed.
func (d *Device) StartTrace(now func() time.Duration, sink func(gpu.Span)) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	if sink != nil && now == nil {
		return fmt.Errorf("cpu: trace: %w: no clock", gpu.ErrInvalidArgument)
	}
	d.trace = nil
	if sink != nil {
		d.trace = &device.HostTrace{Now: now, Sink: sink}
	}
	return nil
}

// report reports the spans of a list that has run, and the list itself.
func (d *Device) report(l *list, spans []gpu.Span) {
	d.life.Lock()
	defer d.life.Unlock()
	t := l.trace
	if t != d.trace { // the trace has ended
		return
	}
	for _, s := range spans {
		t.Sink(s)
	}
	t.Sink(gpu.Span{Kind: gpu.Submission, Batch: l.seq, Begin: l.submitted, End: max(l.submitted, t.Now())})
}
