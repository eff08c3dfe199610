package lathe

import "github.com/lathe-gpu/lathe/internal/errs"

// The errors that every part of Lathe returns, wrapped with the facts; test for
// them with errors.Is.
var (
	// ErrNoDevice: no usable adapter. The text says what was looked for and how
	// to get one.
	ErrNoDevice = errs.ErrNoDevice
	// ErrUnsupported: this device lacks an operation, dtype or feature.
	ErrUnsupported = errs.ErrUnsupported
	// ErrInvalidArgument: wrong rank, shape, dtype, parameter or byte length.
	ErrInvalidArgument = errs.ErrInvalidArgument
	// ErrInvalidHandle: unknown, freed, or of another device.
	ErrInvalidHandle = errs.ErrInvalidHandle
	// ErrOutOfMemory: the device refused an allocation; it stays usable.
	ErrOutOfMemory = errs.ErrOutOfMemory
	// ErrLimit: a device limit that splitting the work cannot avoid; errors.As
	// to *LimitError tells which.
	ErrLimit = errs.ErrLimit
	// ErrInvalidShader: SPIR-V refused before it reached the driver.
	ErrInvalidShader = errs.ErrInvalidShader
	// ErrABIMismatch: shaders and Go declarations disagree.
	ErrABIMismatch = errs.ErrABIMismatch
	// ErrDeviceLost: the device is gone; every later call says so at once.
	ErrDeviceLost = errs.ErrDeviceLost
	// ErrNotInitialized: the object has not been initialised.
	ErrNotInitialized = errs.ErrNotInitialized
	// ErrClosed: the object has been closed.
	ErrClosed = errs.ErrClosed
	// ErrDivisionByZero: a scalar division or modulus by zero.
	ErrDivisionByZero = errs.ErrDivisionByZero
	// ErrFloatSpecial: NaN or infinity where a finite number is required.
	ErrFloatSpecial = errs.ErrFloatSpecial
	// ErrType: a value of the wrong type.
	ErrType = errs.ErrType
)

// LimitError reports which device limit was exceeded; it matches ErrLimit.
type LimitError = errs.LimitError
