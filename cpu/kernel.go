package cpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/cpu/internal/compile"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// kernel is a module compiled for the device.
type kernel struct {
	label     string
	slots     []slot
	header    uint32 // bytes of the header of a frame
	frames    uint32 // address of the frame of worker 0
	stride    uint32 // from the frame of a worker to that of the next, in bytes
	code      *program
	instances []*instance // by worker, made on first use by the worker
	cost      atomic.Uint64
	loops     bool // nothing bounds the time of a workgroup
}

// slot is a binding of a kernel.
type slot struct {
	number uint32
	write  bool // the shader may write the buffer
	decl   *spv.Binding
}

// instance is a kernel for one worker.
type instance struct {
	run   function
	frame uint32
	stack [3]uint64 // the arguments of run
}

// nanoseconds is about how long a workgroup takes, or 0 if that is not known.
func (k *kernel) nanoseconds() float64 { return math.Float64frombits(k.cost.Load()) }

// observe takes into account that n workgroups took so many nanoseconds.
func (k *kernel) observe(nanoseconds float64, n uint64) {
	cost, old := max(nanoseconds, 1)/float64(n), k.nanoseconds()
	if old > 0 {
		cost = old + (cost-old)/4
	}
	k.cost.Store(math.Float64bits(cost))
}

// CompileModule compiles a module without running it, so that its first dispatch need not.
// Errors: those of Submit that concern the module alone.
func (d *Device) CompileModule(m *spv.Module) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	return d.life.Unlocked(func() error {
		_, err := d.kernel(m)
		return err
	})
}

// kernel returns the kernel of a module, and compiles the module the first time. The caller
// has begun an operation of the device and does not hold the lock.
func (d *Device) kernel(m *spv.Module) (*kernel, error) {
	return d.kernels.Get(&d.info, m, struct{}{}, func() (*kernel, error) {
		defer device.TimeCompile(&d.life, m, func() *device.HostTrace { return d.trace })()
		return d.compile(m)
	})
}

// compile compiles a module.
// Errors: ErrUnsupported, ErrOutOfMemory.
func (d *Device) compile(m *spv.Module) (*kernel, error) {
	k := &kernel{label: gpu.Label(m), header: compile.FrameBindings, instances: make([]*instance, d.team.workers)}
	for i := range m.Bindings {
		b := &m.Bindings[i]
		k.slots = append(k.slots, slot{b.Slot, b.Access.Writes(), b})
		if b.Slot >= maxSlots {
			return nil, fmt.Errorf("cpu: %s: %w: %s (want less than %d)", k.label, gpu.ErrUnsupported, b.Where(), maxSlots)
		}
		k.header = max(k.header, compile.FrameBindings+8*(b.Slot+1))
	}
	c, err := d.modules.load(m), error(nil)
	if c == nil {
		if c, err = d.translate(m); err != nil {
			return nil, err
		}
		d.modules.store(m, c)
	}
	k.loops = c.Loops
	if c.FrameBytes < k.header || c.FrameBytes > maxFrame {
		return nil, fmt.Errorf("cpu: %s: %w: a frame of %d bytes (want %d to %d)", k.label, gpu.ErrUnsupported, c.FrameBytes, k.header, maxFrame)
	}
	if k.code, err = d.engine.program(c.Wasm); err != nil {
		return nil, fmt.Errorf("cpu: %s: %w: %v", k.label, gpu.ErrUnsupported, err)
	}
	if err := d.reserveFrames(k, c.FrameBytes); err != nil {
		_ = k.code.close() // it has no instances
		return nil, err
	}
	objects.kernels.Add(1)
	return k, nil
}

const (
	// maxSlots bounds the numbers of bindings, since a frame has room for all up to the
	// last one.
	maxSlots = 1 << 12
	// maxFrame is the largest size of a frame in bytes.
	maxFrame = 1 << 28
)

// reserveFrames finds memory for the frames of a kernel. Kernels with frames of about the
// same size share it, because a worker runs one kernel at a time.
// Errors: ErrOutOfMemory.
func (d *Device) reserveFrames(k *kernel, size uint32) error {
	d.life.Lock()
	defer d.life.Unlock()
	power := bits.Len32(max(size, 256) - 1)
	k.stride = 1 << power
	if d.frames[power] == nil {
		s, _, err := d.allocate(int64(k.stride) * int64(d.team.workers))
		if err != nil {
			return err
		}
		// The lock may have been released in between.
		if d.frames[power] != nil {
			d.heap.release(s)
		} else {
			d.frames[power] = s
		}
	}
	k.frames = uint32(d.frames[power].off)
	return nil
}

// instance returns the kernel for a worker. Only that worker calls it.
func (d *Device) instance(k *kernel, worker int) (*instance, error) {
	if in := k.instances[worker]; in != nil {
		return in, nil
	}
	err := fault.Result("instantiate")
	var run function
	if err == nil {
		run, err = d.engine.instantiate(k.code)
	}
	if err != nil {
		return nil, fmt.Errorf("cpu: %s: %w: %v", k.label, gpu.ErrUnsupported, err)
	}
	in := &instance{run: run, frame: k.frames + uint32(worker)*k.stride}
	k.instances[worker] = in
	return in, nil
}

// call runs n workgroups from the number first on.
func (in *instance) call(first, n uint64) error {
	in.stack = [3]uint64{uint64(in.frame), first, n}
	return in.run.call(&in.stack)
}

// trapped returns the error of a kernel that ended by a trap.
func (k *kernel) trapped(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n") // a stack of WebAssembly functions follows
	return fmt.Errorf("cpu: %s: %w: the kernel failed: %s", k.label, gpu.ErrUnsupported, strings.TrimPrefix(text, "wasm error: "))
}

// appendHeader appends the header of a frame for a dispatch.
func (k *kernel) appendHeader(b []byte, x *gpu.Dispatch, uses []use) []byte {
	at := len(b)
	b = append(b, make([]byte, k.header)...)
	h := b[at:]
	for i, n := range x.Groups {
		binary.LittleEndian.PutUint32(h[compile.FrameGroups+4*i:], n)
	}
	binary.LittleEndian.PutUint32(h[compile.FrameStop:], stopAt)
	copy(h[compile.FramePush:compile.FramePush+paramBytes], x.Params)
	for i := range k.slots {
		u, to := &uses[i], h[compile.FrameBindings+8*k.slots[i].number:]
		binary.LittleEndian.PutUint32(to, uint32(u.buf.address()+u.offset))
		binary.LittleEndian.PutUint32(to[4:], uint32(u.size))
	}
	return b
}
