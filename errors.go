package lathe

import "github.com/lathe-gpu/lathe/internal/errs"

// The errors of all parts of Lathe. Returned errors wrap one of them and add the facts. Test
// with errors.Is.
var (
	// ErrNoDevice: no usable adapter. The text says what was looked for and how
	// to get one.
	ErrNoDevice = errs.ErrNoDevice
	// ErrUnsupported: this device does not have an operation, dtype or feature.
	ErrUnsupported = errs.ErrUnsupported
	// ErrInvalidArgument: wrong rank, shape, dtype, parameter or byte length.
	ErrInvalidArgument = errs.ErrInvalidArgument
	// ErrInvalidHandle: a handle that is unknown, freed, or of another device.
	ErrInvalidHandle = errs.ErrInvalidHandle
	// ErrOutOfMemory: the device refused an allocation; it stays usable.
	ErrOutOfMemory = errs.ErrOutOfMemory
	// ErrLimit: a limit of the device that splitting the call cannot avoid. errors.As
	// to *LimitError says which one.
	ErrLimit = errs.ErrLimit
	// ErrInvalidShader: SPIR-V refused before it reached the driver.
	ErrInvalidShader = errs.ErrInvalidShader
	// ErrABIMismatch: shaders and Go declarations differ.
	ErrABIMismatch = errs.ErrABIMismatch
	// ErrDeviceLost: the device is lost. Every later call returns this error at once.
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
	// ErrGraph: a graph was built wrongly. The text lists every mistake.
	ErrGraph = errs.ErrGraph
	// ErrGraphRefused: the device cannot run some calls of a graph. The text lists all of them.
	ErrGraphRefused = errs.ErrGraphRefused
	// ErrGraphBusy: another goroutine runs the Executable.
	ErrGraphBusy = errs.ErrGraphBusy
	// ErrCapture: a call that a Capture cannot record, or Begin, End, Abort or Replay at the wrong time.
	ErrCapture = errs.ErrCapture
)

// LimitError says which limit of the device was exceeded. It matches ErrLimit.
type LimitError = errs.LimitError
