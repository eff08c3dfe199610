package gpu

import "github.com/lathe-gpu/lathe/internal/errs"

// These are the sentinels that a Device returns. It wraps them with details.
var (
	ErrNoDevice        = errs.ErrNoDevice
	ErrUnsupported     = errs.ErrUnsupported
	ErrInvalidArgument = errs.ErrInvalidArgument
	ErrInvalidHandle   = errs.ErrInvalidHandle
	ErrOutOfMemory     = errs.ErrOutOfMemory
	ErrLimit           = errs.ErrLimit
	ErrInvalidShader   = errs.ErrInvalidShader
	ErrABIMismatch     = errs.ErrABIMismatch
	ErrDeviceLost      = errs.ErrDeviceLost
	ErrNotInitialized  = errs.ErrNotInitialized
	ErrClosed          = errs.ErrClosed
)

// LimitError says which limit was exceeded. It matches ErrLimit.
type LimitError = errs.LimitError
