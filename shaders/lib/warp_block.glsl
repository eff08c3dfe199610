// The parameters of warp.comp but for its .grid variants: those of one block.

layout(push_constant) uniform Params {
	uint column;  // first pixel to make in each row
	uint columns; // pixels to make
	uint row;     // first row to make
	uint anchorX; // the pixel that distances are from
	uint anchorY;
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
	int u; // the anchor's point, in pixels whose middle is a whole number
	int v;
	float uPart;
	float vPart;
	float ux; // a pixel to the right of the anchor is at (ux, vx) / (1 + wx) from its point
	float uy;
	float vx;
	float vy;
	float wx;
	float wy;
	float red; // what is outside, in 0..FULL
	float green;
	float blue;
	float alpha; // in 0..1
} p;
