package backend

import "github.com/lathe-gpu/lathe/tensor"

// Scalars is ScalarOps on the host, for backends to embed.
type Scalars struct{}

type value = tensor.Value

// ScalarAdd is tensor.Scalar of "add".
func (Scalars) ScalarAdd(a, b value) (value, error) { return tensor.Scalar("add", a, b) }

// ScalarSub is tensor.Scalar of "sub".
func (Scalars) ScalarSub(a, b value) (value, error) { return tensor.Scalar("sub", a, b) }

// ScalarMul is tensor.Scalar of "mul".
func (Scalars) ScalarMul(a, b value) (value, error) { return tensor.Scalar("mul", a, b) }

// ScalarDiv is tensor.Scalar of "div".
func (Scalars) ScalarDiv(a, b value) (value, error) { return tensor.Scalar("div", a, b) }

// ScalarMod is tensor.Scalar of "mod".
func (Scalars) ScalarMod(a, b value) (value, error) { return tensor.Scalar("mod", a, b) }

// ScalarPow is tensor.Scalar of "pow".
func (Scalars) ScalarPow(a, b value) (value, error) { return tensor.Scalar("pow", a, b) }

// ScalarSqrt is tensor.Scalar of "sqrt".
func (Scalars) ScalarSqrt(x value) (value, error) { return tensor.Scalar("sqrt", x) }

// ScalarSin is tensor.Scalar of "sin".
func (Scalars) ScalarSin(x value) (value, error) { return tensor.Scalar("sin", x) }

// ScalarCos is tensor.Scalar of "cos".
func (Scalars) ScalarCos(x value) (value, error) { return tensor.Scalar("cos", x) }

// ScalarTan is tensor.Scalar of "tan".
func (Scalars) ScalarTan(x value) (value, error) { return tensor.Scalar("tan", x) }

// ScalarLog is tensor.Scalar of "log".
func (Scalars) ScalarLog(x value) (value, error) { return tensor.Scalar("log", x) }

// ScalarExp is tensor.Scalar of "exp".
func (Scalars) ScalarExp(x value) (value, error) { return tensor.Scalar("exp", x) }

// ScalarAbs is tensor.Scalar of "abs".
func (Scalars) ScalarAbs(x value) (value, error) { return tensor.Scalar("abs", x) }

// ScalarFloor is tensor.Scalar of "floor".
func (Scalars) ScalarFloor(x value) (value, error) { return tensor.Scalar("floor", x) }

// ScalarCeil is tensor.Scalar of "ceil".
func (Scalars) ScalarCeil(x value) (value, error) { return tensor.Scalar("ceil", x) }

// ScalarRound is tensor.Scalar of "round".
func (Scalars) ScalarRound(x value) (value, error) { return tensor.Scalar("round", x) }

// ScalarEq is tensor.Scalar of "eq".
func (Scalars) ScalarEq(a, b value) (value, error) { return tensor.Scalar("eq", a, b) }

// ScalarNe is tensor.Scalar of "ne".
func (Scalars) ScalarNe(a, b value) (value, error) { return tensor.Scalar("ne", a, b) }

// ScalarLt is tensor.Scalar of "lt".
func (Scalars) ScalarLt(a, b value) (value, error) { return tensor.Scalar("lt", a, b) }

// ScalarLe is tensor.Scalar of "le".
func (Scalars) ScalarLe(a, b value) (value, error) { return tensor.Scalar("le", a, b) }

// ScalarGt is tensor.Scalar of "gt".
func (Scalars) ScalarGt(a, b value) (value, error) { return tensor.Scalar("gt", a, b) }

// ScalarGe is tensor.Scalar of "ge".
func (Scalars) ScalarGe(a, b value) (value, error) { return tensor.Scalar("ge", a, b) }
