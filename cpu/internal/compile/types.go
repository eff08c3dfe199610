package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// leavesOf lists the scalars that a type consists of, in their order. A pointer is one: its
// distance in bytes from the beginning of its variable.
func leavesOf(t *ir.Type) []*ir.Type {
	switch t.Kind {
	case ir.Void:
		return nil
	case ir.Vector, ir.Matrix, ir.Array:
		part := leavesOf(t.Elem)
		var list []*ir.Type
		for range t.N {
			list = append(list, part...)
		}
		return list
	case ir.Struct:
		var list []*ir.Type
		for _, m := range t.Members {
			list = append(list, leavesOf(m.Type)...)
		}
		return list
	}
	return []*ir.Type{t}
}

// countLeaves is the length of leavesOf.
func countLeaves(t *ir.Type) int {
	switch t.Kind {
	case ir.Void:
		return 0
	case ir.Vector, ir.Matrix, ir.Array:
		return int(t.N) * countLeaves(t.Elem)
	case ir.Struct:
		n := 0
		for _, m := range t.Members {
			n += countLeaves(m.Type)
		}
		return n
	}
	return 1
}

// partOf returns the part of a type at an index, and the number of leaves before it.
func partOf(t *ir.Type, i uint32) (part *ir.Type, before int) {
	if t.Kind == ir.Struct {
		for _, m := range t.Members[:i] {
			before += countLeaves(m.Type)
		}
		return t.Members[i].Type, before
	}
	return t.Elem, int(i) * countLeaves(t.Elem)
}

// partAt follows literal indices into a type.
func partAt(t *ir.Type, path []uint32) (part *ir.Type, before int) {
	for _, i := range path {
		n := 0
		t, n = partOf(t, i)
		before += n
	}
	return t, before
}

// isWide reports whether a scalar has 64 bits, so that four of them are two vectors.
func isWide(t *ir.Type) bool { return (t.Kind == ir.Int || t.Kind == ir.Float) && t.Bits == 64 }

// isHalf reports whether a scalar is a float of 16 bits. Its values are kept as floats of 32
// bits that have been rounded.
func isHalf(t *ir.Type) bool { return t.Kind == ir.Float && t.Bits == 16 }

// scalarType is the type of a local variable for a scalar that is the same in all lanes.
// Integers of fewer than 32 bits are extended by their sign or by zeros. Booleans are 0 or 1.
func scalarType(t *ir.Type) wasm.ValType {
	switch {
	case t.Kind == ir.Float && t.Bits == 64:
		return wasm.F64
	case t.Kind == ir.Float:
		return wasm.F32
	case t.Kind == ir.Int && t.Bits == 64:
		return wasm.I64
	}
	return wasm.I32
}

// vectors is the number of vectors that four scalars fill.
func vectors(t *ir.Type) int {
	if isWide(t) {
		return 2
	}
	return 1
}
