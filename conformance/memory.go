package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/tensor"
)

// guardBytes is the length of the zones before and after an operand. It is longer than
// the part of a row that a workgroup writes.
const guardBytes = 4096

// layout says how an operand is stored in its buffer.
type layout struct {
	// guards says that there are zones before and after the operand. Otherwise the operand
	// fills the buffer.
	guards bool
	// pad lengthens each row of dimension 0 by that many strides of dimension 1. aligned
	// rounds the length of a row up to a multiple of 256 bytes.
	pad     int
	aligned bool
	// transposed reverses the order of the dimensions in memory. The elements of the first
	// dimension are then neighbours.
	transposed bool
	// repeated, if not 0, gives one dimension the stride 0. It is the first dimension
	// longer than 1 for 1, and the last one for -1.
	repeated int
	// shift is the distance from an offset that the device can bind to the operand, in
	// elements.
	shift int
}

// plain reports whether the layout stores every operand contiguously, at an offset that
// the device can bind.
func (lay layout) plain() bool {
	return lay.shift == 0 && lay.pad == 0 && !lay.transposed && lay.repeated == 0
}

// repeatedDim returns the dimension that the layout repeats, or -1.
func (lay layout) repeatedDim(shape []int) int {
	for i := range shape {
		k := i
		if lay.repeated < 0 {
			k = len(shape) - 1 - i
		}
		if shape[k] > 1 {
			return k
		}
	}
	return -1
}

// strided returns the description of the operand in this layout. ok is false if that
// changes nothing, as for vectors.
func (lay layout) strided(d tensor.Desc) (_ tensor.Desc, ok bool) {
	if lay.transposed && len(d.Shape) > 1 && d.Elems() > 0 {
		strides := make([]int, len(d.Shape))
		step := 1
		for i, n := range d.Shape {
			strides[i] = step
			step *= n
		}
		d.Strides = strides
		return d, !d.IsContiguous()
	}
	if k := lay.repeatedDim(d.Shape); lay.repeated != 0 && k >= 0 && d.Elems() > 0 {
		one := slices.Clone(d.Shape)
		one[k] = 1
		d.Strides = slices.Clone(tensor.Contiguous(d.DType, one...).ElementStrides())
		d.Strides[k] = 0
		return d, true
	}
	if lay.pad == 0 {
		return d, false
	}
	if len(d.Shape) < 2 || d.Shape[0] < 2 || d.Elems() == 0 {
		return d, false
	}
	strides := slices.Clone(d.ElementStrides())
	strides[0] += lay.pad * strides[1]
	if lay.aligned {
		unit := strides[1] // This is a multiple of dimension 1 and of 256 bytes.
		for unit*d.DType.Size()%256 != 0 {
			unit += strides[1]
		}
		strides[0] = (strides[0] + unit - 1) / unit * unit
	}
	d.Strides = strides
	return d, true
}

// block is an operand in device memory.
type block struct {
	h    gpu.Handle
	desc tensor.Desc
	// off is the offset of the operand in bytes.
	off int64
	// bytes are the contents that were written to the buffer.
	bytes []byte
}

// operand returns the operand in the form that a Runner needs.
func (b *block) operand() exec.Operand {
	return exec.Operand{Buffer: b.h, Offset: b.off, Desc: b.desc}
}

// operand returns an operand in the layout, without a buffer.
func (l *variantDevice) operand(d tensor.Desc, lay layout) (o exec.Operand) {
	if o.Desc, _ = lay.strided(d); lay.guards {
		o.Offset = (guardBytes+l.align-1)/l.align*l.align + int64(lay.shift*d.DType.Size())
	}
	return o
}

