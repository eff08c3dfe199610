package rawptr

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// vector is a vector of BLAS: n elements that are some elements apart.
type vector struct {
	session.Tensor      // of shape [n], from the lowest address
	turned         bool // the last element has the lowest address
}

// hasType notes an error for F64 on a device that has none.
func (c *call) hasType(dtype tensor.DType) {
	if c.err == nil && dtype == tensor.F64 && !c.session.Info().Features.F64 {
		c.err = fmt.Errorf("rawptr: %s: %w: %s has no float64", c.op, errs.ErrUnsupported, c.session.Info().Name)
	}
}

// strided returns a vector. An inc below 0 means that the elements lie in descending order.
func (c *call) strided(name string, dtype tensor.DType, n int, p Ptr, inc int) vector {
	c.hasType(dtype)
	c.count("n", n)
	turned := inc < 0
	if turned {
		inc = -inc
	}
	if inc < 1 { // also of the least integer
		c.invalid("the increment of %s (got %d, want another number)", name, inc)
	}
	return vector{c.operand(name, p, tensor.Desc{DType: dtype, Shape: []int{n}, Strides: []int{inc}}), turned}
}

// ascending is strided for functions whose increments are above 0.
func (c *call) ascending(name string, dtype tensor.DType, n int, p Ptr, inc int) session.Tensor {
	if inc < 1 {
		c.invalid("the increment of %s (got %d, want 1 or more)", name, inc)
	}
	return c.strided(name, dtype, n, p, max(inc, 1)).Tensor
}

// like returns x in the order of a vector that is turned or not: itself, or a reversed copy.
func (c *call) like(x vector, turned bool) (session.Tensor, exec.Operand, func()) {
	if c.err != nil || x.Buffer == nil || x.turned == turned {
		return x.Tensor, exec.Operand{}, func() {}
	}
	o, done := c.lend(tensor.Contiguous(x.Desc.DType, x.Desc.Shape...))
	c.runOn(ops.Reverse{Dims: []int{0}}, o, operandOf(x.Tensor))
	return session.Tensor{}, o, done
}

// read returns x as an operand to read in that order, as it is before out is written. The caller defers
// done.
func (c *call) read(x vector, turned bool, out session.Tensor) (o exec.Operand, done func()) {
	same, reversed, done := c.like(x, turned)
	if c.err != nil || reversed.Buffer != 0 {
		return reversed, done
	}
	return c.before(same, out)
}

// column and row are views of a vector as a matrix.
func column(o exec.Operand) exec.Operand { return matrixView(o, o.Desc.Shape[0], 1) }
func row(o exec.Operand) exec.Operand    { return matrixView(o, 1, o.Desc.Shape[0]) }

func matrixView(o exec.Operand, rows, cols int) exec.Operand {
	inc := o.Desc.ElementStrides()[0]
	o.Desc.Shape, o.Desc.Strides = []int{rows, cols}, []int{inc, 1}
	if rows == 1 {
		o.Desc.Strides = []int{1, inc}
	}
	return o
}

// scaled computes out = α·x for vectors of one order: a product without k.
func (c *call) scaled(alpha float64, out, x exec.Operand) {
	c.finite(alpha)
	n, d := x.Desc.Shape[0], x.Desc.DType
	a, b := x, x
	a.Desc, b.Desc = tensor.Contiguous(d, n, 0), tensor.Contiguous(d, 0, 1)
	c.runOn(ops.Gemm{Alpha: spec.Given(0.0), Beta: spec.Given(alpha)}, column(out), a, b, column(x))
}

// finite notes an error for a factor that is not finite.
func (c *call) finite(x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		c.invalid("alpha, beta (got %v, want finite numbers)", x)
	}
}

// dot computes out = x·y.
func (d *Device) dot(op string, dtype tensor.DType, n int, x Ptr, incX int, y Ptr, incY int, out Ptr) error {
	c := d.begin(op)
	defer c.end()
	a, b := c.strided("x", dtype, n, x, incX), c.strided("y", dtype, n, y, incY)
	to := c.operand("out", out, tensor.Contiguous(dtype, 1, 1))
	c.apart(to, a.Tensor, b.Tensor)
	left, done := c.read(a, b.turned, to)
	defer done()
	right, done := c.read(b, b.turned, to)
	defer done()
	if c.err != nil {
		return c.err
	}
	c.runOn(ops.Gemm{Alpha: 1, Beta: spec.Given(0.0)}, operandOf(to), row(left), column(right))
	return c.err
}

// reduced computes out = a reduction of x.
func (d *Device) reduced(op string, dtype tensor.DType, n int, x Ptr, incX int, out Ptr, steps func(c *call, x, out exec.Operand)) error {
	c := d.begin(op)
	defer c.end()
	a := c.ascending("x", dtype, n, x, incX)
	to := c.operand("out", out, tensor.Contiguous(dtype))
	c.apart(to, a)
	in, done := c.before(a, to)
	defer done()
	if c.err == nil {
		steps(c, in, operandOf(to))
	}
	return c.err
}

