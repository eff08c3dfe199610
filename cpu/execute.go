package cpu

import (
	"context"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
)

// start lets a goroutine run what is queued. The caller holds the lock, and nothing is
// executing.
func (d *Device) start() {
	d.executing = true
	go d.executor()
}

// execute runs what is queued until nothing is left. The caller has set executing and does
// not hold the lock.
func (d *Device) execute() {
	d.life.Lock()
	for len(d.queue.commands) > 0 {
		d.executeQueue()
	}
	d.executing = false
	d.life.Changed.Broadcast()
	d.life.Unlock()
}

// executeQueue runs what is queued now. The caller holds the lock, which is released in
// between.
func (d *Device) executeQueue() {
	q := d.queue
	d.queue, d.idle = d.idle, nil
	d.life.Unlock()
	from := 0
	for i := range q.lists {
		l := &q.lists[i]
		d.executeList(q, from, l)
		from = l.end
		// Whoever waits sets wanted and then looks at finished.
		d.finished.Store(l.seq)
		if d.wanted.Load() <= l.seq && i < len(q.lists)-1 {
			d.life.Lock()
			d.wake()
			d.life.Unlock()
		}
	}
	clear(q.commands) // what they point to is not kept alive
	clear(q.lists)
	*q = queue{commands: q.commands[:0], lists: q.lists[:0], headers: q.headers[:0]}
	d.life.Lock()
	d.idle = q
	d.sweep()
	d.wake()
}

// wake wakes those that wait for lists which have run. The caller holds the lock.
func (d *Device) wake() {
	done, wanted, kept := d.finished.Load(), uint64(math.MaxUint64), d.waiters[:0]
	for _, w := range d.waiters {
		if w.seq <= done {
			w.done <- struct{}{}
			continue
		}
		wanted = min(wanted, w.seq)
		kept = append(kept, w)
	}
	clear(d.waiters[len(kept):])
	d.waiters = kept
	d.wanted.Store(wanted)
}

// executeList runs the commands of a list. If one fails, it leaves out the others.
func (d *Device) executeList(q *queue, from int, l *list) {
	var spans []gpu.Span
	for i := from; i < l.end && !d.stopping.Load(); i++ {
		c := &q.commands[i]
		s := gpu.Span{Kind: gpu.Fill, Bytes: c.size, Tag: c.tag, Batch: l.seq}
		if l.trace != nil {
			s.Begin = l.trace.Now()
		}
		var err error
		if c.kernel == nil {
			d.mem.clear(c.off, c.size)
		} else {
			err = d.team.dispatch(c.kernel, q.headers[c.header:c.header+int(c.kernel.header)], c.total)
		}
		if err != nil {
			if !d.stopping.Load() { // Close reports work that was stopped
				d.life.Lock()
				d.life.Note(err)
				d.life.Unlock()
			}
			break
		}
		if l.trace != nil {
			if s.End = max(s.Begin, l.trace.Now()); c.kernel != nil {
				s.Kind, s.Name, s.Groups, s.Bytes = gpu.Launch, c.kernel.label, c.groups, 0
			}
			spans = append(spans, s)
		}
	}
	if l.trace != nil {
		d.report(l, spans)
	}
}

// wait waits until list seq has run, or ctx ends. The caller holds the lock, which is
// released during the wait.
// Errors: ctx.Err().
func (d *Device) wait(ctx context.Context, seq uint64) error {
	if engineWorkers == 1 {
		// Two goroutines that wake each other could keep the only thread for ever.
		d.life.Unlock()
		giveWay()
		d.life.Lock()
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.finished.Load() >= seq {
			return nil
		}
		switch {
		case d.executing:
		case seq == d.seq && (ctx.Done() == nil || d.queue.time < startTime && !d.queue.loops):
			// The caller can do the work itself: it waits for all of it, and nothing ends
			// the wait before, or the work is short.
			d.executing = true
			d.executeQueue()
			d.executing = false
			if len(d.queue.commands) > 0 { // queued in between
				d.start()
			} else {
				d.life.Changed.Broadcast()
			}
			continue
		default:
			d.start()
		}
		d.sleep(ctx, seq)
	}
}

// waiter is a call that waits for a list.
type waiter struct {
	seq  uint64
	done chan struct{} // has room for one element
}

// sleep returns when list seq has run or ctx ends. The caller holds the lock, which is
// released in between. A channel costs less than life.Wait, which must watch ctx by a
// goroutine.
func (d *Device) sleep(ctx context.Context, seq uint64) {
	w := waiter{seq: seq}
	if n := len(d.spareDone); n > 0 {
		w.done, d.spareDone = d.spareDone[n-1], d.spareDone[:n-1]
	} else {
		w.done = make(chan struct{}, 1)
	}
	d.waiters = append(d.waiters, w)
	d.wanted.Store(min(d.wanted.Load(), seq))
	if d.finished.Load() >= seq { // it has run before wanted was set
		d.wake()
	}
	d.life.Unlock()
	select {
	case <-w.done:
		d.life.Lock()
	case <-ctx.Done():
		d.life.Lock()
		if i := slices.Index(d.waiters, w); i >= 0 {
			d.waiters = slices.Delete(d.waiters, i, i+1)
		} else {
			<-w.done
		}
	}
	d.spareDone = append(d.spareDone, w.done)
}
