package session

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/record"
	"github.com/lathe-gpu/lathe/tensor"
)

// Move says that a replay uses other memory in place of that of a bindable tensor.
type Move = record.Move

// memoryOf is the memory of a tensor.
func memoryOf(t Tensor) record.Range {
	return record.Range{Buffer: t.Buffer.handle, Size: t.Buffer.size, Offset: t.Offset, Bytes: t.Desc.Bytes()}
}

// Bindable says that replays of what is being recorded may use other tensors in place of t.
// Errors: ErrCapture (nothing is recorded), ErrInvalidHandle, and ErrInvalidArgument (a view with gaps, one that shares a unit of memory with what lies
// beside it, or that overlaps another bindable tensor).
func (c *Capture) Bindable(t Tensor) error {
	if err := c.Check("bindable", t); err != nil {
		return err
	}
	if !compact(t) {
		return fmt.Errorf("%s: bindable: %w: %v does not use each element of its memory once", c.surface, errs.ErrInvalidArgument, t.Desc)
	}
	return c.wrap(c.rec.Declare(memoryOf(t)))
}

// compact reports whether the elements of t are all of the memory that it spans.
func compact(t Tensor) bool {
	if t.Desc.IsContiguous() {
		return true
	}
	n := int64(1)
	for i, s := range t.Desc.ElementStrides() {
		if s < 0 {
			return false
		}
		n += int64(s) * int64(t.Desc.Shape[i]-1)
	}
	return n == int64(t.Desc.Elems())
}

// Move returns the replacement of From by To in a replay. i is its number, for errors.
// Errors: ErrInvalidHandle (From is no tensor of the device, or To is not live), ErrInvalidArgument (To has another dtype, shape or strides).
func (c *Capture) Move(i int, from, to Tensor) (Move, error) {
	if from.Buffer == nil || from.Buffer.memory == nil || from.Buffer.memory.family != c.memory.family {
		return Move{}, fmt.Errorf("%s: replay: replacement %d: %w: no tensor of this device to replace", c.surface, i, errs.ErrInvalidHandle)
	}
	if err := c.Check("replay", to); err != nil {
		return Move{}, fmt.Errorf("%w (replacement %d)", err, i)
	}
	if a, b := &from.Desc, &to.Desc; a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) || !sameStrides(a, b) {
		return Move{}, fmt.Errorf("%s: replay: replacement %d: %w: tensor (got %v, want %v)", c.surface, i, errs.ErrInvalidArgument, to.Desc, from.Desc)
	}
	return Move{From: memoryOf(from), To: memoryOf(to)}, nil
}

// sameStrides compares the strides of tensors of one shape. It allocates nothing if both are contiguous.
func sameStrides(a, b *tensor.Desc) bool {
	return a.Strides == nil && b.Strides == nil || slices.Equal(a.ElementStrides(), b.ElementStrides())
}

// launched counts a launch of a shader of the program.
func (h *holder) launched() {
	if h != nil {
		h.mu.Lock()
		h.foreign++
		h.mu.Unlock()
	}
}

// launches is how many launched has counted.
func (h *holder) launches() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.foreign
}

// Patch is a recorded launch of a shader of the program, whose push constants can be replaced. Any goroutine may call its methods.
type Patch struct {
	capture *Capture
	call    record.Call
	kernel  *Kernel
}

// Patchable calls f, which makes one call of a Kernel or of Dispatch, and returns that.
// Errors: ErrCapture (nothing is recorded), those of f, ErrInvalidArgument (f makes no such call, or other ones too).
func (c *Capture) Patchable(f func() error) (*Patch, error) {
	before := c.holder.launches()
	call, err := c.rec.Patchable(f)
	if err != nil {
		return nil, c.wrap(err)
	}
	if n := c.holder.launches() - before; n != 1 {
		return nil, fmt.Errorf("%s: patchable: %w: the function has made %d calls of a Kernel or of DispatchCompute (want 1, and no other)", c.surface, errs.ErrInvalidArgument, n)
	}
	return &Patch{c, call, &Kernel{session: c.Session, module: call.Module()}}, nil
}

// SetParams replaces the push constants by the params struct of a Kernel, from the next replay on.
// Errors: ErrInvalidArgument (params), ErrInvalidHandle (the graph was forgotten), ErrCapture (its capture has not ended), ErrClosed.
func (p *Patch) SetParams(params any) error {
	push, err := p.kernel.push("patch", params)
	if err != nil {
		return err
	}
	return p.SetPush(push)
}

// SetPush is SetParams with the bytes of the push constants.
func (p *Patch) SetPush(push []byte) error {
	if err := p.capture.NotClosed("patch"); err != nil {
		return err
	}
	return p.capture.wrap(p.capture.rec.Patch(p.call, push))
}
