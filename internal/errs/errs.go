// Package errs holds the sentinel errors every Lathe package shares, so that
// packages below the front door can return them without importing it.
// Programs use the same values under the names lathe.ErrNoDevice and so on.
//
// Errors are wrapped with %w and read "pkg: op: what (got X, want Y)".
package errs

import (
	"errors"
	"fmt"
)

var (
	// ErrNoDevice: no usable adapter was found.
	ErrNoDevice = errors.New("no usable GPU device")
	// ErrUnsupported: this device or backend lacks an operation, dtype or feature.
	ErrUnsupported = errors.New("unsupported")
	// ErrInvalidArgument: wrong rank, shape, dtype, parameter or byte length.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrInvalidHandle: the handle is unknown, freed, or of another device.
	ErrInvalidHandle = errors.New("invalid handle")
	// ErrOutOfMemory: the device refused an allocation; it stays usable.
	ErrOutOfMemory = errors.New("out of device memory")
	// ErrLimit: a device limit that splitting the work cannot avoid; see LimitError.
	ErrLimit = errors.New("device limit exceeded")
	// ErrInvalidShader: SPIR-V refused before it reached the driver.
	ErrInvalidShader = errors.New("invalid shader")
	// ErrABIMismatch: shaders and Go declarations disagree.
	ErrABIMismatch = errors.New("ABI mismatch")
	// ErrDeviceLost: the device is gone; every later call says so at once.
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
)

// LimitError reports which device limit was exceeded, in that limit's own unit.
// It matches ErrLimit.
type LimitError struct {
	Name string // the limit, e.g. "MaxBinding"
	Want int64  // what the call needed
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
