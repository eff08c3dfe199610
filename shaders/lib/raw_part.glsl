// The part of a function of lib/raw.glsl: see lib/part.glsl. The words of the call are its last parameters.

#define REAL uvec2
#include "lib/part.glsl"

struct Call { uint words[3]; } p;

#if OPERANDS == 1
uvec2 apply(uvec2 a);
uvec2 linked(const uvec2 a, const uint w0, const uint w1, const uint w2) {
	p.words = uint[3](w0, w1, w2);
	return apply(a);
}
void main() { any_[0] = linked(any_[1], any_[4].x, any_[4].y, any_[5].x); }
#elif OPERANDS == 2
uvec2 apply(uvec2 a, uvec2 b);
uvec2 linked(const uvec2 a, const uvec2 b, const uint w0, const uint w1, const uint w2) {
	p.words = uint[3](w0, w1, w2);
	return apply(a, b);
}
void main() { any_[0] = linked(any_[1], any_[2], any_[4].x, any_[4].y, any_[5].x); }
#else
uvec2 apply(uvec2 a, uvec2 b, uvec2 c);
uvec2 linked(const uvec2 a, const uvec2 b, const uvec2 c, const uint w0, const uint w1, const uint w2) {
	p.words = uint[3](w0, w1, w2);
	return apply(a, b, c);
}
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4].x, any_[4].y, any_[5].x); }
#endif
