package device

import "sync/atomic"

// Faults makes calls of a driver fail, for tests. The function that is stored decides
// by the name of a call what the call returns in place of the driver's result.
type Faults[R any] struct {
	atomic.Pointer[func(call string) R]
}

// Result is what the named call returns in place of the driver's result. The zero
// result means that the call is made.
func (f *Faults[R]) Result(call string) (r R) {
	if p := f.Load(); p != nil {
		r = (*p)(call)
	}
	return r
}
