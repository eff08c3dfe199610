package device

import (
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// HostTrace reports what a device does, with the times of the host. The lock of the device
// guards it.
type HostTrace struct {
	Now  func() time.Duration
	Sink func(gpu.Span)
}

// Report reports a Span that began at begin and ends now.
func (t *HostTrace) Report(kind gpu.SpanKind, name string, bytes int64, begin time.Duration) {
	t.Sink(gpu.Span{Kind: kind, Name: name, Bytes: bytes, Begin: begin, End: max(begin, t.Now())})
}

// TimeCompile times the compilation of a module until the function that it returns is
// called. current returns the trace of the device, or nil; the lock is held when it is
// called. The caller of TimeCompile and of its result does not hold the lock.
func TimeCompile(l *Life, m *gpu.Module, current func() *HostTrace) (done func()) {
	l.Lock()
	defer l.Unlock()
	t := current()
	if t == nil {
		return func() {}
	}
	begin := t.Now()
	return func() {
		l.Lock()
		defer l.Unlock()
		if t == current() { // Otherwise the trace has ended.
			t.Report(gpu.Compile, gpu.Label(m), 0, begin)
		}
	}
}
