package rawptr

import (
	"context"
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/families/gemm"
)

// Capabilities says what a device can do. All of it is read from the device.
type Capabilities struct {
	// Device describes the device with its limits and features.
	Device gpu.Info
	// F64 says that there are operations on float64. Without it they are ErrUnsupported.
	F64 bool
	// MaxAlloc is the largest size of an allocation in bytes.
	MaxAlloc int64
	// Alignment is the distance in bytes of the addresses in an allocation at which no operation
	// has to work on a copy.
	Alignment int64
}

// Capabilities says what the device can do.
// Errors: ErrNotInitialized, ErrClosed.
func (d *Device) Capabilities() (Capabilities, error) {
	s, err := d.open("capabilities")
	if err != nil {
		return Capabilities{}, err
	}
	info := s.Info()
	return Capabilities{
		Device: *info, F64: info.Features.F64, MaxAlloc: info.Limits.MaxBuffer,
		Alignment: max(info.Limits.OffsetAlign, info.Limits.TexelAlign, gpu.Unit),
	}, nil
}

// AvailableDevices lists the devices that the backend of this Device could open, in the order in which
// WithDevice counts them. If WithGPU gave the device, it is the only one.
// Errors: ErrNotInitialized, ErrClosed, ErrNoDevice, ctx.Err().
func (d *Device) AvailableDevices(ctx context.Context) ([]gpu.Info, error) {
	s, err := d.open("available devices")
	if err != nil {
		return nil, err
	}
	if d.options.session.Device != nil && d.options.session.Drivers.Backend == "" {
		return []gpu.Info{*s.Info()}, nil
	}
	return listDevices(ctx, d.options.session.Drivers.Backend)
}

// AvailableDevices lists the devices of all backends that the program has, or of the one that
// LATHE_BACKEND names, in the order in which WithDevice counts them. It needs no open Device.
// Errors: ErrNoDevice, ErrInvalidArgument (LATHE_BACKEND), ctx.Err().
func AvailableDevices(ctx context.Context) ([]gpu.Info, error) { return listDevices(ctx, "") }

func listDevices(ctx context.Context, backend string) ([]gpu.Info, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("rawptr: available devices: %w", err)
	}
	list, err := drivers.List(ctx, backend)
	if err != nil {
		return nil, fmt.Errorf("rawptr: available devices: %w", err)
	}
	return list, nil
}

// Tile is the size of a part of a product.
type Tile struct {
	// M and N are the rows and columns of C that one workgroup computes.
	M, N int
	// K is how many products of an element are summed in one go.
	K int
}

// RecommendedTile is the part of C that one workgroup of this device computes in GemmF32 of such sizes, as far
// as the device's kernels are known without a measurement. Algorithms that divide matrices into blocks are
// fast if the blocks are many times as large in each direction. The sizes are 1 to 2³¹ − 1.
// Errors: ErrInvalidArgument, ErrNotInitialized, ErrClosed.
func (d *Device) RecommendedTile(m, n, k int) (Tile, error) {
	s, err := d.open("recommended tile")
	if err != nil {
		return Tile{}, err
	}
	for _, x := range []int{m, n, k} {
		if x < 1 || x > math.MaxInt32 {
			return Tile{}, fmt.Errorf("rawptr: recommended tile: %w: sizes (got %d, %d, %d, want 1 to %d)", errs.ErrInvalidArgument, m, n, k, math.MaxInt32)
		}
	}
	target := exec.TargetOf(s.Info())
	cols, rows, depth := gemm.Tile(&target, n, m, k) // A matrix in column-major order is a transposed one in row-major order.
	return Tile{M: rows, N: cols, K: depth}, nil
}
