package spv

import (
	"cmp"
	"slices"
)

// blockLayout checks that the members of a block lie where the rules of their
// memory allow: std140 for uniform buffers, std430 for the rest, with the
// relaxation of Vulkan 1.1 that a vector may start at any component as long as
// it does not straddle 16 bytes.
func (s *shader) blockLayout(in *inst, t *typ, uniform bool) error {
	l := &layouter{shader: s, in: in, round: uniform, aligns: map[*typ]uint64{}, sizes: map[*typ]uint64{}, done: map[*typ]bool{}}
	return l.structure(t)
}

type layouter struct {
	*shader
	in     *inst
	round  bool // arrays and structs align to 16 bytes
	aligns map[*typ]uint64
	sizes  map[*typ]uint64 // of structs
	done   map[*typ]bool   // structs found right
}

// structure checks the members of a struct in the order of their offsets.
func (l *layouter) structure(t *typ) error {
	if l.done[t] {
		return nil
	}
	l.done[t] = true
	order := make([]int, len(t.members))
	offsets := make([]uint64, len(t.members))
	for k, mt := range t.members {
		order[k] = k
		md := l.mdecor[member{t.id, uint32(k)}]
		off, ok := number(md, decOffset)
		if !ok {
			return invalid("%v: member %d of struct %%%d has no Offset", l.in, k, t.id)
		}
		offsets[k] = uint64(off)
		base := mt
		for base.is(opTypeArray) || base.is(opTypeRuntimeArray) {
			base = base.elem
		}
		if base.is(opTypeMatrix) {
			stride, ok := number(md, decMatrixStride)
			if !ok || has(md, decRowMajor) == has(md, decColMajor) {
				return invalid("%v: matrix member %d of struct %%%d needs MatrixStride and RowMajor or ColMajor", l.in, k, t.id)
			}
			if a := l.matrixAlign(base, md); uint64(stride)%a != 0 {
				return invalid("%v: MatrixStride %d of member %d of struct %%%d (want a multiple of %d)", l.in, stride, k, t.id, a)
			}
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(offsets[x], offsets[y]) })
	free := uint64(0)
	for _, k := range order {
		mt, off := t.members[k], offsets[k]
		md := l.mdecor[member{t.id, uint32(k)}]
		align := l.align(mt, md)
		if mt.is(opTypeVector) {
			align = uint64(mt.bits() / 8)
			if size := mt.size; size <= 16 && off/16 != (off+size-1)/16 || size > 16 && off%16 != 0 {
				return invalid("%v: member %d of struct %%%d, a vector at byte %d, straddles 16 bytes", l.in, k, t.id, off)
			}
		}
		if off%align != 0 {
			return invalid("%v: member %d of struct %%%d at byte %d (want a multiple of %d)", l.in, k, t.id, off, align)
		}
		if off < free {
			return invalid("%v: member %d of struct %%%d at byte %d overlaps another, which ends at %d", l.in, k, t.id, off, free)
		}
		if err := l.inside(mt); err != nil {
			return err
		}
		free = off + l.size(mt, md)
		if mt.is(opTypeArray) || mt.is(opTypeStruct) {
			free = (free + align - 1) / align * align
		}
	}
	return nil
}

// inside checks what a member is made of.
func (l *layouter) inside(t *typ) error {
	switch t.op {
	case opTypeStruct:
		return l.structure(t)
	case opTypeArray, opTypeRuntimeArray:
		stride, ok := number(l.decor[t.id], decArrayStride)
		if !ok {
			return invalid("%v: array %%%d in a block has no ArrayStride", l.in, t.id)
		}
		if a := l.align(t, nil); uint64(stride)%a != 0 && !t.elem.is(opTypeMatrix) {
			return invalid("%v: ArrayStride %d of array %%%d (want a multiple of %d)", l.in, stride, t.id, a)
		}
		if size := l.size(t.elem, nil); uint64(stride) < size {
			return invalid("%v: ArrayStride %d of array %%%d is less than its elements' %d bytes", l.in, stride, t.id, size)
		}
		return l.inside(t.elem)
	case opTypeInt, opTypeFloat, opTypeVector, opTypeMatrix:
		if t.scalar().is(opTypeBool) {
			return invalid("%v: %v in a block", l.in, t)
		}
		return nil
	}
	return invalid("%v: %v in a block", l.in, t)
}

func (l *layouter) matrixAlign(t *typ, md []decoration) uint64 {
	n := t.elem.n
	if has(md, decRowMajor) {
		n = t.n
	}
	a := uint64(t.scalar().width / 8)
	if n == 2 {
		a *= 2
	} else {
		a *= 4
	}
	if l.round {
		a = (a + 15) / 16 * 16
	}
	return a
}

// align is the base alignment of a type.
func (l *layouter) align(t *typ, md []decoration) uint64 {
	if t.op == opTypeStruct || t.op == opTypeArray || t.op == opTypeRuntimeArray {
		if a := l.aligns[t]; a != 0 && t.is(opTypeStruct) {
			return a
		}
		a := uint64(1)
		if t.op == opTypeStruct {
			for k, m := range t.members {
				a = max(a, l.align(m, l.mdecor[member{t.id, uint32(k)}]))
			}
		} else {
			a = l.align(t.elem, md)
		}
		if l.round {
			a = (a + 15) / 16 * 16
		}
		l.aligns[t] = a
		return a
	}
	switch t.op {
	case opTypeVector:
		if t.n == 2 {
			return 2 * uint64(t.bits()/8)
		}
		return 4 * uint64(t.bits()/8)
	case opTypeMatrix:
		return l.matrixAlign(t, md)
	}
	return max(t.align, 1)
}

// size is the bytes from the start of a value to its end, by its layout.
func (l *layouter) size(t *typ, md []decoration) uint64 {
	switch t.op {
	case opTypeMatrix:
		stride, _ := number(md, decMatrixStride)
		n, last := t.n, t.elem.n
		if has(md, decRowMajor) {
			n, last = last, n
		}
		return uint64(n-1)*uint64(stride) + uint64(last)*uint64(t.scalar().width/8)
	case opTypeArray:
		stride, _ := number(l.decor[t.id], decArrayStride)
		return satMul(uint64(t.n-1), uint64(stride)) + l.size(t.elem, md)
	case opTypeStruct:
		if n, ok := l.sizes[t]; ok {
			return n
		}
		end := uint64(0)
		for k, m := range t.members {
			d := l.mdecor[member{t.id, uint32(k)}]
			off, _ := number(d, decOffset)
			end = max(end, uint64(off)+l.size(m, d))
		}
		l.sizes[t] = end
		return end
	case opTypeRuntimeArray:
		return 0
	}
	return t.size
}
