package rawptr

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
)

// Device is the Backend over a device of Lathe. New makes one, Init opens it. Any goroutine may call
// its methods.
type Device struct {
	made    bool // by New
	options options
	memory  addresses

	session atomic.Pointer[session.Session] // nil before Init
	closed  atomic.Bool

	// order keeps the steps of a call together: calls of one step read-lock it while they submit it.
	order sync.RWMutex

	mu      sync.Mutex         // for the fields below; no work of the device is done under it
	opening chan struct{}      // closed when the Init that runs now has ended; nil if none runs
	cancel  context.CancelFunc // ends that Init
}

// options are what Init opens a session with.
type options struct{ session session.Options }

// Option says which device Init opens.
type Option func(*options)

// WithBackend names the backend: "vk" for Vulkan, "wgpu" for WebGPU in programs that import package
// wgpu, "cpu" for the processor, "auto" for the best one. Without it, the environment variable
// LATHE_BACKEND names it, and "auto" if that is empty too.
func WithBackend(name string) Option { return func(o *options) { o.session.Drivers.Backend = name } }

// WithDevice selects a device by its index, a part of its name, or its UUID, as lathe.WithDevice
// does.
func WithDevice(selector string) Option {
	return func(o *options) { o.session.Drivers.Device = selector }
}

// WithGPU makes Init use a device that the caller has opened. Close closes it.
func WithGPU(dev gpu.Device) Option { return func(o *options) { o.session.Device = dev } }

// New returns a device that is not open yet. Init opens it.
func New(opts ...Option) *Device {
	d := &Device{made: true, options: options{session.Options{Surface: "rawptr"}}}
	for _, o := range opts {
		if o != nil {
			o(&d.options)
		}
	}
	return d
}

// ready reports ErrNotInitialized for a Device that New did not make.
func (d *Device) ready(op string) error {
	if d == nil || !d.made {
		return fmt.Errorf("rawptr: %s: %w: a Device that New did not make", op, errs.ErrNotInitialized)
	}
	return nil
}

// open returns the session. op is the name of the call, for the error.
// Errors: ErrNotInitialized before Init, ErrClosed after Close.
func (d *Device) open(op string) (*session.Session, error) {
	if err := d.ready(op); err != nil {
		return nil, err
	}
	if d.closed.Load() {
		return nil, fmt.Errorf("rawptr: %s: %w: the device", op, errs.ErrClosed)
	}
	s := d.session.Load()
	if s == nil {
		return nil, fmt.Errorf("rawptr: %s: %w: call Init first", op, errs.ErrNotInitialized)
	}
	return s, nil
}

// Name is the name of the backend, such as "vk". Before Init it is the name that was asked for, or
// "auto".
func (d *Device) Name() string {
	switch {
	case d.ready("name") != nil:
		return ""
	case d.session.Load() != nil:
		return d.session.Load().Info().Backend
	case d.options.session.Device != nil && !errs.Nil(d.options.session.Device):
		return d.options.session.Device.Info().Backend
	}
	name, _ := drivers.Given(d.options.session.Drivers.Backend)
	return cmp.Or(name, drivers.Auto)
}

// Init opens the device. Every other call but Name, IsInitialized and Close is ErrNotInitialized
// before it. An Init of an open device does nothing. If several goroutines call it, one opens the
// device and the others wait. After an Init that failed, another one tries again.
// Errors: ErrNoDevice, ErrUnsupported, ErrABIMismatch, ErrInvalidArgument (an option), ErrClosed,
// ctx.Err().
func (d *Device) Init(ctx context.Context) error {
	if err := d.ready("init"); err != nil {
		return err
	}
	if err := errs.Context(ctx); err != nil {
		return fmt.Errorf("rawptr: init: %w", err)
	}
	for {
		d.mu.Lock()
		if d.closed.Load() {
			d.mu.Unlock()
			return fmt.Errorf("rawptr: init: %w: the device", errs.ErrClosed)
		}
		if d.session.Load() != nil {
			d.mu.Unlock()
			return nil
		}
		other := d.opening
		if other == nil {
			inner, cancel := context.WithCancel(ctx)
			d.opening, d.cancel = make(chan struct{}), cancel
			d.mu.Unlock()
			return d.openNow(inner, cancel)
		}
		d.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return fmt.Errorf("rawptr: init: %w", ctx.Err())
		}
	}
}

// openNow opens the session. No other goroutine does so at the same time.
func (d *Device) openNow(ctx context.Context, cancel context.CancelFunc) error {
	defer cancel()
	s, err := session.Open(ctx, d.options.session)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.session.Store(s) // also after a Close, which waits for it and closes it
	}
	close(d.opening)
	d.opening, d.cancel = nil, nil
	switch {
	case d.closed.Load():
		return fmt.Errorf("rawptr: init: %w: the device", errs.ErrClosed)
	case err != nil:
		return fmt.Errorf("rawptr: init: %w", err)
	}
	return nil
}

// IsInitialized reports whether Init has succeeded and Close was not called.
func (d *Device) IsInitialized() bool {
	_, err := d.open("is initialized")
	return err == nil
}

// Synchronize waits for all work and returns its first error. An error that only the device can see
// is returned once, here or by CopyDtoH.
// Errors: ErrNotInitialized, ErrClosed, ctx.Err(), those of the work.
func (d *Device) Synchronize(ctx context.Context) error {
	s, err := d.open("synchronize")
	if err != nil {
		return err
	}
	if err := errs.Context(ctx); err != nil {
		return fmt.Errorf("rawptr: synchronize: %w", err)
	}
	if err := s.Sync(ctx); err != nil {
		return fmt.Errorf("rawptr: synchronize: %w", err)
	}
	return nil
}

// Close waits for work in progress, and releases the device with all its memory. An Init that runs
// ends with ErrClosed. Closing twice is harmless. A closed Device cannot be opened again.
func (d *Device) Close() error {
	if err := d.ready("close"); err != nil {
		return err
	}
	d.mu.Lock()
	d.closed.Store(true)
	opening := d.opening
	if opening != nil {
		d.cancel()
	}
	d.mu.Unlock()
	if opening != nil {
		<-opening
	}
	if s := d.session.Load(); s != nil {
		return s.Close()
	}
	if d.options.session.Device != nil && !errs.Nil(d.options.session.Device) {
		return d.options.session.Device.Close()
	}
	return nil
}
