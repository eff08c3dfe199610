// The table of weights of image/gaussian_blur_lanes for the larger radii.
//
//lathe:variant u8
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 32) in;

layout(push_constant) uniform Params {
	uint taps;
	int weight[27]; // weights in 1/32768, from the middle on
} p;

layout(set = 0, binding = 0) writeonly buffer Dst { int dst[]; };

int weightOf(int at) {
	int d = abs(at - int(p.taps - 1)), w = 0;
	[[unroll]] for (int i = 0; i < 27; i++) w = i == d ? p.weight[i] : w;
	return w;
}

// A tap has two words: its weights for the first result, and for the second one.
void main() {
	int x = int(gl_GlobalInvocationID.x);
	if (x >= int(p.taps)) return;
	dst[2 * x] = weightOf(2 * x) | (weightOf(2 * x + 1) << 16);
	dst[2 * x + 1] = (weightOf(2 * x) << 16) | mix(weightOf(2 * x - 1), 0, x == 0);
}
