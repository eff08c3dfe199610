package planner

import "github.com/lathe-gpu/lathe/tensor"

// Repeat says how a flat kernel finds the elements of an operand that is smaller than the
// output. Pack number i of the output needs pack number i / Div % Mod of the operand or,
// if Splat is 1, element i / Div % Mod for all of its elements. Div is 0 if the operand
// has the shape of the output. lib/binary.glsl uses the same
// terms in lower case.
type Repeat struct {
	Div   uint32
	Mod   int
	Splat uint32
	// Elems is the number of elements of the operand.
	Elems int
}

// Bytes returns the size of the operand in bytes, rounded up to whole packs.
func (r Repeat) Bytes(d tensor.DType) int64 {
	return int64(CeilDiv(r.Elems*d.Size(), Pack) * Pack)
}

// RepeatOf reports whether a flat kernel can read an operand, and how. It can if the
// operand has the shape of the output, is a scalar, repeats each element over whole
// packs, or consists of rows of whole packs that repeat.
func RepeatOf(dims, strides []int, pack int) (Repeat, bool) {
	hi := len(dims)
	inner := 1
	for hi > 0 && (strides[hi-1] == 0 || dims[hi-1] == 1) {
		hi--
		inner *= dims[hi]
	}
	lo, own := hi, 1
	for lo > 0 && strides[lo-1] == own {
		lo--
		own *= dims[lo]
	}
	for _, s := range strides[:lo] {
		if s != 0 {
			return Repeat{}, false
		}
	}
	switch {
	case own == 1: // a scalar
		return Repeat{Div: 1 << 31, Mod: 1, Elems: 1, Splat: 1}, true
	case inner == 1 && lo == 0:
		return Repeat{}, true
	case inner == 1:
		return Repeat{Div: 1, Mod: own / pack, Elems: own}, own%pack == 0
	}
	return Repeat{Div: uint32(inner / pack), Mod: own, Elems: own, Splat: 1}, inner%pack == 0
}
