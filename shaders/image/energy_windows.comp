// Adds numbers of cells along one axis for windows at several places. A window counts as much of a
// cell as it covers, in 1/16, times 16 in its middle and 8 at its ends: so what has much energy
// comes to lie in the middle.
//
//lathe:variant u32
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint extent; // of the axis, in pixels
	uint size;   // of a window
	uint steps;  // one less than the windows, which lie evenly
	uint cell;   // pixels a cell
	uint cells;  // along the axis
	uint stride; // from cell to cell
	uint others; // from lane to lane across the axis
	uint shift;  // bits to leave out
} p;

layout(set = 0, binding = 0) readonly buffer Cells { uint cells[]; };
layout(set = 0, binding = 1) writeonly buffer Sums { uint sums[]; };

void main() {
	uint k = gl_GlobalInvocationID.x, lane = gl_WorkGroupID.y;
	if (k > p.steps) return;
	uint from = (p.extent - p.size) * k / max(p.steps, 1u), to = from + p.size, sum = 0u;
	for (uint i = 0u; i < p.cells; i++) {
		uint begin = i * p.cell, end = min(begin + p.cell, p.extent);
		uint covered = max(min(end, to), max(begin, from)) - max(begin, from);
		uint aside = uint(abs(int(begin + end) - int(from + to)));
		uint weight = covered * 16u / (end - begin) * (16u - min(8u * aside / p.size, 8u));
		sum += (cells[lane * p.others + i * p.stride] >> p.shift) * weight;
	}
	sums[lane * (p.steps + 1u) + k] = sum;
}
