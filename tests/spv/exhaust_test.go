//go:build cgo

package spv_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// TestExhausting has modules that ask for more than what stands below a device has:
// each runs or is refused, and the process lives.
func TestExhausting(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
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
	wide.want, wide.refused = first(5000), map[string]string{"cpu": "device limit exceeded"}
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

// TestCompiling has modules that are small and much to compile: they are refused, and
// those a quarter as large run.
func TestCompiling(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
	var list []danger
	refuse := func(d danger, word string) {
		d.want, d.refused = nil, map[string]string{"": word}
		list = append(list, d)
	}

	held := func(n int) danger {
		return danger{name: fmt.Sprintf("%d words in one value", n), decor: "OpDecorate %arr 6 4\nOpMemberDecorate %whole 0 35 0\nOpDecorate %whole 2\nOpDecorate %from 34 0\nOpDecorate %from 33 2\nOpDecorate %to 34 0\nOpDecorate %to 33 3",
			types: fmt.Sprintf("%%n = OpConstant %%u32 %d\n%%arr = OpTypeArray %%u32 %%n\n%%whole = OpTypeStruct %%arr\n%%wholeP = OpTypePointer 12 %%whole\n%%arrP = OpTypePointer 12 %%arr\n%%from = OpVariable %%wholeP 12\n%%to = OpVariable %%wholeP 12", n),
			body:  "%p = OpAccessChain %arrP %from %0\n%v = OpLoad %arr %p\n%q = OpAccessChain %arrP %to %0\nOpStore %q %v\n%r = OpCompositeExtract %u32 %v 5",
			more:  []int{4 * n, 4 * n}, want: first(0)}
	}
	list = append(list, held(64))
	for _, n := range []int{1024, 131072} {
		refuse(held(n), "MaxValueScalars")
	}

	tab := func(n int) danger {
		d := danger{name: fmt.Sprintf("a table of %d words", n), x: []uint32{7}, vars: "%s = OpVariable %arrP 7", body: "OpStore %s %tab\n%p = OpAccessChain %sP %s %a\n%r = OpLoad %u32 %p", want: first(3)}
		d.types = fmt.Sprintf("%%n = OpConstant %%u32 %d\n%%arr = OpTypeArray %%u32 %%n\n%%arrP = OpTypePointer 7 %%arr\n%%sP = OpTypePointer 7 %%u32\n%%tab = OpConstantComposite %%arr", n) + strings.Repeat(" %3", n)
		return d
	}
	list = append(list, tab(64))
	refuse(tab(512), "MaxValueScalars")

	// Each function calls the one before twice.
	bomb := func(depth int) danger {
		d := danger{name: fmt.Sprintf("calls %d deep, two each", depth), x: []uint32{1}, types: "%ft = OpTypeFunction %u32 %u32", body: fmt.Sprintf("%%r = OpFunctionCall %%u32 %%fn%d %%a", depth), want: first(1 << depth)}
		d.functions = "%fn0 = OpFunction %u32 0 %ft\n%fp0 = OpFunctionParameter %u32\n%fl0 = OpLabel\nOpReturnValue %fp0\nOpFunctionEnd\n"
		for i := 1; i <= depth; i++ {
			d.functions += strings.NewReplacer("#", fmt.Sprint(i), "@", fmt.Sprint(i-1)).Replace("%fn# = OpFunction %u32 0 %ft\n%fp# = OpFunctionParameter %u32\n%fl# = OpLabel\n" +
				"%fa# = OpFunctionCall %u32 %fn@ %fp#\n%fb# = OpFunctionCall %u32 %fn@ %fp#\n%fs# = OpIAdd %u32 %fa# %fb#\nOpReturnValue %fs#\nOpFunctionEnd\n")
		}
		return d
	}
	list = append(list, bomb(8))
	refuse(bomb(14), "MaxInstructions")
	refuse(bomb(40), "MaxInstructions")

	scalars := func(n int) danger {
		d := danger{name: fmt.Sprintf("%d scalars of an invocation", n), x: []uint32{5}, types: "%pP = OpTypePointer 6 %u32", want: first(uint32(5 + n))}
		d.body = "%b0 = OpCopyObject %u32 %a"
		for i := range n {
			d.types += fmt.Sprintf("\n%%w%d = OpVariable %%pP 6", i)
			d.body += strings.NewReplacer("#", fmt.Sprint(i), "@", fmt.Sprint(i+1)).Replace("\nOpStore %w# %b#\n%c# = OpLoad %u32 %w#\n%b@ = OpIAdd %u32 %c# %1")
		}
		d.body += fmt.Sprintf("\n%%r = OpCopyObject %%u32 %%b%d", n)
		return d
	}
	list = append(list, scalars(1000))
	refuse(scalars(3000), "MaxRegisters")
	brave(t, list, 20*time.Second)
}

// TestBoundOfIDs has a header that claims four million ids.
func TestBoundOfIDs(t *testing.T) {
	d := danger{body: "%r = OpIAdd %u32 %a %1"}
	code := d.code(t)
	code[12], code[13], code[14], code[15] = 0, 0, 64, 0 // 4 194 304
	if _, err := spv.Parse("", code); err != nil {
		t.Fatal(err)
	}
	for _, drv := range launch.Drivers(t) {
		j := launch.Job{Code: code, Buffers: [][]byte{testkit.Words(41, 0, 0, 0), make([]byte, 64)}}
		r, err := launch.New(t, drv).Run(t.Context(), j, 60*time.Second)
		if err != nil || r.Refused() || r.Buffers[1][0] != 42 {
			t.Errorf("%s: %v %s %v", drv.Name, err, r.Err, r.Buffers)
		}
	}
}
