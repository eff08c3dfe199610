//go:build nocpu

package drivers

import (
	"context"
	"fmt"

	"github.com/lathe-gpu/lathe/gpu"
)

// CPUBuilt reports whether the device of package cpu is in this program.
const CPUBuilt = false

// errNoCPU is the error for a user who asks for that device.
var errNoCPU = fmt.Errorf("cpu: open: %w: this program was built without it (tag nocpu); build it without the tag", gpu.ErrNoDevice)

// noCPU has no device.
type noCPU struct{}

func (noCPU) Infos() []gpu.Info                                   { return nil }
func (noCPU) Open(ctx context.Context, i int) (gpu.Device, error) { return nil, errNoCPU }
func (noCPU) Close()                                              {}

// enumerateCPU returns ErrNoDevice.
func enumerateCPU(ctx context.Context, o Options) (*noCPU, error) { return nil, errNoCPU }
