package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lathe-gpu/lathe/exec"
	"github.com/lathe-gpu/lathe/exec/tune"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Device is the Backend over a gpu.Device.
type Device struct {
	Scalars
	name string
	gpu  gpu.Device
	run  *exec.Runner

	// tensors describes the live tensors. A handle is that of the device's
	// buffer, which says itself when it is not one of its own; what is not in
	// here, such as scratch memory, is no tensor.
	tensors sync.Map // TensorHandle → tensor.Desc

	closing sync.Once
	closed  error
}

// New returns a backend over an open device, which Close closes. How it comes to
// the best of several ways to carry out an operation is for LATHE_TUNE to say.
// Errors: ErrABIMismatch, ErrInvalidArgument (LATHE_TUNE).
func New(dev gpu.Device) (*Device, error) {
	if errs.Nil(dev) {
		return nil, fmt.Errorf("backend: new: %w: no device", errs.ErrInvalidArgument)
	}
	mode, err := tune.ParseMode("")
	if err != nil {
		return nil, err
	}
	book, err := tune.Open(mode, tune.DeviceOf(dev.Info(), spirv.Fingerprint()), tune.Path(""))
	if err != nil {
		return nil, err
	}
	run, err := exec.New(dev, exec.WithTuning(book))
	if err != nil {
		return nil, err
	}
	return &Device{name: dev.Info().Backend, gpu: dev, run: run}, nil
}

// ready reports ErrNotInitialized for a Device that New did not make.
func (d *Device) ready() error {
	if d == nil || d.run == nil {
		return fmt.Errorf("%w: a Device that New did not make", errs.ErrNotInitialized)
	}
	return nil
}

// Name is the kind of device: "vk" for Vulkan.
func (d *Device) Name() string {
	if d == nil {
		return ""
	}
	return d.name
}

// Info describes the device; one that New did not make has an empty Info.
func (d *Device) Info() *gpu.Info {
	if d.ready() != nil {
		return &gpu.Info{}
	}
	return d.gpu.Info()
}

// IsAvailable reports whether the device is neither lost nor closed.
func (d *Device) IsAvailable() bool { return d.ready() == nil && d.gpu.Submit(nil) == nil }

// ABIFingerprint is the fingerprint of the embedded shaders, which New has
// compared with that of the Go declarations.
func (d *Device) ABIFingerprint() uint64 { return spirv.Fingerprint() }

// Close waits for work in progress and gives back everything. Closing twice is
// harmless.
func (d *Device) Close() error {
	if err := d.ready(); err != nil {
		return fmt.Errorf("backend: close: %w", err)
	}
	d.closing.Do(func() { d.closed = errors.Join(d.run.Close(), d.gpu.Close()) })
	return d.closed
}

// AllocTensor makes a zero-filled tensor.
func (d *Device) AllocTensor(shape []int, dtype tensor.DType) (TensorHandle, error) {
	if err := d.ready(); err != nil {
		return 0, fmt.Errorf("backend: alloc tensor: %w", err)
	}
	desc := tensor.Contiguous(dtype, slices.Clone(shape)...)
	if err := desc.Check(); err != nil {
		return 0, fmt.Errorf("backend: alloc tensor: %w", err)
	}
	h, err := d.gpu.Alloc(desc.Bytes())
	if err != nil {
		return 0, fmt.Errorf("backend: alloc tensor %v: %w", desc, err)
	}
	d.tensors.Store(h, desc)
	return h, nil
}

// FreeTensor ends the life of a tensor.
func (d *Device) FreeTensor(h TensorHandle) error {
	if err := d.ready(); err != nil {
		return fmt.Errorf("backend: free tensor: %w", err)
	}
	if _, ok := d.tensors.LoadAndDelete(h); !ok {
		return fmt.Errorf("backend: free tensor: %w", unknown(h))
	}
	return d.gpu.Free(h)
}

