package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// `precise` is a decoration of an instruction's result, NoContraction. When spirv-opt unrolls a loop, it decorates the first
// copy of an instruction only, and a driver may then compute each copy in another order. So the instructions that glslc
// has decorated are marked by a line number, which copies keep, and what has the mark after spirv-opt is decorated.

// The opcodes of SPIR-V that marking needs to know.
const (
	opSourceContinued = 2
	opSource          = 3
	opSourceExtension = 4
	opName            = 5
	opMemberName      = 6
	opString          = 7
	opLine            = 8
	opDecorate        = 71
	opMemberDecorate  = 72
	opLabel           = 248
	opNoLine          = 317

	noContraction = 42
	headerBytes   = 20
)

// instructions calls f with the opcode and the words of each instruction of a module, which begin with that of the opcode.
func instructions(code []byte, f func(op uint32, words []uint32)) error {
	if len(code) < headerBytes || len(code)%4 != 0 {
		return fmt.Errorf("genspirv: %d bytes are no module", len(code))
	}
	for at := headerBytes; at < len(code); {
		n := int(binary.LittleEndian.Uint32(code[at:]) >> 16)
		if n == 0 || at+4*n > len(code) {
			return fmt.Errorf("genspirv: byte %d is no instruction", at)
		}
		words := make([]uint32, n)
		for i := range words {
			words[i] = binary.LittleEndian.Uint32(code[at+4*i:])
		}
		f(words[0]&0xffff, words)
		at += 4 * n
	}
	return nil
}

// appendWords appends an instruction.
func appendWords(code []byte, words ...uint32) []byte {
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}

// isArithmetic reports whether an opcode computes with floats, so that its result may be decorated.
func isArithmetic(op uint32) bool {
	switch op {
	case 127, 129, 131, 133, 136, 140, 141: // FNegate, FAdd, FSub, FMul, FDiv, FRem, FMod
		return true
	}
	return op >= 142 && op <= 148 // of vectors and matrices
}

// decorated lists the results of a module that have NoContraction.
func decorated(code []byte) (map[uint32]bool, error) {
	has := map[uint32]bool{}
	err := instructions(code, func(op uint32, words []uint32) {
		if op == opDecorate && words[2] == noContraction {
			has[words[1]] = true
		}
	})
	return has, err
}

// mark gives what is decorated a line number. A module without such instructions is returned as it is.
func mark(code []byte) ([]byte, error) {
	has, err := decorated(code)
	if err != nil || len(has) == 0 {
		return code, err
	}
	file := binary.LittleEndian.Uint32(code[12:])
	out := binary.LittleEndian.AppendUint32(bytes.Clone(code[:12]), file+1)
	out = append(out, code[16:headerBytes]...)
	named := false
	err = instructions(code, func(op uint32, words []uint32) {
		switch op {
		case opSourceContinued, opSource, opSourceExtension, opName, opMemberName, opString, opDecorate, opMemberDecorate:
			if !named {
				named = true
				out = appendWords(out, opString|3<<16, file, 0)
			}
		}
		marked := isArithmetic(op) && has[words[2]]
		if marked {
			out = appendWords(out, opLine|4<<16, file, 1, 1)
		}
		out = appendWords(out, words...)
		if marked {
			out = appendWords(out, opNoLine|1<<16)
		}
	})
	return out, err
}

// unmark decorates what has a line number, and removes the lines.
func unmark(code []byte) ([]byte, error) {
	has, err := decorated(code)
	if err != nil {
		return nil, err
	}
	var more []uint32
	line := false
	err = instructions(code, func(op uint32, words []uint32) {
		switch {
		case op == opLine:
			line = true
		case op == opNoLine || op == opLabel:
			line = false
		case line && isArithmetic(op) && !has[words[2]]:
			more = append(more, words[2])
		}
	})
	if err != nil {
		return nil, err
	}
	out, last, at := bytes.Clone(code[:headerBytes]), 0, 0
	err = instructions(code, func(op uint32, _ []uint32) {
		if at++; op == opDecorate || op == opMemberDecorate {
			last = at
		}
	})
	if err != nil {
		return nil, err
	}
	at = 0
	err = instructions(code, func(op uint32, words []uint32) {
		if op != opString && op != opLine && op != opNoLine {
			out = appendWords(out, words...)
		}
		if at++; at == last {
			for _, id := range more {
				out = appendWords(out, opDecorate|3<<16, id, noContraction)
			}
		}
	})
	return out, err
}
