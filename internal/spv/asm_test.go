package spv

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// assemble is Assemble. An error ends the test.
func assemble(t testing.TB, version uint32, text string) []byte {
	t.Helper()
	code, err := Assemble(version, text)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestAssembleRefuses(t *testing.T) {
	for _, text := range []string{"OpNone", "%x = OpNone 1", "OpCapability one", "%x = OpConstant", "OpFAdd", `OpCapability 0x`} {
		if code, err := Assemble(v13, text); !errors.Is(err, errs.ErrInvalidArgument) || code != nil {
			t.Errorf("%q: got %d bytes and %v, want ErrInvalidArgument", text, len(code), err)
		}
	}
	if code, err := Assemble(v13, "; nothing\n\n"); err != nil || len(code) != 4*headerWords {
		t.Errorf("nothing: got %d bytes, %v; want the header", len(code), err)
	}
}

// edit returns text with old replaced, which must be there.
func edit(t testing.TB, text, old, new string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q occurs %d times", old, strings.Count(text, old))
	}
	return strings.Replace(text, old, new, 1)
}

// word returns code with word i changed.
func word(code []byte, i int, v uint32) []byte {
	c := slices.Clone(code)
	binary.LittleEndian.PutUint32(c[4*i:], v)
	return c
}

// good is a module with one of most things: two buffers, push constants,
// shared memory, a specialisation constant, a helper function, a loop, a
// selection and a phi.
const good = `
OpCapability 1
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel 0 1
OpEntryPoint 5 %main "main" %gid
OpExecutionMode %main 17 8 4 1
OpName %params "Params"
OpMemberName %params 0 "n"
OpMemberName %params 1 "scale"
OpName %src "src"
OpName %dst "dst"
OpName %count "COUNT"
OpDecorate %gid 11 28
OpDecorate %count 1 7
OpDecorate %run 6 4
OpMemberDecorate %in 0 35 0
OpMemberDecorate %in 0 24
OpDecorate %in 2
OpDecorate %src 34 0
OpDecorate %src 33 0
OpMemberDecorate %out 0 35 0
OpMemberDecorate %out 1 35 16
OpDecorate %out 2
OpDecorate %dst 34 0
OpDecorate %dst 33 3
OpMemberDecorate %params 0 35 0
OpMemberDecorate %params 1 35 4
OpDecorate %params 2
%void = OpTypeVoid
%mainType = OpTypeFunction %void
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%i32 = OpTypeInt 32 1
%f32 = OpTypeFloat 32
%v3 = OpTypeVector %u32 3
%helpType = OpTypeFunction %f32 %f32
%inPtr = OpTypePointer 1 %v3
%gid = OpVariable %inPtr 1
%run = OpTypeRuntimeArray %f32
%in = OpTypeStruct %run
%inP = OpTypePointer 12 %in
%src = OpVariable %inP 12
%out = OpTypeStruct %u32 %run
%outP = OpTypePointer 12 %out
%dst = OpVariable %outP 12
%fP = OpTypePointer 12 %f32
%params = OpTypeStruct %u32 %f32
%paramsP = OpTypePointer 9 %params
%p = OpVariable %paramsP 9
%uPush = OpTypePointer 9 %u32
%fPush = OpTypePointer 9 %f32
%0 = OpConstant %u32 0
%1 = OpConstant %u32 1
%2 = OpConstant %u32 2
%264 = OpConstant %u32 264
%f1 = OpConstant %f32 0x3f800000
%count = OpSpecConstant %u32 16
%tile = OpTypeArray %f32 %count
%tileP = OpTypePointer 4 %tile
%shared = OpVariable %tileP 4
%fShared = OpTypePointer 4 %f32
%main = OpFunction %void 0 %mainType
%entry = OpLabel
%id = OpLoad %v3 %gid
%x = OpCompositeExtract %u32 %id 0
%np = OpAccessChain %uPush %p %0
%n = OpLoad %u32 %np
%far = OpUGreaterThanEqual %bool %x %n
OpSelectionMerge %inside 0
OpBranchConditional %far %leave %inside
%leave = OpLabel
OpReturn
%inside = OpLabel
%ap = OpAccessChain %fP %src %0 %x
%a = OpLoad %f32 %ap
%slot = OpAccessChain %fShared %shared %0
OpStore %slot %a
OpControlBarrier %2 %2 %264
OpBranch %head
%head = OpLabel
%i = OpPhi %u32 %0 %inside %iNext %next
%sum = OpPhi %f32 %f1 %inside %sumNext %next
OpLoopMerge %done %next 0
OpBranch %test
%test = OpLabel
%more = OpULessThan %bool %i %count
OpBranchConditional %more %body %done
%body = OpLabel
%sumNext = OpFAdd %f32 %sum %a
OpBranch %next
%next = OpLabel
%iNext = OpIAdd %u32 %i %1
OpBranch %head
%done = OpLabel
%r = OpFunctionCall %f32 %help %sum
%dp = OpAccessChain %fP %dst %1 %x
OpStore %dp %r
OpReturn
OpFunctionEnd
%help = OpFunction %f32 0 %helpType
%v = OpFunctionParameter %f32
%helpEntry = OpLabel
%sq = OpExtInst %f32 %glsl 31 %v
OpReturnValue %sq
OpFunctionEnd
`

const v13 = 0x10300
