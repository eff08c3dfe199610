package elementwise

import (
	"strings"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// partOf returns the part of a shader of lib/unary.glsl, lib/unary_gradient.glsl or lib/binary.glsl for elements of d.
// Those of 16 bits are computed in F32.
func partOf(shader string, d tensor.DType) spec.Part {
	if d.Size() == 2 {
		return spec.Part{Name: shader + ".f32.function"}
	}
	return spec.Part{Name: shader + "." + d.String() + ".function", Lanes: d == tensor.F32}
}

// part is partOf with the numbers of a call, for inputs that are floating-point numbers of one type.
func (n Numbers[A]) part(a A, shader string, in []tensor.DType) spec.Part {
	for _, d := range in {
		if d != in[0] || !isFloat(d) {
			return spec.Part{}
		}
	}
	p := partOf(shader, in[0])
	if n.Of != nil {
		numbers := n.Of(a)
		p.Numbers = numbers[:]
	}
	return p
}

// CastPart returns the part that converts elements. Floating-point numbers of 16 and of 32 bits are all computed in F32, so casts
// among them only round, and those from Bool and U8 have a short function too. All others are functions of bits.
func CastPart(from, to tensor.DType) spec.Part {
	switch {
	case (from == tensor.Bool || from == tensor.U8) && isFloat(to) && to != tensor.F64:
		return spec.Part{Name: "fused/whole"}
	case isFloat(from) && isFloat(to) && from != tensor.F64 && to != tensor.F64:
		if to.Size() == 2 {
			return spec.Part{Name: "fused/round." + to.String()}
		}
		return spec.Part{Name: "fused/same"}
	}
	p := spec.Part{Name: "fused/cast.keep", Bits: true, Words: [3]uint32{castSign(from, to)}}
	if kernel := castKernel(from, to); kernel != "" {
		p.Name = "fused/cast" + strings.TrimPrefix(kernel, "move/cast")
	}
	return p
}
