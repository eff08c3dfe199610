// Sine and cosine of REAL. What matters is to take multiples of π/2 off the
// argument without losing its digits.

#include "lib/math.glsl"

#if defined(F64)
// quarter takes multiples of π/2, in parts of 26 bits so that their products are
// exact, off |x| ≤ 2^27; beyond, where they would not be, it gives NaN.
double quarter(double x, out int quadrant) {
	double k = floor(x * 0.63661977236758134308LF + 0.5LF);
	bool fits = abs(x) <= 134217728.0LF;
	quadrant = int(fits ? k : 0.0LF) & 3;
	precise double r = ((((x - k * 1.570796310901641845703125LF) - k * 0.0000000158932547122958567342720925808LF) - k * 6.1232339320535942510208282652e-17LF) - k * 6.36831705522528274742636993531e-25LF) - k * 1.08285667392191396822374616986e-32LF;
	return fits ? r : notANumber();
}

double sinSmall(double r) {
	double z = r * r;
	return r + r * z * (-0.16666666666666666667LF + z * (0.0083333333333333333333LF + z * (-0.0001984126984126984127LF + z * (2.7557319223985890653e-6LF + z * (-2.5052108385441718775e-8LF + z * (1.6059043836821614599e-10LF + z * (-7.6471637318198164759e-13LF + z * (2.8114572543455207632e-15LF + z * (-8.220635246624329717e-18LF + z * (1.9572941063391261231e-20LF))))))))));
}
double cosSmall(double r) {
	double z = r * r;
	return 1.0LF + z * (-0.5LF + z * (0.041666666666666666667LF + z * (-0.0013888888888888888889LF + z * (0.000024801587301587301587LF + z * (-2.7557319223985890653e-7LF + z * (2.0876756987868098979e-9LF + z * (-1.1470745597729724714e-11LF + z * (4.7794773323873852974e-14LF + z * (-1.5619206968586226462e-16LF + z * (4.1103176233121648585e-19LF + z * (-8.8967913924505732867e-22LF)))))))))));
}
#else
#include "lib/high_product.glsl"

// quarter takes multiples of π/2 off any x, however large: it multiplies the
// integer in x by those 96 bits of 2/π that make the product mod 4 (Payne and
// Hanek 1983).
float quarter(float x, out int quadrant) {
	uint bits = floatBitsToUint(x) & 0x7fffffffu, m = (bits & 0x7fffffu) | 0x800000u;
	uint at = max(int(bits >> 23) - 120, 0), word = at >> 5, off = at & 31u;
	uvec4 w = uvec4(0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
	w = mix(w, uvec4(0xfc2757d1u, w.xyz), bvec4(word < 4u));
	w = mix(w, uvec4(0x4e441529u, w.xyz), bvec4(word < 3u));
	w = mix(w, uvec4(0xa2f9836eu, w.xyz), bvec4(word < 2u));
	w = mix(w, uvec4(0u, w.xyz), bvec4(word < 1u));
	uvec3 q = (w.xyz << off) | ((w.yzw >> 1) >> (31u - off));
	uint p1 = m * q.y + highProduct(m, q.z), carry = p1 < m * q.y ? 1u : 0u;
	uint p0 = m * q.x + highProduct(m, q.y) + carry;
	uint f1 = (p0 << 2) | (p1 >> 30), f0 = (p1 << 2) | ((m * q.z) >> 30);
	// The fraction of a quadrant, to the nearest: above half it is negative.
	bool over = (f1 & 0x80000000u) != 0u;
	quadrant = int(p0 >> 30) + (over ? 1 : 0);
	f1 = mix(f1, ~f1 + (f0 == 0u ? 1u : 0u), over);
	f0 = mix(f0, ~f0 + 1u, over);
	uint lead = 31u - uint(findMSB(max(f1, 1u)));
	uint top = (f1 << lead) | ((f0 >> 1) >> (31u - lead));
	float r = float(int(top >> 8)) * powerOfTwo(-24 - int(lead)) * 1.57079633;
	bool minus = x < 0.0, small = bits < 0x3f490fdbu; // π/4
	quadrant = mix(mix(quadrant, -quadrant, minus) & 3, 0, small);
	r = mix(mix(r, -r, over != minus), x, small);
	return mix(r, notANumber(), bits >= 0x7f800000u);
}

float sinSmall(float r) {
	float z = r * r;
	return r + r * z * (-1.66666667e-1 + z * (8.33333333e-3 + z * (-1.98412698e-4 + z * 2.75573192e-6)));
}
float cosSmall(float r) {
	float z = r * r;
	return 1.0 + z * (-0.5 + z * (4.16666667e-2 + z * (-1.38888889e-3 + z * (2.48015873e-5 - z * 2.75573192e-7))));
}
#endif

// sinQuarters is sin(x + turns·π/2).
REAL sinQuarters(REAL x, int turns) {
	int n;
	REAL r = quarter(x, n);
	n += turns;
	REAL s = mix(sinSmall(r), r, r == REAL(0)); // sin −0 is −0
	REAL v = mix(s, cosSmall(r), (n & 1) != 0);
	return mix(mix(v, -v, (n & 2) != 0), r, isNaN(r));
}
