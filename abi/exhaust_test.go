//go:build cgo

package abi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/abi"
	"github.com/lathe-gpu/lathe/tests/foreign/launch"
)

// TestExhausting has modules that ask for more than what stands below a device has:
// each runs or is refused, and the process lives.
func TestExhausting(t *testing.T) {
	array := func(n int) danger {
		return danger{name: fmt.Sprintf("%d words of an invocation", n),
			types: fmt.Sprintf("%%n = OpConstant %%u32 %d\n%%arr = OpTypeArray %%u32 %%n\n%%arrP = OpTypePointer 7 %%arr\n%%sP = OpTypePointer 7 %%u32\n%%nine = OpConstant %%u32 9", n),
			vars:  "%s = OpVariable %arrP 7", body: "%p = OpAccessChain %sP %s %a\nOpStore %p %nine\n%r = OpLoad %u32 %p"}
	}
	var list []danger
	for _, n := range []int{8193, 1 << 16, 1 << 28} {
		d := array(n)
		d.refused = map[string]string{"": "MaxPrivateBytes"}
		list = append(list, d)
	}
	list = append(list, array(64))
	list[len(list)-1].want = first(9)
	many := danger{name: "2³² workgroups", groups: [3]uint32{65535, 65535, 2}, body: "%r = OpCopyObject %u32 %2", refused: map[string]string{"": "MaxTotalGroups"}}
	list = append(list, many)

	wide := danger{name: "a switch of 5000 cases", x: []uint32{4999}, vars: "", body: "%r0 = OpIAdd %u32 %a %1\n"}
	wide.body += "OpSelectionMerge %sm 0\nOpSwitch %a %sm"
	blocks := ""
	for i := range 5000 {
		wide.body += fmt.Sprintf(" %d %%c%d", i, i)
		blocks += fmt.Sprintf("\n%%c%d = OpLabel\nOpBranch %%sm", i)
	}
	wide.body += blocks + "\n%sm = OpLabel\n%r = OpCopyObject %u32 %r0"
	wide.want = first(5000)
	list = append(list, wide)

	calls := danger{name: "300 functions in a chain", x: []uint32{7}, types: "%ft = OpTypeFunction %u32 %u32", body: "%r = OpFunctionCall %u32 %fn0 %a", want: first(307)}
	for i := range 300 {
		calls.functions += fmt.Sprintf("%%fn%d = OpFunction %%u32 0 %%ft\n%%fp%d = OpFunctionParameter %%u32\n%%fl%d = OpLabel\n%%fa%d = OpIAdd %%u32 %%fp%d %%1\n", i, i, i, i, i)
		v := fmt.Sprintf("%%fa%d", i)
		if i < 299 {
			calls.functions += fmt.Sprintf("%%fv%d = OpFunctionCall %%u32 %%fn%d %%fa%d\n", i, i+1, i)
			v = fmt.Sprintf("%%fv%d", i)
		}
		calls.functions += "OpReturnValue " + v + "\nOpFunctionEnd\n"
	}
	calls.may = map[string]string{"webgpu": "unsupported"}
	list = append(list, calls)

	nested := danger{name: "arrays inside each other", x: []uint32{1}, types: "%n = OpConstant %u32 1\n%t0 = OpTypeArray %u32 %n\n%nine = OpConstant %u32 9\n%sP = OpTypePointer 7 %u32", want: first(9)}
	for i := range 50 {
		nested.types += fmt.Sprintf("\n%%t%d = OpTypeArray %%t%d %%n", i+1, i)
	}
	nested.types += "\n%tP = OpTypePointer 7 %t50"
	nested.vars = "%s = OpVariable %tP 7"
	nested.body = "%p = OpAccessChain %sP %s" + strings.Repeat(" %a", 51) + "\nOpStore %p %nine\n%r = OpLoad %u32 %p"
	list = append(list, nested)
	brave(t, list, 60*time.Second)
}

// TestBoundOfIDs has a header that claims four million ids.
func TestBoundOfIDs(t *testing.T) {
	d := danger{body: "%r = OpIAdd %u32 %a %1"}
	code := d.code(t)
	code[12], code[13], code[14], code[15] = 0, 0, 64, 0 // 4 194 304
	if _, err := abi.Parse("", code); err != nil {
		t.Fatal(err)
	}
	for _, drv := range launch.Drivers(t) {
		j := launch.Job{Code: code, Buffers: [][]byte{words32(41, 0, 0, 0), make([]byte, 64)}}
		r, err := launch.New(t, drv).Run(t.Context(), j, 60*time.Second)
		if err != nil || r.Refused() || r.Buffers[1][0] != 42 {
			t.Errorf("%s: %v %s %v", drv.Name, err, r.Err, r.Buffers)
		}
	}
}
