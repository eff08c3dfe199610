// Package session is the core under every surface of the library: the root package,
// package backend and the command line. A Session opens a device, checks that operations
// and shaders fit together, reads the tuning database, starts a trace, allocates memory
// and runs operations on tensors. A surface gives it a form: tensors as Go pointers, or
// as handles.
package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	_ "github.com/lathe-gpu/lathe/internal/drivers/standard" // vk and cpu, for every surface
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
	"github.com/lathe-gpu/lathe/internal/gpu/chrome"
	"github.com/lathe-gpu/lathe/spirv"
)

// Options say how Open opens a Session. The zero value is the usual choice.
type Options struct {
	// Surface begins the text of errors, such as "lathe".
	Surface string
	// Drivers chooses the device. Its cache settings hold for the tuning database too.
	Drivers drivers.Options
	// Device is a device that the caller has opened. If it is set, Drivers chooses none.
	Device gpu.Device
	// Tune is the tuning mode as tune.ParseMode takes it: "off", "cached" or "full", or
	// empty for what LATHE_TUNE says.
	Tune string
	// Tuned are choices that the program brings along, as tune.Format writes them.
	Tuned [][]byte
	// Trace receives what the device does. Close closes it. It may be nil.
	Trace *chrome.Trace
}

// Session is an open device with its memory and its work. Any goroutine may call its
// methods. Open makes a Session. Methods of any other Session return ErrNotInitialized.
type Session struct {
	surface string
	gpu     gpu.Device
	run     *exec.Runner
	tuning  *tune.Database
	trace   *chrome.Trace
	memory  memory
	empty   empty
	holder  *holder // of a Capture, or nil

	isClosed atomic.Bool // Close was called.
	closing  sync.Once
	closed   error
}

// Open opens a device and makes a Session of it. While the driver loads, another goroutine
// compares the shaders with the operations.
// Errors: those of drivers.Open, ErrABIMismatch, ErrInvalidArgument (Tune, Tuned, a nil
// Device), ErrUnsupported (a Trace on a device that cannot report times). If
// Open fails, it has closed the device, also Options.Device. It has not closed the trace.
func Open(ctx context.Context, o Options) (*Session, error) {
	if o.Device != nil && errs.Nil(o.Device) {
		return nil, fmt.Errorf("%s: open: %w: a nil %T", o.Surface, errs.ErrInvalidArgument, o.Device)
	}
	mode, err := tune.ParseMode(o.Tune)
	if err != nil {
		return nil, errors.Join(err, closeGiven(o.Device))
	}
	go exec.Verify() // exec.New waits for it
	dev := o.Device
	if dev == nil {
		if dev, err = drivers.Open(ctx, o.Drivers); err != nil {
			return nil, err
		}
	}
	s := &Session{surface: o.Surface, gpu: dev, trace: o.Trace}
	s.memory.gpu, s.memory.family = dev, new(family)
	if err := s.prepare(mode, o); err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return s, nil
}

// closeGiven closes a device that the caller has opened. The device may be nil.
func closeGiven(dev gpu.Device) error {
	if dev == nil {
		return nil
	}
	return dev.Close()
}

// prepare reads the tuning database, starts the trace and makes the Runner.
func (s *Session) prepare(mode tune.Mode, o Options) (err error) {
	path := ""
	if !o.Drivers.NoCache {
		path = tune.Path(o.Drivers.CacheDir)
	}
	if s.tuning, err = tune.Open(mode, tune.DeviceOf(s.gpu.Info(), spirv.Fingerprint()), path, o.Tuned...); err != nil {
		return err
	}
	opts := []exec.Option{exec.WithTuning(s.tuning)}
	if s.trace != nil {
		if err := s.trace.Device(s.gpu); err != nil {
			return err
		}
		opts = append(opts, exec.WithTrace(s.trace.Begin))
	}
	if s.run, err = exec.New(s.gpu, opts...); err == nil {
		s.memory.trim = s.run.Trim
	}
	return err
}

// Ready returns ErrNotInitialized for a Session that Open did not make. op is the name of
// the call, for the error.
func (s *Session) Ready(surface, op string) error {
	if s == nil || s.run == nil {
		return fmt.Errorf("%s: %s: %w: it was not opened", surface, op, errs.ErrNotInitialized)
	}
	return nil
}

// GPU is the device underneath.
func (s *Session) GPU() gpu.Device { return s.gpu }

// Info describes the device.
func (s *Session) Info() *gpu.Info { return s.gpu.Info() }

// Shares reports whether both Sessions are over one device, so that each takes the tensors of the other.
func (s *Session) Shares(o *Session) bool {
	return s != nil && o != nil && s.memory.family == o.memory.family
}

// Align is the alignment in bytes of offsets that the device can bind.
func (s *Session) Align() int64 { return s.run.Align() }

// Tuning is the tuning database of the device.
func (s *Session) Tuning() *tune.Database { return s.tuning }

// Measures reports whether a call that is the first of its kind may be measured, so that other calls follow another choice.
func (s *Session) Measures() bool { return s.tuning.Mode() == tune.Full }

// Trace is the trace of Options, or nil.
func (s *Session) Trace() *chrome.Trace { return s.trace }

// Sync waits until all work given to the device is done, and returns its first error.
// These include errors that only the device can see. Each is returned once.
func (s *Session) Sync(ctx context.Context) error { return s.run.Sync(ctx) }

// Close waits for work in progress, but no longer than the device's time limit. It releases
// the device with all its tensors, and closes the trace. Closing twice is harmless.
func (s *Session) Close() error {
	s.closing.Do(func() {
		s.isClosed.Store(true)
		s.closed = errors.Join(s.run.Close(), s.gpu.Close())
		if s.trace != nil {
			s.closed = errors.Join(s.closed, s.trace.Close())
		}
	})
	return s.closed
}
