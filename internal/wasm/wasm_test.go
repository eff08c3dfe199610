package wasm

import (
	"context"
	"encoding/binary"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// runtime returns an engine with all instructions of this package.
func runtime(t *testing.T) wazero.Runtime {
	t.Helper()
	config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesThreads)
	r := wazero.NewRuntimeWithConfig(t.Context(), config)
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// memory makes a shared memory of one page known as env.memory.
func memory(t *testing.T, r wazero.Runtime) api.Memory {
	t.Helper()
	var owner Module
	owner.DefineMemory(shared, "memory")
	// The binary format of a module that defines and exports a shared memory.
	want := "\x00asm\x01\x00\x00\x00\x05\x04\x01\x03\x01\x01\x07\x0a\x01\x06memory\x02\x00"
	if got := string(owner.Encode()); got != want {
		t.Fatalf("got % x, want % x", got, want)
	}
	m, err := r.InstantiateWithConfig(t.Context(), owner.Encode(), wazero.NewModuleConfig().WithName("env"))
	if err != nil {
		t.Fatal(err)
	}
	return m.ExportedMemory("memory")
}

var shared = Memory{Module: "env", Name: "memory", Min: 1, Max: 1, Shared: true}

// form is what an instruction takes and gives. Letters stand for types: i, l, f, d, v for
// I32, I64, F32, F64, V128.
type form struct {
	in, out string
	// immediate is what follows the instruction.
	immediate string
}

var letters = map[byte]ValType{'i': I32, 'l': I64, 'f': F32, 'd': F64, 'v': V128}

// formOf returns the form of an instruction by the rules of the specification's names.
func formOf(name string) form {
	shapes := map[string]string{"I8x16": "i", "I16x8": "i", "I32x4": "i", "I64x2": "l", "F32x4": "f", "F64x2": "d"}
	scalars := map[string]string{"I32": "i", "I64": "l", "F32": "f", "F64": "d"}
	for shape, lane := range shapes {
		rest, ok := strings.CutPrefix(name, shape)
		if !ok {
			continue
		}
		switch {
		case rest == "Shuffle":
			return form{"vv", "v", "shuffle"}
		case rest == "Splat":
			return form{lane, "v", ""}
		case strings.HasPrefix(rest, "ExtractLane"):
			return form{"v", lane, "lane"}
		case rest == "ReplaceLane":
			return form{"v" + lane, "v", "lane"}
		case strings.HasPrefix(rest, "Shl"), strings.HasPrefix(rest, "Shr"):
			return form{"vi", "v", ""}
		case rest == "AllTrue", rest == "Bitmask":
			return form{"v", "i", ""}
		}
		for _, unary := range []string{"Abs", "Neg", "Popcnt", "Ceil", "Floor", "Trunc", "Nearest", "Sqrt", "Extend", "ExtaddPairwise", "Convert", "Demote", "Promote"} {
			if strings.HasPrefix(rest, unary) {
				return form{"v", "v", ""}
			}
		}
		return form{"vv", "v", ""}
	}
	if rest, ok := strings.CutPrefix(name, "V128"); ok {
		switch {
		case rest == "Not":
			return form{"v", "v", ""}
		case rest == "AnyTrue":
			return form{"v", "i", ""}
		case rest == "Bitselect":
			return form{"vvv", "v", ""}
		case strings.HasPrefix(rest, "Load") && strings.HasSuffix(rest, "Lane"):
			return form{"iv", "v", "memory lane"}
		case strings.HasPrefix(rest, "Store") && strings.HasSuffix(rest, "Lane"):
			return form{"iv", "", "memory lane"}
		case strings.HasPrefix(rest, "Load"):
			return form{"i", "v", "memory"}
		case rest == "Store":
			return form{"iv", "", "memory"}
		case rest == "Const":
			return form{"", "v", "v128"}
		}
		return form{"vv", "v", ""}
	}
	for scalar, own := range scalars {
		rest, ok := strings.CutPrefix(name, scalar)
		if !ok {
			continue
		}
		if rest, ok := strings.CutPrefix(rest, "Atomic"); ok {
			switch {
			case rest == "Load":
				return form{"i", own, "atomic"}
			case rest == "Store":
				return form{"i" + own, "", "atomic"}
			case rest == "RmwCmpxchg":
				return form{"i" + own + own, own, "atomic"}
			}
			return form{"i" + own, own, "atomic"}
		}
		for _, conversion := range []string{"Wrap", "TruncSat", "Trunc", "ExtendI", "Convert", "Demote", "Promote", "Reinterpret"} {
			for from, letter := range scalars {
				if strings.HasPrefix(rest, strings.TrimSuffix(conversion, "I")+from) {
					return form{letter, own, ""}
				}
			}
		}
		switch {
		case strings.HasPrefix(rest, "Load"):
			return form{"i", own, "memory"}
		case strings.HasPrefix(rest, "Store"):
			return form{"i" + own, "", "memory"}
		case rest == "Const":
			return form{"", own, own}
		case rest == "Eqz":
			return form{own, "i", ""}
		}
		for _, c := range []string{"Eq", "Ne", "Lt", "Gt", "Le", "Ge"} {
			if r := strings.TrimRight(rest, "SU"); r == c && rest != "Neg" {
				return form{own + own, "i", ""}
			}
		}
		for _, unary := range []string{"Clz", "Ctz", "Popcnt", "Abs", "Neg", "Ceil", "Floor", "Trunc", "Nearest", "Sqrt", "Extend8S", "Extend16S", "Extend32S"} {
			if rest == unary {
				return form{own, own, ""}
			}
		}
		return form{own + own, own, ""}
	}
	return form{}
}

// instructions lists the constants of opcode.go and opcode_vector.go with their values.
func instructions(t *testing.T) map[string]Op {
	t.Helper()
	ops := map[string]Op{}
	for _, name := range []string{"opcode.go", "opcode_vector.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.ValueSpec); ok {
				var v uint32
				for _, digit := range s.Values[0].(*ast.BasicLit).Value[2:] {
					v = v<<4 | uint32(strings.IndexRune("0123456789abcdef", digit))
				}
				ops[s.Names[0].Name] = Op(v)
			}
			return true
		})
	}
	return ops
}

// TestInstructions has an engine check a function for each instruction, with operands of
// the types that its name tells. The tests below show what some of them compute.
func TestInstructions(t *testing.T) {
	r := runtime(t)
	memory(t, r)
	tried := 0
	for name, op := range instructions(t) {
		f := formOf(name)
		if f.in+f.out == "" {
			continue // control, variables, copying
		}
		tried++
		m := &Module{}
		m.ImportMemory(shared)
		var typ FuncType
		for _, l := range []byte(f.in) {
			typ.Params = append(typ.Params, letters[l])
		}
		for _, l := range []byte(f.out) {
			typ.Results = append(typ.Results, letters[l])
		}
		fn := m.Func(typ)
		for i := range typ.Params {
			fn.Get(uint32(i))
		}
		switch f.immediate {
		case "":
			fn.Op(op)
		case "lane":
			fn.Lane(op, 1)
		case "shuffle":
			fn.Shuffle([16]byte{31, 1})
		case "memory":
			fn.Memory(op, 0, 16)
		case "atomic":
			fn.Memory(op, map[string]uint32{"I32": 2, "I64": 3}[name[:3]], 16)
		case "memory lane":
			fn.MemoryLane(op, 0, 16, 1)
		case "v128":
			fn.V128Const([4]uint32{1, 2, 3, 4})
		case "i":
			fn.I32Const(-70000)
		case "l":
			fn.I64Const(math.MinInt64)
		case "f":
			fn.F32Const(0x7fc00001)
		case "d":
			fn.F64Const(math.Pi)
		}
		compiled, err := r.CompileModule(t.Context(), m.Encode())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		compiled.Close(t.Context())
	}
	if tried < 400 {
		t.Errorf("%d instructions were tried", tried)
	}
}

// TestControl runs loops, branches and calls.
func TestControl(t *testing.T) {
	r := runtime(t)
	m := &Module{}
	double := m.ImportFunc("host", "double", FuncType{[]ValType{I32}, []ValType{I32}})
	// sum adds double(i) for i < n, but for multiples of 3, where it adds 1 or 100.
	f := m.Func(FuncType{[]ValType{I32}, []ValType{I32}})
	m.Export("sum", f)
	i, s := f.Local(I32), f.Local(I32)
	done := f.Open(BlockBegin, Empty)
	again := f.Open(Loop, Empty)
	f.Get(i)
	f.Get(0)
	f.Op(I32GeS)
	f.Br(BrIf, done)
	next := f.Open(BlockBegin, Empty)
	two := f.Open(BlockBegin, Empty)
	one := f.Open(BlockBegin, Empty)
	zero := f.Open(BlockBegin, Empty)
	f.Get(i)
	f.I32Const(3)
	f.Op(I32RemU)
	f.BrTable([]Label{zero, one}, two)
	f.End()
	f.Get(s)
	f.Get(i)
	f.Op(I32Eqz)
	f.Open(If, BlockOf(I32))
	f.I32Const(100)
	f.Else()
	f.I32Const(1)
	f.End()
	f.Op(I32Add)
	f.Set(s)
	f.Br(Br, next)
	f.End()
	f.End()
	f.Get(s)
	f.Get(i)
	f.Call(double)
	f.Op(I32Add)
	f.Set(s)
	f.End()
	f.Get(i)
	f.I32Const(1)
	f.Op(I32Add)
	f.Set(i)
	f.Br(Br, again)
	f.End()
	f.End()
	f.Get(s)
	_, err := r.NewHostModuleBuilder("host").NewFunctionBuilder().
		WithFunc(func(v int32) int32 { return 2 * v }).Export("double").Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in, err := r.Instantiate(t.Context(), m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 2, 3, 10, 64, 300} {
		want := 0
		for i := range n {
			switch {
			case i == 0:
				want += 100
			case i%3 == 0:
				want++
			default:
				want += 2 * i
			}
		}
		got, err := in.ExportedFunction("sum").Call(t.Context(), uint64(n))
		if err != nil || len(got) != 1 || int(got[0]) != want {
			t.Errorf("sum(%d) = %v, want %d, error %v", n, got, want, err)
		}
	}
}

// TestVectors computes y = a*x + y on vectors in a memory that two instances share.
func TestVectors(t *testing.T) {
	r := runtime(t)
	mem := memory(t, r)
	m := &Module{}
	m.ImportMemory(shared)
	f := m.Func(FuncType{[]ValType{I32, I32, I32, F32}, nil}) // x, y, end of x, a
	m.Export("saxpy", f)
	m.Data(65000, []byte{1, 2, 3})
	again := f.Open(Loop, Empty)
	f.Get(1)
	f.Get(0)
	f.Memory(V128Load, 4, 0)
	f.Get(3)
	f.Op(F32x4Splat)
	f.Op(F32x4Mul)
	f.Get(1)
	f.Memory(V128Load, 4, 0)
	f.Op(F32x4Add)
	f.Memory(V128Store, 4, 0)
	for _, v := range []uint32{0, 1} {
		f.Get(v)
		f.I32Const(16)
		f.Op(I32Add)
		f.Set(v)
	}
	f.Get(0)
	f.Get(2)
	f.Op(I32LtU)
	f.Br(BrIf, again)
	f.End()
	code, err := r.CompileModule(t.Context(), m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	const n = 2048
	at := func(i int, v float32) { mem.WriteUint32Le(uint32(4*i), math.Float32bits(v)) }
	for i := range n {
		at(i, float32(i))
		at(n+i, 1)
	}
	var all sync.WaitGroup
	for half := range 2 {
		all.Go(func() {
			in, err := r.InstantiateModule(t.Context(), code, wazero.NewModuleConfig().WithName(""))
			if err != nil {
				t.Error(err)
				return
			}
			x := uint64(4 * half * n / 2)
			if _, err := in.ExportedFunction("saxpy").Call(t.Context(), x, x+4*n, x+4*n/2, api.EncodeF32(3)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b, _ := mem.Read(4*n, 4*n)
	for i := range n {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])); got != float32(3*i+1) {
			t.Fatalf("y[%d] = %v, want %d", i, got, 3*i+1)
		}
	}
	if b, _ := mem.Read(65000, 3); string(b) != "\x01\x02\x03" {
		t.Errorf("the data is %v", b)
	}
}

// TestNumbers compares the encoding of numbers with encoding/binary and with examples of
// the specification.
func TestNumbers(t *testing.T) {
	for _, v := range []uint32{0, 1, 127, 128, 624485, math.MaxUint32} {
		if got, n := binary.Uvarint(appendU32(nil, v)); got != uint64(v) || n != len(appendU32(nil, v)) {
			t.Errorf("%d is read as %d", v, got)
		}
	}
	for v, want := range map[int64]string{0: "\x00", 63: "\x3f", 64: "\xc0\x00", -1: "\x7f", -64: "\x40", -65: "\xbf\x7f", -123456: "\xc0\xbb\x78", math.MinInt64: "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"} {
		if got := string(appendS64(nil, v)); got != want {
			t.Errorf("%d: % x, want % x", v, got, want)
		}
	}
}
