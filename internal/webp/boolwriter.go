package webp

import (
	"math"
	"math/bits"
)

// boolWriter is the arithmetic coder of lossy WebP: it writes bits whose probabilities are known.
type boolWriter struct {
	out    []byte
	span   uint32 // 128 to 255
	bottom uint32
	left   int // shifts until a byte is complete
}

func newBoolWriter() *boolWriter { return &boolWriter{span: 255, left: 24} }

// put writes a bit that is 0 with a probability of prob/256. It returns the bit.
func (b *boolWriter) put(on bool, prob uint8) bool {
	split := 1 + (b.span-1)*uint32(prob)>>8
	if on {
		b.bottom += split
		b.span -= split
	} else {
		b.span = split
	}
	n := bits.LeadingZeros8(uint8(b.span))
	b.span <<= n
	if n < b.left {
		b.left -= n
		b.bottom <<= n
		return on
	}
	// A byte is complete after left shifts; the bit above it is a carry.
	b.bottom <<= b.left - 1
	if b.bottom&(1<<31) != 0 {
		b.carry()
	}
	b.out = append(b.out, byte(b.bottom>>23))
	b.bottom = b.bottom << 1 & (1<<24 - 1) << (n - b.left)
	b.left += 8 - n
	return on
}

// carry adds 1 to what is written.
func (b *boolWriter) carry() {
	i := len(b.out) - 1
	for ; i >= 0 && b.out[i] == 255; i-- {
		b.out[i] = 0
	}
	if i >= 0 {
		b.out[i]++
	}
}

// number writes n bits of equal probabilities, the highest first.
func (b *boolWriter) number(v, n int) {
	for n--; n >= 0; n-- {
		b.put(v>>n&1 != 0, 128)
	}
}

// end returns all bytes.
func (b *boolWriter) end() []byte {
	for range 32 {
		b.put(false, 128)
	}
	return b.out
}

// bitCost is the length of a bit 0 in 1/256 bits, by its probability.
var bitCost = func() (t [257]int32) {
	for i := 1; i < len(t); i++ {
		t[i] = int32(math.Round(-256 * math.Log2(float64(i)/256)))
	}
	t[0] = t[1]
	return t
}()

// cost is the length of a bit.
func cost(on bool, prob uint8) int32 {
	if on {
		return bitCost[256-int(prob)]
	}
	return bitCost[prob]
}
