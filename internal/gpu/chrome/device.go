package chrome

import (
	"fmt"

	"github.com/lathe-gpu/lathe/gpu"
)

// device is one of the devices in a trace.
type device struct {
	trace *Trace
	pid   int
	// batch are commands whose submission has not been reported yet.
	batch []gpu.Span
	// last is the tag of the last command of the previous batch.
	last uint64
}

// span handles a report of the device.
func (d *device) span(s gpu.Span) {
	t := d.trace
	t.mu.Lock()
	defer t.mu.Unlock()
	switch s.Kind {
	case gpu.Write, gpu.Read:
		t.writeSpan(host, transfers, s.Kind.String(), "transfer", s.Begin, s.End, map[string]any{"bytes": s.Bytes})
	case gpu.Compile:
		t.writeSpan(host, compiler, s.Name, "compile", s.Begin, s.End, nil)
	case gpu.Submission:
		name := fmt.Sprintf("batch %d", s.Batch)
		d.commands(name)
		t.writeSpan(d.pid, submissions, name, "submission", s.Begin, s.End, nil)
	default:
		d.batch = append(d.batch, s)
	}
}

// commands writes the commands of a batch. Parents come before their children.
func (d *device) commands(name string) {
	t, all := d.trace, d.batch
	d.batch = d.batch[:0]
	if len(all) == 0 {
		return
	}
	tr, thread := t.freeThread(d.pid, queue, all[0].Begin)
	tid := tr.tid(thread)
	tr.ends[thread] = all[len(all)-1].End
	t.complete(d.pid, tid, name, "batch", all[0].Begin, tr.ends[thread], map[string]any{"commands": len(all)})
	for len(all) > 0 {
		n, tag := 1, all[0].Tag
		for n < len(all) && all[n].Tag == tag {
			n++
		}
		if tag != d.last { // A list that is too long for one batch continues in the next.
			delete(t.calls, d.last)
		}
		d.last = tag
		if c, ok := t.calls[tag]; ok {
			t.complete(d.pid, tid, c.name, "operation", all[0].Begin, all[n-1].End, nil)
			t.arrow(tag, c, d.pid, tid, all[0].Begin)
		}
		for _, s := range all[:n] {
			if s.Kind == gpu.Launch {
				t.complete(d.pid, tid, s.Name, "launch", s.Begin, s.End, map[string]any{"groups": s.Groups})
			} else {
				t.complete(d.pid, tid, s.Kind.String(), "copy", s.Begin, s.End, map[string]any{"bytes": s.Bytes})
			}
		}
		all = all[n:]
	}
}
