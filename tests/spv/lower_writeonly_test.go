//go:build cgo

package spv_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// writeOnly is what compilers make of a buffer that is only written, for SPIR-V 1.0:
// the member of a BufferBlock in the storage class Uniform is NonReadable. The other
// forms are made of it.
const writeOnly = `
OpCapability 1
OpMemoryModel 0 1
OpEntryPoint 5 %main "main" %gid
OpExecutionMode %main 17 4 1 1
OpDecorate %gid 11 28
OpDecorate %list 6 4
OpMemberDecorate %from 0 24
OpMemberDecorate %from 0 35 0
OpDecorate %from 3
OpMemberDecorate %to 0 25
OpMemberDecorate %to 0 35 0
OpDecorate %to 3
OpDecorate %src 34 0
OpDecorate %src 33 0
OpDecorate %dst 34 0
OpDecorate %dst 33 1
%void = OpTypeVoid
%mainType = OpTypeFunction %void
%u = OpTypeInt 32 0
%u3 = OpTypeVector %u 3
%inP = OpTypePointer 1 %u3
%gid = OpVariable %inP 1
%list = OpTypeRuntimeArray %u
%from = OpTypeStruct %list
%to = OpTypeStruct %list
%fromP = OpTypePointer 2 %from
%toP = OpTypePointer 2 %to
%uP = OpTypePointer 2 %u
%src = OpVariable %fromP 2
%dst = OpVariable %toP 2
%n0 = OpConstant %u 0
%n1 = OpConstant %u 1
%main = OpFunction %void 0 %mainType
%entry = OpLabel
%id = OpLoad %u3 %gid
%x = OpCompositeExtract %u %id 0
%p = OpAccessChain %uP %src %n0 %x
%v = OpLoad %u %p
%w = OpIAdd %u %v %n1
%q = OpAccessChain %uP %dst %n0 %x
OpStore %q %w
OpReturn
OpFunctionEnd
`

const writeOnlySource = `#version 450
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer From { uint from[]; };
layout(binding = 1) writeonly buffer To { uint to[]; };
void main() { to[gl_GlobalInvocationID.x] = from[gl_GlobalInvocationID.x] + 1u; }
`

// targets are flags of glslc. Without --target-env it makes SPIR-V 1.0.
var targets = map[string][]string{
	"plain": {"-O0"}, "plain -O": {"-O"},
	"vulkan1.0": {"--target-env=vulkan1.0"}, "vulkan1.0 -O": {"--target-env=vulkan1.0", "-O"},
	"vulkan1.1": {"--target-env=vulkan1.1"}, "vulkan1.2": {"--target-env=vulkan1.2"},
	"vulkan1.3": {"--target-env=vulkan1.3"}, "vulkan1.3 -O": {"--target-env=vulkan1.3", "-O"},
}

