// The positions of keys in the order of their row, for rows that the memory of a workgroup holds: a bitonic
// sort (Batcher 1968). Pairs of a key and its position are compared, so that equal keys keep their order, and
// what fills a row up to a power of two comes last.
//
//lathe:variant u32 KEY=1 ROOM=2048
//lathe:variant u64 KEY=2 ROOM=1024

#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/grid.glsl"

#define WG 256
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint rows;     // that are here
	uint row;      // keys of a row
	uint size;     // a power of two, ROOM at most and a row at least
	uint base, at; // where the first key and the first position are
} p;

layout(set = 0, binding = 0) readonly buffer KeyBuffer { uint keys[]; };
layout(set = 0, binding = 1) writeonly buffer PositionBuffer { uint positions[]; };

shared uint high[ROOM], place[ROOM];
#if KEY == 2
shared uint low[ROOM];
#endif

void main() {
	uint row = flatGroup(), lane = gl_LocalInvocationID.x;
	if (row >= p.rows) return;
	uint from = p.base + row * p.row * KEY;
	for (uint i = lane; i < p.size; i += WG) {
		bool inside = i < p.row;
		uint at = from + min(i, p.row - 1) * KEY;
		high[i] = inside ? keys[at + KEY - 1] : 0xffffffffu;
#if KEY == 2
		low[i] = inside ? keys[at] : 0xffffffffu;
#endif
		place[i] = i;
	}
	for (uint run = 2; run <= p.size; run *= 2) {
		for (uint apart = run / 2; apart > 0; apart /= 2) {
			barrier();
			for (uint i = lane; i < p.size / 2; i += WG) {
				uint x = 2 * i - (i & (apart - 1)), y = x + apart;
				uint hx = high[x], hy = high[y], px = place[x], py = place[y];
				bool later = px > py;
#if KEY == 2
				uint lx = low[x], ly = low[y];
				later = lx > ly || (lx == ly && later);
#endif
				bool after = hx > hy || (hx == hy && later), up = (x & run) == 0;
				if (after == up) {
					high[x] = hy;
					high[y] = hx;
					place[x] = py;
					place[y] = px;
#if KEY == 2
					low[x] = ly;
					low[y] = lx;
#endif
				}
			}
		}
	}
	barrier();
	for (uint i = lane; i < p.row; i += WG) positions[p.at + row * p.row + i] = place[i];
}
