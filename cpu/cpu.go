// Package cpu is a gpu.Device in pure Go. It compiles SPIR-V to WebAssembly with 128-bit
// vectors, and wazero compiles that to machine code. It needs no driver and no cgo. On
// processors other than amd64 and arm64, and on a few systems, wazero interprets the code. In
// a program for GOOS=js the WebAssembly of the browser, or of Node, runs it.
//
// # Memory
//
// All buffers lie in one linear memory, which all workers share. It holds 4 GiB at most. Its
// addresses are reserved when the device is opened. They take no memory of the system until
// they are used. Large free ranges go back to the system where that is possible.
//
// Write and Read copy from and to this memory. Memory of the caller cannot be part of it, so
// the device is no gpu.Importer.
//
// # Work
//
// Submit queues dispatches. They run one after the other, and the workgroups of one
// dispatch run on several workers. Work that takes a short time waits until there is more
// of it, or until a Read, Sync or Close needs it. A dispatch of a few microseconds runs on
// one worker.
//
// A kernel that fails at run time stops its list. The next Sync or Read returns an error
// that wraps ErrUnsupported. The device is not lost, and later lists run.
//
// # Kernels that do not end
//
// No goroutine can be interrupted in the machine code of a kernel, not even for the garbage
// collector. So a call of a kernel should end soon. The device gives a kernel as many
// workgroups at a time as run in a fraction of a millisecond, but a single workgroup can run
// for any time. A kernel with long loops therefore calls the function "yield" of the module
// "host" from time to time. It lets other goroutines run.
//
// When the time limit of Close is over, the device sets the stop word. Kernels read it in
// their loops and end. Close then releases everything, and returns an error that wraps
// context.DeadlineExceeded. If a kernel neither reads the word nor yields, Close returns
// such an error after a second, and the memory and the goroutines of the device stay behind
// until the kernel ends. But the next garbage collection waits for a kernel that does not
// yield, and so does the whole program. So it does if such kernels run on all threads that
// GOMAXPROCS allows.
//
// # Who chooses it
//
// lathe.Open, backend.Open and the command line take this device if the machine has no GPU,
// or if the user names the device or the backend "cpu". Then they load no driver. The build
// tag nocpu leaves the device out of them. Open opens it in any program.
//
// # What it lacks
//
// Shaders that need one of these things are refused with ErrUnsupported, which names it:
//
//   - elementary functions of 64 bits; the lowest or highest bit of a number of 64 bits; carries
//     of numbers of fewer than 32 bits
//   - pointers to a choice of variables, and comparing pointers to different variables
//   - rounding to zero, and denormals that become zeros
//   - cooperative matrices
//   - images other than texel buffers, a choice of texel buffers, and atomics on them
//   - atomics of fewer than 32 bits
//   - a component of a built-in input whose index is not constant
//   - a barrier in a switch that not all invocations take alike
package cpu

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/lathe-gpu/lathe/cpu/internal/compile"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// Built reports whether this program was built with this backend. It is always true in a
// program that imports the package.
const Built = true

// Options are the options of Open. The zero value is the usual choice.
type Options struct {
	// MaxMemory is the size of the linear memory in bytes. It bounds all buffers together.
	// 0 means 4 GiB, or 256 MiB in a program of 32 bits and on systems that cannot reserve
	// addresses, such as Plan 9. More than 4 GiB, or 1 GiB there, counts as that.
	MaxMemory int64
	// Workers is the number of goroutines that run workgroups at the same time. 0 means
	// runtime.GOMAXPROCS. In a browser there is one.
	Workers int
	// CacheDir holds WebAssembly and machine code of kernels between runs. Empty means the folder lathe/kernels in
	// the user's cache folder.
	CacheDir string
	// NoCache keeps them in memory only.
	NoCache bool
	// CloseTimeout is how long Close waits for submitted work before it stops the work. 0
	// means gpu.DefaultCloseTimeout. Below 0 there is no bound.
	CloseTimeout time.Duration

	// translate makes WebAssembly of a module, and version names it in the cache. nil means
	// compile.Compile and its version. They are for tests.
	translate func(*spv.Module) (*compile.Kernel, error)
	version   string
}

// Open opens the device. The result is a *Device.
// Errors: ErrInvalidArgument (MaxMemory, Workers); ErrOutOfMemory (the system has no such
// range of addresses).
func Open(o Options) (gpu.Device, error) {
	d, err := open(o)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Enumeration is the list of the devices of this package. It has one device. Make an
// Enumeration with Enumerate.
type Enumeration struct {
	opts   Options
	infos  []gpu.Info
	closed bool
}

// Enumerate lists the devices. opts are the Options of Open.
// Errors: ErrInvalidArgument, ctx.Err().
func Enumerate(ctx context.Context, opts Options) (*Enumeration, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, err
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	return &Enumeration{opts: opts, infos: []gpu.Info{describe(memoryBytes(opts.MaxMemory), opts.workers())}}, nil
}

// Infos describes the devices.
func (e *Enumeration) Infos() []gpu.Info {
	if e == nil {
		return nil
	}
	return e.infos
}

// Open opens device i of Infos. It looks at ctx only before it starts.
// Errors: ErrInvalidArgument (no such device), ErrClosed, ErrOutOfMemory, ctx.Err().
func (e *Enumeration) Open(ctx context.Context, i int) (*Device, error) {
	if e == nil || e.closed {
		return nil, fmt.Errorf("cpu: open: %w: the enumeration", gpu.ErrClosed)
	}
	if err := errs.Context(ctx); err != nil {
		return nil, err
	}
	if i < 0 || i >= len(e.infos) {
		return nil, fmt.Errorf("cpu: open: %w: device %d of %d", gpu.ErrInvalidArgument, i, len(e.infos))
	}
	return open(e.opts)
}

// Close ends the use of the enumeration. Closing twice is harmless.
func (e *Enumeration) Close() {
	if e != nil {
		e.closed = true
	}
}

// List describes the devices, in the order in which Enumeration.Open numbers them.
// Errors: ctx.Err().
func List(ctx context.Context) ([]gpu.Info, error) {
	e, err := Enumerate(ctx, Options{})
	if err != nil {
		return nil, err
	}
	return e.Infos(), nil
}

// check returns an error for options that no device can have.
func (o *Options) check() error {
	if o.Workers < 0 || o.Workers > maxWorkers {
		return fmt.Errorf("cpu: open: %w: %d workers (want 0 to %d)", gpu.ErrInvalidArgument, o.Workers, maxWorkers)
	}
	if o.MaxMemory != 0 && o.MaxMemory < leastMemory {
		return fmt.Errorf("cpu: open: %w: MaxMemory of %d bytes (want 0, or at least %d)", gpu.ErrInvalidArgument, o.MaxMemory, leastMemory)
	}
	return nil
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return min(o.Workers, engineWorkers)
	}
	return min(runtime.GOMAXPROCS(0), engineWorkers)
}
