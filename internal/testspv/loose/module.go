package loose

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The opcodes and the instructions of GLSL.std.450 that rules look at.
const (
	opExtInstImport = 11
	opExtInst       = 12
	opMemoryModel   = 14
	opTypeFloat     = 22
	opTypeVector    = 23
	opConstant      = 43
	opFunction      = 54
	opDecorate      = 71
	opFNegate       = 127
	opFAdd          = 129
	opFSub          = 131
	opFMul          = 133
	opFDiv          = 136
	opSelect        = 169
	opLessFirst     = 184 // FOrdLessThan; then, by turns, unordered and ordered: <, >, ≤, ≥
	opLessLast      = 191
	opCopyObject    = 83

	noContraction = 42

	glslFMin, glslFMax, glslFClamp = 37, 40, 43
	glslNMin, glslNMax, glslNClamp = 79, 80, 81
)

// inst is an instruction: its opcode and its other words.
type inst struct {
	op    uint32
	words []uint32
}

// module is a SPIR-V module in instructions.
type module struct {
	head   [5]uint32
	list   []inst
	at     map[uint32]int    // the index in list of the instruction with an id
	width  map[uint32]uint32 // bits of scalar float types
	kept   map[uint32]bool   // ids that are decorated with NoContraction
	glsl   uint32            // the id of GLSL.std.450, or 0
	before map[int][]inst    // instructions to insert before an index
	consts []inst            // constants to add
}

// parse takes a valid module apart.
func parse(code []byte) (*module, error) {
	if len(code) < 20 || len(code)%4 != 0 {
		return nil, fmt.Errorf("loose: %d bytes are no module", len(code))
	}
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	m := &module{at: map[uint32]int{}, width: map[uint32]uint32{}, kept: map[uint32]bool{}, before: map[int][]inst{}}
	copy(m.head[:], words)
	for i := 5; i < len(words); {
		n := int(words[i] >> 16)
		if n == 0 || i+n > len(words) {
			return nil, fmt.Errorf("loose: word %d is no instruction", i)
		}
		in := inst{words[i] & 0xffff, words[i+1 : i+n : i+n]}
		switch in.op {
		case opTypeFloat:
			m.width[in.words[0]] = in.words[1]
		case opDecorate:
			if in.words[1] == noContraction {
				m.kept[in.words[0]] = true
			}
		case opExtInstImport:
			if name := text(in.words[1:]); name == "GLSL.std.450" {
				m.glsl = in.words[0]
			}
		case opConstant, opExtInst, opFNegate, opFAdd, opFSub, opFMul, opFDiv, opSelect, opCopyObject:
			m.at[in.words[1]] = len(m.list)
		}
		if in.op >= opLessFirst && in.op <= opLessLast {
			m.at[in.words[1]] = len(m.list)
		}
		m.list = append(m.list, in)
		i += n
	}
	return m, nil
}

// text is the string that words hold.
func text(words []uint32) string {
	var b []byte
	for _, w := range words {
		for s := 0; s < 32; s += 8 {
			c := byte(w >> s)
			if c == 0 {
				return string(b)
			}
			b = append(b, c)
		}
	}
	return string(b)
}

// of returns the instruction with an id, if it has the opcode.
func (m *module) of(id, op uint32) (inst, bool) {
	i, ok := m.at[id]
	if !ok || m.list[i].op != op {
		return inst{}, false
	}
	return m.list[i], true
}

// id makes an id.
func (m *module) id() uint32 {
	m.head[3]++
	return m.head[3] - 1
}

// value is the value of a scalar constant of a float type.
func (m *module) value(id uint32) (float64, bool) {
	c, ok := m.of(id, opConstant)
	switch {
	case !ok:
	case m.width[c.words[0]] == 32:
		return float64(math.Float32frombits(c.words[2])), true
	case m.width[c.words[0]] == 64:
		return math.Float64frombits(uint64(c.words[2]) | uint64(c.words[3])<<32), true
	}
	return 0, false
}

// constant makes a constant of a scalar float type.
func (m *module) constant(typ uint32, v float64) uint32 {
	words := []uint32{typ, m.id()}
	if m.width[typ] == 64 {
		b := math.Float64bits(v)
		words = append(words, uint32(b), uint32(b>>32))
	} else {
		words = append(words, math.Float32bits(float32(v)))
	}
	m.consts = append(m.consts, inst{opConstant, words})
	return words[1]
}

// insert adds an instruction with a result before the one at an index, and returns its id.
func (m *module) insert(at int, op, typ uint32, operands ...uint32) uint32 {
	id := m.id()
	m.before[at] = append(m.before[at], inst{op, append([]uint32{typ, id}, operands...)})
	return id
}

// extended is the id of GLSL.std.450, which is imported if it is not.
func (m *module) extended() uint32 {
	if m.glsl == 0 {
		m.glsl = m.id()
		for i, in := range m.list {
			if in.op == opMemoryModel {
				m.before[i] = append(m.before[i], inst{opExtInstImport, []uint32{m.glsl, 0x4c534c47, 0x6474732e, 0x3035342e, 0}})
			}
		}
	}
	return m.glsl
}

// bytes are the module with all that was inserted.
func (m *module) bytes() []byte {
	out := make([]byte, 0, 4*len(m.list))
	put := func(words ...uint32) {
		for _, w := range words {
			out = binary.LittleEndian.AppendUint32(out, w)
		}
	}
	instruction := func(in inst) {
		put(in.op | uint32(len(in.words)+1)<<16)
		put(in.words...)
	}
	put(m.head[:]...)
	function := false
	for i, in := range m.list {
		if in.op == opFunction && !function {
			function = true
			for _, c := range m.consts {
				instruction(c)
			}
		}
		for _, b := range m.before[i] {
			instruction(b)
		}
		instruction(in)
	}
	return out
}