// place allocates a buffer for an operand and writes zones, gaps and contents. The
// contents are the elements of data, or the poison byte if data is nil.
func (l *variantDevice) place(s *suite, d tensor.Desc, data *tensor.Host, lay layout, poison byte) (*block, error) {
	o := l.operand(d, lay)
	b := &block{desc: o.Desc, off: o.Offset}
	span := b.desc.Bytes()
	size := span
	if lay.guards {
		size = b.off + span + guardBytes
	}
	b.bytes = make([]byte, size)
	inside := b.bytes[b.off : b.off+span]
	if b.desc.IsContiguous() { // There are no gaps to fill.
		fillZone(b.bytes[:b.off])
		fillZone(b.bytes[b.off+span:])
	} else {
		fillZone(b.bytes)
	}
	if data != nil {
		scatter(&tensor.Host{Desc: b.desc, Data: inside}, data)
	} else {
		eachRun(b.desc, func(from, to int) {
			part := inside[from:to]
			part[0] = poison
			for n := 1; n < len(part); n *= 2 { // Each copy doubles the part that is filled.
				copy(part[n:], part[:n])
			}
		})
	}
	var err error
	if b.h, err = l.dev.Alloc(size); err != nil {
		return nil, err
	}
	return b, l.dev.Write(s.ctx, b.h, 0, b.bytes)
}

// zone is the contents of zones and gaps.
var zone = func() (z [1 << 16]byte) {
	for i := range z {
		z[i] = byte(i*167 + 61)
	}
	return z
}()

// fillZone fills b with the contents of a zone.
func fillZone(b []byte) {
	for len(b) > 0 {
		b = b[copy(b, zone[:]):]
	}
}

// eachRun calls f with the range of bytes of every run of neighbouring elements.
func eachRun(d tensor.Desc, f func(from, to int)) {
	size := d.DType.Size()
	if d.Elems() == 0 {
		return
	}
	if d.IsContiguous() {
		f(0, int(d.Bytes()))
		return
	}
	(&tensor.Host{Desc: d}).Each(func(_ []int, off int) { f(off*size, (off+1)*size) })
}

// scatter copies the elements of src, which is contiguous, to their places in dst.
func scatter(dst, src *tensor.Host) {
	i := 0
	eachRun(dst.Desc, func(from, to int) { i += copy(dst.Data[from:to], src.Data[i:]) })
}

// readBuffer reads the whole buffer. It also returns errors that the device has found in
// a call.
func (l *variantDevice) readBuffer(s *suite, b *block) ([]byte, error) {
	got := make([]byte, len(b.bytes))
	return got, l.x.Read(s.ctx, b.h, 0, got)
}

// elements returns the operand's elements in got as contiguous bytes. It checks that
// nothing around and between them has changed.
func (b *block) elements(got []byte) ([]byte, error) {
	end := b.off + b.desc.Bytes()
	inside := got[b.off:end]
	if b.desc.IsContiguous() && bytes.Equal(got[:b.off], b.bytes[:b.off]) && bytes.Equal(got[end:], b.bytes[end:]) {
		return inside, nil
	}
	want := bytes.Clone(b.bytes)
	wantInside := want[b.off : b.off+b.desc.Bytes()]
	out := make([]byte, 0, b.desc.Elems()*b.desc.DType.Size())
	eachRun(b.desc, func(from, to int) {
		out = append(out, inside[from:to]...)
		copy(wantInside[from:to], inside[from:to])
	})
	if i := firstDifference(got, want); i >= 0 {
		where := "in a gap between rows"
		switch at := int64(i) - b.off; {
		case at < 0:
			where = fmt.Sprintf("%d bytes before the start", -at)
		case at >= b.desc.Bytes():
			where = fmt.Sprintf("%d bytes past the end", at-b.desc.Bytes())
		}
		return nil, fmt.Errorf("wrote outside the output: %s (byte %d of the buffer: got %#x, want %#x)", where, i, got[i], want[i])
	}
	return out, nil
}

// unchanged checks that the buffer still holds what was written to it.
func (b *block) unchanged(got []byte) error {
	if i := firstDifference(got, b.bytes); i >= 0 {
		return fmt.Errorf("changed an input: byte %d (offset %d of the buffer): got %#x, want %#x", int64(i)-b.off, i, got[i], b.bytes[i])
	}
	return nil
}

// firstDifference returns the first index at which a and b differ, or -1.
func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// freeBlocks frees the buffers.
func (l *variantDevice) freeBlocks(blocks ...*block) error {
	var errs []error
	for _, b := range blocks {
		if b != nil && b.h != 0 {
			errs = append(errs, l.dev.Free(b.h))
		}
	}
	return errors.Join(errs...)
}
