//go:build !novk && cgo

package vk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// usable lists the devices that can be used, and says why the others cannot.
func (in *instance) usable() (infos []gpu.Info, phys []physical, unusable []string, err error) {
	all, err := in.physicals()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w%s", err, lookedFor())
	}
	for _, p := range all {
		if p.unusable != "" {
			unusable = append(unusable, fmt.Sprintf("%s: %s", p.info.Name, p.unusable))
			continue
		}
		infos = append(infos, p.info)
		phys = append(phys, p)
	}
	if len(infos) > 0 {
		in.keep()
	}
	return infos, phys, unusable, nil
}

func noDevice(unusable []string) error {
	if len(unusable) > 0 {
		return &device.Unusable{Err: fmt.Errorf("vk: %w: no Vulkan device can be used: %s%s", gpu.ErrNoDevice, strings.Join(unusable, "; "), lookedFor())}
	}
	why := cmp.Or(misled(), "the Vulkan loader works, but no driver offers a device")
	return fmt.Errorf("vk: %w: %s%s", gpu.ErrNoDevice, why, lookedFor())
}

// Enumeration has the Vulkan devices of a machine. Its Open opens one of them. Make one with
// Enumerate. Drivers that offer a device stay loaded until the process ends.
type Enumeration struct {
	inst     *instance
	opts     Options // Warn is not nil
	infos    []gpu.Info
	phys     []physical
	unusable []string
}

// Enumerate finds the devices that can be used, in the loader's order. opts are those
// of Open, but opts.Device is ignored.
// Errors: ErrNoDevice, saying what was looked for and how to get a device;
// ErrUnsupported if opts.Validation is set and the layer is missing; ctx.Err().
func Enumerate(ctx context.Context, opts Options) (*Enumeration, error) {
	e, err := enumerate(ctx, opts)
	if err == nil && len(e.infos) == 0 {
		e.Close()
		return nil, noDevice(e.unusable)
	}
	return e, err
}

// enumerate is Enumerate, but it returns no error if there is no device.
func enumerate(ctx context.Context, opts Options) (*Enumeration, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, err
	}
	opts.Warn = device.Warner(opts.Warn)
	e := &Enumeration{opts: opts}
	var err error
	if e.inst, err = acquire(opts.Validation, opts.Warn); err != nil {
		return nil, err
	}
	if e.infos, e.phys, e.unusable, err = e.inst.usable(); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Infos describes the devices.
func (e *Enumeration) Infos() []gpu.Info {
	if e == nil {
		return nil
	}
	return slices.Clone(e.infos)
}

// Unusable says which devices of the machine are not in Infos, and why they cannot be used.
// It returns nil if there are none.
func (e *Enumeration) Unusable() error {
	if e == nil || len(e.unusable) == 0 {
		return nil
	}
	return &device.Unusable{Err: fmt.Errorf("vk: a device cannot be used: %s", strings.Join(e.unusable, "; "))}
}

// Open opens device i of Infos. With validation an Enumeration opens only one device,
// because the messages of the layer belong to that device. Open checks ctx at its start
// only.
// Errors: ErrInvalidArgument (no such device), ErrClosed, ErrUnsupported,
// ErrOutOfMemory, ctx.Err().
func (e *Enumeration) Open(ctx context.Context, i int) (*Device, error) {
	if e == nil || e.inst == nil {
		return nil, fmt.Errorf("vk: open: %w: the enumeration", gpu.ErrClosed)
	}
	if err := errs.Context(ctx); err != nil {
		return nil, err
	}
	if i < 0 || i >= len(e.phys) {
		return nil, fmt.Errorf("vk: open: %w: device %d of %d", gpu.ErrInvalidArgument, i, len(e.phys))
	}
	d, err := open(e.inst, e.phys[i], e.opts)
	if err != nil {
		return nil, errors.Join(err, e.inst.messages.drain())
	}
	if e.opts.Validation {
		e.inst = nil
	} else {
		e.inst.retain()
	}
	return d, nil
}

// Close releases what the enumeration holds. Devices that it opened can still be used. Closing
// twice is harmless.
func (e *Enumeration) Close() {
	if e != nil && e.inst != nil {
		e.inst.release()
		e.inst = nil
	}
}

// List describes the Vulkan devices that can be used, in the loader's order.
// Errors: ErrNoDevice, saying what was looked for and how to get a device.
func List(ctx context.Context) ([]gpu.Info, error) {
	e, err := Enumerate(ctx, Options{})
	if err != nil {
		return nil, err
	}
	e.Close()
	return e.infos, nil
}

// Probe reports what there is of Vulkan on this machine, working or not.
func Probe(ctx context.Context) Report {
	r := Report{Built: true, Env: environment()}
	r.ICDFolders, r.ICDFiles = searchDrivers()
	gipa, err := openLoader()
	if err != nil {
		r.LoaderError, r.Error = err.Error(), err
		return r
	}
	loader.Lock()
	r.LoaderPath, r.InstanceVersion = loader.path, versionString(loader.version)
	loader.Unlock()
	r.Layers = layers(gipa)
	e, err := enumerate(ctx, Options{})
	if err != nil {
		r.Error = err
		return r
	}
	e.Close()
	r.Devices, r.Unusable = e.infos, e.unusable
	if len(r.Devices) == 0 {
		r.Error = noDevice(e.unusable)
	}
	return r
}
