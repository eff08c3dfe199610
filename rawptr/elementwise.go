package rawptr

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// UnaryOp is a function of one number.
type UnaryOp uint8

// These are the functions of Unary. Package ops has their exact rules, under the same names.
const (
	ReLU     UnaryOp = iota + 1 // max(x, 0); NaN stays NaN
	Sigmoid                     // 1/(1 + e⁻ˣ)
	Tanh                        // the hyperbolic tangent
	Exp                         // eˣ
	Log                         // the natural logarithm
	Sqrt                        // the square root; NaN below 0
	Abs                         // the magnitude
	Neg                         // −x
	GELU                        // the Gaussian error linear unit in its tanh form
	SiLU                        // x·sigmoid(x)
	Rsqrt                       // 1/√x
	Sin                         // the sine, in radians
	Cos                         // the cosine, in radians
	Floor                       // rounded down to an integer
	Ceil                        // rounded up to an integer
	Round                       // rounded to the nearest integer, ties to even
	Sign                        // −1, 0 or 1; NaN stays NaN
	Erf                         // the error function
	Softplus                    // ln(1 + eˣ)
)

// function is an operation of package ops under its name.
type function struct {
	name string
	call spec.Call
}

var unaryOps = [...]function{
	ReLU: {"relu", ops.ReLU{}}, Sigmoid: {"sigmoid", ops.Sigmoid{}}, Tanh: {"tanh", ops.Tanh{}}, Exp: {"exp", ops.Exp{}}, Log: {"log", ops.Log{}},
	Sqrt: {"sqrt", ops.Sqrt{}}, Abs: {"abs", ops.Abs{}}, Neg: {"neg", ops.Neg{}}, GELU: {"gelu", ops.GELU{}}, SiLU: {"silu", ops.SiLU{}},
	Rsqrt: {"rsqrt", ops.Rsqrt{}}, Sin: {"sin", ops.Sin{}}, Cos: {"cos", ops.Cos{}}, Floor: {"floor", ops.Floor{}}, Ceil: {"ceil", ops.Ceil{}},
	Round: {"round", ops.Round{}}, Sign: {"sign", ops.Sign{}}, Erf: {"erf", ops.Erf{}}, Softplus: {"softplus", ops.Softplus{}},
}

// String returns the name, such as "relu".
func (op UnaryOp) String() string { return nameOf(unaryOps[:], int(op), "UnaryOp") }

// nameOf is the name of function i of a list.
func nameOf(list []function, i int, kind string) string {
	if i > 0 && i < len(list) {
		return list[i].name
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// function returns the operation i of a list. An unknown one is an error of the call.
func (c *call) function(list []function, i int) spec.Call {
	if i <= 0 || i >= len(list) {
		c.invalid("there is no such function")
		return nil
	}
	return list[i].call
}

// vector describes n elements of F32.
func (c *call) vector(n int) tensor.Desc {
	c.count("n", n)
	return tensor.Contiguous(tensor.F32, n)
}

// Unary computes out[i] = op(in[i]) for n elements of F32. out may be in. n = 0 is a no-op.
// Errors: ErrInvalidArgument (op, n, range, overlap), ErrNotInitialized, ErrClosed.
func (d *Device) Unary(op UnaryOp, in, out Ptr, n int) error {
	c := d.begin(op.String())
	defer c.end()
	f, desc := c.function(unaryOps[:], int(op)), c.vector(n)
	x, y := c.operand("in", in, desc), c.operand("out", out, desc)
	return c.run(f, y, x)
}

// BinaryOp is a function of two numbers.
type BinaryOp uint8

// These are the functions of Binary. The results of comparisons are 1 and 0.
const (
	Add          BinaryOp = iota + 1 // a + b
	Sub                              // a − b
	Mul                              // a·b
	Div                              // a/b
	Maximum                          // the larger one; NaN if either is NaN
	Minimum                          // the smaller one; NaN if either is NaN
	Pow                              // aᵇ, as math.Pow
	Mod                              // the remainder of a/b with the sign of a, as math.Mod
	Equal                            // a = b; NaN equals nothing
	NotEqual                         // a ≠ b
	Less                             // a < b
	LessEqual                        // a ≤ b
	Greater                          // a > b
	GreaterEqual                     // a ≥ b
)

var binaryOps = [...]function{
	Add: {"add", ops.Add{}}, Sub: {"sub", ops.Sub{}}, Mul: {"mul", ops.Mul{}}, Div: {"div", ops.Div{}}, Maximum: {"maximum", ops.Maximum{}},
	Minimum: {"minimum", ops.Minimum{}}, Pow: {"pow", ops.Pow{}}, Mod: {"mod", ops.Mod{FMod: 1}}, Equal: {"equal", ops.Equal{}}, NotEqual: {"not equal", ops.NotEqual{}},
	Less: {"less", ops.Less{}}, LessEqual: {"less or equal", ops.LessEqual{}}, Greater: {"greater", ops.Greater{}}, GreaterEqual: {"greater or equal", ops.GreaterEqual{}},
}

// String returns the name, such as "add".
func (op BinaryOp) String() string { return nameOf(binaryOps[:], int(op), "BinaryOp") }

// Binary computes out[i] = op(a[i], b[i]) for n elements of F32. out may be a, b or both. n = 0 is a
// no-op. A comparison writes 1 where it holds, and 0 elsewhere.
// Errors: ErrInvalidArgument (op, n, range, overlap), ErrNotInitialized, ErrClosed.
func (d *Device) Binary(op BinaryOp, a, b, out Ptr, n int) error {
	c := d.begin(op.String())
	defer c.end()
	f, desc := c.function(binaryOps[:], int(op)), c.vector(n)
	x, y, z := c.operand("a", a, desc), c.operand("b", b, desc), c.operand("out", out, desc)
	if op >= Equal {
		return c.compare(f, z, x, y)
	}
	return c.run(f, z, x, y)
}

// compare runs a comparison, whose results are of Bool, and converts them to F32.
func (c *call) compare(f spec.Call, out, a, b session.Tensor) error {
	for _, in := range []session.Tensor{a, b} {
		if in.Offset != out.Offset {
			c.apart(out, in)
		}
	}
	if c.err != nil || out.Buffer == nil {
		return c.err
	}
	truth, release := c.lend(tensor.Contiguous(tensor.Bool, out.Desc.Shape...))
	defer release()
	c.runOn(f, truth, operandOf(a), operandOf(b))
	c.runOn(ops.Cast{To: tensor.F32}, operandOf(out), truth)
	return c.err
}
