package lathe

import (
	"github.com/lathe-gpu/lathe/ops"
)

// The methods of this file are short for Call: they make their results and
// return before those are computed. Errors: as Run.

// Abs is the absolute value of each element.
func (d *Device) Abs(x *Tensor) (*Tensor, error) { return d.one(ops.Abs{}, x) }

// Neg is each element with the other sign.
func (d *Device) Neg(x *Tensor) (*Tensor, error) { return d.one(ops.Neg{}, x) }

// Sqrt is the square root of each element; NaN below 0.
func (d *Device) Sqrt(x *Tensor) (*Tensor, error) { return d.one(ops.Sqrt{}, x) }

// Rsqrt is 1/√x of each element.
func (d *Device) Rsqrt(x *Tensor) (*Tensor, error) { return d.one(ops.Rsqrt{}, x) }

// Reciprocal is 1/x of each element.
func (d *Device) Reciprocal(x *Tensor) (*Tensor, error) { return d.one(ops.Reciprocal{}, x) }

// Exp is eˣ of each element.
func (d *Device) Exp(x *Tensor) (*Tensor, error) { return d.one(ops.Exp{}, x) }

// Log is the natural logarithm of each element.
func (d *Device) Log(x *Tensor) (*Tensor, error) { return d.one(ops.Log{}, x) }

// Sin is the sine of each element, in radians.
func (d *Device) Sin(x *Tensor) (*Tensor, error) { return d.one(ops.Sin{}, x) }

// Cos is the cosine of each element, in radians.
func (d *Device) Cos(x *Tensor) (*Tensor, error) { return d.one(ops.Cos{}, x) }

// Tanh is the hyperbolic tangent of each element.
func (d *Device) Tanh(x *Tensor) (*Tensor, error) { return d.one(ops.Tanh{}, x) }

// Erf is the error function of each element.
func (d *Device) Erf(x *Tensor) (*Tensor, error) { return d.one(ops.Erf{}, x) }

// Floor rounds each element down to an integer.
func (d *Device) Floor(x *Tensor) (*Tensor, error) { return d.one(ops.Floor{}, x) }

// Ceil rounds each element up to an integer.
func (d *Device) Ceil(x *Tensor) (*Tensor, error) { return d.one(ops.Ceil{}, x) }

// Round rounds each element to the nearest integer; ops.Round says what becomes
// of halves.
func (d *Device) Round(x *Tensor) (*Tensor, error) { return d.one(ops.Round{}, x) }

// Sign is -1, 0 or 1 for each element.
func (d *Device) Sign(x *Tensor) (*Tensor, error) { return d.one(ops.Sign{}, x) }

// Add is a + b. Shapes are broadcast:
// dimensions are matched from the last one on, and those of size 1 repeat.
func (d *Device) Add(a, b *Tensor) (*Tensor, error) { return d.one(ops.Add{}, a, b) }

// Sub is a − b. Shapes are broadcast:
// dimensions are matched from the last one on, and those of size 1 repeat.
func (d *Device) Sub(a, b *Tensor) (*Tensor, error) { return d.one(ops.Sub{}, a, b) }

// Mul is a · b, element by element. Shapes are broadcast:
// dimensions are matched from the last one on, and those of size 1 repeat.
func (d *Device) Mul(a, b *Tensor) (*Tensor, error) { return d.one(ops.Mul{}, a, b) }

// Div is a / b, element by element. Shapes are broadcast:
// dimensions are matched from the last one on, and those of size 1 repeat.
func (d *Device) Div(a, b *Tensor) (*Tensor, error) { return d.one(ops.Div{}, a, b) }

// Maximum is the larger of a and b, element by element; NaN where either is. Shapes are broadcast:
// dimensions are matched from the last one on, and those of size 1 repeat.
func (d *Device) Maximum(a, b *Tensor) (*Tensor, error) { return d.one(ops.Maximum{}, a, b) }

// Minimum is the smaller of a and b, element by element; NaN where either is. Shapes are broadcast:
// dimensions are matched from the last one on, and those of size 1 repeat.
func (d *Device) Minimum(a, b *Tensor) (*Tensor, error) { return d.one(ops.Minimum{}, a, b) }

// Pow is a to the power of b, element by element. Shapes are broadcast:
// dimensions are matched from the last one on, and those of size 1 repeat.
func (d *Device) Pow(a, b *Tensor) (*Tensor, error) { return d.one(ops.Pow{}, a, b) }

// ReduceSum adds up the elements along dimensions, which vanish; negative
// ones count from the end, and none means all. ops.ReduceSum can keep them as
// size 1.
func (d *Device) ReduceSum(x *Tensor, dims ...int) (*Tensor, error) {
	return d.one(ops.ReduceSum{Dims: dims}, x)
}

// ReduceMean averages the elements along dimensions, which vanish; negative
// ones count from the end, and none means all. ops.ReduceMean can keep them as
// size 1.
func (d *Device) ReduceMean(x *Tensor, dims ...int) (*Tensor, error) {
	return d.one(ops.ReduceMean{Dims: dims}, x)
}

// ReduceMax is the largest of the elements along dimensions, which vanish; negative
// ones count from the end, and none means all. ops.ReduceMax can keep them as
// size 1.
func (d *Device) ReduceMax(x *Tensor, dims ...int) (*Tensor, error) {
	return d.one(ops.ReduceMax{Dims: dims}, x)
}

// ReduceMin is the smallest of the elements along dimensions, which vanish; negative
// ones count from the end, and none means all. ops.ReduceMin can keep them as
// size 1.
func (d *Device) ReduceMin(x *Tensor, dims ...int) (*Tensor, error) {
	return d.one(ops.ReduceMin{Dims: dims}, x)
}

// ReduceProd multiplies the elements along dimensions, which vanish; negative
// ones count from the end, and none means all. ops.ReduceProd can keep them as
// size 1.
func (d *Device) ReduceProd(x *Tensor, dims ...int) (*Tensor, error) {
	return d.one(ops.ReduceProd{Dims: dims}, x)
}

// ArgMax is the index of the largest element along dimension dim, which
// vanishes; ops.ArgMax says which dtype it is and what becomes of ties.
func (d *Device) ArgMax(x *Tensor, dim int) (*Tensor, error) { return d.one(ops.ArgMax{Dim: dim}, x) }

// ArgMin is the index of the smallest element along dimension dim, which
// vanishes; ops.ArgMin says which dtype it is and what becomes of ties.
func (d *Device) ArgMin(x *Tensor, dim int) (*Tensor, error) { return d.one(ops.ArgMin{Dim: dim}, x) }
