package rawptr

import (
	"context"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// call is a call of a method, from the check of its arguments until its work is submitted. It keeps
// its first error, and does nothing more after that.
type call struct {
	device  *Device
	session *session.Session
	op      string // the name, for errors
	err     error
	isAlone bool // holds device.order, so that no other call comes between its steps
	pinned  []*block
	few     [6]*block // memory for pinned; most calls need no more
}

// begin starts a call. The caller defers end.
func (d *Device) begin(op string) *call {
	c := &call{device: d, op: op}
	c.pinned = c.few[:0]
	c.session, c.err = d.open(op)
	return c
}

// end lets the blocks of the call go.
func (c *call) end() {
	if c.isAlone {
		c.device.order.Unlock()
	}
	for _, b := range c.pinned {
		_ = b.unpin(c.session) // fails on a closed device only
	}
}

// alone keeps all other calls out until the call ends. A call of several steps wants that before the first one.
func (c *call) alone() {
	if !c.isAlone {
		c.device.order.Lock()
		c.isAlone = true
	}
}

// step does one step of the call, and not between two steps of another one.
func (c *call) step(f func() error) error {
	if !c.isAlone {
		c.device.order.RLock()
		defer c.device.order.RUnlock()
	}
	return c.wrap(f())
}

// invalid notes an ErrInvalidArgument.
func (c *call) invalid(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("rawptr: %s: %w: %s", c.op, errs.ErrInvalidArgument, fmt.Sprintf(format, args...))
	}
}

// wrap adds the name of the call to an error.
func (c *call) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("rawptr: %s: %w", c.op, err)
}

// context notes the error of a context that has ended, or of none.
func (c *call) context(ctx context.Context) {
	if err := errs.Context(ctx); err != nil && c.err == nil {
		c.err = c.wrap(err)
	}
}

// count notes an error for a number below 0.
func (c *call) count(name string, n int) {
	if n < 0 {
		c.invalid("%s (got %d, want 0 or more)", name, n)
	}
}

// operand returns the tensor at an address, and keeps its memory until the call ends. All of its
// elements lie in one allocation. If it has none, it has no buffer, and the address does not matter.
func (c *call) operand(name string, p Ptr, desc tensor.Desc) session.Tensor {
	if c.err != nil {
		return session.Tensor{}
	}
	if err := desc.Check(); err != nil {
		c.err = fmt.Errorf("rawptr: %s: %s: %w", c.op, name, err)
		return session.Tensor{}
	}
	bytes := desc.Bytes()
	if bytes == 0 {
		return session.Tensor{Desc: desc}
	}
	b := c.device.memory.pin(p)
	if b == nil {
		c.invalid("%s: %#x is in no allocation of this device (freed, foreign, or past the end)", name, p)
		return session.Tensor{}
	}
	c.pinned = append(c.pinned, b)
	offset := int64(p - b.base)
	switch size := int64(desc.DType.Size()); {
	case offset%size != 0:
		c.invalid("%s: %#x lies %d bytes into its allocation (want a multiple of %d, the size of %v)", name, p, offset, size, desc.DType)
	case bytes > b.size-offset:
		c.invalid("%s: %v at %#x needs %d bytes, and its allocation has %d from there on", name, desc, p, bytes, b.size-offset)
	}
	return session.Tensor{Buffer: b.memory.Buffer, Offset: offset, Desc: desc}
}

// apart notes an error if an operand of the call overlaps out.
func (c *call) apart(out session.Tensor, in ...session.Tensor) {
	for _, t := range in {
		if overlap(t, out) {
			c.invalid("the output overlaps another operand")
		}
	}
}

// overlap reports whether two tensors have bytes in common, from the first to the last element of each.
func overlap(a, b session.Tensor) bool {
	return a.Buffer != nil && a.Buffer == b.Buffer && a.Offset < b.Offset+b.Desc.Bytes() && b.Offset < a.Offset+a.Desc.Bytes()
}

// run computes out from in, unless the call has an error. If out has no elements it checks the shapes
// and computes nothing.
func (c *call) run(f spec.Call, out session.Tensor, in ...session.Tensor) error {
	if c.err != nil {
		return c.err
	}
	if out.Buffer == nil {
		return c.wrap(checkShapes(f, out.Desc, in...))
	}
	for i := range in {
		if in[i].Buffer == nil { // It has no elements, so any buffer will do.
			in[i].Buffer, in[i].Offset = out.Buffer, 0
		}
	}
	return c.step(func() error { return c.session.Run(context.Background(), f, in, []session.Tensor{out}) })
}

// checkShapes compares an output with the one that the operation would make.
func checkShapes(f spec.Call, out tensor.Desc, in ...session.Tensor) error {
	f, err := spec.Resolve(f)
	if err != nil {
		return err
	}
	descs := make([]tensor.Desc, len(in))
	for i, t := range in {
		descs[i] = t.Desc
	}
	want, err := f.Spec().Shape(f, descs)
	if err != nil {
		return err
	}
	if len(want) != 1 || want[0].DType != out.DType || !slices.Equal(want[0].Shape, out.Shape) {
		return fmt.Errorf("%w: the output (got %v, want %v)", errs.ErrInvalidArgument, out, want)
	}
	return nil
}

// operandOf is a tensor as package exec takes it. Its block is pinned by the call.
func operandOf(t session.Tensor) exec.Operand {
	return exec.Operand{Buffer: t.Buffer.Handle(), Offset: t.Offset, Desc: t.Desc} // It may have neighbours in its allocation.
}

// lend returns memory for a result between two steps of the call, which is alone from then on. The caller defers release:
// the device runs what comes later after this.
func (c *call) lend(desc tensor.Desc) (o exec.Operand, release func()) {
	if c.err != nil {
		return exec.Operand{}, func() {}
	}
	c.alone()
	lent, release, err := c.session.Borrow(1, desc.Bytes())
	if err != nil {
		c.err = c.wrap(err)
		return exec.Operand{}, func() {}
	}
	return exec.Operand{Buffer: lent[0], Desc: desc, Alone: true}, release
}

// runOn is one step of a call that takes several.
func (c *call) runOn(f spec.Call, out exec.Operand, in ...exec.Operand) {
	if c.err == nil {
		c.err = c.step(func() error { return c.session.RunOn(context.Background(), f, in, []exec.Operand{out}) })
	}
}
