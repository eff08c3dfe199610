// Package lathe runs compute shaders from Go. It takes a GPU, by Vulkan, if the machine has one.
// Otherwise it takes the processor, for which it needs no driver. An import adds WebGPU:
//
//	import _ "github.com/lathe-gpu/lathe/wgpu"
//
// This is how it is used:
//
//	dev, err := lathe.Open(ctx)
//	if err != nil {
//		return err
//	}
//	defer dev.Close()
//	out, err := dev.Apply(ctx, img, imageops.GaussianBlur{Sigma: 3})
//
// Apply and ApplyTo run the operations of package imageops on Go's images.
//
// # Tensors
//
// A tensor is data that stays on the device. FromSlice makes a tensor of a Go slice, and
// ToSlice reads one. A method of Device computes a new tensor from others:
//
//	a, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4}, 2, 2)
//	b, err := dev.MatMul(a, a)
//	p, err := dev.Softmax(b, -1)
//	rows, err := lathe.ToSlice[float32](ctx, p)
//
// Such a method returns as soon as the work is submitted. Reading waits for it. A call has a
// context if it can wait for the device, and ends when the context ends. The methods named after
// operations are short forms without one. They do not wait for work that runs, unless the program
// is thousands of launches ahead of the device; then they wait for room, as a send to a full
// channel does. A wrong
// shape or dtype is an error of the method. Only the device can see some mistakes, such
// as an index out of range. They are errors of the next read or Sync.
//
// A Scope has the same methods without errors. The first error stays until the end of the chain:
//
//	s := dev.Scope(ctx)
//	defer s.Close()
//	p := s.Softmax(s.Mul(s.MatMul(a, a), lathe.Scalar(0.5)), -1)
//	rows, err := lathe.ToSlice[float32](ctx, p)
//
// Methods of Tensor, such as Transpose and Narrow, make views. A view costs nothing and
// shares the elements. The garbage collector releases tensors that nothing refers to.
// Device.Free releases a tensor at once.
//
// Every operation is also a struct of its attributes, in package ops or imageops.
// Device.Call and Device.Run take these structs, and operations of your own.
// LoadKernel makes a Kernel of a compute shader of your own.
package lathe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/chrome"
	"github.com/lathe-gpu/lathe/internal/session"
)

// Device is an open device. Its methods may be called from any goroutine.
type Device struct {
	session *session.Session
	strip   int64 // bytes of pixels that ApplyTo sends at a time
	replays *replays

	constants constants // the Scalars of calls
}

type options struct {
	session session.Options
	strip   int64     // bytes, 0 for the default
	replays int       // 0 for none
	trace   io.Writer // nil without WithTrace
}

// Option changes how Open opens a device.
type Option func(*options)

// WithDevice selects a device by its index in the list of Devices, by a part of its name
// in any case, or by its UUID. "cpu" selects the processor, and then Open loads no driver.
// Without this option the environment variable LATHE_DEVICE selects. If that is empty too,
// Open takes the best device: discrete GPUs come before integrated and virtual ones, and
// the processor is taken if there is none. CPU drivers, such as lavapipe and SwiftShader,
// are taken if they are selected.
func WithDevice(selector string) Option {
	return func(o *options) { o.session.Drivers.Device = selector }
}

// WithBackend selects the backend: "vk" for Vulkan, "wgpu" for WebGPU, "cpu" for the
// processor without a driver, or "auto" for the best one. Without this option the
// environment variable LATHE_BACKEND selects, and if that is empty too, the choice is
// "auto". Then hardware by Vulkan comes first, hardware by WebGPU next, and the processor
// last. If a backend is named, the index of WithDevice counts the devices of that backend
// only. WebGPU is there if the program imports package wgpu. Otherwise "wgpu" is ErrNoDevice.
func WithBackend(name string) Option { return func(o *options) { o.session.Drivers.Backend = name } }

// WithValidation turns on Vulkan's validation layer. What it finds becomes an
// error of a later call. Open fails with ErrUnsupported if it is not installed.
func WithValidation() Option { return func(o *options) { o.session.Drivers.Validation = true } }

// WithCacheDir sets the folder for compiled pipelines and for the tuning database. The
// defaults are the folders lathe/pipelines, lathe/kernels and lathe in the user's cache
// folder. An empty name means the defaults.
func WithCacheDir(dir string) Option { return func(o *options) { o.session.Drivers.CacheDir = dir } }

