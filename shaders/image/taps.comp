// Writes numbers from the parameters to a table, which a filter reads: the columns, rows and
// weights of the pixels that it adds.
//
//lathe:variant f32
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint first; // number of the table to begin at
	uint count; // numbers
	float v[24];
} p;

layout(set = 0, binding = 0) writeonly buffer Table { float table[]; };

void main() {
	uint i = gl_GlobalInvocationID.x;
	[[unroll]] for (uint k = 0; k < 24; k++) {
		if (i == k && k < p.count) table[p.first + k] = p.v[k];
	}
}
