package spv

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// A module without anything to guard, and one that nobody has to, stay as they are.
func TestGuardLeavesAlone(t *testing.T) {
	m, err := Parse("", assemble(t, v13, good))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Guard(m)
	if err != nil || !bytes.Equal(got.Code, m.Code) {
		t.Errorf("changed, or %v", err)
	}
	own := *m
	own.Foreign = false
	own.Code = []byte("not even SPIR-V")
	if got, err := Guard(&own); err != nil || got != &own {
		t.Errorf("a module of our own: %v", err)
	}
}

// Indices that the guard can prove, and those that it cannot.
func TestGuardIndices(t *testing.T) {
	for _, c := range []struct {
		index string
		want  int // clamps
	}{
		{"%i0 = OpCopyObject %u32 %0", 0},
		{"%i0 = OpCopyObject %u32 %x", 1},
		{"%i0 = OpBitwiseAnd %u32 %x %15", 0},
		{"%i0 = OpBitwiseAnd %u32 %x %16c", 1},
		{"%i0 = OpUMod %u32 %x %16c", 0},
		{"%i0 = OpUMod %u32 %x %17", 1},
		{"%i0 = OpShiftRightLogical %u32 %x %15", 1},
		{"%i0 = OpShiftRightLogical %u32 %x %28", 0},
		{"%i00 = OpShiftRightLogical %u32 %x %28\n%i0 = OpIAdd %u32 %i00 %1", 1},
		{"%i00 = OpBitwiseAnd %u32 %x %7\n%i0 = OpIMul %u32 %i00 %2", 0},
		{"%i00 = OpExtInst %u32 %glsl 38 %x %15\n%i0 = OpCopyObject %u32 %i00", 0},
	} {
		text := edit(t, good, "%count = OpSpecConstant", "%7 = OpConstant %u32 7\n%15 = OpConstant %u32 15\n%16c = OpConstant %u32 16\n%17 = OpConstant %u32 17\n%28 = OpConstant %u32 28\n%count = OpSpecConstant")
		text = edit(t, text, "%slot = OpAccessChain %fShared %shared %0", c.index+"\n%slot = OpAccessChain %fShared %shared %i0")
		m, err := Parse("", assemble(t, v13, text))
		if err != nil {
			t.Fatalf("%s: %v", c.index, err)
		}
		guarded, err := Guard(m)
		if err != nil {
			t.Fatalf("%s: %v", c.index, err)
		}
		code := guarded.Code
		if _, err := Parse("", code); err != nil {
			t.Errorf("%s: guarded, it is invalid: %v", c.index, err)
		}
		validate(t, c.index, code)
		before, after := count(t, m.Code, opExtInst), count(t, code, opExtInst)
		if after-before != c.want {
			t.Errorf("%s: %d clamps, want %d", c.index, after-before, c.want)
		}
	}
}

func count(t *testing.T, code []byte, op opcode) (n int) {
	t.Helper()
	s, err := decode(code)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.insts {
		if s.insts[i].op == op {
			n++
		}
	}
	return n
}

// A module whose ids lie far apart is numbered anew, and means the same: numbered
// back, it is what it was.
func TestDense(t *testing.T) {
	code := assemble(t, v13, good)
	rng := rand.New(rand.NewPCG(1, 1))
	far := map[uint32]uint32{}
	taken := map[uint32]bool{}
	s, err := decode(code)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.define(); err != nil {
		t.Fatal(err)
	}
	spread := append([]byte(nil), code[:20]...)
	order := []uint32{0}
	for i := range s.insts {
		s.ids(&s.insts[i], func(id *uint32) {
			for far[*id] == 0 {
				if n := 1 + rng.Uint32N(maxBound-2); !taken[n] {
					far[*id], taken[n] = n, true
					order = append(order, *id)
				}
			}
			*id = far[*id]
		})
		spread = appendWords(spread, s.insts[i].w)
	}
	binary.LittleEndian.PutUint32(spread[12:], maxBound)
	m, err := Parse("", spread)
	if err != nil {
		t.Fatal(err)
	}
	guarded, err := Guard(m)
	if err != nil {
		t.Fatal(err)
	}
	got := guarded.Code
	if bound := binary.LittleEndian.Uint32(got[12:]); bound != binary.LittleEndian.Uint32(code[12:]) {
		t.Errorf("bound %d, want %d", bound, binary.LittleEndian.Uint32(code[12:]))
	}
	if _, err := Parse("", got); err != nil {
		t.Errorf("numbered anew, it is invalid: %v", err)
	}
	if len(order) != int(binary.LittleEndian.Uint32(code[12:])) || len(got) != len(code) {
		t.Errorf("%d ids in %d bytes, want %d in %d", len(order), len(got), binary.LittleEndian.Uint32(code[12:]), len(code))
	}
	// Only a bound too large: it is written down, and nothing else changes.
	m, err = Parse("", word(code, 3, maxBound))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Guard(m); err != nil || !bytes.Equal(got.Code, code) {
		t.Errorf("a bound too large: %v, or more than the bound changed", err)
	}
}
