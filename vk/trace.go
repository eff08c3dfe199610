//go:build !novk && cgo

package vk

/*
#include "batch.h"
*/
import "C"

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// ticks describes the timestamps of a queue.
type ticks struct {
	mask   uint64  // the bits that count; 0 if there are no timestamps
	length float64 // the nanoseconds of one tick
}

// between is the time from one tick to a later one.
func (t ticks) between(from, to uint64) time.Duration {
	return time.Duration(math.Round(float64((to-from)&t.mask) * t.length))
}

// tracing is a trace that StartTrace began, and what is known of the device's clock. The
// lock of the device guards it.
//
// Nothing reads the clock of the host and that of the device at the same moment. But a
// batch does not begin before it was submitted, and does not end after it was seen to be
// done. If a batch breaks this rule, the device's clock is moved until it does not. So
// the clock soon fits the batch that started most quickly.
type tracing struct {
	device.HostTrace
	tick ticks

	known bool          // base and at are valid
	base  uint64        // a tick of the device
	at    time.Duration // the time of the host at that tick
	last  time.Duration // the end of the last command reported
}

// place finds the time of the host at the first tick of a batch. submitted and seen are
// the times when the batch was submitted and when it was seen to be done.
func (t *tracing) place(first, last uint64, submitted, seen time.Duration) {
	at := submitted
	if t.known {
		at = t.at + t.tick.between(t.base, first)
	}
	at = min(at, seen-t.tick.between(first, last))
	t.known, t.base, t.at = true, first, max(at, submitted)
}

// time is the time of the host at a tick of the batch that was placed last. Commands must
// not overlap because the clock was moved, so it is never before the last time.
func (t *tracing) time(tick uint64) time.Duration {
	t.last = max(t.last, t.at+t.tick.between(t.base, tick))
	return t.last
}

// logbook has the commands of a batch that is traced.
type logbook struct {
	trace     *tracing // the trace, or nil if the batch is not traced
	spans     []gpu.Span
	submitted time.Duration
	ticks     []C.uint64_t
}

func (l *logbook) launch(x *gpu.Dispatch) {
	l.spans = append(l.spans, gpu.Span{Kind: gpu.Launch, Name: gpu.Label(x.Module), Groups: x.Groups, Tag: x.Tag})
}

// move logs a copy or a fill, if the batch is traced.
func (l *logbook) move(kind gpu.SpanKind, bytes int64, tag uint64) {
	if l.trace != nil {
		l.spans = append(l.spans, gpu.Span{Kind: kind, Bytes: bytes, Tag: tag})
	}
}

// StartTrace reports what the device does from now on, as gpu.Timer promises.
// Errors: ErrInvalidArgument (a sink and no clock), ErrDeviceLost, ErrClosed.
func (d *Device) StartTrace(now func() time.Duration, sink func(gpu.Span)) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	if sink != nil && now == nil {
		return fmt.Errorf("vk: trace: %w: no clock", gpu.ErrInvalidArgument)
	}
	d.flush() // either all of a batch is traced or nothing
	d.trace = nil
	if sink != nil {
		d.trace = &tracing{HostTrace: device.HostTrace{Now: now, Sink: sink}, tick: d.phys.tick}
	}
	return nil
}

// reserveTimes reserves room for the times of a batch, if the batch is timed.
func (d *Device) reserveTimes(b *batch) (timed C.int, err error) {
	if b.log.trace == nil || !d.phys.info.Features.Timestamps {
		return 0, nil
	}
	before := b.c.queryPool
	r := fault.Result("vkCreateQueryPool")
	if r == success {
		r = result(C.lvk_batch_reserve_times(d.fn, b.c, C.uint32_t(len(b.cmds))))
	}
	if before == 0 && b.c.queryPool != 0 {
		objects.queries.Add(1)
	}
	return 1, check("vkCreateQueryPool", r)
}

// report reports a batch that is done to the sink.
func (d *Device) report(b *batch) {
	l := &b.log
	t := l.trace
	if t == nil || t != d.trace || b.failed || d.life.Lost() != nil {
		return
	}
	all := gpu.Span{Kind: gpu.Submission, Batch: b.seq, Begin: l.submitted, End: max(l.submitted, t.Now())}
	if d.readTimes(b) {
		n := len(l.spans)
		t.place(uint64(l.ticks[0]), uint64(l.ticks[n]), all.Begin, all.End)
		at := t.time(uint64(l.ticks[0]))
		for i := range l.spans {
			s := &l.spans[i]
			s.Batch, s.Begin = b.seq, at
			at = t.time(uint64(l.ticks[i+1]))
			s.End = at
			t.Sink(*s)
		}
		all.End = max(at, all.Begin)
	}
	t.Sink(all)
}

// readTimes reads the ticks of a batch that is done. It returns false if there are none.
// If they cannot be read, that is an error of the work.
func (d *Device) readTimes(b *batch) bool {
	if !d.phys.info.Features.Timestamps {
		return false
	}
	n := len(b.log.spans)
	if cap(b.log.ticks) < n+1 {
		b.log.ticks = make([]C.uint64_t, max(n+1, batchFull+1))
	}
	b.log.ticks = b.log.ticks[:n+1]
	r := fault.Result("vkGetQueryPoolResults")
	if r == success {
		r = result(C.lvk_batch_times(d.fn, b.c, C.uint32_t(n), unsafe.SliceData(b.log.ticks)))
	}
	if err := check("vkGetQueryPoolResults", r); err != nil {
		d.life.Note(err)
	}
	return r == success
}

// hostTrace is the part of the trace with the times of the host, or nil. The caller holds
// the lock.
func (d *Device) hostTrace() *device.HostTrace {
	if d.trace == nil {
		return nil
	}
	return &d.trace.HostTrace
}
