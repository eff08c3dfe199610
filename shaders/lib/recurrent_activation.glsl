// The activations of lib/recurrent.glsl, after the clip.

// bounded keeps NaN. The choices alone do not: a driver may make a minimum and a maximum of them,
// which return the other operand.
V bounded(V x) {
	V c = V(p.clip);
	return mix(mix(mix(x, c, ABOVE(x, c)), -c, ABOVE(-c, x)), x, NANS(x));
}

#if defined(ANY)
REAL activation(uint which, float a, float b, REAL x) {
	REAL alpha = REAL(a), beta = REAL(b), v = x;
	uint kind = (p.kinds >> (8 * which)) & 0xffu;
	if (kind == 0u) v = sigmoidReal(x);
	else if (kind == 1u) v = tanhReal(x);
	else if (kind == 2u) v = mix(x, REAL(0), x < REAL(0));
	else if (kind == 3u) v = alpha * x + beta;
	else if (kind == 4u) v = mix(x, alpha * x, x < REAL(0));
	else if (kind == 5u) v = mix(REAL(0), x, x > alpha);
	else if (kind == 6u) v = alpha * tanhReal(beta * x);
	else if (kind == 7u) {
		REAL line = alpha * x + beta;
		v = mix(mix(line, REAL(1), line > REAL(1)), REAL(0), line < REAL(0));
		v = mix(v, line, isNaN(line));
	}
	else if (kind == 8u) v = mix(x, alpha * expm1Down(mix(REAL(0), x, x < REAL(0))), x < REAL(0));
	else if (kind == 9u) v = mix(x / (REAL(1) + abs(x)), mix(REAL(1), REAL(-1), x < REAL(0)), abs(x) == infinity());
	else v = log1pReal(expReal(-abs(x))) + mix(REAL(0), x, x > REAL(0));
	return mix(v, x, isNaN(x));
}
V activation0(V x) { return activation(0u, p.alpha0, p.beta0, bounded(x)); }
V activation1(V x) { return activation(1u, p.alpha1, p.beta1, bounded(x)); }
V activation2(V x) { return activation(2u, p.alpha2, p.beta2, bounded(x)); }
#else
REAL logistic(REAL x) { return mix(sigmoidReal(x), x, isNaN(x)); }
#if defined(TEXEL)
V logisticOf(V x) { return V(logistic(x.x), logistic(x.y), logistic(x.z), logistic(x.w)); }
V tangentOf(V x) { return V(tanhReal(x.x), tanhReal(x.y), tanhReal(x.z), tanhReal(x.w)); }
#else
V logisticOf(V x) { return logistic(x); }
V tangentOf(V x) { return tanhReal(x); }
#endif
#if defined(SIMPLE)
V activation0(V x) { return tangentOf(bounded(x)); }
#else
V activation0(V x) { return logisticOf(bounded(x)); }
V activation1(V x) { return tangentOf(bounded(x)); }
V activation2(V x) { return tangentOf(bounded(x)); }
#endif
#endif
