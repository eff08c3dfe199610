// The parameters of the .grid variants of warp.comp, and the anchors of their blocks. All blocks of an
// affine map differ in nothing but their anchors, whose points are in the pixels of the source whose
// middle is a whole number, in parts of 2⁻³².

layout(push_constant) uniform Params {
	uint column;  // first pixel to make in each row
	uint columns; // pixels to make
	uint row;     // first row to make
	uint srcBase; // pixel 0 of row 0
	uint srcPitch;
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	int width;     // of the source
	int height;
	int left; // the pixels of the source that may be read
	int top;
	int right; // the last ones
	int bottom;
	int u; // the point of the anchor of block 0 in row 0 of blocks
	int v;
	uint uPart;
	uint vPart;
	float ux; // a pixel to the right of the anchor is (ux, vx) from its point
	float uy;
	float vx;
	float vy;
	int stepUx; // the anchor of the block to the right is (stepUx, stepVx) from that of a block
	int stepUy;
	int stepVx;
	int stepVy;
	uint partUx; // and so many parts
	uint partUy;
	uint partVx;
	uint partVy;
	uint background; // what is outside: red, green, blue and alpha, the first in the lowest byte
} p;

const uint BLOCK = 256;

// A number is a whole one, modulo 2³², and parts.
struct Fixed { uint whole, part; };

Fixed added(Fixed a, Fixed b) {
	uint part = a.part + b.part;
	return Fixed(a.whole + b.whole + uint(part < a.part), part);
}

// times is n·a for n below 2¹⁶.
Fixed times(Fixed a, uint n) {
	uint low = (a.part & 0xffffu) * n, high = (a.part >> 16) * n + (low >> 16);
	return Fixed(a.whole * n + (high >> 16), (high << 16) | (low & 0xffffu));
}

Fixed anchorOf(int at, uint part, int stepX, uint partX, int stepY, uint partY, uvec2 block) {
	return added(Fixed(uint(at), part), added(times(Fixed(uint(stepX), partX), block.x), times(Fixed(uint(stepY), partY), block.y)));
}

float partOf(Fixed a) { return float(a.part) * (1.0 / 4294967296.0); }
