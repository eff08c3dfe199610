// Package errs has the sentinel errors that all packages of Lathe share. So packages
// that the root package imports can return them too. Programs use the same values under
// the names lathe.ErrNoDevice and so on.
//
// Errors are wrapped with %w and read "pkg: op: what (got X, want Y)".
package errs

import (
	"errors"
	"fmt"
)

var (
	// ErrNoDevice: no usable adapter was found.
	ErrNoDevice = errors.New("no usable device")
	// ErrUnsupported: this device or backend lacks an operation, dtype or feature.
	ErrUnsupported = errors.New("unsupported")
	// ErrInvalidArgument: wrong rank, shape, dtype, parameter or byte length.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrInvalidHandle: the handle is unknown, freed, or of another device.
	ErrInvalidHandle = errors.New("invalid handle")
	// ErrOutOfMemory: the device refused an allocation. The device stays usable.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrLimit: the call exceeds a limit of the device, and splitting the work does not
	// help; see LimitError.
	ErrLimit = errors.New("device limit exceeded")
	// ErrInvalidShader: the SPIR-V is invalid, and did not reach the driver.
	ErrInvalidShader = errors.New("invalid shader")
	// ErrABIMismatch: shaders and Go declarations disagree.
	ErrABIMismatch = errors.New("ABI mismatch")
	// ErrDeviceLost: the device is gone. Every later call returns this error at once.
	ErrDeviceLost = errors.New("device lost")
	// ErrNotInitialized: the object has not been initialised.
	ErrNotInitialized = errors.New("not initialized")
	// ErrClosed: the object has been closed.
	ErrClosed = errors.New("closed")
	// ErrDivisionByZero: a scalar division or modulus by zero.
	ErrDivisionByZero = errors.New("division by zero")
	// ErrFloatSpecial: NaN or infinity where a finite float is required.
	ErrFloatSpecial = errors.New("NaN or infinity is not a value")
	// ErrType: a value of the wrong type.
	ErrType = errors.New("wrong type")
	// ErrGraph: a graph was built wrongly. The text lists every mistake.
	ErrGraph = errors.New("invalid graph")
	// ErrGraphRefused: the device cannot run some calls of a graph. The text lists all of them.
	ErrGraphRefused = errors.New("graph refused")
	// ErrGraphBusy: another goroutine runs the executable.
	ErrGraphBusy = errors.New("executable in use")
	// ErrCapture: a call that a capture cannot record, or one that needs a capture, or needs that there is none.
	ErrCapture = errors.New("capture")
)

// LimitError says which limit of the device a call exceeds. It matches ErrLimit. Want and
// Have are in the unit of the limit.
type LimitError struct {
	Name string // the name of the limit, such as "MaxBinding"
	Want int64  // what the call needs
	Have int64  // what the device offers
}

func (e *LimitError) Error() string {
	if e == nil {
		return ErrLimit.Error()
	}
	return fmt.Sprintf("%v: %s (need %d, device has %d)", ErrLimit, e.Name, e.Want, e.Have)
}

// Is reports whether target is ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }
