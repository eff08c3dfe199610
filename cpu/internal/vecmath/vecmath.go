// Package vecmath writes the elementary functions of GLSL.std.450 as functions of a
// WebAssembly module. Each takes and returns vectors of four f32.
//
// The results are those of C99, Annex F, for all arguments, with errors of at most 1.5 ULP
// for exp, exp2, log, log2, sin and cos, 2 ULP for pow and 3 ULP for the others. They
// depend on the basic operations of IEEE 754 only, so that they have the same bits on every
// machine. Only the sign and the payload of a NaN may differ. A lane does not depend on the
// other lanes.
//
// The functions have a fast path for ordinary arguments. They branch to a slow one if a lane
// has another one.
package vecmath

import "github.com/lathe-gpu/lathe/internal/wasm"

// Name is a function of this package.
type Name string

// The functions.
const (
	Exp   Name = "exp"
	Exp2  Name = "exp2"
	Log   Name = "log"
	Log2  Name = "log2"
	Sin   Name = "sin"
	Cos   Name = "cos"
	Tan   Name = "tan"
	Asin  Name = "asin"
	Acos  Name = "acos"
	Atan  Name = "atan"
	Atan2 Name = "atan2" // of y and x
	Sinh  Name = "sinh"
	Cosh  Name = "cosh"
	Tanh  Name = "tanh"
	Asinh Name = "asinh"
	Acosh Name = "acosh"
	Atanh Name = "atanh"
	Pow   Name = "pow" // of x and y
)

// The functions that others call for arguments that are not ordinary.
const (
	slowExp    Name = "slow exp"
	slowExp2   Name = "slow exp2"
	slowLog    Name = "slow log"
	slowLog2   Name = "slow log2"
	slowPow    Name = "slow pow"
	slowReduce Name = "slow reduce"
	hugeReduce Name = "huge reduce"
)

var vector = []wasm.ValType{wasm.V128}
var vectors = []wasm.ValType{wasm.V128, wasm.V128}

// definitions has the type of each function, and what writes it.
var definitions map[Name]definition

type definition struct {
	typ   wasm.FuncType
	write func(l *Library, f fn)
}

func init() {
	unary := wasm.FuncType{Params: vector, Results: vector}
	binary := wasm.FuncType{Params: vectors, Results: vector}
	definitions = map[Name]definition{
		Exp:      {unary, func(l *Library, f fn) { writeExp(l, f, false) }},
		Exp2:     {unary, func(l *Library, f fn) { writeExp2(l, f, false) }},
		Log:      {unary, func(l *Library, f fn) { writeLog(l, f, false) }},
		Log2:     {unary, func(l *Library, f fn) { writeLog2(l, f, false) }},
		Sin:      {unary, writeSin},
		Cos:      {unary, writeCos},
		Tan:      {unary, writeTan},
		Asin:     {unary, writeAsin},
		Acos:     {unary, writeAcos},
		Atan:     {unary, writeAtan},
		Atan2:    {binary, writeAtan2},
		Sinh:     {unary, writeSinh},
		Cosh:     {unary, writeCosh},
		Tanh:     {unary, writeTanh},
		Asinh:    {unary, writeAsinh},
		Acosh:    {unary, writeAcosh},
		Atanh:    {unary, writeAtanh},
		Pow:      {binary, func(l *Library, f fn) { writePow(l, f, false) }},
		slowExp:  {unary, func(l *Library, f fn) { writeExp(l, f, true) }},
		slowExp2: {unary, func(l *Library, f fn) { writeExp2(l, f, true) }},
		slowLog:  {unary, func(l *Library, f fn) { writeLog(l, f, true) }},
		slowLog2: {unary, func(l *Library, f fn) { writeLog2(l, f, true) }},
		slowPow:  {binary, func(l *Library, f fn) { writePow(l, f, true) }},
		slowReduce: {wasm.FuncType{Params: vector, Results: []wasm.ValType{wasm.V128, wasm.V128, wasm.V128}},
			writeSlowReduce},
		hugeReduce: {wasm.FuncType{Params: []wasm.ValType{wasm.I32}, Results: []wasm.ValType{wasm.F64, wasm.I32}},
			writeHugeReduce},
	}
}

// Library adds functions to a module, each once, when they are first asked for.
type Library struct {
	module *wasm.Module
	funcs  map[Name]uint32
}

// New returns a library that has added no function yet. The imports of the module come
// before the first call of Func.
func New(m *wasm.Module) *Library { return &Library{m, map[Name]uint32{}} }

// Func returns the index of a function, for wasm.Code.Call. It takes a vector, or two for
// Atan2 and Pow, and returns one. Func adds the function, and those that it calls, to the
// module if they are not there yet; other functions of the module may be half written.
func (l *Library) Func(n Name) uint32 {
	i, ok := l.funcs[n]
	if !ok {
		d, known := definitions[n]
		if !known {
			panic("vecmath: no function " + string(n))
		}
		f := fn{l.module.Func(d.typ)}
		i = f.Index()
		l.funcs[n] = i
		d.write(l, f)
	}
	return i
}

// param returns an operand of the function.
func param(i uint32) value { return value{local: i} }
