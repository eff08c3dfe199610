// Vectors, matrices, nested structs and arrays, shared memory, atomics,
// specialisation constants and the extended instructions.
#version 450
layout(local_size_x_id = 7, local_size_y = 2) in;
layout(local_size_x = 16) in;
layout(constant_id = 1) const uint COUNT = 4;
layout(constant_id = 2) const float SCALE = 0.5;
layout(constant_id = 3) const bool FLIP = false;
struct Inner { vec3 v; float w; mat2 m; };
struct Item { Inner in0; ivec2 c[3]; uint last; };
layout(std430, binding = 2) buffer Items { uint head; Item items[]; };
layout(std430, binding = 0) writeonly buffer Out { vec4 result[]; };
layout(std140, binding = 5) uniform Consts { mat4 t; vec4 bias[4]; float gain; } c;
layout(push_constant) uniform Params { uvec2 size; float k[3]; int mode; } p;
shared float tile[16 * 2];
shared uint counter;
shared struct { vec3 a; uint b[2]; } both;
const uint TWICE = COUNT * 2 + 1;
shared uint table[TWICE];

float wave(float x, out float whole) { float f = modf(x, whole); return f * SCALE; }

void fill(inout Item it, const in vec3 v) {
	it.in0.v = v.zxy * 2.0;
	it.c[1] = ivec2(v.xy);
	it.in0.m[1] = v.yz;
}

void main() {
	uint i = gl_GlobalInvocationID.x, l = gl_LocalInvocationIndex;
	if (l == 0) { counter = 0; both.a = vec3(1); both.b[1] = 3; }
	barrier();
	tile[l] = float(i) * SCALE;
	table[l % TWICE] = l;
	atomicAdd(counter, 1);
	atomicMax(items[0].last, i);
	uint old = atomicCompSwap(head, 3u, i);
	memoryBarrierShared();
	barrier();
	Item it = items[i];
	fill(it, vec3(tile[(l + 1) % 32], float(old), p.k[i % 3]));
	items[i] = it;
	vec4 r = c.t * vec4(it.in0.v, 1.0) + c.bias[i & 3] * c.gain;
	mat2 inv = inverse(it.in0.m) * transpose(it.in0.m);
	float whole;
	r.x += wave(r.y, whole) + determinant(inv) + dot(r, r) + length(r.xyz) + whole;
	r = mix(r, normalize(r), clamp(fract(r), vec4(0.1), vec4(0.9)));
	r.yz = FLIP ? r.zy : cross(r.xyz, r.yzw).xy;
	int e;
	r.w = ldexp(frexp(r.w, e), e / 2) + pow(abs(r.x), 1.5) + inversesqrt(r.y) + atan(r.x, r.y) + fma(r.x, r.y, r.z);
	uint bits = packHalf2x16(r.xy) ^ floatBitsToUint(r.z) ^ bitfieldExtract(i, 3, 5) ^ uint(bitCount(i)) ^ uint(findMSB(i));
	r.xy = unpackHalf2x16(bits) + unpackUnorm4x8(bitfieldReverse(bits)).zw;
	uint hi, lo;
	umulExtended(bits, i, hi, lo);
	uint carry;
	lo = uaddCarry(lo, hi, carry);
	bvec4 gt = greaterThan(r, vec4(0.5));
	if (any(gt) && !all(not(gt)) || isnan(r.x) || isinf(r.y)) r = vec4(gt);
	r[l & 3] = float(lo + carry + uint(p.mode) + p.size.x) + float(i >> 2) + float(int(i) % 7) + float(-int(i) / 3);
	result[i] = r * float(table[COUNT]) * outerProduct(r, r);
}
