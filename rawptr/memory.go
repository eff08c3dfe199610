package rawptr

import (
	"context"
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// Alloc makes a zero-filled allocation and returns its first address.
// Errors: ErrInvalidArgument (less than 1 byte), *LimitError (Limits.MaxBuffer), ErrOutOfMemory,
// ErrNotInitialized, ErrClosed.
func (d *Device) Alloc(bytes int64) (Ptr, error) {
	s, err := d.open("alloc")
	if err != nil {
		return 0, err
	}
	if bytes <= 0 || int64(int(bytes)) != bytes {
		return 0, fmt.Errorf("rawptr: alloc: %w: bytes (got %d, want 1 or more)", errs.ErrInvalidArgument, bytes)
	}
	t, err := s.NewTensor(tensor.Contiguous(tensor.U8, int(bytes)))
	if err != nil {
		return 0, fmt.Errorf("rawptr: alloc: %w", err)
	}
	p, err := d.memory.add(bytes, t)
	if err != nil {
		_ = s.Free(t) // no caller has seen it
		return 0, fmt.Errorf("rawptr: alloc: %w", err)
	}
	return p, nil
}

// Free ends the life of an allocation, given its first address. Every later use of its addresses is
// ErrInvalidArgument. Calls that have begun end as if Free had come later, and work that was
// submitted finishes. If several goroutines free an address, one of them succeeds.
// Errors: ErrInvalidArgument (no first address of an allocation), ErrNotInitialized, ErrClosed.
func (d *Device) Free(p Ptr) error {
	s, err := d.open("free")
	if err != nil {
		return err
	}
	b := d.memory.remove(p)
	if b == nil {
		return fmt.Errorf("rawptr: free: %w: %#x is not the first address of an allocation of this device (freed, foreign, or inside one)", errs.ErrInvalidArgument, p)
	}
	if err := b.unpin(s); err != nil {
		return fmt.Errorf("rawptr: free: %w", err)
	}
	return nil
}

// CopyHtoD copies src to the device. dst may be any byte of an allocation. src may change when
// CopyHtoD has returned. An empty src is a no-op.
// Errors: ErrInvalidArgument (range), ErrNotInitialized, ErrClosed, ctx.Err().
func (d *Device) CopyHtoD(ctx context.Context, dst Ptr, src []byte) error {
	c := d.begin("copy host to device")
	defer c.end()
	c.context(ctx)
	to := c.operand("dst", dst, tensor.Contiguous(tensor.U8, len(src)))
	if c.err != nil || len(src) == 0 {
		return c.err
	}
	return c.step(func() error { return c.session.Write(ctx, to, src) })
}

// CopyDtoH waits for the work that writes the bytes at src, and copies len(dst) of them to dst. src
// may be any byte of an allocation. An empty dst is a no-op. After an error dst may be overwritten.
// Errors: ErrInvalidArgument (range), ErrNotInitialized, ErrClosed, ctx.Err(), those of the work.
func (d *Device) CopyDtoH(ctx context.Context, dst []byte, src Ptr) error {
	c := d.begin("copy device to host")
	defer c.end()
	c.context(ctx)
	from := c.operand("src", src, tensor.Contiguous(tensor.U8, len(dst)))
	if c.err != nil || len(dst) == 0 {
		return c.err
	}
	return c.step(func() error { return c.session.ReadInto(ctx, "read", from, dst) })
}

// CopyDtoD copies bytes from one place on the device to another. The ranges may not overlap. 0 bytes
// are a no-op.
// Errors: ErrInvalidArgument (range, overlap), ErrNotInitialized, ErrClosed.
func (d *Device) CopyDtoD(dst, src Ptr, bytes int64) error {
	c := d.begin("copy device to device")
	defer c.end()
	if bytes < 0 || int64(int(bytes)) != bytes {
		c.invalid("bytes (got %d, want 0 or more)", bytes)
		bytes = 0
	}
	desc := tensor.Contiguous(tensor.U8, int(bytes))
	to, from := c.operand("dst", dst, desc), c.operand("src", src, desc)
	return c.run(ops.Copy{}, to, from)
}
