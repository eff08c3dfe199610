package rawptr

import (
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
)

// NullName is the name of the null backend.
const NullName = "null"

// NewNull returns the null backend, which is for tests of programs that use a Backend. It has memory:
// Alloc, Free and the copies do what they do elsewhere. Operations check all of their arguments, plan
// their launches for a large GPU, and return the errors of any other backend. But nothing runs, and
// outputs keep what they held. No choice among backends takes it, unless it is named.
func NewNull() *Device { return New(WithGPU(discarder{null.NewRecorder(nil)})) }

// discarder is a device that checks what it is asked to run, and keeps no record of it.
type discarder struct{ *null.Device }

// Submit checks the dispatches.
func (d discarder) Submit(list []gpu.Dispatch) error {
	err := d.Device.Submit(list)
	d.Forget()
	return err
}
