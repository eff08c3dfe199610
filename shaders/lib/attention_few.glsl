// What the kernels of attention for few queries share: how many keys a row sees.

#define FLAG_CAUSAL 1u
#define FLAG_MASK 2u
#define FLAG_MASK_COLUMNS 4u // the mask has a column for each key
#define FLAG_LENGTHS 8u      // numbers of keys, in words
#define FLAG_WIDE 16u        // these have two words

layout(set = 0, binding = 0) readonly buffer Lengths { uint lengths[]; };

// seenBy is how many keys query i of height queries sees, of a matrix.
uint seenBy(uint matrix, uint i, uint height, uint keys, uint flags, uint lengthBase, uint lengthEach) {
	uint n = keys;
	if ((flags & FLAG_LENGTHS) != 0u) {
		bool wide = (flags & FLAG_WIDE) != 0u;
		uint at = lengthBase + (matrix / lengthEach << (wide ? 1 : 0)), low = lengths[at];
		int high = int(lengths[wide ? at + 1u : at]) >> (wide ? 0 : 31);
		n = min(low, keys);
		if (high != 0) n = high > 0 ? keys : 0u;
	}
	uint behind = height - 1u - i;
	if ((flags & FLAG_CAUSAL) != 0u) n = n > behind ? n - behind : 0u;
	return n;
}
