package spv

import "encoding/binary"

// dense writes the ids of a module as small as need be: drivers make room for
// every id below the bound in the header, used or not, and some crash where that
// is millions. The bound is written down to what is used; ids that lie far apart
// are numbered anew. The code may be changed in place.
//
// Errors: ErrInvalidShader if the module does not come from Parse.
func dense(code []byte) ([]byte, error) {
	const loose = 4096 // ids that may be unused besides as many as are used
	s, err := decode(code)
	if err != nil {
		return nil, err
	}
	used := make([]bool, s.bound)
	last, count := uint32(0), uint32(0)
	if err := s.define(); err != nil {
		return nil, err
	}
	for i := range s.insts {
		s.ids(&s.insts[i], func(id *uint32) {
			if *id < s.bound && !used[*id] {
				used[*id] = true
				count++
				last = max(last, *id)
			}
		})
	}
	bound := last + 1
	far := last > 2*count+loose
	if bound == s.bound && !far {
		return code, nil
	}
	code = append([]byte(nil), code...)
	if far {
		number := make([]uint32, s.bound)
		next := uint32(1)
		for id := range used {
			if used[id] {
				number[id] = next
				next++
			}
		}
		bound = next
		code = code[:4*headerWords]
		for i := range s.insts {
			s.ids(&s.insts[i], func(id *uint32) {
				if *id < s.bound {
					*id = number[*id]
				}
			})
			code = appendWords(code, s.insts[i].w)
		}
	}
	binary.LittleEndian.PutUint32(code[4*3:], bound)
	return code, nil
}

// ids calls f with every id of an instruction, those of type and result
// included, where it stands among the words. Of a module that is not known to be valid,
// it may miss some.
func (s *shader) ids(in *inst, f func(id *uint32)) {
	info := in.op.info()
	if info == nil {
		return
	}
	for k := 1; k < info.first; k++ {
		f(&in.w[k])
	}
	w, pattern := in.w[info.first:], info.operands
	literals := 1 // words of a switch's literal
	switch in.op {
	case opSpecConstantOp:
		info := opcode(w[0]).info()
		if w[0] > maxOpcode || info == nil {
			return
		}
		pattern, w = info.operands, w[1:]
	case opGroupMemberDecorate:
		f(&w[0])
		for k := 1; k < len(w); k += 2 {
			f(&w[k])
		}
		return
	case opSwitch:
		if v := s.at(w[0]); v != nil {
			if t := s.at(v.typ); t != nil && t.op == opTypeInt && t.w[2] > 32 {
				literals = 2
			}
		}
	}
	for k := 0; k < len(pattern) && len(w) > 0; k++ {
		p := pattern[k]
		many := k+1 < len(pattern) && pattern[k+1] == '*'
		for first := true; len(w) > 0 && (first || many); first = false {
			w = w[min(idsOf(p, w, literals, f), len(w)):]
		}
	}
}

// idsOf calls f with the ids of the operand of kind p at the start of w, and
// returns its words.
func idsOf(p byte, w []uint32, literals int, f func(id *uint32)) int {
	n := 1
	switch p {
	case '?', '*':
		return 0
	case 'l':
	case 's':
		if _, words, ok := str(w); ok {
			n = words
		}
	case 'm': // the mask; the alignment if bit 1 is set; then scopes
		if w[0]&2 != 0 {
			n++
		}
		for bit := range 2 {
			if w[0]>>(3+bit)&1 != 0 && n < len(w) {
				f(&w[n])
				n++
			}
		}
	case 'I', 'p':
		if p == 'p' {
			f(&w[0])
		}
		for n = 1; n < len(w); n++ {
			f(&w[n])
		}
	case 'w':
		for n = 0; n < len(w); n++ {
			if n%(literals+1) == literals {
				f(&w[n])
			}
		}
	default:
		f(&w[0])
	}
	return n
}