// TensorMeta describes a tensor.
func (d *Device) TensorMeta(h TensorHandle) (TensorMeta, error) {
	desc, err := d.desc(h)
	if err != nil {
		return TensorMeta{}, fmt.Errorf("backend: tensor meta: %w", err)
	}
	return TensorMeta{Shape: slices.Clone(desc.Shape), DType: desc.DType, SizeBytes: desc.Bytes()}, nil
}

// WriteTensor replaces the elements of a tensor.
func (d *Device) WriteTensor(ctx context.Context, h TensorHandle, data []byte) error {
	desc, err := d.desc(h)
	if err != nil {
		return fmt.Errorf("backend: write tensor: %w", err)
	}
	if int64(len(data)) != desc.Bytes() {
		return fmt.Errorf("backend: write tensor: %w: bytes (got %d, want %d for %v)", errs.ErrInvalidArgument, len(data), desc.Bytes(), desc)
	}
	return d.gpu.Write(ctx, h, 0, data)
}

// ReadTensor waits for a tensor and returns its elements.
func (d *Device) ReadTensor(ctx context.Context, h TensorHandle) ([]byte, error) {
	desc, err := d.desc(h)
	if err != nil {
		return nil, fmt.Errorf("backend: read tensor: %w", err)
	}
	data := make([]byte, desc.Bytes())
	if err := d.run.Read(ctx, h, 0, data); err != nil {
		return nil, err
	}
	return data, nil
}

// Sync waits for all work.
func (d *Device) Sync(ctx context.Context) error {
	if err := d.ready(); err != nil {
		return fmt.Errorf("backend: sync: %w", err)
	}
	return d.run.Sync(ctx)
}

// DispatchCompute runs a compute shader of any origin.
func (d *Device) DispatchCompute(spirv []byte, bindings []TensorHandle, push []byte, groups [3]uint32) error {
	if err := d.ready(); err != nil {
		return fmt.Errorf("backend: dispatch compute: %w", err)
	}
	for i, h := range bindings {
		if _, err := d.desc(h); err != nil {
			return fmt.Errorf("backend: dispatch compute: binding %d: %w", i, err)
		}
	}
	return gpu.DispatchCompute(context.Background(), d.gpu, spirv, bindings, push, groups)
}

// desc describes a live tensor.
func (d *Device) desc(h TensorHandle) (tensor.Desc, error) {
	if err := d.ready(); err != nil {
		return tensor.Desc{}, err
	}
	desc, ok := d.tensors.Load(h)
	if !ok {
		return tensor.Desc{}, unknown(h)
	}
	return desc.(tensor.Desc), nil
}

func unknown(h TensorHandle) error {
	if h == 0 {
		return fmt.Errorf("%w: the zero handle", errs.ErrInvalidHandle)
	}
	return fmt.Errorf("%w: %v (freed, or of another device)", errs.ErrInvalidHandle, h)
}

// update runs an operation. Outputs may be inputs where the operation works in place.
func (d *Device) update(c spec.Call, in, out list) error {
	op := c.Spec()
	operands := func(hs list, args []spec.Arg) ([]exec.Operand, error) {
		ops := make([]exec.Operand, len(hs))
		for i, h := range hs {
			desc, err := d.desc(h)
			if err != nil {
				return nil, fmt.Errorf("backend: %s: %s: %w", op.Name, argName(args, i), err)
			}
			ops[i] = exec.Operand{Buffer: h, Desc: desc}
		}
		return ops, nil
	}
	i, err := operands(in, op.In)
	if err != nil {
		return err
	}
	o, err := operands(out, op.Out)
	if err != nil {
		return err
	}
	return d.run.Run(context.Background(), c, o, i)
}

// argName is the name of operand i, for errors.
func argName(args []spec.Arg, i int) string {
	if len(args) == 0 {
		return fmt.Sprint(i)
	}
	return args[min(i, len(args)-1)].Name
}
