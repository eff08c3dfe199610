package spv

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Assemble makes the code of a module of lines such as
//
//	%x = OpFAdd %f32 %a 3
//
// with enumerants as numbers, so that tests need no shader compiler. Ids are numbered in the
// order in which they appear. version is the second word of the code, such as 0x10300 for SPIR-V 1.3.
// Errors: ErrInvalidArgument (an opcode that is not known, a result
// without a type, a word that is no number).
func Assemble(version uint32, text string) ([]byte, error) {
	byName := map[string]opcode{}
	for _, g := range grammar {
		byName["Op"+g.name] = g.op
	}
	ids := map[string]uint32{}
	id := func(name string) uint32 {
		if ids[name] == 0 {
			ids[name] = uint32(len(ids) + 1)
		}
		return ids[name]
	}
	words := []uint32{magic, version, 0, 0, 0}
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, ";")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var res string
		if len(f) > 2 && f[1] == "=" {
			res, f = f[0], f[2:]
		}
		op, ok := byName[f[0]]
		if !ok {
			return nil, fmt.Errorf("spv: assemble: %w: no opcode in %q", errs.ErrInvalidArgument, line)
		}
		w := []uint32{0}
		f = f[1:]
		if table[op].typ {
			if len(f) == 0 {
				return nil, fmt.Errorf("spv: assemble: %w: no type in %q", errs.ErrInvalidArgument, line)
			}
			w, f = append(w, id(f[0])), f[1:]
		}
		if res != "" {
			w = append(w, id(res))
		}
		for _, x := range f {
			switch {
			case x[0] == '%':
				w = append(w, id(x))
			case x[0] == '"':
				b := append([]byte(strings.Trim(x, `"`)), 0)
				for len(b)%4 != 0 {
					b = append(b, 0)
				}
				for ; len(b) > 0; b = b[4:] {
					w = append(w, binary.LittleEndian.Uint32(b))
				}
			default:
				v, err := strconv.ParseInt(x, 0, 64)
				if err != nil {
					return nil, fmt.Errorf("spv: assemble: %w: %q in %q: %w", errs.ErrInvalidArgument, x, line, err)
				}
				w = append(w, uint32(v))
			}
		}
		w[0] = uint32(len(w))<<16 | uint32(op)
		words = append(words, w...)
	}
	words[3] = uint32(len(ids) + 1)
	code := make([]byte, 0, 4*len(words))
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code, nil
}
