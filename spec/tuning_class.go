package spec

import (
	"math/bits"
	"strconv"

	"github.com/lathe-gpu/lathe/tensor"
)

// AppendClass appends to b the name of the class of a call. One strategy of Op.Strategies
// is the best one for all calls of a class. The name consists of the dtypes of the
// inputs, with "/s" after an input that has strides, and the numbers of Op.SizeClass, as
// in "f32 f32 512 512 4096". Each number is rounded up to a power of two. "~" follows a
// number that was no multiple of 4, which is the length of a vector. If the call has no
// SizeClass, or if Shape refuses the inputs, the class may be empty.
func AppendClass(b []byte, c Call, in []tensor.Desc) (class []byte) {
	op, err := opOf(c)
	if err != nil || op.SizeClass == nil {
		return b
	}
	// SizeClass may assume inputs that Shape accepts. But a call of Shape before every
	// launch would take longer than the class itself, so a panic is caught instead.
	begin := b
	defer func() {
		if recover() != nil {
			class = begin
		}
	}()
	for _, d := range in {
		b = append(b, d.DType.String()...)
		if !d.IsContiguous() {
			b = append(b, "/s"...)
		}
		b = append(b, ' ')
	}
	for i, n := range op.SizeClass(c, in) {
		if i > 0 {
			b = append(b, ' ')
		}
		most := n
		if n > 2 {
			most = 1 << bits.Len(uint(n-1))
		}
		b = strconv.AppendInt(b, int64(most), 10)
		if n > 2 && n%4 != 0 {
			b = append(b, '~')
		}
	}
	return b
}
