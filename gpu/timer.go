package gpu

import (
	"fmt"
	"time"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Timer is a Device that can report what it did and when.
type Timer interface {
	// StartTrace makes the device report what it does from now on. It gives sink a
	// Span for each command, submission and transfer. now is the clock of all
	// reported times. It must not go backwards, and any goroutine may call it. A nil
	// sink ends the reports.
	//
	// The Spans of a submission come when the device is known to have finished it, in
	// the order in which the commands ran. After a Sync, sink has the Spans of all
	// work submitted before. After Close it has all Spans. One goroutine at a time
	// calls sink. sink must be quick and must not call the device.
	//
	// Tracing costs a little time for each dispatch, and nothing while it is off. It
	// needs memory of the device. If there is none, the work fails.
	// Errors: ErrUnsupported, ErrInvalidArgument (a sink and no clock),
	// ErrDeviceLost, ErrClosed.
	StartTrace(now func() time.Duration, sink func(Span)) error
}

// Span is some work of a device and the time that it took.
type Span struct {
	// Kind is the kind of work.
	Kind SpanKind
	// Name is the Label of the kernel of a Launch or Compile. It is empty for other kinds.
	Name string
	// Groups is the number of workgroups of a Launch in x, y and z.
	Groups [3]uint32
	// Bytes is the number of bytes that a Copy, Fill, Write or Read moved.
	Bytes int64
	// Tag is the Tag of the Dispatch. A Fill has the Tag of the Dispatch that it was made
	// for.
	Tag uint64
	// Batch is the number of the submission that the work was part of. The first one is 1.
	// It is 0 if there was none.
	Batch uint64
	// Begin and End are times of the clock of StartTrace. End is not before Begin.
	Begin time.Duration
	End   time.Duration
}

// SpanKind is the kind of work of a Span.
type SpanKind uint8

// These are the kinds of Span. Launch, Copy and Fill are commands of a submission. The device
// itself times them, and the times are converted to the caller's clock. They do not
// overlap. If a command ran at the same time as the one before it, its Span begins when that
// one ended. A device without Features.Timestamps reports no commands.
//
// The host times all other kinds.
const (
	// Launch is a Dispatch.
	Launch SpanKind = iota
	// Copy is a copy from or to memory that the host can reach.
	Copy
	// Fill is new memory that is filled with zeros.
	Fill
	// Submission lasts from the time when the driver gets the work until the host sees that
	// the work is done.
	Submission
	// Write is a call of Device.Write, with all that it waited for.
	Write
	// Read is a call of Device.Read, with all that it waited for.
	Read
	// Compile is the time in which the driver compiles the module Name.
	Compile
)

// String returns the kind in lower case.
func (k SpanKind) String() string {
	names := [...]string{"launch", "copy", "fill", "submission", "write", "read", "compile"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("span(%d)", uint8(k))
}

// StartTrace calls the StartTrace of a device that is a Timer.
// Errors: those of Timer; ErrUnsupported, naming the backend, if dev is no Timer.
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
	return fmt.Errorf("gpu: trace: %w: the backend %q cannot report the times of its work; vk can", ErrUnsupported, dev.Info().Backend)
}
