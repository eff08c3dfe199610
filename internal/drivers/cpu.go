//go:build !nocpu

package drivers

import (
	"context"

	"github.com/lathe-gpu/lathe/cpu"
)

// CPUBuilt reports whether the device of package cpu is in this program.
const CPUBuilt = true

// errNoCPU is the error of a program without that device. This one has it.
var errNoCPU error

// enumerateCPU lists the device of package cpu.
func enumerateCPU(ctx context.Context, o Options) (*cpu.Enumeration, error) {
	return cpu.Enumerate(ctx, cpu.Options{CacheDir: o.CacheDir, NoCache: o.NoCache, CloseTimeout: o.CloseTimeout})
}
