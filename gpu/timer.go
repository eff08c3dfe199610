package gpu

import (
	"fmt"
	"time"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Timer is a Device that can say when it did what.
type Timer interface {
	// StartTrace makes the device report what it does from now on to sink: a
	// Span for each command, submission and transfer. now is the clock of all
	// times reported; it must not go backwards, and any goroutine may call it.
	// A nil sink ends the reports.
	//
	// Spans of a submission come once the device is known to have finished it,
	// in the order it ran; a Sync brings all of what was submitted before it,
	// Close all that is left. sink is called by one goroutine at a time. It
	// must be quick, must not call the device, and keeps no more of a Span than
	// its value.
	//
	// Tracing costs a little of each dispatch, and nothing while it is off. The
	// memory it takes on the device is memory of the work: where there is none,
	// the work fails.
	// Errors: ErrUnsupported, ErrInvalidArgument (a sink and no clock),
	// ErrDeviceLost, ErrClosed.
	StartTrace(now func() time.Duration, sink func(Span)) error
}

// Span is a piece of work and the time it took.
type Span struct {
	Kind   SpanKind
	Name   string    // of the kernel, as Label gives it; empty for other kinds
	Groups [3]uint32 // workgroups of a launch
	Bytes  int64     // moved by a Copy, Fill, Write or Read
	Tag    uint64    // of the Dispatch; that of a Fill is of the Dispatch it was for
	Batch  uint64    // which submission it was part of, from 1 on; 0 for none
	Begin  time.Duration
	End    time.Duration // not before Begin
}

// SpanKind is what a Span is about.
type SpanKind uint8

// The kinds of Span. Those up to Fill are commands of a submission, timed by
// the device itself and put on the caller's clock: they do not overlap one
// another, and a command that ran beside the one before it shows the time by
// which it finished later. A device without Features.Timestamps reports none of
// them.
//
// The others are timed by the host.
const (
	Launch     SpanKind = iota // a Dispatch
	Copy                       // of bytes from or to memory the host can reach
	Fill                       // of fresh memory with zeros
	Submission                 // from the hand-over to the driver until the work was done, or seen to be
	Write                      // a call of Device.Write, with all it waited for
	Read                       // a call of Device.Read, likewise
	Compile                    // of the module Name
)

// String is the kind in lower case.
func (k SpanKind) String() string {
	names := [...]string{"launch", "copy", "fill", "submission", "write", "read", "compile"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("span(%d)", uint8(k))
}

// StartTrace calls the StartTrace of a device that is a Timer.
// Errors: those of Timer, and ErrUnsupported, naming the backend, where dev is
// none.
func StartTrace(dev Device, now func() time.Duration, sink func(Span)) error {
	if now == nil && sink != nil {
		return fmt.Errorf("gpu: trace: %w: no clock", ErrInvalidArgument)
	}
	if errs.Nil(dev) {
		return fmt.Errorf("gpu: trace: %w: no device", ErrInvalidArgument)
	}
	if t, ok := dev.(Timer); ok {
		return t.StartTrace(now, sink)
	}
	return fmt.Errorf("gpu: trace: %w: the backend %q cannot tell when its device does what; vk can", ErrUnsupported, dev.Info().Backend)
}
