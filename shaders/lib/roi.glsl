// The table of regions that nn/roi_table makes for nn/roi_align, after lib/accumulator.glsl. The entry at
// word h has as REAL the first y and x and the height and width of an element of the result, in pixels.
// Words follow: the numbers of samples along y and along x, and the number of the image.

#define ENTRY (4u * REAL_WORDS + 4u)
#define ROWS(h) ((h) + 4u * REAL_WORDS)
#define COLUMNS(h) ((h) + 4u * REAL_WORDS + 1u)
#define IMAGE(h) ((h) + 4u * REAL_WORDS + 2u)

// FAULTY is in place of the image if a device check has found a fault.
#define FAULTY 0xffffffffu
