package tensor

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Host is a tensor in host memory. Its elements are little-endian and are stored as Desc
// says. Elements are converted to and from float64 on access. Host is meant for
// references and tests, not for speed.
type Host struct {
	Desc
	// Data holds the elements. It has at least Desc.Bytes() bytes.
	Data []byte
}

// NewHost returns a zero-filled tensor. If d is not valid, the tensor has no elements.
func NewHost(d Desc) *Host {
	if d.Check() != nil {
		return &Host{Desc: Contiguous(d.DType, 0)}
	}
	return &Host{Desc: d, Data: make([]byte, d.Bytes())}
}

// complete reports whether Data has all elements of the tensor.
func (h *Host) complete() bool {
	return h != nil && h.Check() == nil && int64(len(h.Data)) >= h.Bytes()
}

// FromFloats returns a contiguous tensor of the values, converted to d.
// Errors: ErrInvalidArgument, also if the shape does not have as many elements as values.
func FromFloats(d DType, shape []int, values []float64) (*Host, error) {
	desc := Contiguous(d, shape...)
	if err := desc.Check(); err != nil {
		return nil, err
	}
	if len(values) != desc.Elems() {
		return nil, fmt.Errorf("tensor: from floats: %w: values (got %d, want %d for shape %v)", errs.ErrInvalidArgument, len(values), desc.Elems(), shape)
	}
	h := NewHost(desc)
	for i, v := range values {
		h.set(i, v)
	}
	return h, nil
}

// At returns the element at the index, which has one number for each dimension. It
// returns NaN if there is no such element.
func (h *Host) At(index ...int) float64 {
	if i, ok := h.offset(index); ok {
		return h.get(i)
	}
	return math.NaN()
}

// Set stores v at the index, rounded to the element type. Integers saturate. Set changes
// nothing if there is no such element.
func (h *Host) Set(v float64, index ...int) {
	if i, ok := h.offset(index); ok {
		h.set(i, v)
	}
}

// Floats returns all elements in row-major order of the shape. It returns nil if Data is
// too short for them.
func (h *Host) Floats() []float64 {
	if !h.complete() {
		return nil
	}
	if h.IsContiguous() {
		out := make([]float64, h.Elems())
		switch h.DType { // common types avoid the switch for each element
		case F32:
			for i, b := 0, h.Data; i < len(out); i, b = i+1, b[4:] {
				out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
			}
		case U8, Bool:
			for i, b := range h.Data[:len(out)] {
				out[i] = float64(b)
			}
		default:
			for i := range out {
				out[i] = h.get(i)
			}
		}
		return out
	}
	out := make([]float64, 0, h.Elems())
	h.Each(func(_ []int, off int) { out = append(out, h.get(off)) })
	return out
}

// SetFloats stores values in row-major order of the shape. It stores no more values than
// the tensor has elements, and none if Data is too short for the elements.
func (h *Host) SetFloats(values []float64) {
	if !h.complete() {
		return
	}
	values = values[:min(len(values), h.Elems())]
	if h.IsContiguous() {
		if h.DType == F32 {
			for i, b := 0, h.Data; i < len(values); i, b = i+1, b[4:] {
				binary.LittleEndian.PutUint32(b, math.Float32bits(float32(values[i])))
			}
			return
		}
		for i, v := range values {
			h.set(i, v)
		}
		return
	}
	i := 0
	h.Each(func(_ []int, off int) {
		if i < len(values) {
			h.set(off, values[i])
		}
		i++
	})
}

