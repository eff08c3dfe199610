//go:build !novk && cgo

package vk

/*
#include "batch.h"
*/
import "C"

import (
	"math"
	"time"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// ticks is how a queue's timestamps count.
type ticks struct {
	mask   uint64  // bits that count; 0 where there are no timestamps
	length float64 // nanoseconds of one
}

// between is the time from one tick to a later one.
func (t ticks) between(from, to uint64) time.Duration {
	return time.Duration(math.Round(float64((to-from)&t.mask) * t.length))
}

// tracing is what StartTrace asked for, and what is known of the device's clock.
// It is guarded by the device's lock.
//
// The two clocks are not read at one moment anywhere, but no batch begins before
// it was submitted nor ends after it was seen to be done. Each batch holds the
// device's clock to that: it is moved later, or earlier, by what it breaks the
// rule, and soon stands where the quickest start of a batch had it.
type tracing struct {
	now  func() time.Duration
	sink func(gpu.Span)
	tick ticks

	known bool          // of what follows
	base  uint64        // a tick
	at    time.Duration // when it was
	last  time.Duration // end of the last command reported
}

// place finds out when a batch was at its first tick.
func (t *tracing) place(first, last uint64, submitted, seen time.Duration) {
	at := submitted
	if t.known {
		at = t.at + t.tick.between(t.base, first)
	}
	at = min(at, seen-t.tick.between(first, last))
	t.known, t.base, t.at = true, first, max(at, submitted)
}

// time is when the tick was, which is one of the batch placed last. Moving the
// clock must not make commands overlap that did not.
func (t *tracing) time(tick uint64) time.Duration {
	t.last = max(t.last, t.at+t.tick.between(t.base, tick))
	return t.last
}

// host reports what the host has timed since begin.
func (t *tracing) host(kind gpu.SpanKind, name string, bytes int64, begin time.Duration) {
	t.sink(gpu.Span{Kind: kind, Name: name, Bytes: bytes, Begin: begin, End: max(begin, t.now())})
}

// logbook is what is known of a batch's commands while it is traced.
type logbook struct {
	trace     *tracing // nil if it is not
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

// StartTrace reports what the device does from now on, as gpu.Timer has it.
// Errors: ErrDeviceLost, ErrClosed.
func (d *Device) StartTrace(now func() time.Duration, sink func(gpu.Span)) (err error) {
	if err := d.life.Begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	d.flush() // a batch is traced as a whole or not at all
	d.trace = nil
	if sink != nil {
		d.trace = &tracing{now: now, sink: sink, tick: d.phys.tick}
	}
	return nil
}

// reserveTimes makes room for the times of a batch, if it is to have any.
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

// report tells the sink of a batch that is done.
func (d *Device) report(b *batch) {
	l := &b.log
	t := l.trace
	if t == nil || t != d.trace || b.failed || d.life.Lost() != nil {
		return
	}
	all := gpu.Span{Kind: gpu.Submission, Batch: b.seq, Begin: l.submitted, End: max(l.submitted, t.now())}
	if d.readTimes(b) {
		n := len(l.spans)
		t.place(uint64(l.ticks[0]), uint64(l.ticks[n]), all.Begin, all.End)
		at := t.time(uint64(l.ticks[0]))
		for i := range l.spans {
			s := &l.spans[i]
			s.Batch, s.Begin = b.seq, at
			at = t.time(uint64(l.ticks[i+1]))
			s.End = at
			t.sink(*s)
		}
		all.End = max(at, all.Begin)
	}
	t.sink(all)
}

// readTimes gets the ticks of a batch that is done. It reports false where there
// are none; that they could not be read is an error of the work.
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

// timeCompile begins the compilation of m, and returns what ends it. The caller
// does not hold the lock.
func (d *Device) timeCompile(m *spv.Module) (done func()) {
	d.life.Lock()
	defer d.life.Unlock()
	t := d.trace
	if t == nil {
		return func() {}
	}
	begin := t.now()
	return func() {
		d.life.Lock()
		defer d.life.Unlock()
		if t == d.trace {
			t.host(gpu.Compile, gpu.Label(m), 0, begin)
		}
	}
}
