// Sums over windows. The shader defines term(), and result(). The elements of a row are added
// first, then the rows, then the planes: that keeps chains of additions short.

REAL term(REAL x);

void pool(Window w, inout Accumulator a) {
	uvec2 t0 = INSIDE(w, 0), t1 = INSIDE(w, 1), t2 = INSIDE(w, 2);
	REAL all_ = REAL(0);
	for (uint i = t0.x; i < t0.y; i++) {
		uint plane = uint(w.y[0] + int(i * p.d[0])) * uint(p.i[1]);
		REAL sum = REAL(0);
		for (uint j = t1.x; j < t1.y; j++) {
			uint row = w.at + (plane + uint(w.y[1] + int(j * p.d[1]))) * uint(p.i[2]);
			REAL part = REAL(0);
			for (uint k = t2.x; k < t2.y; k++) part += term(ELEMENT(src, row + uint(w.y[2] + int(k * p.d[2]))));
			sum += part;
		}
		all_ += sum;
	}
	a.a += all_;
	uvec3 c = uvec3(0u);
	[[unroll]] for (uint j = 0; j < 3; j++) {
		uvec2 t = taps(w.y[j], p.d[j], p.k[j], p.low[j], p.high[j]);
		c[j] = max(t.y, t.x) - t.x;
	}
	a.index += c.x * c.y * c.z;
}

void also(uint e, Accumulator a) {}