// WithoutCache keeps compiled pipelines and the tuning database in memory only.
func WithoutCache() Option { return func(o *options) { o.session.Drivers.NoCache = true } }

// WithTuneMode says how a device finds the best strategy for operations that have
// several. There are three modes:
//
//   - "cached" follows the tuning database and the choices of WithTuning. For a call that
//     is in neither it follows rules of thumb.
//   - "full" also measures a call that is the first of its kind, for some tenths of a
//     second, and remembers the best strategy in the tuning database.
//   - "off" follows rules of thumb only.
//
// Without this option the environment variable LATHE_TUNE gives the mode. If that is
// empty too, the mode is "cached". Open fails with ErrInvalidArgument for any other mode.
//
// Strategies may round differently. The results of a device are the same from run to run
// as long as its choices are the same.
func WithTuneMode(mode string) Option { return func(o *options) { o.session.Tune = mode } }

// WithTuning gives the device choices that "lathe tune -o FILE" has written. Choices count
// if they were made on a device of the same name, with the same operations and kernels.
// What was measured on this machine comes before them. Open fails with
// ErrInvalidArgument if they cannot be read.
func WithTuning(choices []byte) Option {
	return func(o *options) { o.session.Tuned = append(o.session.Tuned, choices) }
}

// WithCloseTimeout sets how long Close waits for work in progress. A shader without end
// would keep it waiting for ever. 0 means the default of 10 seconds, and less than 0 means
// no bound. After that time Close returns an error that wraps context.DeadlineExceeded.
// The error says what Close left behind: the driver's device, its memory and its threads.
// They remain until the work or the process ends. A device of WithGPU has its own bound.
func WithCloseTimeout(d time.Duration) Option {
	return func(o *options) { o.session.Drivers.CloseTimeout = d }
}

// WithLogger sets the logger for warnings, such as that no GPU was found. They have the level
// slog.LevelWarn. nil means no warnings, as a logger of slog.DiscardHandler does. Without this option they go to slog.Default, and the
// same warning only once in a process.
func WithLogger(l *slog.Logger) Option {
	return func(o *options) {
		o.session.Drivers.Warn = func(text string) {
			if l != nil && l.Handler() != nil {
				l.Warn(text)
			}
		}
	}
}

// WithStrip sets how many bytes of pixels Apply and ApplyTo send to the device at a time.
// Larger images go in strips. 0 means the default, which is 256 MiB, or less if the device has
// little memory. Open fails with ErrInvalidArgument for less than 0.
func WithStrip(bytes int64) Option { return func(o *options) { o.strip = bytes } }

// WithReplay makes Apply and ApplyTo record the launches of chains of calls, and replay them for later pictures of the same calls, sizes and
// types. That is for programs with many small pictures. At most limit chains are kept, of 64 MiB or four times WithStrip together, whichever is less, and
// the one that was used longest ago is forgotten. Larger strips, and pictures that a device computes in the memory of the caller, are never recorded. Results are the same, bit for
// bit. Nothing is recorded by default, with WithTrace, and in the tuning mode "full". Open fails with ErrInvalidArgument for less than 0.
func WithReplay(limit int) Option { return func(o *options) { o.replays = limit } }

// WithGPU makes Open use a device that the caller has opened, such as one of its own or
// one that gpu/guard wraps. Device.Close closes it.
func WithGPU(dev gpu.Device) Option { return func(o *options) { o.session.Device = dev } }

// WithTrace writes to w what the device does and when, as a trace in Chrome's format.
// chrome://tracing and https://ui.perfetto.dev open such traces. A trace shows the
// operations that were called, the launches of each, copies, compilations, submissions,
// and what Device.Span adds. The page docs/tracing.md says how they are shown.
//
// The trace is written as the device works. It is complete once Close has returned, and
// the error of Close includes errors of writing. Close does not close w. If Open fails,
// the trace is complete too.
//
// Tracing adds a little time to every launch. Open fails with ErrUnsupported if the device
// cannot tell when it does what. Devices of the backend wgpu cannot.
func WithTrace(w io.Writer) Option { return func(o *options) { o.trace = w } }

