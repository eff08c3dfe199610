// What the kernels of image/canny share: planes of whole numbers, and blocks of two by two pixels.

const uint TOP = 8160; // luma 1: 32 parts of a level of a byte, and squares of gradients below 2³¹

// Pixels of the plane of edges.
const uint WEAK = 1;
const uint STRONG = 2;

// What a block is connected with. All pixels of a block are neighbours of each other, so it has
// one label: the number of another block of its set, or ROOT with the rank of the set and, if the set
// has a strong pixel, LIT.
const uint RIGHT = 1;
const uint BELOW = 2;
const uint BELOW_RIGHT = 4;
const uint BELOW_LEFT = 8;
const uint ROOT = 0x80000000u;
const uint LIT = 0x40000000u;
const uint RANK = 31;
