package bench

import (
	"bytes"
	"math/rand/v2"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/tensor"
)

// A period is how many numbers of a large input are drawn. The rest repeats them, because it
// would take seconds to draw those of 256 MiB. The number is a prime, so that the rows of a
// matrix differ. That of a picture is a prime number of pixels.
const (
	period        = 1<<20 - 3
	picturePeriod = 1<<18 - 5
)

// patternKey says which numbers a period has.
type patternKey struct {
	dtype     tensor.DType
	low, high float64
	opaque    bool // of a picture whose alphas are high
}

// mostPatterns is the number of periods that a bench keeps for other inputs.
const mostPatterns = 8

// fill writes random numbers into the tensor of input i. A large one has those of a period,
// from another place on in each input.
func (b *bench) fill(h gpu.Handle, d tensor.Desc, i int, low, high float64, opaque bool, rng *rand.Rand) error {
	one := tensor.Contiguous(d.DType, period)
	if opaque = opaque && d.Shape[len(d.Shape)-1] == 4; opaque {
		one = tensor.Contiguous(d.DType, picturePeriod, 4)
	}
	if d.Elems() <= one.Elems() {
		return b.dev.Write(b.ctx, h, 0, randomData(d, low, high, opaque, rng))
	}
	key := patternKey{d.DType, low, high, opaque}
	pattern := b.patterns[key]
	if pattern == nil {
		pattern = randomData(one, low, high, opaque, rng)
		if b.patterns == nil || len(b.patterns) == mostPatterns {
			b.patterns = map[patternKey][]byte{}
		}
		b.patterns[key] = pattern
	}
	begin := 4 * 4093 * i % one.Elems() * d.DType.Size()
	// Four periods are a whole number of words, as the offset of a Write should be.
	data := bytes.Repeat(append(pattern[begin:len(pattern):len(pattern)], pattern[:begin]...), 4)
	for at, size := int64(0), d.Bytes(); at < size; at += int64(len(data)) {
		if err := b.dev.Write(b.ctx, h, at, data[:min(int64(len(data)), size-at)]); err != nil {
			return err
		}
	}
	return nil
}

// randomData makes the bytes of a tensor. Values are uniform between the bounds, except for
// the alphas of an opaque picture.
func randomData(d tensor.Desc, low, high float64, opaque bool, rng *rand.Rand) []byte {
	h := tensor.NewHost(d)
	values := make([]float64, d.Elems())
	whole := d.DType != tensor.F32 && d.DType != tensor.F64 && d.DType != tensor.F16 && d.DType != tensor.BF16
	for i := range values {
		if values[i] = low + (high-low)*rng.Float64(); whole {
			values[i] = low + float64(rng.Int64N(int64(high-low)+1))
		}
		if opaque && i%4 == 3 {
			values[i] = high
		}
	}
	h.SetFloats(values)
	return h.Data
}