// asum computes out = Σ|x|.
func asum(c *call, x, out exec.Operand) { c.runOn(ops.ReduceL1{}, out, x) }

// nrm2 computes out = √Σx². It divides by the largest magnitude first, so that no square overflows.
func nrm2(c *call, x, out exec.Operand) {
	d := x.Desc.DType
	size, done := c.lend(tensor.Contiguous(d, max(x.Desc.Shape[0], 1)))
	defer done()
	most, done := c.lend(tensor.Contiguous(d, 1))
	defer done()
	if x.Desc.Shape[0] == 0 {
		c.runOn(ops.ReduceL2{}, out, x)
		return
	}
	least, largest := 0x1p-100, 0x1p100 // The inverse of both is a normal number.
	if d == tensor.F64 {
		least, largest = 0x1p-1000, 0x1p1000
	}
	scalar := most
	scalar.Desc = tensor.Contiguous(d)
	c.runOn(ops.Abs{}, size, x)
	c.runOn(ops.ReduceMax{}, scalar, size)
	c.runOn(ops.Clip{Min: least, Max: largest}, scalar, scalar) // which divides, and is NaN if an element is
	c.runOn(ops.Div{}, size, size, most)
	c.runOn(ops.ReduceL2{}, out, size)
	c.runOn(ops.Mul{}, out, out, scalar)
}

// iamax computes out = the index of the first element of the largest magnitude, or −1 of no elements.
func (d *Device) iamax(op string, dtype tensor.DType, n int, x Ptr, incX int, out Ptr) error {
	c := d.begin(op)
	defer c.end()
	a := c.ascending("x", dtype, n, x, incX)
	to := c.operand("out", out, tensor.Contiguous(tensor.I32))
	c.apart(to, a)
	if c.err != nil {
		return c.err
	}
	if n == 0 {
		c.runOn(ops.Fill{Value: -1, DType: tensor.I32}, operandOf(to))
		return c.err
	}
	size, done := c.lend(tensor.Contiguous(dtype, n))
	defer done()
	c.runOn(ops.Abs{}, size, operandOf(a))
	c.runOn(ops.ArgMax{Dim: 0}, operandOf(to), size)
	return c.err
}

// swap exchanges x and y.
func (d *Device) swap(op string, dtype tensor.DType, n int, x Ptr, incX int, y Ptr, incY int) error {
	c := d.begin(op)
	defer c.end()
	a, b := c.strided("x", dtype, n, x, incX), c.strided("y", dtype, n, y, incY)
	if c.err != nil || n == 0 {
		return c.err
	}
	old, done := c.lend(tensor.Contiguous(dtype, n))
	defer done()
	c.runOn(ops.Copy{}, old, operandOf(a.Tensor))
	from, done := c.read(b, a.turned, a.Tensor)
	defer done()
	c.runOn(ops.Copy{}, operandOf(a.Tensor), from)
	if a.turned != b.turned {
		c.runOn(ops.Reverse{Dims: []int{0}}, operandOf(b.Tensor), old)
	} else {
		c.runOn(ops.Copy{}, operandOf(b.Tensor), old)
	}
	return c.err
}

// copyVector computes y = x.
func (d *Device) copyVector(op string, dtype tensor.DType, n int, x Ptr, incX int, y Ptr, incY int) error {
	c := d.begin(op)
	defer c.end()
	a, b := c.strided("x", dtype, n, x, incX), c.strided("y", dtype, n, y, incY)
	if c.err != nil || n == 0 {
		return c.err
	}
	from, done := c.read(a, b.turned, b.Tensor)
	defer done()
	if c.err == nil && from.Buffer == b.Buffer.Handle() && from.Offset == b.Offset {
		return nil // y is x
	}
	c.runOn(ops.Copy{}, operandOf(b.Tensor), from)
	return c.err
}

// axpy computes y += α·x.
func (d *Device) axpy(op string, dtype tensor.DType, n int, alpha float64, x Ptr, incX int, y Ptr, incY int) error {
	c := d.begin(op)
	defer c.end()
	c.finite(alpha)
	a, b := c.strided("x", dtype, n, x, incX), c.strided("y", dtype, n, y, incY)
	if c.err != nil || n == 0 || alpha == 0 {
		return c.err
	}
	from, done := c.read(a, b.turned, b.Tensor)
	defer done()
	part, done := c.lend(tensor.Contiguous(dtype, n))
	defer done()
	if c.err != nil {
		return c.err
	}
	c.scaled(alpha, part, from)
	c.runOn(ops.Add{}, operandOf(b.Tensor), operandOf(b.Tensor), part)
	return c.err
}

// scal computes x = α·x.
func (d *Device) scal(op string, dtype tensor.DType, n int, alpha float64, x Ptr, incX int) error {
	c := d.begin(op)
	defer c.end()
	c.finite(alpha)
	a := c.ascending("x", dtype, n, x, incX)
	if c.err != nil || n == 0 {
		return c.err
	}
	c.scaled(alpha, operandOf(a), operandOf(a))
	return c.err
}
