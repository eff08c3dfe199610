package pack

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// Words go into sections by what they are. Words of one section resemble each other, so
// that DEFLATE finds more in them.
const (
	opcodes = iota
	types
	results
	values
	labels
	literals
	sections
)

// grammar says what the words after the first word of an instruction are, by opcode. The
// part after / is there any number of times.
//
//	t  a type              T  a type that is declared here
//	v  a value             r  a value that is declared here
//	b  a label             B  a label that is declared here
//	l  a literal word
//
// A row that is wrong or missing makes files larger, and nothing else: any words can be
// coded as any of these.
var grammar = map[uint32]string{
	2: "/l", 3: "/l", 4: "/l", 5: "v/l", 6: "v/l", 7: "r/l", 8: "v/l", 10: "/l", 11: "r/l", // names and extensions
	14: "/l", 15: "lv/l", 16: "v/l", 17: "/l", 71: "v/l", 72: "v/l", 330: "/l",
	19: "T", 20: "T", 21: "T/l", 22: "T/l", 23: "Tt/l", 24: "Tt/l", 25: "Tt/l", 26: "T", 27: "Tt", // types
	28: "Tt/v", 29: "Tt", 30: "T/t", 32: "Tlt", 33: "T/t", 4456: "Tt/v", 5358: "Tt/v",
	43: "tr/l", 50: "tr/l", 52: "trl/v", // constants
	12: "trvl/v", 54: "trlt", 59: "trl/v", 61: "trv/l", 62: "vv/l", 68: "trv/l", 79: "trvv/l", 81: "trv/l", 82: "trvv/l",
	95: "trvv/l", 98: "trvv/l", 99: "vvv/l", 224: "/v", 225: "/v", 228: "/v", 4458: "/v", 5360: "/v",
	245: "tr/vb", 246: "bb/l", 247: "b/l", 248: "B", 249: "b", 250: "vbb/l", 251: "vb/lb", 254: "v", // control flow
	349: "trvl/v", 350: "trvl/v", 351: "trvl/v", 352: "trvl/v", 353: "trvl/v", 354: "trvl/v", 355: "trvl/v", 356: "trvl/v", 357: "trvl/v", 358: "trvl/v",
	4450: "trvv/l", 4451: "trvv/l", 4452: "trvv/l", 4453: "trvvv/l", 4454: "trvvv/l", 4455: "trvvv/l",
}

// kinds returns what each word after the first one of an instruction is.
func kinds(first uint32) string {
	row, ok := grammar[first&0xffff]
	if !ok {
		row = "tr/v"
	}
	head, repeat, _ := strings.Cut(row, "/")
	n := int(first>>16) - 1
	if repeat == "" {
		repeat = "l"
	}
	if n > len(head) {
		head += strings.Repeat(repeat, (n-len(head)+len(repeat)-1)/len(repeat))
	}
	return head[:max(n, 0)]
}

var errDamaged = errors.New("damaged")

// coder codes words into sections, or back. Both are one walk over the words, so that
// they agree: each step either puts the word into its section, or gets it from there.
//
// Variants of a kernel have the same instructions with other ids. So an id is coded as
// the number of other ids that were used since it was used last, which is the same in all
// variants. Types, values and labels are counted apart.
type coder struct {
	decode  bool
	section [sections][]byte
	at      [sections]int // what was read of each section
	damaged bool

	// instructions are the different first words of instructions so far, and what the
	// others are.
	instructions []instruction
	number       map[uint32]int

	recent [sections][]uint32 // the ids of a module, that used last at the end
	last   uint32             // the id that was declared last
}

type instruction struct {
	first uint32
	kinds string
}

// number of words in the header of a module.
const header = 5

// module codes the words of one module.
func (c *coder) module(words []uint32) error {
	for i := range c.recent {
		c.recent[i] = c.recent[i][:0]
	}
	c.last = 0
	head := min(header, len(words))
	c.literals(words[:head])
	for words = words[head:]; len(words) > 0 && !c.damaged; {
		in := c.opcode(&words[0])
		n := len(in.kinds) + 1
		if in.first>>16 == 0 || n > len(words) { // this is no SPIR-V
			c.literals(words[1:])
			break
		}
		for i := range in.kinds {
			w := &words[i+1]
			switch in.kinds[i] {
			case 't':
				c.used(types, w)
			case 'v':
				c.used(values, w)
			case 'b':
				c.used(labels, w)
			case 'T':
				c.declared(types, w)
			case 'r':
				c.declared(values, w)
			case 'B':
				c.declared(labels, w)
			default:
				c.word(literals, w)
			}
		}
		words = words[n:]
	}
	if c.damaged {
		return errDamaged
	}
	return nil
}

func (c *coder) literals(words []uint32) {
	for i := range words {
		c.word(literals, &words[i])
	}
}

// word codes a number. Small ones take one byte.
func (c *coder) word(section int, w *uint32) {
	if !c.decode {
		c.section[section] = binary.AppendUvarint(c.section[section], uint64(*w))
		return
	}
	s, at := c.section[section], c.at[section]
	if at < len(s) && s[at] < 0x80 {
		*w, c.at[section] = uint32(s[at]), at+1
		return
	}
	v, n := binary.Uvarint(s[at:])
	if n <= 0 || v > 1<<32-1 {
		c.damaged = true
		return
	}
	*w, c.at[section] = uint32(v), at+n
}

// offset codes a number that is near another one.
func (c *coder) offset(section int, w *uint32, from uint32) {
	d := int32(*w - from)
	z := uint32(d<<1) ^ uint32(d>>31)
	c.word(section, &z)
	*w = from + (z>>1 ^ -(z & 1))
}

// opcode codes the first word of an instruction: as its number among the different ones so
// far, or 0 if it is a new one.
func (c *coder) opcode(w *uint32) instruction {
	known := uint32(c.number[*w])
	c.word(opcodes, &known)
	switch {
	case known == 0:
		c.word(opcodes, w)
		c.instructions = append(c.instructions, instruction{*w, kinds(*w)})
		if !c.decode {
			c.number[*w] = len(c.instructions)
		}
		known = uint32(len(c.instructions))
	case int(known) > len(c.instructions):
		c.damaged = true
		return instruction{}
	}
	in := c.instructions[known-1]
	*w = in.first
	return in
}

// used codes an id: as 1 if it was the one used last, and so on, or 0 if it is a new one.
func (c *coder) used(section int, w *uint32) {
	recent := c.recent[section]
	age := uint32(0)
	if !c.decode {
		for i, id := range slices.Backward(recent) {
			if id == *w {
				age = uint32(len(recent) - i)
				break
			}
		}
	}
	c.word(section, &age)
	switch i := len(recent) - int(age); {
	case age == 0:
		c.offset(section, w, c.last)
		c.recent[section] = append(recent, *w)
	case i < 0:
		c.damaged = true
	default:
		*w = recent[i]
		copy(recent[i:], recent[i+1:])
		recent[len(recent)-1] = *w
	}
}

// declared codes the id of a result. Most are one more than the result before.
func (c *coder) declared(section int, w *uint32) {
	c.offset(results, w, c.last+1)
	c.last = *w
	c.recent[section] = append(c.recent[section], *w)
}
