package gpu

import (
	"fmt"
	"slices"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Preparer is a Device that can check and record a list of dispatches once, and run it many
// times. [Prepare] works on every device.
type Preparer interface {
	// Prepare checks a list as Submit does, compiles its modules, and keeps a copy of it. It runs
	// nothing.
	// Errors: those of Device.Submit.
	Prepare(list []Dispatch) (Prepared, error)
}

// Prepared is a list of dispatches that a device keeps. It takes memory until Free, or until
// the device is closed. Any goroutine may call its methods.
type Prepared interface {
	// Submit runs the list, with the result of Device.Submit of the same list. Earlier
	// submissions of it may still run then.
	// Errors: ErrInvalidHandle (a buffer of the list was freed; nothing has been run, and a
	// buffer that was allocated later never takes its place), ErrOutOfMemory, ErrDeviceLost,
	// ErrClosed (Free was called, or Close of the device).
	Submit() error

	// Set replaces dispatch i of the list from the next Submit on, by a copy of x. x may have
	// other parameters, other buffers, another grid and another module. To replace some
	// dispatches costs as much as to prepare the list again, once, at the next Submit.
	// Errors: those of Device.Submit; ErrInvalidArgument (no dispatch i). The list is as
	// before then.
	Set(i int, x Dispatch) error

	// Free releases the list. Work already submitted still finishes. Freeing twice is
	// harmless.
	// Errors: ErrClosed, ErrDeviceLost. Close of the device has released the list, or will.
	Free() error
}

// Prepare keeps a list for many submissions. For a device that is no [Preparer] it only copies
// the list, once: it checks and compiles nothing, and each Submit of the Prepared gives that copy
// to Device.Submit. So mistakes in the list, and in what Set was given, are errors of Submit.
// Errors: those of Preparer.Prepare; ErrInvalidArgument (no device).
func Prepare(dev Device, list []Dispatch) (Prepared, error) {
	if errs.Nil(dev) {
		return nil, fmt.Errorf("gpu: prepare: %w: no device", ErrInvalidArgument)
	}
	if p, ok := dev.(Preparer); ok {
		return p.Prepare(list)
	}
	if err := dev.Submit(nil); err != nil { // the device is closed or lost
		return nil, err
	}
	return &kept{dev: dev, list: CloneList(list)}, nil
}

// CloneList returns a copy of a list that shares only the modules with it.
func CloneList(list []Dispatch) []Dispatch {
	out := slices.Clone(list)
	for i := range out {
		out[i].Bindings, out[i].Params = slices.Clone(out[i].Bindings), slices.Clone(out[i].Params)
	}
	return out
}

// kept is the Prepared of a device that is no Preparer.
type kept struct {
	dev  Device
	mu   sync.Mutex
	list []Dispatch // never changed: Set makes another one
	free bool
}

func (k *kept) current() ([]Dispatch, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.free {
		return nil, errFreed()
	}
	return k.list, nil
}

func errFreed() error { return fmt.Errorf("gpu: prepared list: %w: it was freed", errs.ErrClosed) }

func (k *kept) Submit() error {
	list, err := k.current()
	if err != nil {
		return err
	}
	return k.dev.Submit(list)
}

func (k *kept) Set(i int, x Dispatch) error {
	k.mu.Lock() // over all of it, or one of two calls at a time would be lost
	defer k.mu.Unlock()
	if k.free {
		return errFreed()
	}
	list, err := Replaced(k.list, i, x)
	if err != nil {
		return err
	}
	k.list = list
	return nil
}

func (k *kept) Free() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list, k.free = nil, true
	return nil
}

// Replaced returns a list whose dispatch i is a copy of x, and whose others are those of list.
// It is a part of [Prepared] for devices.
// Errors: ErrInvalidArgument (no dispatch i).
func Replaced(list []Dispatch, i int, x Dispatch) ([]Dispatch, error) {
	if i < 0 || i >= len(list) {
		return nil, fmt.Errorf("gpu: set: %w: dispatch %d of %d", ErrInvalidArgument, i, len(list))
	}
	list = slices.Clone(list)
	list[i] = CloneList([]Dispatch{x})[0]
	return list, nil
}
