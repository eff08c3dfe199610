// The parameters of image/blur_grid and image/blur_grid_sums.
	uint columns;  // invocations along a row
	uint rows;     // rows of cells to make, or of the picture in expand
	uint across;   // workgroups along a row
	uint tiles;    // workgroups' work
	uint stride;   // workgroups
	uint always;   // 1: whether or not there is a flag
	uint size;     // k
	uint srcBase;
	uint srcPitch; // from row to row, of the picture or of floats
	uint dstBase;
	uint dstPitch;
	int column;    // reduce: the column of the picture, in packs, of the first invocation
	int row;       // of the picture, which the first row of cells sums first, or expand begins with
	int width;     // of the picture in packs
	int height;
	uint table;    // where weights begin: across, down
	uint terms;
	uint phases;   // a power of two, and its exponent
	uint shift;
	uint step;     // .texel: from phase 0 to the next phase 0; otherwise from float to float of a cell
	uint mask;     // Without .texel, the floats of cells lie as planes, of which mask + 1 are used, a
	uint bits;     // power of two, and its exponent.
	uint imageBase; // expand: the picture, whose alpha stays
	uint imagePitch;
