// Package chrome writes a trace of what a device and its caller do. The file has the
// trace event format of Chrome, which chrome://tracing and https://ui.perfetto.dev open.
//
// # What is in the file
//
// Each device is a process of the trace. Its thread "queue" shows the commands as the
// device ran them, by the device's own clock. Every launch is inside its operation, and
// every operation is inside its batch. Its threads "submissions" show the batches as the
// host saw them, from the hand-over to the driver until they were done.
//
// The process "host" has four kinds of threads. "operations" shows the calls of the
// caller, with an arrow from each call to its launches. "transfers" shows the writes and
// reads, with what they waited for. "compiler" shows compilations. "program" shows what
// else the caller reports. If several goroutines do things at the same time, they are
// spread over threads of the same name with a number.
//
// Times are microseconds since New, to three decimals.
package chrome

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// Header is how every file begins.
const Header = `{"traceEvents":[`

// host is the number of the process for the caller. Devices have higher numbers.
const host = 1

// Trace is a trace being written. Its methods may be called from any goroutine.
type Trace struct {
	now func() time.Duration

	mu sync.Mutex
	w  *bufio.Writer
	// err is the first error of writing.
	err     error
	events  int
	closed  bool
	devices int
	tracks  map[trackKey]*track
	// calls has the calls by tag, until their launches have been reported.
	calls map[uint64]call
	// tag is the last tag that Begin returned.
	tag uint64
}

// call is an operation that the caller has begun.
type call struct {
	name  string
	tid   int
	begin time.Duration
}

// New begins a trace and writes it to w as it goes on. now is its clock, which must not
// go backwards. If now is nil, the clock is the time since New.
func New(w io.Writer, now func() time.Duration) *Trace {
	if now == nil {
		start := time.Now()
		now = func() time.Duration { return time.Since(start) }
	}
	t := &Trace{now: now, w: bufio.NewWriterSize(w, 64<<10), tracks: map[trackKey]*track{}, calls: map[uint64]call{}}
	t.w.WriteString(Header)
	t.process(host, "host")
	return t
}

// Device adds the work of dev from now on. Close the device before the trace, so that the
// trace has all of its work.
// Errors: those of gpu.StartTrace, such as ErrUnsupported if dev is no gpu.Timer.
func (t *Trace) Device(dev gpu.Device) error {
	t.mu.Lock()
	t.devices++
	d := &device{trace: t, pid: host + t.devices}
	t.mu.Unlock()
	if err := gpu.StartTrace(dev, t.now, d.span); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	info := dev.Info()
	t.process(d.pid, fmt.Sprintf("%s (%s)", info.Name, info.Backend))
	return nil
}

// Begin adds a call of the operation name to the host's thread "operations", from now
// until end is called. The trace shows args, which may be nil, and the error that end is
// given. Dispatches with the tag are shown as part of the call.
func (t *Trace) Begin(name string, args map[string]string) (tag uint64, end func(err error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, done := t.beginSpan(operations, name, "operation", args)
	t.tag++
	tag = t.tag
	t.calls[tag] = c
	return tag, func(err error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		done(err)
		if err != nil {
			delete(t.calls, tag) // No launches of this call will follow.
		}
	}
}

// Span adds something else that the caller does to the host's thread "program", from now
// until end is called.
func (t *Trace) Span(name string, args map[string]string) (end func(err error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, done := t.beginSpan(program, name, "program", args)
	return func(err error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		done(err)
	}
}

// beginSpan begins a span of the host. done ends it and writes it. The caller of
// beginSpan and of done holds mu.
func (t *Trace) beginSpan(k kind, name, cat string, args map[string]string) (c call, done func(err error)) {
	begin := t.now()
	tr, thread := t.freeThread(host, k, begin)
	tr.reserve(thread)
	c = call{name, tr.tid(thread), begin}
	return c, func(err error) {
		all := map[string]any{}
		for k, v := range args {
			all[k] = v
		}
		if err != nil {
			all["error"] = err.Error()
		}
		end := t.now()
		tr.ends[thread] = end
		t.complete(host, c.tid, name, cat, begin, end, all)
	}
}

// Close writes the end of the file. It does not close w. Later reports are dropped.
// Errors: the first error of writing to w.
func (t *Trace) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		t.w.WriteString("\n],\"displayTimeUnit\":\"ms\"}\n") // Flush returns this error too.
		t.fail(t.w.Flush())
	}
	return t.err
}

// fail keeps the first error of writing.
func (t *Trace) fail(err error) {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("chrome: write: %w", err)
	}
}

// event is a line of the file.
type event struct {
	Name  string  `json:"name"`
	Cat   string  `json:"cat,omitempty"`
	Phase string  `json:"ph"`
	PID   int     `json:"pid"`
	TID   int     `json:"tid"`
	TS    micros  `json:"ts"`
	Dur   *micros `json:"dur,omitempty"`
	ID    uint64  `json:"id,omitempty"`
	Bind  string  `json:"bp,omitempty"`
	Args  any     `json:"args,omitempty"`
}

// micros is a time in the form of the file format.
type micros time.Duration

// MarshalJSON writes microseconds with three decimals.
func (m micros) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%03d", m/1000, m%1000), nil
}

// write writes an event. The caller holds mu.
func (t *Trace) write(e event) {
	if t.closed || t.err != nil {
		return
	}
	line, err := json.Marshal(e)
	if err == nil {
		sep := ",\n"
		if t.events == 0 {
			sep = "\n"
		}
		t.events++
		t.w.WriteString(sep) // The next Write returns this error too.
		_, err = t.w.Write(line)
	}
	t.fail(err)
}

// complete writes a span of time. args may be empty.
func (t *Trace) complete(pid, tid int, name, cat string, begin, end time.Duration, args map[string]any) {
	dur := micros(max(end-begin, 0))
	e := event{Name: name, Cat: cat, Phase: "X", PID: pid, TID: tid, TS: micros(begin), Dur: &dur}
	if len(args) > 0 {
		e.Args = args
	}
	t.write(e)
}

// arrow writes an arrow from a call to the begin of its launches. It starts a nanosecond
// after the call begins. The event of the call may come later in the file, because
// readers sort by time.
func (t *Trace) arrow(tag uint64, c call, pid, tid int, at time.Duration) {
	t.write(event{Name: "launches", Cat: "flow", Phase: "s", PID: host, TID: c.tid, TS: micros(c.begin + 1), ID: tag})
	t.write(event{Name: "launches", Cat: "flow", Phase: "f", Bind: "e", PID: pid, TID: tid, TS: micros(at), ID: tag})
}

// process names a process and sorts it by its number.
func (t *Trace) process(pid int, name string) {
	t.write(event{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": name}})
	t.write(event{Name: "process_sort_index", Phase: "M", PID: pid, Args: map[string]any{"sort_index": pid}})
}
