package backend

import (
	"context"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Device is the Backend over a gpu.Device.
type Device struct {
	Scalars
	session *session.Session
	tensors *session.Table
}

// New returns a backend over an open device, which Close closes. LATHE_TUNE says how it
// finds the best strategy for an operation. If New fails, it has closed the device.
// Errors: ErrABIMismatch, ErrInvalidArgument (no device, LATHE_TUNE).
func New(dev gpu.Device) (*Device, error) {
	if errs.Nil(dev) {
		return nil, fmt.Errorf("backend: new: %w: no device", errs.ErrInvalidArgument)
	}
	s, err := session.Open(context.Background(), session.Options{Surface: "backend", Device: dev})
	if err != nil {
		return nil, err
	}
	return over(s), nil
}

// over is a Device over a session.
func over(s *session.Session) *Device { return &Device{session: s, tensors: session.NewTable(s)} }

// ready reports ErrNotInitialized for a Device that New did not make.
func (d *Device) ready(op string) error {
	if d == nil || d.session == nil {
		return fmt.Errorf("backend: %s: %w: a Device that New did not make", op, errs.ErrNotInitialized)
	}
	return nil
}

// Name is the kind of device: "vk" for Vulkan.
func (d *Device) Name() string { return d.Info().Backend }

// Info describes the device. The Info of a Device that New did not make is empty.
func (d *Device) Info() *gpu.Info {
	if d.ready("info") != nil {
		return &gpu.Info{}
	}
	return d.session.Info()
}

// IsAvailable reports whether the device is neither lost nor closed.
func (d *Device) IsAvailable() bool {
	return d.ready("is available") == nil && d.session.GPU().Submit(nil) == nil
}

// ABIFingerprint is the fingerprint of the embedded shaders, which New has
// compared with that of the Go declarations.
func (d *Device) ABIFingerprint() uint64 { return spirv.Fingerprint() }

// Close waits for work in progress and releases everything. Closing twice is
// harmless.
func (d *Device) Close() error {
	if err := d.ready("close"); err != nil {
		return err
	}
	return d.session.Close()
}

// AllocTensor makes a zero-filled tensor.
func (d *Device) AllocTensor(shape []int, dtype tensor.DType) (TensorHandle, error) {
	if err := d.ready("alloc tensor"); err != nil {
		return 0, err
	}
	x, err := d.session.NewTensor(tensor.Contiguous(dtype, slices.Clone(shape)...))
	if err != nil {
		return 0, err
	}
	return d.tensors.Add(x)
}

// FreeTensor ends the life of a tensor.
func (d *Device) FreeTensor(h TensorHandle) error {
	if err := d.ready("free tensor"); err != nil {
		return err
	}
	if err := d.tensors.Free(h); err != nil {
		return fmt.Errorf("backend: free tensor: %w", err)
	}
	return nil
}

// TensorMeta describes a tensor.
func (d *Device) TensorMeta(h TensorHandle) (TensorMeta, error) {
	x, err := d.tensor("tensor meta", h)
	if err != nil {
		return TensorMeta{}, err
	}
	return TensorMeta{Shape: slices.Clone(x.Desc.Shape), DType: x.Desc.DType, SizeBytes: x.Desc.Bytes()}, nil
}

// WriteTensor replaces the elements of a tensor.
func (d *Device) WriteTensor(ctx context.Context, h TensorHandle, data []byte) error {
	x, err := d.tensor("write tensor", h)
	if err != nil {
		return err
	}
	return d.session.Write(ctx, x, data)
}

// ReadTensor waits for a tensor and returns its elements.
func (d *Device) ReadTensor(ctx context.Context, h TensorHandle) ([]byte, error) {
	x, err := d.tensor("read tensor", h)
	if err != nil {
		return nil, err
	}
	return d.session.Read(ctx, x)
}

// Sync waits for all work.
func (d *Device) Sync(ctx context.Context) error {
	if err := d.ready("sync"); err != nil {
		return err
	}
	return d.session.Sync(ctx)
}

// DispatchCompute runs a compute shader of any origin.
func (d *Device) DispatchCompute(spirv []byte, bindings []TensorHandle, push []byte, groups [3]uint32) error {
	bound := make([]session.Tensor, len(bindings))
	for i, h := range bindings {
		var err error
		if bound[i], err = d.tensor("dispatch compute", h); err != nil {
			return fmt.Errorf("%w (binding %d)", err, i)
		}
	}
	if err := d.ready("dispatch compute"); err != nil {
		return err
	}
	return d.session.Dispatch(context.Background(), spirv, bound, push, groups)
}

// tensor is the tensor of a handle. op names what is to be done with it.
func (d *Device) tensor(op string, h TensorHandle) (session.Tensor, error) {
	if err := d.ready(op); err != nil {
		return session.Tensor{}, err
	}
	x, err := d.tensors.Get(h)
	if err != nil {
		return x, fmt.Errorf("backend: %s: %w", op, err)
	}
	return x, nil
}

// operands are the tensors of handles, which are inputs or outputs of an operation.
func (d *Device) operands(op *spec.Op, args []spec.Arg, hs list) ([]session.Tensor, error) {
	ts := make([]session.Tensor, len(hs))
	for i, h := range hs {
		name := fmt.Sprint(i)
		// A list without its optional end is shorter, so that a last handle of 0 is a mistake.
		if h == 0 && i < len(args) && args[i].Skippable && !(args[i].Optional && i == len(hs)-1) {
			continue // The session knows what stands for it.
		}
		if len(args) > 0 {
			name = args[min(i, len(args)-1)].Name
		}
		var err error
		if ts[i], err = d.tensor(op.Name+": "+name, h); err != nil {
			return nil, err
		}
	}
	return ts, nil
}

// update runs an operation. Outputs may be inputs where the operation works in place.
func (d *Device) update(c spec.Call, in, out list) error {
	op := c.Spec()
	i, err := d.operands(op, op.In, in)
	if err != nil {
		return err
	}
	o, err := d.operands(op, op.Out, out)
	if err != nil {
		return err
	}
	if err := d.ready(op.Name); err != nil {
		return err
	}
	return d.session.Run(context.Background(), c, i, o)
}
