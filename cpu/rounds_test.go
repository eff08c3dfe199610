package cpu_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testkit"
)

// TestRounds accesses a buffer at constant distances from the counter of a loop. Of such
// addresses the compiler compares only the lowest and the highest one with the buffer, once
// before the loop. So each of them is outside in one case: below, above, both, and where
// the sum wraps.
func TestRounds(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
layout(binding = 2) writeonly buffer Z { uint z[]; };
layout(binding = 3) readonly buffer N { uint from, to; };
void main() {
	uint lane = gl_LocalInvocationID.x;
	uint first = from, last = to;
	for (uint i = first; i < last; i++) {
		uint k = %s;
		uint at = (i - first) * 12u + lane;
		z[at + 4u] = x[k];
		z[at] = x[k - 2u];
		z[at + 8u] = x[k + 5u];
		y[k] = i * 64u + lane + 1u;
		y[k + 5u] = i * 64u + lane + 2u;
		y[k - 2u] = i * 64u + lane + 3u;
	}
}`
	word := func(list ...uint32) (b []byte) {
		for _, x := range list {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		return b
	}
	x := make([]uint32, 64)
	for i := range x {
		x[i] = uint32(1000 + i)
	}
	for _, index := range []struct {
		source  string
		unit, n uint32 // how far the index moves, and how many lanes have one of their own
	}{{"i", 1, 1}, {"i * 4u + lane", 4, 4}} {
		code := testkit.GLSL(t, fmt.Sprintf(source, index.source), "-O")
		for _, c := range [][2]uint32{
			{2, 14}, {2, 59}, {1, 59}, {2, 60}, {0, 64}, {60, 70}, {66, 70}, {5, 5}, {5, 3},
			{0xfffffff8, 0xffffffff}, {0xfffffffe, 0xffffffff}, {0x7ffffff0, 0x7ffffff4},
		} {
			rounds := c[1] - c[0]
			if c[1] < c[0] {
				rounds = 0
			}
			got := launchCode(t, code, 1, word(x...), make([]byte, 256), make([]byte, 48*max(rounds, 1)), word(c[0], c[1]))
			y := make([]uint32, 64)
			for i := c[0]; i < c[1]; i++ {
				at := func(lane, plus uint32) uint32 { return i*index.unit + lane%index.n + plus }
				for part, plus := range []uint32{^uint32(1), 0, 5} {
					for lane := range uint32(4) {
						z := binary.LittleEndian.Uint32(got[2][4*((i-c[0])*12+uint32(part)*4+lane):])
						if k := at(lane, plus); k < 64 && z != x[k] || !slices.Contains(x, z) {
							t.Errorf("index %s, rounds from %d to %d: in round %d x[%d] is %d", index.source, c[0], c[1], i, int32(k), z)
						}
					}
				}
				for k, plus := range []uint32{0, 5, ^uint32(1)} {
					for lane := range uint32(4) {
						if to := at(lane, plus); to < 64 {
							y[to] = i*64 + lane + uint32(k) + 1
						}
					}
				}
			}
			for k, want := range y {
				z := binary.LittleEndian.Uint32(got[1][4*k:])
				// If all lanes store to one place, any of them may be the last one.
				if index.n == 1 && want != 0 && (z-want+3)%64 < 7 {
					continue
				}
				if z != want {
					t.Errorf("index %s, rounds from %d to %d: y[%d] is %d, want %d", index.source, c[0], c[1], k, z, want)
				}
			}
		}
	}
}
