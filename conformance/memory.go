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

// guardBytes is the length of the zones before and after an operand: more than
// a workgroup writes in one row.
const guardBytes = 4096

// layout says how an operand lies in its buffer.
type layout struct {
	guards bool // zones before and after; else the buffer is the operand
	// pad adds that many steps of dimension 1 to each row of dimension 0;
	// aligned rounds the row up to a multiple of 256 bytes.
	pad     int
	aligned bool
	// transposed lays the dimensions out in the opposite order: the first one
	// is the one whose elements are neighbours.
	transposed bool
	// repeated gives a dimension the stride 0: of those longer than 1, the
	// first one for 1, the last one for -1.
	repeated int
	// shift is how many elements the operand begins past a place where a buffer can be
	// bound.
	shift int
}

// plain reports whether the layout leaves every operand contiguous, and where a buffer
// can be bound.
func (lay layout) plain() bool {
	return lay.shift == 0 && lay.pad == 0 && !lay.transposed && lay.repeated == 0
}

// repeatedDim is the dimension that the layout repeats, or -1.
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

// strided returns the desc in the layout; ok is false where that changes
// nothing, as for vectors.
func (lay layout) strided(d tensor.Desc) (_ tensor.Desc, ok bool) {
	if lay.transposed && len(d.Shape) > 1 && d.Elems() > 0 {
		steps := make([]int, len(d.Shape))
		step := 1
		for i, n := range d.Shape {
			steps[i] = step
			step *= n
		}
		d.Strides = steps
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
	steps := append([]int(nil), d.ElementStrides()...)
	steps[0] += lay.pad * steps[1]
	if lay.aligned {
		unit := steps[1] // whole elements of dimension 1, and whole 256 bytes
		for unit*d.DType.Size()%256 != 0 {
			unit += steps[1]
		}
		steps[0] = (steps[0] + unit - 1) / unit * unit
	}
	d.Strides = steps
	return d, true
}

// block is an operand in device memory, with what its buffer should hold.
type block struct {
	h     gpu.Handle
	desc  tensor.Desc
	off   int64
	bytes []byte // the whole buffer as written
}

func (b *block) operand() exec.Operand {
	return exec.Operand{Buffer: b.h, Offset: b.off, Desc: b.desc}
}

// place allocates a buffer for an operand of the desc and writes zones, gaps
// and contents: data's elements, or the poison byte if data is nil.
func (l *lane) place(s *suite, d tensor.Desc, data *tensor.Host, lay layout, poison byte) (*block, error) {
	b := &block{}
	b.desc, _ = lay.strided(d)
	span := b.desc.Bytes()
	size := span
	if lay.guards {
		b.off = (guardBytes+l.align-1)/l.align*l.align + int64(lay.shift*d.DType.Size())
		size = b.off + span + guardBytes
	}
	b.bytes = make([]byte, size)
	inside := b.bytes[b.off : b.off+span]
	if b.desc.IsContiguous() { // no gaps to fill
		fillZone(b.bytes[:b.off])
		fillZone(b.bytes[b.off+span:])
	} else {
		fillZone(b.bytes)
	}
	if data != nil {
		scatter(&tensor.Host{Desc: b.desc, Data: inside}, data)
	} else {
		each(b.desc, func(from, to int) {
			part := inside[from:to]
			part[0] = poison
			for n := 1; n < len(part); n *= 2 { // what is there, twice as much each time
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

// zone is what fills zones and gaps.
var zone = func() (z [1 << 16]byte) {
	for i := range z {
		z[i] = byte(i*167 + 61)
	}
	return z
}()

func fillZone(b []byte) {
	for len(b) > 0 {
		b = b[copy(b, zone[:]):]
	}
}

// each calls f with the byte range of every run of neighbouring elements.
func each(d tensor.Desc, f func(from, to int)) {
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

// scatter copies the elements of src, which is contiguous, to dst's places.
func scatter(dst, src *tensor.Host) {
	i := 0
	each(dst.Desc, func(from, to int) { i += copy(dst.Data[from:to], src.Data[i:]) })
}

// read fetches the whole buffer. It fails if the device found fault with a call.
func (l *lane) read(s *suite, b *block) ([]byte, error) {
	got := make([]byte, len(b.bytes))
	return got, l.x.Read(s.ctx, b.h, 0, got)
}

// elements returns the operand's elements in got, contiguous, after checking
// that nothing around and between them changed.
func (b *block) elements(got []byte) ([]byte, error) {
	end := b.off + b.desc.Bytes()
	inside := got[b.off:end]
	if b.desc.IsContiguous() && bytes.Equal(got[:b.off], b.bytes[:b.off]) && bytes.Equal(got[end:], b.bytes[end:]) {
		return inside, nil
	}
	want := bytes.Clone(b.bytes)
	wantInside := want[b.off : b.off+b.desc.Bytes()]
	out := make([]byte, 0, b.desc.Elems()*b.desc.DType.Size())
	each(b.desc, func(from, to int) {
		out = append(out, inside[from:to]...)
		copy(wantInside[from:to], inside[from:to])
	})
	if i := differ(got, want); i >= 0 {
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

// unchanged checks that the buffer holds what was written to it.
func (b *block) unchanged(got []byte) error {
	if i := differ(got, b.bytes); i >= 0 {
		return fmt.Errorf("changed an input: byte %d (offset %d of the buffer): got %#x, want %#x", int64(i)-b.off, i, got[i], b.bytes[i])
	}
	return nil
}

// differ returns the first index at which a and b differ, or -1.
func differ(a, b []byte) int {
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

// free gives the buffers back.
func (l *lane) free(blocks ...*block) error {
	var errs []error
	for _, b := range blocks {
		if b != nil && b.h != 0 {
			errs = append(errs, l.dev.Free(b.h))
		}
	}
	return errors.Join(errs...)
}
