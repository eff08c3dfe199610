package spv

import (
	"encoding/binary"
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// The five header words of a SPIR-V module.
const (
	magic       = 0x07230203
	headerWords = 5
	// maxVersion is SPIR-V 1.6, the newest one the rules here are written for.
	maxVersion = 0x00010600
	// maxBound is the largest id bound the SPIR-V specification asks consumers
	// to accept. It keeps a hostile header from making us allocate.
	maxBound = 4 << 20
	// maxWords bounds a module to 64 MiB for the same reason.
	maxWords = 16 << 20
)

// inst is one instruction: its opcode, and all its words, the first included.
type inst struct {
	op  opcode
	at  int // word index in the module, for error texts
	w   []uint32
	typ uint32 // result type id, 0 if the opcode has none
	res uint32 // result id, 0 if the opcode has none
}

// args are the operand words after result type and result id.
func (in *inst) args() []uint32 { return in.w[table[in.op].first:] }

// String names the instruction for error texts.
func (in *inst) String() string {
	if in.res != 0 {
		return fmt.Sprintf("%v %%%d at word %d", in.op, in.res, in.at)
	}
	return fmt.Sprintf("%v at word %d", in.op, in.at)
}

// invalid is an ErrInvalidShader that names the rule broken.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errs.ErrInvalidShader, fmt.Sprintf(format, args...))
}

// unsupported is an ErrUnsupported that names the construct.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errs.ErrUnsupported, fmt.Sprintf(format, args...))
}

// decode checks the header and cuts the code into instructions, all of them such as
// a compute shader may hold. Nothing returned aliases code.
func decode(code []byte) (*shader, error) {
	s, err := cut(code)
	if err != nil {
		return nil, err
	}
	for i := range s.insts {
		if in := &s.insts[i]; in.op.info() == nil {
			return nil, strange(in)
		}
	}
	return s, nil
}

// cut is decode of a module that may hold other shaders too: instructions that a
// compute shader may not hold stay, without result and type.
func cut(code []byte) (*shader, error) {
	if len(code)%4 != 0 {
		return nil, invalid("length is not a multiple of 4 bytes (got %d)", len(code))
	}
	if len(code) < 4*headerWords {
		return nil, invalid("shorter than a SPIR-V header (got %d bytes, want at least %d)", len(code), 4*headerWords)
	}
	if len(code)/4 > maxWords {
		return nil, invalid("module too large (got %d words, want at most %d)", len(code)/4, maxWords)
	}
	switch m := binary.LittleEndian.Uint32(code); {
	case m == magic:
	case binary.BigEndian.Uint32(code) == magic:
		return nil, invalid("module is big-endian; write it with little-endian words")
	default:
		return nil, invalid("not SPIR-V: magic number (got %#08x, want %#08x)", m, uint32(magic))
	}
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	version, bound := words[1], words[3]
	if version&0xff0000ff != 0 || version < 0x00010000 || version > maxVersion {
		return nil, invalid("SPIR-V version (got %#08x, want 1.0 to 1.6)", version)
	}
	if bound == 0 || bound > maxBound {
		return nil, invalid("id bound in the header (got %d, want 1 to %d)", bound, maxBound)
	}
	if words[4] != 0 {
		return nil, invalid("reserved schema word in the header (got %d, want 0)", words[4])
	}
	list := make([]inst, 0, len(words)/3)
	for at := headerWords; at < len(words); {
		op, n := opcode(words[at]&0xffff), int(words[at]>>16)
		if n == 0 || n > len(words)-at {
			return nil, invalid("word count of opcode %d at word %d (got %d, want 1 to %d)", op, at, n, len(words)-at)
		}
		in := inst{op: op, at: at, w: words[at : at+n : at+n]}
		info := op.info()
		if info == nil {
			list = append(list, in)
			at += n
			continue
		}
		if n < info.min {
			return nil, invalid("word count of %v at word %d (got %d, want at least %d)", op, at, n, info.min)
		}
		i := 1
		if info.typ {
			in.typ = in.w[i]
			i++
		}
		if info.res {
			in.res = in.w[i]
		}
		list = append(list, in)
		at += n
	}
	return &shader{insts: list, bound: bound, version: version}, nil
}

// str reads the nul-terminated string at the start of w, and how many words it
// takes. ok is false if there is no terminator.
func str(w []uint32) (s string, words int, ok bool) {
	var b []byte
	for i, x := range w {
		for k := range 4 {
			c := byte(x >> (8 * k))
			if c == 0 {
				return string(b), i + 1, true
			}
			b = append(b, c)
		}
	}
	return "", 0, false
}
