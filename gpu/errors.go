package gpu

import "github.com/lathe-gpu/lathe/internal/errs"

// The sentinels a Device returns, wrapped with the facts.
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
	ErrClosed          = errs.ErrClosed
)

// LimitError says which limit was exceeded; it matches ErrLimit.
type LimitError = errs.LimitError
