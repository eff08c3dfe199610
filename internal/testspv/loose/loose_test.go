package loose

import (
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv"
)

// assemble makes a module that stores the float of its last line, %r, of x and y.
func assemble(t *testing.T, decorations, body string) []byte {
	t.Helper()
	code, err := spv.Assemble(0x10300, `
OpCapability 1
OpMemoryModel 0 1
OpEntryPoint 5 %main "main"
OpExecutionMode %main 17 1 1 1
OpDecorate %B 3
OpMemberDecorate %B 0 35 0
OpDecorate %A 6 4
OpDecorate %b 34 0
OpDecorate %b 33 0
`+decorations+`
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%f = OpTypeFloat 32
%u = OpTypeInt 32 0
%A = OpTypeRuntimeArray %f
%B = OpTypeStruct %A
%pB = OpTypePointer 2 %B
%pf = OpTypePointer 2 %f
%zero = OpConstant %u 0
%one = OpConstant %u 1
%c = OpConstant %f 0x3fc00000
%d = OpConstant %f 0x40400000
%b = OpVariable %pB 2
%main = OpFunction %void 0 %fn
%l = OpLabel
%px = OpAccessChain %pf %b %zero %zero
%py = OpAccessChain %pf %b %zero %one
%x = OpLoad %f %px
%y = OpLoad %f %py
`+body+`
OpStore %px %r
OpReturn
OpFunctionEnd
`)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// arithmetic lists what computes in a module: the opcodes, and the numbers of extended instructions times −1.
func arithmetic(t *testing.T, code []byte) (ops []int) {
	t.Helper()
	m, err := parse(code)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range m.list {
		switch in.op {
		case opExtInst:
			ops = append(ops, -int(in.words[3]))
		case opFNegate, opFAdd, opFSub, opFMul, opFDiv, opSelect, opCopyObject:
			ops = append(ops, int(in.op))
		}
	}
	return ops
}

func TestRewrite(t *testing.T) {
	const precise = "OpDecorate %s 42"
	for _, c := range []struct {
		name, decorations, body string
		rules                   Rules
		want                    []int
	}{
		{"the larger", "", "%k = OpFOrdGreaterThan %bool %x %y\n%r = OpSelect %f %k %x %y", NaN, []int{-glslNMax}},
		{"the less, by the larger one", "", "%k = OpFUnordGreaterThanEqual %bool %x %y\n%r = OpSelect %f %k %y %x", NaN, []int{-glslNMin}},
		{"a bound", "", "%k = OpFOrdLessThan %bool %x %c\n%r = OpSelect %f %k %c %x", NaN, []int{-glslNMax}},
		{"another choice", "", "%k = OpFOrdLessThan %bool %x %y\n%r = OpSelect %f %k %c %x", NaN, []int{opSelect}},
		{"a choice, by another rule", "", "%k = OpFOrdLessThan %bool %x %y\n%r = OpSelect %f %k %x %y", Order, []int{opSelect}},
		{"two differences", "", "%s = OpFSub %f %x %y\n%r = OpFSub %f %s %x", Order, []int{opFSub, opFAdd, opFSub}},
		{"two precise differences", precise, "%s = OpFSub %f %x %y\n%r = OpFSub %f %s %x", Order, []int{opFSub, opFSub}},
		{"what rounding lost", "", "%s = OpFAdd %f %x %y\n%r = OpFSub %f %s %x", Order, []int{opFAdd, opCopyObject}},
		{"a sum that is divided", "", "%s = OpFAdd %f %x %c\n%r = OpFDiv %f %s %d", Order, []int{opFAdd, opFMul, opFAdd}},
		{"a precise sum that is divided", precise, "%s = OpFAdd %f %x %c\n%r = OpFDiv %f %s %d", Order, []int{opFAdd, opFMul, opFAdd}},
		{"a sum that is divided precisely", "OpDecorate %r 42", "%s = OpFAdd %f %x %c\n%r = OpFDiv %f %s %d", Order, []int{opFAdd, opFDiv}},
		{"a difference that is multiplied", "", "%s = OpFSub %f %x %c\n%r = OpFMul %f %d %s", Order, []int{opFSub, opFMul, opFAdd}},
	} {
		code, err := Rewrite(assemble(t, c.decorations, c.body), c.rules)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := arithmetic(t, code); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		if _, err := spv.Parse("", code); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Rewrite([]byte("no module"), NaN); err == nil {
		t.Error("no error for what is no module")
	}
}