// Each calls f for every index in row-major order. offset is the position of the element
// in elements from the start of the tensor. The calls share the index slice. If the Desc
// is invalid, there are no calls.
func (h *Host) Each(f func(index []int, offset int)) {
	if h == nil || f == nil || h.Check() != nil || h.Elems() == 0 {
		return
	}
	own := h.ElementStrides()
	idx := make([]int, len(h.Shape))
	off := 0
	for {
		f(idx, off)
		d := len(idx) - 1
		for ; d >= 0; d-- {
			idx[d]++
			off += own[d]
			if idx[d] < h.Shape[d] {
				break
			}
			off -= idx[d] * own[d]
			idx[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// offset returns the position of the element at the index in elements. It returns false
// if there is no such element.
func (h *Host) offset(index []int) (int, bool) {
	if h == nil || len(index) != len(h.Shape) || h.Strides != nil && len(h.Strides) != len(index) {
		return 0, false
	}
	off, step := 0, 1
	for d := len(index) - 1; d >= 0; d-- {
		if index[d] < 0 || index[d] >= h.Shape[d] {
			return 0, false
		}
		if h.Strides != nil {
			step = h.Strides[d]
		}
		off += index[d] * step
		step *= h.Shape[d]
	}
	size := h.DType.Size()
	return off, size > 0 && off >= 0 && off < len(h.Data)/size
}

// get returns the element at position i.
func (h *Host) get(i int) float64 {
	le := binary.LittleEndian
	switch h.DType {
	case F32:
		return float64(math.Float32frombits(le.Uint32(h.Data[4*i:])))
	case F64:
		return math.Float64frombits(le.Uint64(h.Data[8*i:]))
	case I32:
		return float64(int32(le.Uint32(h.Data[4*i:])))
	case I64:
		return float64(int64(le.Uint64(h.Data[8*i:])))
	case U32:
		return float64(le.Uint32(h.Data[4*i:]))
	case U64:
		return float64(le.Uint64(h.Data[8*i:]))
	case I16:
		return float64(int16(le.Uint16(h.Data[2*i:])))
	case U16:
		return float64(le.Uint16(h.Data[2*i:]))
	case F16:
		return float64(F16ToFloat32(le.Uint16(h.Data[2*i:])))
	case BF16:
		return float64(BF16ToFloat32(le.Uint16(h.Data[2*i:])))
	case I8:
		return float64(int8(h.Data[i]))
	default: // U8, Bool
		return float64(h.Data[i])
	}
}

// set stores v at position i, rounded to the element type.
func (h *Host) set(i int, v float64) {
	le := binary.LittleEndian
	switch h.DType {
	case F32:
		le.PutUint32(h.Data[4*i:], math.Float32bits(float32(v)))
	case F64:
		le.PutUint64(h.Data[8*i:], math.Float64bits(v))
	case I32:
		le.PutUint32(h.Data[4*i:], uint32(int32(saturate(v, math.MinInt32, math.MaxInt32))))
	case I64:
		switch {
		case v >= 1<<63:
			le.PutUint64(h.Data[8*i:], math.MaxInt64)
		default:
			le.PutUint64(h.Data[8*i:], uint64(int64(saturate(v, math.MinInt64, math.MaxInt64))))
		}
	case U32:
		le.PutUint32(h.Data[4*i:], uint32(saturate(v, 0, math.MaxUint32)))
	case U64:
		switch {
		case v >= 1<<64:
			le.PutUint64(h.Data[8*i:], math.MaxUint64)
		default:
			le.PutUint64(h.Data[8*i:], uint64(saturate(v, 0, math.MaxUint64)))
		}
	case I16:
		le.PutUint16(h.Data[2*i:], uint16(int16(saturate(v, math.MinInt16, math.MaxInt16))))
	case U16:
		le.PutUint16(h.Data[2*i:], uint16(saturate(v, 0, math.MaxUint16)))
	case F16:
		le.PutUint16(h.Data[2*i:], F16FromFloat64(v))
	case BF16:
		le.PutUint16(h.Data[2*i:], BF16FromFloat64(v))
	case I8:
		h.Data[i] = byte(int8(saturate(v, math.MinInt8, math.MaxInt8)))
	case Bool:
		h.Data[i] = 0
		if v != 0 {
			h.Data[i] = 1
		}
	default:
		h.Data[i] = byte(saturate(v, 0, math.MaxUint8))
	}
}

// saturate rounds v to the nearest integer within [lo, hi], ties to even. NaN gives 0.
func saturate(v, lo, hi float64) float64 {
	if v != v {
		return 0
	}
	return min(max(math.RoundToEven(v), lo), hi)
}
