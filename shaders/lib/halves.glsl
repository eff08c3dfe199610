// Words of two numbers of 16 bits, each modulo 2^16. The device cpu makes one instruction of each
// of these functions (cpu/internal/compile/halves.go), which computes eight numbers.

const int UPPER = int(0xffff0000u);

int lowHalf(int a) { return bitfieldExtract(a, 0, 16); }

// joined has the upper half of the first word, and the lower half of the second one.
int joined(int high, int low) { return bitfieldInsert(high, low, 0, 16); }

int addHalves(int a, int b) { return joined(a + (b & UPPER), a + b); }
int subHalves(int a, int b) { return joined(a - (b & UPPER), a - b); }
int mulHalves(int a, int b) { return joined((a >> 16) * (b & UPPER), a * b); }

// Of numbers with signs:
int minHalves(int a, int b) { return joined(min(a, b), min(lowHalf(a), lowHalf(b))); }
int maxHalves(int a, int b) { return joined(max(a, b), max(lowHalf(a), lowHalf(b))); }

// dotHalves is the sum of the products of both halves, with signs.
int dotHalves(int a, int b) { return lowHalf(a) * lowHalf(b) + (a >> 16) * (b >> 16); }

// sumsOfBytes has in each half the sum of its two bytes.
int sumsOfBytes(int a) { return (a & 0x00ff00ff) + ((a >> 8) & 0x00ff00ff); }
