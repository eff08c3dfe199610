package imageops

import (
	"encoding/binary"
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/icc"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/tensor"
)

// converter says what is in the table of a conversion of colours.
type converter struct {
	matrixed          bool // there is a matrix, which makes light of the target of the light that the table makes
	matrix            [9]float64
	curve, cube, last int // as icc.Conversion has them
}

// of returns what is in the table that d describes.
// Errors: ErrInvalidArgument.
func (c converter) of(d tensor.Desc) (picture.LUT, error) {
	one := [3]float64{1, 1, 1}
	l := picture.LUT{Curve: c.curve, Size: c.cube, Encode: c.last, CurveMax: one, CubeMax: one, Amount: 1}
	if c.matrixed {
		l.Matrix = &c.matrix
	}
	if len(d.Shape) != 3 || d.Shape[2] != 4 || d.Shape[0]*d.Shape[1] != l.Colours() {
		return l, planner.Invalid("profile (got %v, want %d colours)", d, l.Colours())
	}
	return l, nil
}

// conversion is a conversion of colours with its numbers.
type conversion struct {
	converter
	table *tensor.Host
}

// newConversion puts the numbers into a tensor.
func newConversion(c icc.Conversion) *conversion {
	own := converter{curve: c.Curve, cube: c.Cube, last: c.Last}
	if c.Matrix != nil {
		own.matrixed, own.matrix = true, *c.Matrix
	}
	data := make([]byte, 0, 4*len(c.Colours))
	for _, v := range c.Colours {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return &conversion{own, &tensor.Host{Desc: tensor.Contiguous(tensor.F32, 1, len(c.Colours)/4, 4), Data: data}}
}
