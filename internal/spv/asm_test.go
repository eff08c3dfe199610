package spv

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// assemble makes a module of lines such as
//
//	%x = OpFAdd %f32 %a 3
//
// with enumerants as numbers, so that these tests need no shader compiler. Ids
// are numbered in the order they appear.
func assemble(t testing.TB, version uint32, text string) []byte {
	t.Helper()
	byName := map[string]opcode{}
	for _, g := range grammar {
		byName["Op"+g.name] = g.op
	}
	ids := map[string]uint32{}
	id := func(name string) uint32 {
		if ids[name] == 0 {
			ids[name] = uint32(len(ids) + 1)
		}
		return ids[name]
	}
	words := []uint32{magic, version, 0, 0, 0}
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, ";")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var res string
		if len(f) > 2 && f[1] == "=" {
			res, f = f[0], f[2:]
		}
		op, ok := byName[f[0]]
		if !ok {
			t.Fatalf("no opcode in %q", line)
		}
		w := []uint32{0}
		f = f[1:]
		if table[op].typ {
			w, f = append(w, id(f[0])), f[1:]
		}
		if res != "" {
			w = append(w, id(res))
		}
		for _, x := range f {
			switch {
			case x[0] == '%':
				w = append(w, id(x))
			case x[0] == '"':
				b := append([]byte(strings.Trim(x, `"`)), 0)
				for len(b)%4 != 0 {
					b = append(b, 0)
				}
				for ; len(b) > 0; b = b[4:] {
					w = append(w, binary.LittleEndian.Uint32(b))
				}
			default:
				v, err := strconv.ParseInt(x, 0, 64)
				if err != nil {
					t.Fatalf("%q in %q: %v", x, line, err)
				}
				w = append(w, uint32(v))
			}
		}
		w[0] = uint32(len(w))<<16 | uint32(op)
		words = append(words, w...)
	}
	words[3] = uint32(len(ids) + 1)
	code := make([]byte, 0, 4*len(words))
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
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
