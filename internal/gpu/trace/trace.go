// Package trace wraps a gpu.Device and writes every call as a line of text. The lines do
// not depend on the device, the run or the machine, so a test can compare them with a
// golden file:
//
//	b1 = alloc 64
//	write b1 0+64 crc 758d6336
//	submit image/invert.u8 groups 1 1 1 bind b1[0:64] b2 params count=16
//	read b2 0+64
//	free b1
//	sync
//	close
//
// Buffers are numbered in the order of their allocation. The line of a call that failed
// ends in "!" and the sentinel that the error matches.
package trace

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// Device is a gpu.Device that writes its calls. The calls of one goroutine are written in
// the order in which they were made. The calls of several goroutines are written in the
// order in which they end.
type Device struct {
	inner gpu.Device

	mu    sync.Mutex
	w     io.Writer
	err   error // the first error of w, which Close returns
	names map[gpu.Handle]int
	next  int
	lists int // the number of prepared lists
}

// New wraps inner and writes to w. Close closes inner, but not w.
func New(inner gpu.Device, w io.Writer) *Device {
	return &Device{inner: inner, w: w, names: map[gpu.Handle]int{}}
}

// Info returns that of the inner device. It is not written.
func (d *Device) Info() *gpu.Info { return d.inner.Info() }

// Alloc writes "b1 = alloc 64".
func (d *Device) Alloc(size int64) (gpu.Handle, error) {
	h, err := d.inner.Alloc(size)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.writeLine(err, "alloc %d", size)
		return h, err
	}
	d.next++
	d.names[h] = d.next
	d.writeLine(nil, "b%d = alloc %d", d.next, size)
	return h, nil
}

// Free writes "free b1".
func (d *Device) Free(h gpu.Handle) error {
	err := d.inner.Free(h)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writeLine(err, "free %s", d.name(h))
	return err
}

// Write writes "write b1 offset+length crc checksum". The checksum is the IEEE CRC-32
// of the data.
func (d *Device) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) error {
	err := d.inner.Write(ctx, h, offset, data)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writeLine(err, "write %s %d+%d crc %08x", d.name(h), offset, len(data), crc32.ChecksumIEEE(data))
	return err
}

// Read writes "read b1 offset+length". The bytes are not written, because devices round
// differently.
func (d *Device) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) error {
	err := d.inner.Read(ctx, h, offset, dst)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writeLine(err, "read %s %d+%d", d.name(h), offset, len(dst))
	return err
}

// Submit writes "submit" and the first dispatch. Each further dispatch of the list has a
// line of its own, which is indented and has no "submit".
func (d *Device) Submit(list []gpu.Dispatch) error {
	err := d.inner.Submit(list)
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	b.WriteString("submit")
	d.dispatches(&b, "\n      ", list)
	d.writeLine(err, "%s", b.String())
	return err
}

// Sync writes "sync".
func (d *Device) Sync(ctx context.Context) error {
	err := d.inner.Sync(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writeLine(err, "sync")
	return err
}

// StartTrace calls StartTrace of the inner device. It is not written.
func (d *Device) StartTrace(now func() time.Duration, sink func(gpu.Span)) error {
	return gpu.StartTrace(d.inner, now, sink)
}

// Close writes "close". Its error includes the first error of writing.
func (d *Device) Close() error {
	err := d.inner.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writeLine(err, "close")
	return errors.Join(err, d.err)
}

// writeLine writes one call. The caller holds mu.
func (d *Device) writeLine(err error, format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if err != nil {
		s += " ! " + sentinel(err)
	}
	if _, werr := io.WriteString(d.w, s+"\n"); werr != nil && d.err == nil {
		d.err = fmt.Errorf("trace: %w", werr)
	}
}

// name returns the name of a buffer in the trace. The caller holds mu.
func (d *Device) name(h gpu.Handle) string {
	if n := d.names[h]; n != 0 {
		return fmt.Sprintf("b%d", n)
	}
	if h == 0 {
		return "none"
	}
	return "unknown"
}

// dispatch writes a dispatch to b.
func (d *Device) dispatch(b *strings.Builder, x *gpu.Dispatch) {
	fmt.Fprintf(b, "%s groups %d %d %d", gpu.Label(x.Module), x.Groups[0], x.Groups[1], x.Groups[2])
	if len(x.Bindings) > 0 {
		b.WriteString(" bind")
	}
	for _, v := range x.Bindings {
		b.WriteByte(' ')
		b.WriteString(d.name(v.Buffer))
		switch {
		case v.Size != 0:
			fmt.Fprintf(b, "[%d:%d]", v.Offset, v.Offset+v.Size)
		case v.Offset != 0:
			fmt.Fprintf(b, "[%d:]", v.Offset)
		}
	}
	if len(x.Params) > 0 {
		b.WriteString(" params")
		params(b, x)
	}
}

// params writes the members that the shader declares, with their names. Bytes that belong
// to no member are written in hexadecimal.
func params(b *strings.Builder, x *gpu.Dispatch) {
	at := uint32(0)
	if x.Module != nil {
		for _, m := range x.Module.Params {
			if m.Offset < at || uint64(m.Offset)+uint64(m.Size) > uint64(len(x.Params)) {
				break
			}
			at = m.Offset + m.Size
			fmt.Fprintf(b, " %s=%s", m.Name, value(m, x.Params[m.Offset:at]))
		}
	}
	if rest := x.Params[at:]; len(rest) > 0 {
		fmt.Fprintf(b, " %x", rest)
	}
}

// value formats a push constant by its type.
func value(m spv.Member, p []byte) string {
	switch {
	case m.Type == "f32" && len(p) == 4:
		return fmt.Sprint(math.Float32frombits(binary.LittleEndian.Uint32(p)))
	case m.Type == "u32" && len(p) == 4:
		return fmt.Sprint(binary.LittleEndian.Uint32(p))
	case m.Type == "i32" && len(p) == 4:
		return fmt.Sprint(int32(binary.LittleEndian.Uint32(p)))
	}
	return fmt.Sprintf("%x", p)
}

// sentinel returns the text of the sentinel that err matches. The text of err itself
// names handles and devices, which differ between runs.
func sentinel(err error) string {
	for _, s := range []error{
		gpu.ErrNoDevice, gpu.ErrUnsupported, gpu.ErrInvalidArgument, gpu.ErrInvalidHandle, gpu.ErrOutOfMemory, gpu.ErrLimit,
		gpu.ErrInvalidShader, gpu.ErrABIMismatch, gpu.ErrDeviceLost, gpu.ErrClosed, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, s) {
			return s.Error()
		}
	}
	return "other error"
}