// TestWriteOnly runs buffers that are only written, however the module says so, and as
// the newest and the oldest output of glslc.
func TestWriteOnly(t *testing.T) {
	block := strings.NewReplacer("OpDecorate %from 3", "OpDecorate %from 2", "OpDecorate %to 3", "OpDecorate %to 2", "OpTypePointer 2 ", "OpTypePointer 12 ",
		"Variable %fromP 2", "Variable %fromP 12", "Variable %toP 2", "Variable %toP 12")
	variable := strings.NewReplacer("OpMemberDecorate %to 0 25\n", "", "OpDecorate %dst 34 0\n", "OpDecorate %dst 34 0\nOpDecorate %dst 25\n")
	group := strings.NewReplacer("OpMemberDecorate %to 0 25\n", "OpDecorate %group 25\n%group = OpDecorationGroup\nOpGroupMemberDecorate %group %to 0\n")
	// The types in the other order, as glslc has them.
	turned := strings.NewReplacer("%from = OpTypeStruct %list\n%to = OpTypeStruct %list\n", "%to = OpTypeStruct %list\n%from = OpTypeStruct %list\n")
	modules := map[string][]byte{
		"turned":             assemble(t, turned.Replace(writeOnly)),
		"member":             assemble(t, writeOnly),
		"variable":           assemble(t, variable.Replace(writeOnly)),
		"group":              assemble(t, group.Replace(writeOnly)),
		"block":              assemble(t, block.Replace(writeOnly)),
		"variable of blocks": assemble(t, block.Replace(variable.Replace(writeOnly))),
	}
	if testkit.ToolIfAny(t, "glslc") != "" {
		for name, flags := range targets {
			modules[name] = testkit.GLSL(t, writeOnlySource, flags...)
		}
	}
	eachDeviceAndCPU(t, func(t *testing.T, dev gpu.Device) {
		for name, code := range modules {
			t.Run(name, func(t *testing.T) {
				m, err := spv.Parse(name, code)
				if err != nil {
					t.Fatal(err)
				}
				d := gpu.Dispatch{Module: m, Groups: [3]uint32{1, 1, 1}}
				for range 2 {
					h, err := dev.Alloc(16)
					if err != nil {
						t.Fatal(err)
					}
					defer dev.Free(h)
					d.Bindings = append(d.Bindings, gpu.Binding{Buffer: h, Size: 16})
				}
				if err := dev.Write(t.Context(), d.Bindings[0].Buffer, 0, testkit.Words(1, 2, 3, 4)); err != nil {
					t.Fatal(err)
				}
				// Once each way, and once where both are one buffer.
				same := d
				same.Bindings = []gpu.Binding{d.Bindings[1], d.Bindings[1]}
				if err := dev.Submit([]gpu.Dispatch{d, same}); err != nil {
					t.Fatal(err)
				}
				got := make([]byte, 16)
				if err := dev.Read(t.Context(), d.Bindings[1].Buffer, 0, got); err != nil {
					t.Fatal(err)
				}
				if want := testkit.Words(3, 4, 5, 6); !bytes.Equal(got, want) {
					t.Errorf("got %x, want %x", got, want)
				}
			})
		}
	})
}

// TestWriteOnlyMembers runs a block that is written through some members and read through
// others, and a texel buffer that is only written, in all forms that glslc makes of them.
func TestWriteOnlyMembers(t *testing.T) {
	testlevel.Turn(t, 5)
	if testkit.ToolIfAny(t, "glslc") == "" {
		return
	}
	const members = `#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Both { readonly uint n; writeonly uint to[3]; };
layout(binding = 1) restrict coherent writeonly buffer To { uint all[]; };
void main() { for (uint i = 0; i < 3; i++) { to[i] = n + i; all[i] = 2 * n; } all[3] = all.length(); }
`
	const texels = `#version 450
layout(local_size_x = 1) in;
layout(binding = 0, rgba32ui) writeonly uniform uimageBuffer pixels;
layout(binding = 1) writeonly buffer To { uvec4 all[]; };
void main() { imageStore(pixels, 0, uvec4(5, 5, 6, 7)); all[0] = uvec4(10, 10, 10, 4); }
`
	eachDeviceAndCPU(t, func(t *testing.T, dev gpu.Device) {
		for name, flags := range targets {
			for what, source := range map[string]string{"members": members, "texels": texels} {
				t.Run(name+"/"+what, func(t *testing.T) {
					code := testkit.GLSL(t, source, flags...)
					var hs []gpu.Handle
					for range 2 {
						h, err := dev.Alloc(16)
						if err != nil {
							t.Fatal(err)
						}
						defer dev.Free(h)
						if err := dev.Write(t.Context(), h, 0, testkit.Words(5, 0, 0, 0)); err != nil {
							t.Fatal(err)
						}
						hs = append(hs, h)
					}
					if err := gpu.DispatchCompute(t.Context(), dev, code, hs, nil, [3]uint32{1, 1, 1}); err != nil {
						t.Fatal(err)
					}
					for i, want := range [][]byte{testkit.Words(5, 5, 6, 7), testkit.Words(10, 10, 10, 4)} {
						got := make([]byte, 16)
						if err := dev.Read(t.Context(), hs[i], 0, got); err != nil {
							t.Fatal(err)
						}
						if !bytes.Equal(got, want) {
							t.Errorf("binding %d: got %x, want %x", i, got, want)
						}
					}
				})
			}
		}
	})
}

// eachDeviceAndCPU is eachDevice, and runs the test on the device of package cpu too.
func eachDeviceAndCPU(t *testing.T, run func(t *testing.T, dev gpu.Device)) {
	eachDevice(t, run)
	t.Run("cpu", func(t *testing.T) {
		dev, err := cpu.Open(cpu.Options{NoCache: true})
		run(t, testkit.Device(t, dev, err))
	})
}
