package spv

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// What a cooperative matrix of the KHR extension is used for.
const (
	useA = iota
	useB
	useAccumulator
	useUnknown
)

// Cooperative rewrites the cooperative matrices of a module from
// SPV_NV_cooperative_matrix, which is what compilers have had for longest, to
// SPV_KHR_cooperative_matrix, which is what the drivers of several vendors have. The
// types of the latter also say what a matrix is used for: a factor on the left or
// right, or a sum. It is told by the products that take values of the type, so a
// type may have one use only, as types of different shapes or components do; a module
// whose shapes are equal keeps them apart by specialisation constants of the same
// value. A module without such matrices stays as it is.
//
// Errors: ErrUnsupported if a type is used in two ways; ErrInvalidShader if m does not
// come from Parse or Reflect.
func Cooperative(m *Module) ([]byte, error) {
	if m == nil {
		return nil, noModule("cooperative matrices")
	}
	if !slices.Contains(m.Capabilities, capCoopNV) {
		return m.Code, nil
	}
	code, err := cooperative(m)
	if err != nil {
		return nil, fmt.Errorf("spv: cooperative matrices of %s: %w", m.label(), err)
	}
	return code, nil
}

func cooperative(m *Module) ([]byte, error) {
	s, err := decode(m.Code)
	if err != nil {
		return nil, err
	}
	if err := s.define(); err != nil {
		return nil, err
	}
	uses, err := s.matrixUses()
	if err != nil {
		return nil, err
	}
	next := s.bound
	id := func() uint32 {
		next++
		return next - 1
	}
	// Numbers of 32 bits: uses, and the layouts by row (0) and by column (1).
	var word uint32
	var numbers [useUnknown]uint32
	columns := map[uint32]bool{} // constants of bool that say so
	code := append(make([]byte, 0, len(m.Code)+64), m.Code[:4*headerWords]...)
	for i := range s.insts {
		in := &s.insts[i]
		w := in.w
		switch in.op {
		case opCapability:
			if w[1] == capCoopNV {
				w = []uint32{w[0], capCoopKHR}
			}
		case opExtension:
			if name, _, _ := str(in.args()); name == "SPV_NV_cooperative_matrix" {
				code = appendInst(code, opExtension, words("SPV_KHR_cooperative_matrix")...)
				continue
			}
		case opTypeInt:
			if w[2] == 32 && w[3] == 0 {
				word = in.res
			}
		case opConstantTrue, opConstantFalse:
			columns[in.res] = in.op == opConstantTrue
		case opTypeCoopNV:
			if word == 0 {
				return nil, invalid("%v: its sizes are no constants of 32 bits", in)
			}
			if numbers[0] == 0 {
				for k := range numbers {
					numbers[k] = id()
					code = appendInst(code, opConstant, word, numbers[k], uint32(k))
				}
			}
			code = appendInst(code, opTypeCoopKHR, append(slices.Clone(w[1:]), numbers[uses[in.res]])...)
			continue
		case opCoopLoadNV, opCoopStoreNV:
			// The layout comes before the stride, and is a number.
			a := slices.Clone(w[1:])
			at, op := 3, opCoopLoadKHR
			if in.op == opCoopStoreNV {
				at, op = 2, opCoopStoreKHR
			}
			layout, known := columns[a[at+1]]
			if !known {
				return nil, unsupported("%v: whether it goes by columns is no constant", in)
			}
			a[at], a[at+1] = numbers[0], a[at]
			if layout {
				a[at] = numbers[1]
			}
			code = appendInst(code, op, a...)
			continue
		case opCoopMulAddNV:
			code = appendInst(code, opCoopMulAddKHR, w[1:]...)
			continue
		case opCoopLengthNV:
			code = appendInst(code, opCoopLengthKHR, w[1:]...)
			continue
		}
		code = appendWords(code, w)
	}
	binary.LittleEndian.PutUint32(code[4*3:], next)
	return code, nil
}

// matrixUses tells the use of each type of cooperative matrix. One that no product
// takes is a sum.
func (s *shader) matrixUses() (map[uint32]int, error) {
	uses := map[uint32]int{}
	for i := range s.insts {
		if in := &s.insts[i]; in.op == opTypeCoopNV {
			uses[in.res] = useUnknown
		}
	}
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opCoopMulAddNV {
			continue
		}
		for use, v := range in.args() {
			t := s.at(v).typ
			if had, ok := uses[t]; !ok || had != useUnknown && had != use {
				return nil, unsupported("%v: operand %d is of a type that is used in another way too; give the shapes constants of their own", in, use)
			}
			uses[t] = use
		}
	}
	for t, use := range uses {
		if use == useUnknown {
			uses[t] = useAccumulator
		}
	}
	return uses, nil
}

// words is a string as a literal operand.
func words(s string) []uint32 {
	b := append([]byte(s), make([]byte, 4-len(s)%4)...)
	var w []uint32
	for ; len(b) > 0; b = b[4:] {
		w = append(w, binary.LittleEndian.Uint32(b))
	}
	return w
}
