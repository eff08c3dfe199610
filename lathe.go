// Package lathe runs compute shaders from Go, on any GPU and on none: through
// Vulkan or WebGPU on whatever device there is, be it a CPU driver such as
// lavapipe.
//
//	dev, err := lathe.Open(ctx)
//	if err != nil {
//		return err
//	}
//	defer dev.Close()
//	out, err := dev.Apply(ctx, img, imageops.GaussianBlur{Sigma: 3})
//
// Apply and ApplyTo put Go's images through the operations of package imageops.
//
// # Tensors
//
// Tensors are data that stays on the device. FromSlice makes one of a Go slice,
// ToSlice reads one; a method of Device computes a new tensor from others:
//
//	a, err := lathe.FromSlice(dev, []float32{1, 2, 3, 4}, 2, 2)
//	b, err := dev.MatMul(a, a)
//	p, err := dev.Softmax(b, -1)
//	rows, err := lathe.ToSlice[float32](ctx, dev, p)
//
// Such methods return as soon as the work is submitted; reading waits for it.
// Wrong shapes and dtypes are errors at once. What only the device can see, an
// index out of range, is an error of the next read or Sync.
//
// Methods of Tensor, such as Transpose and Narrow, are views: they cost nothing
// and share the elements. Tensors that nobody can reach are given back by
// themselves; Device.Free does it at once.
//
// An operation is also a struct of its attributes, in package ops or imageops,
// for Device.Call and Device.Run; these take operations of your own too.
// DispatchCompute runs any compute shader.
package lathe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/chrome"
	_ "github.com/lathe-gpu/lathe/imageops" // declares its operations
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
)

// Device is an open device. Its methods may be called from any goroutine.
type Device struct {
	session *session.Session
	strip   int64 // bytes of pixels that ApplyTo sends at a time
}

type options struct {
	session session.Options
	strip   int64
	trace   io.Writer
}

// Option changes how Open opens a device.
type Option func(*options)

// WithDevice selects a device: its index as Devices lists them, a part of its
// name in any case, or its UUID. Without it the environment variable
// LATHE_DEVICE selects, and without that the best device is taken: discrete,
// integrated, virtual, and a CPU driver only where there is nothing else.
func WithDevice(selector string) Option {
	return func(o *options) { o.session.Drivers.Device = selector }
}

// WithBackend selects the way to the device: "vk" for Vulkan, "wgpu" for WebGPU,
// "auto" for the better one. Without it the environment variable LATHE_BACKEND
// selects. The choice is automatic where neither does: hardware by Vulkan, then
// hardware by WebGPU, then a CPU driver. With a backend named, devices are
// counted within it.
func WithBackend(name string) Option { return func(o *options) { o.session.Drivers.Backend = name } }

// WithValidation turns on Vulkan's validation layer. What it finds becomes an
// error of a later call. Open fails with ErrUnsupported if it is not installed.
func WithValidation() Option { return func(o *options) { o.session.Drivers.Validation = true } }

// WithCacheDir keeps compiled pipelines, and the choices of WithTuneMode, in a
// folder of your choice, instead of lathe/pipelines and lathe in the user's cache
// folder. Empty means the latter.
func WithCacheDir(dir string) Option { return func(o *options) { o.session.Drivers.CacheDir = dir } }

// WithoutCache keeps compiled pipelines, and choices, in memory only.
func WithoutCache() Option { return func(o *options) { o.session.Drivers.NoCache = true } }

// WithTuneMode says how a device comes to the best of the ways in which some
// operations can be carried out. "cached": by choices remembered on this machine
// or given WithTuning, and by rules of thumb where there is none. "full": likewise,
// but what is not known yet is measured, when a call is the first of its kind, for
// a few tenths of a second, and remembered. "off": by rules of thumb. Without this
// option the environment variable LATHE_TUNE says, and without that it is "cached".
//
// The ways may differ in rounding: results of a device are the same from run to
// run as long as its choices are. Open fails with ErrInvalidArgument for any
// other mode.
func WithTuneMode(mode string) Option { return func(o *options) { o.session.Tune = mode } }

