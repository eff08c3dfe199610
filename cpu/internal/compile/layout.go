package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// A place is a type in memory. Matrices lie in memory as the struct around them says.
type place struct {
	t *ir.Type
	// stride is the distance of the columns of a matrix, or of the rows if row is set.
	stride uint32
	row    bool
}

// layout says how variables of a class lie in memory. In private memory, each leaf has a
// vector, or two if it has 64 bits. Other memory is as the shader declares it, or packed if
// it declares nothing.
type layout struct {
	private bool
}

func layoutOf(root *ir.Value) layout { return layout{private: isPrivate(root)} }

// part returns the part i of a place, and the distance to it in bytes: unit for each step of
// i, or offset if the place is a struct.
func (l layout) part(p place, i uint32) (part place, unit, offset int64) {
	t := p.t
	switch t.Kind {
	case ir.Struct:
		m := t.Members[i]
		part = place{m.Type, m.MatrixStride, m.RowMajor}
		if !l.private && (i == 0 || m.Offset > 0) {
			return part, 0, int64(m.Offset)
		}
		for _, before := range t.Members[:i] {
			offset = l.aligned(offset, before.Type) + l.size(place{before.Type, before.MatrixStride, before.RowMajor})
		}
		return part, 0, l.aligned(offset, m.Type)
	case ir.Vector:
		part = place{t: t.Elem}
		if p.row && !l.private {
			return part, int64(p.stride), 0
		}
		return part, l.size(part), 0
	case ir.Matrix:
		part = place{t.Elem, p.stride, p.row}
		switch {
		case l.private || p.stride == 0:
			return place{t: t.Elem}, l.size(place{t: t.Elem}), 0
		case p.row:
			return part, l.size(place{t: t.Elem.Elem}), 0
		}
		return place{t: t.Elem}, int64(p.stride), 0
	}
	part = place{t.Elem, p.stride, p.row}
	if t.Stride > 0 && !l.private {
		return part, int64(t.Stride), 0
	}
	return part, l.size(part), 0
}

// aligned rounds an offset up for a type without a declared layout.
func (l layout) aligned(offset int64, t *ir.Type) int64 {
	if l.private {
		return offset
	}
	for t.Kind != ir.Struct && t.Elem != nil {
		t = t.Elem
	}
	a := int64(8)
	if t.Kind != ir.Struct {
		a = l.size(place{t: t})
	}
	return (offset + a - 1) / a * a
}

// size is the number of bytes of a place. It is 0 for an array of unknown length.
func (l layout) size(p place) int64 {
	t := p.t
	switch t.Kind {
	case ir.Bool:
		if l.private {
			return 16
		}
		return 4
	case ir.Int, ir.Float:
		if l.private {
			return 16 * int64(vectors(t))
		}
		return int64(t.Bits / 8)
	case ir.RuntimeArray:
		return 0
	case ir.Struct:
		end, at := int64(0), int64(0) // at is where the next member lies without an offset
		for i, m := range t.Members {
			size := l.size(place{m.Type, m.MatrixStride, m.RowMajor})
			at = l.aligned(at, m.Type)
			offset := at
			if !l.private && (i == 0 || m.Offset > 0) {
				offset = int64(m.Offset)
			}
			at += size
			end = max(end, offset+size)
		}
		if !l.private {
			end = (end + 7) / 8 * 8
		}
		return end
	case ir.Vector, ir.Matrix, ir.Array:
		part, unit, _ := l.part(p, 0)
		if t.N == 0 {
			return 0
		}
		if t.Kind == ir.Matrix && p.row && !l.private && p.stride > 0 {
			return int64(t.Elem.N-1)*int64(p.stride) + int64(t.N)*unit
		}
		if l.isStrided(p) {
			return int64(t.N-1)*unit + l.size(part)
		}
		return int64(t.N) * unit // the size of the part, which is not computed twice
	}
	return 4
}

// isStrided reports whether the parts of a vector, matrix or array lie at distances that the
// shader declares.
func (l layout) isStrided(p place) bool {
	switch {
	case l.private:
		return false
	case p.t.Kind == ir.Vector:
		return p.row
	case p.t.Kind == ir.Matrix:
		return p.stride > 0
	}
	return p.t.Stride > 0
}

// offsets lists the distances of the leaves of a place from its beginning.
func (l layout) offsets(p place) []int64 {
	switch p.t.Kind {
	case ir.Vector, ir.Matrix, ir.Array, ir.Struct:
	default:
		return []int64{0}
	}
	n := p.t.N
	if p.t.Kind == ir.Struct {
		n = uint32(len(p.t.Members))
	}
	var list []int64
	for i := range n {
		part, unit, offset := l.part(p, i)
		for _, o := range l.offsets(part) {
			list = append(list, offset+int64(i)*unit+o)
		}
	}
	return list
}

// A step is one index of an address: index times unit, or only offset if index is nil.
type step struct {
	index        *ir.Value
	unit, offset int64
}

// stepsOf returns the steps of an AccessChain from its base. Constant indices become offsets.
func stepsOf(chain *ir.Value) []step {
	list, _ := walk(chain)
	return list
}

// placeOf returns the place that a pointer points at.
func placeOf(p *ir.Value) place {
	_, at := walk(p)
	return at
}

// walk follows a pointer. It returns the steps of its own chain, and the place at its end.
func walk(p *ir.Value) (list []step, at place) {
	for p.Op == ir.CopyObject {
		p = p.Args[0]
	}
	if p.Op == ir.PtrAccessChain {
		return walkPointer(p)
	}
	if p.Op != ir.AccessChain {
		if p.Type.Kind == ir.Pointer {
			return nil, place{t: p.Type.Elem}
		}
		return nil, place{t: p.Type}
	}
	_, at = walk(p.Args[0])
	return walkIndices(nil, at, layoutOf(rootOf(p)), p.Args[1:])
}

// walkPointer follows a PtrAccessChain: a number of elements of an array from one of them, or
// of bytes, see lowerPointers.
func walkPointer(p *ir.Value) (list []step, at place) {
	first := step{index: p.Args[1], unit: 1}
	if len(p.Literals) > 0 {
		return []step{first}, place{t: p.Type.Elem}
	}
	_, at = walk(p.Args[0])
	if first.unit = int64(p.Args[0].Type.Stride); first.unit == 0 {
		unsupportedf("elements of a pointer without a stride")
	}
	return walkIndices([]step{first}, at, layoutOf(rootOf(p)), p.Args[2:])
}

// walkIndices follows indices from a place on.
func walkIndices(list []step, at place, l layout, indices []*ir.Value) ([]step, place) {
	for _, i := range indices {
		k, constant := constantLeaf(i, 0)
		n := uint32(0)
		if at.t.Kind == ir.Struct {
			n = uint32(k)
		}
		part, unit, offset := l.part(at, n)
		s := step{offset: offset}
		switch {
		case at.t.Kind == ir.Struct:
		case constant:
			s.offset = int64(int32(k)) * unit
		default:
			s.index, s.unit = i, unit
		}
		list, at = append(list, s), part
	}
	return list, at
}
