package cpu

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

const (
	// queueMost is a number of commands. If as many are queued, Submit waits.
	queueMost = 1 << 14
	// startCount and startTime say when queued work is started although nobody waits for
	// it: a number of commands, and nanoseconds.
	startCount = 64
	startTime  = 30_000
	// unknownTime is how long a dispatch counts, in nanoseconds, if its kernel has not run
	// yet.
	unknownTime = 1e6
)

// command is a dispatch, or memory to be cleared.
type command struct {
	kernel *kernel // nil if memory is to be cleared
	groups [3]uint32
	total  uint64
	header int    // where the header of the frame begins in queue.headers
	off    int64  // address of the memory to be cleared
	size   int64  // its size in bytes
	tag    uint64 // of the dispatch
}

// list is what one Submit has queued.
type list struct {
	seq       uint64 // number of the list, counted from 1
	end       int    // its commands end before this one
	trace     *device.HostTrace
	submitted time.Duration // by the clock of trace
}

// queue is work that is queued and has not begun.
type queue struct {
	commands []command
	lists    []list
	headers  []byte
	time     float64 // about how long it takes, in nanoseconds
	loops    bool    // a kernel has loops, so that it may take longer
}

// use is a binding of a dispatch.
type use struct {
	buf          *buffer
	offset, size int64
	discard      bool
}

type scratch = device.Scratch[*kernel, use]

// Submit queues the dispatches. They run one after the other.
// Errors: those of gpu.Device, none of them run then. ErrUnsupported also for shaders that
// the compiler does not know.
func (d *Device) Submit(dispatches []gpu.Dispatch) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	s := d.scratch.Borrow()
	defer d.scratch.Return(s)
	if err := d.compileAll(s, dispatches); err != nil {
		return err
	}
	for len(d.queue.commands) >= queueMost {
		if err := d.wait(context.Background(), d.seq); err != nil {
			return err
		}
	}
	for {
		for i := range dispatches {
			if err := dispatches[i].CheckLaunch(&d.info, d.size); err != nil {
				return err
			}
		}
		if err := d.gather(s, dispatches); err != nil {
			return err
		}
		if !d.copying(s) {
			break // the lock is held from here to the end, so that nobody frees a buffer
		}
		d.life.Changed.Wait()
		s.Uses = s.Uses[:0]
	}
	d.record(s, dispatches)
	d.startIfWorth()
	return nil
}

// startIfWorth starts the queued work if it is worth that. The caller holds the lock.
func (d *Device) startIfWorth() {
	if q := d.queue; !d.executing && (q.time >= startTime || len(q.commands) >= startCount) {
		d.start()
	}
}

// WaitForRoom waits until the queue has room, and until freed memory that pending work uses is
// within its bound.
// Errors: ctx.Err(), ErrClosed.
func (d *Device) WaitForRoom(ctx context.Context) (err error) {
	if ctx == nil {
		return errs.Context(ctx)
	}
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	for len(d.queue.commands) >= queueMost || d.doomed > device.DoomedBytes {
		if err := d.wait(ctx, d.seq); err != nil {
			return err
		}
		d.sweep()
	}
	return nil
}

// compileAll finds the kernels of the dispatches. It compiles those that are missing at the
// same time. The caller holds the lock, which is released in between.
func (d *Device) compileAll(s *scratch, dispatches []gpu.Dispatch) error {
	d.life.Unlock()
	defer d.life.Lock()
	missing := false
	for i := range dispatches {
		m := dispatches[i].Module
		if i > 0 && m == dispatches[i-1].Module && m != nil {
			s.Pipes = append(s.Pipes, s.Pipes[i-1])
			continue
		}
		k, ok := d.kernels.Ready(m, struct{}{})
		missing = missing || !ok
		s.Pipes = append(s.Pipes, k)
	}
	if !missing {
		return nil
	}
	var modules []*spv.Module
	first := map[*spv.Module]int{}
	for i, k := range s.Pipes {
		m := dispatches[i].Module
		if _, ok := first[m]; k == nil && !ok {
			first[m] = len(modules)
			modules = append(modules, m)
		}
	}
	kernels, errs := make([]*kernel, len(modules)), make([]error, len(modules))
	var next atomic.Int64
	var all sync.WaitGroup
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(modules); i = int(next.Add(1)) - 1 {
			kernels[i], errs[i] = d.kernel(modules[i])
		}
	}
	for range min(len(modules), d.team.workers) - 1 {
		all.Go(work)
	}
	work()
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for i, k := range s.Pipes {
		if k == nil {
			s.Pipes[i] = kernels[first[dispatches[i].Module]]
		}
	}
	return nil
}

// gather finds the buffers of the dispatches, which have passed CheckLaunch.
func (d *Device) gather(s *scratch, dispatches []gpu.Dispatch) error {
	for i := range dispatches {
		for _, t := range s.Pipes[i].slots {
			bind := &dispatches[i].Bindings[t.number]
			b, err := d.table.Get(bind.Buffer)
			if err != nil {
				return fmt.Errorf("cpu: %s: binding %d: %w", s.Pipes[i].label, t.number, err)
			}
			s.Uses = append(s.Uses, use{b, bind.Offset, bind.Span(t.decl, b.size), bind.Discard})
		}
	}
	return nil
}

// copying reports whether a Read or Write copies a buffer that the dispatches must not use
// at the same time.
func (d *Device) copying(s *scratch) bool {
	uses := s.Uses
	for _, k := range s.Pipes {
		for i := range k.slots {
			if b := uses[i].buf; b.hostWrites || b.hostReads > 0 && (k.slots[i].write || b.unset) {
				return true
			}
		}
		uses = uses[len(k.slots):]
	}
	return false
}

// record appends the dispatches to the queue as one list.
func (d *Device) record(s *scratch, dispatches []gpu.Dispatch) {
	q, seq, uses := d.queue, d.seq+1, s.Uses
	before := len(q.commands)
	for i, k := range s.Pipes {
		own := uses[:len(k.slots)]
		uses = uses[len(k.slots):]
		x := &dispatches[i]
		total := x.Count()
		if total == 0 {
			continue
		}
		for j := range own {
			b := own[j].buf
			if b.unset {
				d.setLater(b, &own[j], x.Tag)
			}
			b.used = seq
			if k.slots[j].write {
				b.wrote = seq
			}
		}
		q.commands = append(q.commands, command{kernel: k, groups: x.Groups, total: total, header: len(q.headers), tag: x.Tag})
		q.headers = k.appendHeader(q.headers, x, own)
		q.loops = q.loops || k.loops
		if t := k.nanoseconds(); t > 0 {
			q.time += t * float64(total)
		} else {
			q.time += unknownTime
		}
	}
	if len(q.commands) == before {
		return
	}
	d.seq = seq
	l := list{seq: seq, end: len(q.commands), trace: d.trace}
	if l.trace != nil {
		l.submitted = l.trace.Now()
	}
	q.lists = append(q.lists, l)
}

// setLater has the memory of a buffer cleared before its first use u. If the work promises
// to overwrite all of it, only the padding is cleared.
func (d *Device) setLater(b *buffer, u *use, tag uint64) {
	q := d.queue
	switch {
	case u.discard && u.offset == 0 && u.size >= b.size:
		d.clear(b, b.size, gpu.RoundUp(b.size))
	case b.size <= lockedBytes:
		d.clear(b, 0, gpu.RoundUp(b.size))
	default:
		q.commands = append(q.commands, command{off: b.span.off, size: gpu.RoundUp(b.size), tag: tag})
		q.time += float64(b.size) / 8
		b.wrote = d.seq + 1
	}
	b.unset = false
}