// WithTuning brings choices along, as "lathe tune -o FILE" writes them. Those made
// on a device of the same name count, with the same operations and kernels; what
// was measured on this machine counts more. Open fails with ErrInvalidArgument if
// they cannot be read.
func WithTuning(choices []byte) Option {
	return func(o *options) { o.session.Tuned = append(o.session.Tuned, choices) }
}

// WithCloseTimeout sets how long Close waits for work in progress, which a shader
// without end keeps it from for ever: 0 means the default, 10 seconds, less than 0
// no bound. After that Close returns an error that wraps context.DeadlineExceeded
// and says what it left behind: the driver's device, its memory and its threads, until
// the work or the process ends. A device of WithGPU has its own bound.
func WithCloseTimeout(d time.Duration) Option {
	return func(o *options) { o.session.Drivers.CloseTimeout = d }
}

// WithWarnings sends messages meant for the user, such as that only a CPU
// driver was found, to f instead of standard error.
func WithWarnings(f func(string)) Option { return func(o *options) { o.session.Drivers.Warn = f } }

// WithStrip sets how many bytes of pixels Apply and ApplyTo send to the device
// at a time; larger images go in strips. The default is 256 MiB, or less where
// the device has little memory.
func WithStrip(bytes int64) Option { return func(o *options) { o.strip = bytes } }

// WithGPU makes Open use a gpu.Device that the caller has opened, such as one
// of its own making or one wrapped by gpu/guard. Device.Close closes it.
func WithGPU(dev gpu.Device) Option { return func(o *options) { o.session.Device = dev } }

// WithTrace writes down what the device does and when, as a trace in Chrome's
// format, which chrome://tracing and https://ui.perfetto.dev open: the operations
// called, the launches that each led to, copies, compilations, submissions, and what
// Device.Span adds; package
// gpu/chrome says how they are shown. It is written to w as the device works and
// whole once Close has returned, whose error includes that of writing; w is not
// closed. If Open fails, what was written is a whole trace too.
//
// Tracing costs a little of every launch. Open fails with ErrUnsupported if the
// device cannot tell when it does what, as those of the backend wgpu.
func WithTrace(w io.Writer) Option { return func(o *options) { o.trace = w } }

// Open opens a device.
// Errors: ErrNoDevice (no driver, or none that the selector names; the text
// says what was looked for), ErrUnsupported, ErrABIMismatch, ErrInvalidArgument
// (an option or environment variable), ctx.Err().
func Open(ctx context.Context, opts ...Option) (*Device, error) {
	o := options{session: session.Options{Surface: "lathe"}}
	o.session.Drivers.Warn = func(text string) { fmt.Fprintln(os.Stderr, text) }
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
	s, err := session.Open(ctx, o.session)
	end(err)
	if err != nil && o.trace != nil {
		err = errors.Join(err, o.session.Trace.Close())
	}
	if err != nil {
		return nil, err
	}
	return &Device{session: s, strip: stripSize(o.strip, s.Info())}, nil
}

// Devices lists the devices there are, in the order WithDevice counts them:
// those of Vulkan, then those of WebGPU, so that a device may be in it twice. If
// LATHE_BACKEND names a backend, only those of that backend are there.
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

// Span writes into the trace something that the program does itself, such as reading a
// file. It lasts from now until end is called. args and the error that end is given may
// be nil. Without WithTrace it does nothing.
func (d *Device) Span(name string, args map[string]string) (end func(err error)) {
	if d.ready("span") != nil || d.session.Trace() == nil {
		return func(error) {}
	}
	return d.session.Trace().Span(name, args)
}

// Close waits for work in progress, within the bound of WithCloseTimeout, and gives back
// the device with all its tensors. Closing twice is harmless.
func (d *Device) Close() error {
	if err := d.ready("close"); err != nil {
		return err
	}
	return d.session.Close()
}
