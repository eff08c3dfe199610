// Package mutate changes SPIR-V modules a little, so that many of the results
// are still valid and none is what a compiler would make. It shares no code and
// no table with package spv, whose checks it is there to try.
package mutate

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

const headerWords = 5

// Mutant is a module that differs from another one in one place or a few.
type Mutant struct {
	What string // how it differs, for reports
	Code []byte
}

// Of returns mutant number i of a module. The same name, code and i give the
// same mutant everywhere.
func Of(name string, code []byte, i int) Mutant {
	h := fnv.New64a()
	h.Write([]byte(name))
	rng := rand.New(rand.NewPCG(h.Sum64(), uint64(i)))
	m := newModule(code)
	what := ""
	for n := 1 + rng.IntN(8)/6 + rng.IntN(16)/15; n > 0; n-- { // one change mostly, up to three
		if what != "" {
			what += "; "
			m = newModule(m.bytes())
		}
		what += m.change(rng)
	}
	return Mutant{fmt.Sprintf("mutant %d of %s: %s", i, name, what), m.bytes()}
}

// Key tells modules apart that differ in more than names and lines for
// debuggers, which no driver looks at.
func Key(code []byte) [sha256.Size]byte {
	m := newModule(code)
	h := sha256.New()
	for k, at := range m.starts {
		op := m.w[at] & 0xffff
		if op >= 2 && op <= 8 && op != 7 || op == 317 || op == 330 {
			continue
		}
		binary.Write(h, binary.LittleEndian, m.w[at:m.end(k)])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// module is a module as words, and where its instructions start.
type module struct {
	w      []uint32
	starts []int
	body   int               // index in starts of the first function, len(starts) if none
	types  map[uint32]uint32 // type of each result that has one
	byType map[uint32][]uint32
}

func newModule(code []byte) *module {
	m := &module{w: make([]uint32, len(code)/4), types: map[uint32]uint32{}, byType: map[uint32][]uint32{}}
	for i := range m.w {
		m.w[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	m.body = -1
	for at := headerWords; at < len(m.w); {
		n := int(m.w[at] >> 16)
		if n == 0 || at+n > len(m.w) {
			break // an earlier change broke the rest
		}
		op := m.w[at] & 0xffff
		if m.body < 0 && op == opFunction {
			m.body = len(m.starts)
		}
		m.starts = append(m.starts, at)
		if typed(op) && n >= 3 {
			t, id := m.w[at+1], m.w[at+2]
			m.types[id] = t
			m.byType[t] = append(m.byType[t], id)
		}
		at += n
	}
	if m.body < 0 {
		m.body = len(m.starts)
	}
	return m
}

func (m *module) bytes() []byte {
	out := make([]byte, 0, 4*len(m.w))
	for _, x := range m.w {
		out = binary.LittleEndian.AppendUint32(out, x)
	}
	return out
}

// end is where instruction k ends.
func (m *module) end(k int) int { return m.starts[k] + int(m.w[m.starts[k]]>>16) }

const (
	opExtInst        = 12
	opConstant       = 43
	opSpecConstant   = 50
	opFunction       = 54
	opVariable       = 59
	opDecorate       = 71
	opMemberDecorate = 72
)

// typed reports whether an instruction begins with a result type and a result.
func typed(op uint32) bool {
	switch {
	case op == 1 || op == opExtInst || op >= 41 && op <= 52 || op == 54 || op == 55 || op == 57 || op == 59:
	case op == 60 || op == 61 || op >= 65 && op <= 70 || op >= 77 && op <= 98 || op >= 100 && op <= 205:
	case op == 227 || op >= 229 && op <= 242 || op == 245 || op >= 333 && op <= 366 || op == 400:
	case op >= 4421 && op <= 4432 || op >= 4450 && op <= 4455 || op == 5614 || op == 5615 || op == 6035:
	default:
		return false
	}
	return true
}

// families are instructions that take operands of one shape, so that one may
// stand for another.
var families = [][]uint32{
	{128, 130, 132, 197, 198, 199, 134, 135, 137, 138, 139, 194, 195, 196}, // integers, two to one
	{126, 200, 204, 205},                                         // integers, one to one
	{129, 131, 133, 136, 140, 141},                               // floats, two to one
	{170, 171, 172, 173, 174, 175, 176, 177, 178, 179},           // integers to bool
	{180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191}, // floats to bool
	{164, 165, 166, 167}, {154, 155}, {156, 157}, {109, 110}, {111, 112}, {113, 114}, {65, 66},
	{149, 150, 151, 152}, {202, 203}, {234, 235, 236, 237, 238, 239, 240, 241, 242, 229},
	{349, 351, 353, 354, 356, 357, 359, 360, 361}, {350, 352, 355, 358}, {345, 346, 347, 348}, {334, 335},
	{124, 83, 200, 127, 126}, {253, 255},
}

// change makes one change and says which.
func (m *module) change(rng *rand.Rand) string {
	if len(m.starts) == 0 {
		return "nothing left to change"
	}
	for range 100 {
		var what string
		switch kind := rng.IntN(20); kind {
		case 0, 1, 2, 3, 4:
			what = m.sameType(rng)
		case 5, 6:
			what = m.swapOperands(rng)
		case 7, 8, 9:
			what = m.exchange(rng)
		case 10, 11, 12:
			what = m.constant(rng)
		case 13:
			what = m.decoration(rng)
		case 14, 15:
			what = m.word(rng)
		case 16:
			what = m.remove(rng)
		case 17:
			what = m.move(rng)
		case 18:
			what = m.extended(rng)
		default:
			what = m.rough(rng)
		}
		if what != "" {
			return what
		}
	}
	return m.word(rng)
}

// pick is a random instruction, of a function's body if there is any.
func (m *module) pick(rng *rand.Rand) (k, at, n int) {
	k = rng.IntN(len(m.starts))
	if m.body < len(m.starts) && rng.IntN(4) > 0 {
		k = m.body + rng.IntN(len(m.starts)-m.body)
	}
	return k, m.starts[k], int(m.w[m.starts[k]] >> 16)
}

// sameType puts another result of the same type in the place of an operand.
func (m *module) sameType(rng *rand.Rand) string {
	_, at, n := m.pick(rng)
	first := 1
	if typed(m.w[at] & 0xffff) {
		first = 3
	}
	if n <= first {
		return ""
	}
	i := at + first + rng.IntN(n-first)
	list := m.byType[m.types[m.w[i]]]
	if len(list) < 2 {
		return ""
	}
	to := list[rng.IntN(len(list))]
	if k := slices.Index(list, m.w[i]); rng.IntN(2) == 0 && k > 0 {
		to = list[k-1] // an earlier one dominates more often
	}
	if to == m.w[i] {
		return ""
	}
	what := fmt.Sprintf("operand %d of op %d at word %d: %%%d for %%%d", i-at, m.w[at]&0xffff, at, to, m.w[i])
	m.w[i] = to
	return what
}

func (m *module) swapOperands(rng *rand.Rand) string {
	_, at, n := m.pick(rng)
	first := 1
	if typed(m.w[at] & 0xffff) {
		first = 3
	}
	if n < first+2 {
		return ""
	}
	i, j := at+first+rng.IntN(n-first), at+first+rng.IntN(n-first)
	if m.w[i] == m.w[j] {
		return ""
	}
	m.w[i], m.w[j] = m.w[j], m.w[i]
	return fmt.Sprintf("operands %d and %d of op %d at word %d swapped", i-at, j-at, m.w[at]&0xffff, at)
}

func (m *module) exchange(rng *rand.Rand) string {
	_, at, _ := m.pick(rng)
	op := m.w[at] & 0xffff
	for _, f := range families {
		if slices.Contains(f, op) {
			to := f[rng.IntN(len(f))]
			if to == op {
				return ""
			}
			m.w[at] = m.w[at]&^0xffff | to
			return fmt.Sprintf("op %d at word %d made op %d", op, at, to)
		}
	}
	return ""
}

// odd are constants that code tends to be wrong about.
var odd = []uint32{0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 65535, 65536, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1,
	0x3f800000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x00800000, 0x7f7fffff, 0x4f000000}

func (m *module) constant(rng *rand.Rand) string {
	var at []int
	for _, s := range m.starts[:m.body] {
		if op := m.w[s] & 0xffff; (op == opConstant || op == opSpecConstant) && m.w[s]>>16 >= 4 {
			at = append(at, s)
		}
	}
	if len(at) == 0 {
		return ""
	}
	i := at[rng.IntN(len(at))] + 3
	v := m.w[i]
	switch rng.IntN(4) {
	case 0:
		v ^= 1 << rng.IntN(32)
	case 1:
		v += uint32(rng.IntN(5)) - 2
	default:
		v = odd[rng.IntN(len(odd))]
	}
	what := fmt.Sprintf("constant %%%d: %#x for %#x", m.w[i-1], v, m.w[i])
	m.w[i] = v
	return what
}

func (m *module) decoration(rng *rand.Rand) string {
	var at []int
	for _, s := range m.starts[:m.body] {
		if op := m.w[s] & 0xffff; op == opDecorate || op == opMemberDecorate {
			at = append(at, s)
		}
	}
	if len(at) == 0 {
		return ""
	}
	s := at[rng.IntN(len(at))]
	n := int(m.w[s] >> 16)
	i := s + 1 + rng.IntN(n-1)
	v := m.w[i]
	switch rng.IntN(4) {
	case 0:
		v += 4
	case 1:
		v = uint32(rng.IntN(45))
	case 2:
		v = odd[rng.IntN(len(odd))]
	case 3:
		v = v + 1 - 2*uint32(rng.IntN(2))
	}
	what := fmt.Sprintf("word %d of the decoration at word %d: %d for %d", i-s, s, v, m.w[i])
	m.w[i] = v
	return what
}

func (m *module) word(rng *rand.Rand) string {
	_, at, n := m.pick(rng)
	i := at + rng.IntN(n)
	v := m.w[i]
	switch rng.IntN(4) {
	case 0:
		v ^= 1 << rng.IntN(32)
	case 1:
		v++
	case 2:
		v--
	case 3:
		v = m.w[rng.IntN(len(m.w))]
	}
	what := fmt.Sprintf("word %d of op %d at word %d: %#x for %#x", i-at, m.w[at]&0xffff, at, v, m.w[i])
	m.w[i] = v
	return what
}

func (m *module) remove(rng *rand.Rand) string {
	k, at, _ := m.pick(rng)
	what := fmt.Sprintf("op %d at word %d deleted", m.w[at]&0xffff, at)
	m.w = slices.Delete(m.w, at, m.end(k))
	return what
}

func (m *module) move(rng *rand.Rand) string {
	k, at, n := m.pick(rng)
	to, _, _ := m.pick(rng)
	if rng.IntN(2) == 0 {
		to = min(max(0, k+rng.IntN(9)-4), len(m.starts)-1)
	}
	j := m.starts[to]
	what := fmt.Sprintf("op %d at word %d moved to word %d", m.w[at]&0xffff, at, j)
	part := slices.Clone(m.w[at : at+n])
	m.w = slices.Insert(m.w, j, part...)
	if rng.IntN(4) == 0 {
		return what + " and kept"
	}
	if j <= at {
		at += n
	}
	m.w = slices.Delete(m.w, at, at+n)
	return what
}

// extended exchanges an instruction of GLSL.std.450.
func (m *module) extended(rng *rand.Rand) string {
	var at []int
	for _, s := range m.starts[m.body:] {
		if m.w[s]&0xffff == opExtInst && m.w[s]>>16 >= 5 {
			at = append(at, s)
		}
	}
	if len(at) == 0 {
		return ""
	}
	i := at[rng.IntN(len(at))] + 4
	v := uint32(1 + rng.IntN(81))
	what := fmt.Sprintf("extended instruction at word %d: %d for %d", i-4, v, m.w[i])
	m.w[i] = v
	return what
}

// rough changes what a compiler never gets wrong: header, lengths, ends.
func (m *module) rough(rng *rand.Rand) string {
	k, at, n := m.pick(rng)
	switch rng.IntN(5) {
	case 0:
		to := headerWords + rng.IntN(len(m.w)-headerWords+1)
		m.w = m.w[:to]
		return fmt.Sprintf("cut off at word %d", to)
	case 1:
		m.w = m.w[:m.end(k)]
		return fmt.Sprintf("cut off after the instruction at word %d", at)
	case 2:
		i := 1 + rng.IntN(4)
		v := odd[rng.IntN(len(odd))]
		if i == 3 && rng.IntN(2) == 0 {
			v = 1 << (10 + rng.IntN(13))
		}
		what := fmt.Sprintf("header word %d: %#x for %#x", i, v, m.w[i])
		m.w[i] = v
		return what
	case 3:
		if n < 2 {
			return ""
		}
		m.w[at] -= 1 << 16
		m.w = slices.Delete(m.w, at+n-1, at+n)
		return fmt.Sprintf("last word of op %d at word %d dropped", m.w[at]&0xffff, at)
	}
	m.w[at] += 1 << 16
	m.w = slices.Insert(m.w, at+n, m.w[rng.IntN(len(m.w))])
	return fmt.Sprintf("a word added to op %d at word %d", m.w[at]&0xffff, at)
}
