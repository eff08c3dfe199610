// The first parameters of kernels that look around a pixel: StencilParams in
// internal/families/picture. Include it in the block of parameters. A pack is what a kernel loads at
// once: a pixel, or four of them with texels.
	uint width;    // pixels a row of the image
	uint height;   // rows of the image
	uint column;   // first pack to make in each row
	uint columns;  // packs to make
	uint row;      // first row to make
	uint rows;     // rows to make
	uint srcBase;  // pack of row 0
	uint srcPitch; // packs from row to row
	uint dstBase;
	uint dstPitch;
	uint channels; // floats a pixel, in f32
	uint across;   // ALPHA: tiles of a row; the invocations of a group make one
	uint tiles;
	uint stride;   // groups
