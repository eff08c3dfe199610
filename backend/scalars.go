package backend

import "github.com/lathe-gpu/lathe/value"

// Scalars is ScalarOps on the host, for backends to embed.
type Scalars struct{}

// ScalarAdd is value.Eval of "add".
func (Scalars) ScalarAdd(a, b value.Value) (value.Value, error) { return value.Eval("add", a, b) }

// ScalarSub is value.Eval of "sub".
func (Scalars) ScalarSub(a, b value.Value) (value.Value, error) { return value.Eval("sub", a, b) }

// ScalarMul is value.Eval of "mul".
func (Scalars) ScalarMul(a, b value.Value) (value.Value, error) { return value.Eval("mul", a, b) }

// ScalarDiv is value.Eval of "div".
func (Scalars) ScalarDiv(a, b value.Value) (value.Value, error) { return value.Eval("div", a, b) }

// ScalarMod is value.Eval of "mod".
func (Scalars) ScalarMod(a, b value.Value) (value.Value, error) { return value.Eval("mod", a, b) }

// ScalarPow is value.Eval of "pow".
func (Scalars) ScalarPow(a, b value.Value) (value.Value, error) { return value.Eval("pow", a, b) }

// ScalarSqrt is value.Eval of "sqrt".
func (Scalars) ScalarSqrt(x value.Value) (value.Value, error) { return value.Eval("sqrt", x) }

// ScalarSin is value.Eval of "sin".
func (Scalars) ScalarSin(x value.Value) (value.Value, error) { return value.Eval("sin", x) }

// ScalarCos is value.Eval of "cos".
func (Scalars) ScalarCos(x value.Value) (value.Value, error) { return value.Eval("cos", x) }

// ScalarTan is value.Eval of "tan".
func (Scalars) ScalarTan(x value.Value) (value.Value, error) { return value.Eval("tan", x) }

// ScalarLog is value.Eval of "log".
func (Scalars) ScalarLog(x value.Value) (value.Value, error) { return value.Eval("log", x) }

// ScalarExp is value.Eval of "exp".
func (Scalars) ScalarExp(x value.Value) (value.Value, error) { return value.Eval("exp", x) }

// ScalarAbs is value.Eval of "abs".
func (Scalars) ScalarAbs(x value.Value) (value.Value, error) { return value.Eval("abs", x) }

// ScalarFloor is value.Eval of "floor".
func (Scalars) ScalarFloor(x value.Value) (value.Value, error) { return value.Eval("floor", x) }

// ScalarCeil is value.Eval of "ceil".
func (Scalars) ScalarCeil(x value.Value) (value.Value, error) { return value.Eval("ceil", x) }

// ScalarRound is value.Eval of "round".
func (Scalars) ScalarRound(x value.Value) (value.Value, error) { return value.Eval("round", x) }

// ScalarEq is value.Eval of "eq".
func (Scalars) ScalarEq(a, b value.Value) (value.Value, error) { return value.Eval("eq", a, b) }

// ScalarNe is value.Eval of "ne".
func (Scalars) ScalarNe(a, b value.Value) (value.Value, error) { return value.Eval("ne", a, b) }

// ScalarLt is value.Eval of "lt".
func (Scalars) ScalarLt(a, b value.Value) (value.Value, error) { return value.Eval("lt", a, b) }

// ScalarLe is value.Eval of "le".
func (Scalars) ScalarLe(a, b value.Value) (value.Value, error) { return value.Eval("le", a, b) }

// ScalarGt is value.Eval of "gt".
func (Scalars) ScalarGt(a, b value.Value) (value.Value, error) { return value.Eval("gt", a, b) }

// ScalarGe is value.Eval of "ge".
func (Scalars) ScalarGe(a, b value.Value) (value.Value, error) { return value.Eval("ge", a, b) }