// Open opens a device. It decides by what the drivers list, opens the device that it
// takes, and tries the next best one if that device cannot be opened.
// Errors: ErrNoDevice (no device of the backend or the selector that was named, or a
// program with the build tag nocpu and no driver; the text says what Open looked for), ErrUnsupported, ErrABIMismatch, ErrInvalidArgument (an option or an
// environment variable), ctx.Err().
func Open(ctx context.Context, opts ...Option) (*Device, error) {
	o := options{session: session.Options{Surface: "lathe"}}
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("lathe: open: %w", err)
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	end := func(error) {}
	if o.trace != nil {
		o.session.Trace = chrome.New(o.trace, nil)
		_, end = o.session.Trace.Begin("open", nil)
	}
	var s *session.Session
	err := o.check()
	if err == nil {
		s, err = session.Open(ctx, o.session)
	}
	end(err)
	if err != nil && o.trace != nil {
		err = errors.Join(err, o.session.Trace.Close())
	}
	if err != nil {
		return nil, err
	}
	strip := stripSize(o.strip, s.Info())
	return &Device{session: s, strip: strip, replays: newReplays(o.replays, strip)}, nil
}

// check reports ErrInvalidArgument for an option whose value package session does not see.
func (o *options) check() error {
	if o.strip < 0 {
		return fmt.Errorf("lathe: open: %w: WithStrip (got %d bytes, want 1 or more, or 0 for the default)", errs.ErrInvalidArgument, o.strip)
	}
	if o.replays < 0 {
		return fmt.Errorf("lathe: open: %w: WithReplay (got %d chains, want 0 or more)", errs.ErrInvalidArgument, o.replays)
	}
	return nil
}

// Devices lists the devices in the order in which WithDevice counts them: those of Vulkan,
// then those of WebGPU if the program imports package wgpu, then the processor. A piece of hardware may be in the list twice. If
// LATHE_BACKEND names a backend, the list has the devices of that backend only.
// Errors: ErrNoDevice, ErrInvalidArgument (LATHE_BACKEND), ctx.Err().
func Devices(ctx context.Context) ([]gpu.Info, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("lathe: devices: %w", err)
	}
	return drivers.List(ctx, "")
}

// ready reports ErrNotInitialized for a Device that Open did not make.
func (d *Device) ready(op string) error {
	if d == nil || d.session == nil {
		return fmt.Errorf("lathe: %s: %w: a Device that Open did not make", op, errs.ErrNotInitialized)
	}
	return nil
}

// open reports ErrNotInitialized for a Device that Open did not make, and ErrClosed for one that
// was closed.
func (d *Device) open(op string) error {
	if err := d.ready(op); err != nil {
		return err
	}
	return d.session.NotClosed(op)
}

// shares reports whether the device takes tensors of another one.
func (d *Device) shares(o *Device) bool {
	return d == o || d != nil && o != nil && d.session.Shares(o.session)
}

// Info describes the device. The Info of a Device that Open did not make is empty.
func (d *Device) Info() *gpu.Info {
	if d.ready("info") != nil {
		return &gpu.Info{}
	}
	return d.session.Info()
}

// Sync waits until all work given to the device is done, and returns its first error.
// Some errors only the device can see, such as an index out of range in an earlier call.
// They are ErrInvalidArgument here or in a Read before it, once. The outputs of the call
// at fault are then as they were before it.
func (d *Device) Sync(ctx context.Context) error {
	if err := d.ready("sync"); err != nil {
		return err
	}
	return d.session.Sync(ctx)
}

// GPU is the device underneath, for work by handle and dispatch. It is nil in a Device
// that Open did not make.
func (d *Device) GPU() gpu.Device {
	if d.ready("gpu") != nil {
		return nil
	}
	return d.session.GPU()
}

// Span writes a span of the program's own work into the trace, such as reading a file. The
// span lasts from now until end is called. args and the argument of end may be nil. Without
// WithTrace Span does nothing.
func (d *Device) Span(name string, args map[string]string) (end func(err error)) {
	if d.ready("span") != nil || d.session.Trace() == nil {
		return func(error) {}
	}
	return d.session.Trace().Span(name, args)
}

// Close waits for work in progress, within the bound of WithCloseTimeout, and releases
// the device with all its tensors. Closing twice is harmless.
func (d *Device) Close() error {
	if err := d.ready("close"); err != nil {
		return err
	}
	return d.session.Close()
}
