package cpu_test

import (
	"encoding/binary"
	"math/bits"
	"testing"
)

// TestBounds reads tables at indices whose instructions bound them. Where a table has all that the
// bound allows, the compiler leaves the tests of addresses out. Where it is a word shorter, an index
// behind its end still means its last word.
func TestBounds(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer T { uint table[]; };
layout(binding = 1) readonly buffer A { uint a[]; };
layout(binding = 2) writeonly buffer C { uint c[]; };
void main() {
	uint i = gl_GlobalInvocationID.x, n = a.length();
	if (i >= n) return;
	uint v = a[i];
	uvec2 both = uvec2(v, v >> 3) & uvec2(0x7fu, 0xffu);
	c[i] = table[v & 0xffu];
	c[n + i] = table[(v >> 8) & 0xffu];
	c[2 * n + i] = table[min(v, 255u)];
	c[3 * n + i] = table[(v & 127u) + (v >> 25)];
	c[4 * n + i] = table[(v & 63u) << 2];
	c[5 * n + i] = table[v >> 24];
	c[6 * n + i] = table[(v & 0xf0u) | (v >> 28)];
	c[7 * n + i] = table[(v & 1u) == 0u ? both.x : both.y];
	c[8 * n + i] = table[v & 0xffffu];
	c[9 * n + i] = table[v];
	c[10 * n + i] = table[(v & 0xffu) - 1u];
	c[11 * n + i] = table[(v >> 24) ^ (v & 0xffu)];
}`
	const n, each = 192, 12
	var a []byte
	numbers := make([]uint32, n)
	for i := range numbers {
		v := bits.RotateLeft32(uint32(i)*2654435761, i)
		switch i % 24 {
		case 0:
			v = 0xffffffff
		case 1:
			v = 0
		case 2:
			v &= 0xff
		}
		numbers[i] = v
		a = binary.LittleEndian.AppendUint32(a, v)
	}
	for _, words := range []uint32{1, 252, 253, 254, 255, 256, 300, 1 << 16} {
		var table []byte
		for i := range words {
			table = binary.LittleEndian.AppendUint32(table, i*7+3)
		}
		got := launchGLSL(t, source, n/64, table, a, make([]byte, 4*n*each))[2]
		for i, v := range numbers {
			chosen := v & 0x7f
			if v&1 != 0 {
				chosen = v >> 3 & 0xff
			}
			for k, index := range []uint32{
				v & 0xff, v >> 8 & 0xff, min(v, 255), v&127 + v>>25, v & 63 << 2, v >> 24, v&0xf0 | v>>28, chosen,
				v & 0xffff, v, v&0xff - 1, v>>24 ^ v&0xff,
			} {
				if index > 1<<29 {
					continue // Its address in bytes has more than 32 bits.
				}
				want := min(index, words-1)*7 + 3
				if x := binary.LittleEndian.Uint32(got[4*(k*n+i):]); x != want {
					t.Fatalf("%d words, index %d of %#x: got %d, want %d", words, k, v, x, want)
				}
			}
		}
	}
}

// TestSplitAddresses counts bytes in a region of each invocation, at addresses with a part that rises
// evenly and one that a byte bounds. Where the buffer is too short for the last counts, those before
// are right, and nothing else changes.
func TestSplitAddresses(t *testing.T) {
	const source = `#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer A { uint a[]; };
layout(binding = 1) buffer C { uint counts[]; };
layout(binding = 2) writeonly buffer D { uint done[]; };
void main() {
	uint lane = gl_LocalInvocationID.x, n = done.length(), lanes = min(n, 64u);
	if (lane >= lanes) return;
	uint region = gl_WorkGroupID.x * lanes * 256 + lane;
	for (uint k = 0; k < 8; k++) {
		uint v = a[(gl_WorkGroupID.x * 8 + k) * lanes + lane];
		counts[region + (v & 0xffu) * lanes] += min(v >> 24, 1u);
		if ((v & 0x100u) != 0) counts[region + (v & 0xffu) * lanes] += 2;
	}
	done[lane] = counts[region + (lane & 3u) * lanes];
}`
	const groups, rounds = 3, 8
	for _, lanes := range []int{64, 61, 4} {
		for _, short := range []int{0, 1, 100, 64*256 + 7} {
			size := groups*lanes*256 - short
			if size <= 0 {
				continue
			}
			want, out := make([]uint32, size), make([]uint32, groups*lanes*256)
			var a []byte
			for i := range groups * rounds * lanes {
				v := bits.RotateLeft32(uint32(i+1)*2654435761, i)
				if i%5 == 0 {
					v |= 0xff
				}
				a = binary.LittleEndian.AppendUint32(a, v)
				group, lane := i/(rounds*lanes), i%lanes
				at := group*lanes*256 + lane + int(v&0xff)*lanes
				n := min(v>>24, 1) + v>>8&1*2
				if out[at] += n; at < size {
					want[at] += n
				}
			}
			got := launchGLSL(t, source, groups, a, make([]byte, 4*size), make([]byte, 4*lanes))[1]
			for i, n := range want {
				if x := binary.LittleEndian.Uint32(got[4*i:]); x != n {
					t.Fatalf("%d lanes, %d words short: count %d: got %d, want %d", lanes, short, i, x, n)
				}
			}
		}
	}
}
