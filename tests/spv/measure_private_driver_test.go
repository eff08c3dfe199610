//go:build cgo

package spv_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// table is a module of intHead with an array of so many words of an invocation's own, of
// the storage class: one is written, and one read that is another's or nobody's.
func table(t *testing.T, class, words int) *spv.Module {
	t.Helper()
	variable := fmt.Sprintf("%%arr = OpVariable %%arrP %d\n", class)
	head := fmt.Sprintf("%%size = OpConstant %%u %d\n%%list = OpTypeArray %%u %%size\n%%arrP = OpTypePointer %d %%list\n%%eP = OpTypePointer %d %%u\n", words, class, class)
	entry := "%main = OpFunction %void 0 %mainType\n%entry = OpLabel\n"
	if class == 6 {
		head += variable + entry
	} else {
		head += entry + variable
	}
	m, err := spv.Parse(fmt.Sprintf("%d words", words), assemble(t, intHead+strings.TrimLeft(head, "\n")+`
%id = OpLoad %u3 %gid
%x = OpCompositeExtract %u %id 0
%at = OpUMod %u %x %size
%to = OpAccessChain %eP %arr %at
OpStore %to %x
%pin = OpAccessChain %up %uin %n0 %n0
%one = OpLoad %u %pin
%last = OpISub %u %size %one
%from = OpAccessChain %eP %arr %last
%v = OpLoad %u %from
%out = OpAccessChain %up %uout %n0 %x
OpStore %out %v
OpReturn
OpFunctionEnd
`))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPrivateMemory runs invocations with memory of their own, and is told the limit of
// it before the driver would compile for minutes.
func TestPrivateMemory(t *testing.T) {
	const words = 48
	eachDevice(t, func(t *testing.T, dev gpu.Device) {
		most := dev.Info().Limits.MaxPrivateBytes
		if most == 0 || dev.Info().Backend == "wgpu" && most > 16<<10 {
			t.Fatalf("at most %d bytes", most)
		}
		for _, class := range []int{6, 7} {
			got := runWords(t, dev, table(t, class, words), []uint32{1, 0, 0, 0}, 64, 1)[0]
			if got[words-1] != words-1 {
				t.Errorf("storage class %d: got %d, want %d", class, got[words-1], words-1)
			}
			h, err := dev.Alloc(4 * 64)
			if err != nil {
				t.Fatal(err)
			}
			defer dev.Free(h)
			d := gpu.Dispatch{Module: table(t, class, int(most/4+1)), Groups: [3]uint32{1, 1, 1}}
			for range 6 {
				d.Bindings = append(d.Bindings, gpu.Binding{Buffer: h, Size: 4 * 64})
			}
			var limit *gpu.LimitError
			if err := dev.Submit([]gpu.Dispatch{d}); !errors.As(err, &limit) || limit.Name != "MaxPrivateBytes" || limit.Want != int64(most)+4 || limit.Have != int64(most) {
				t.Errorf("storage class %d: got %v, want the limit of %d bytes", class, err, most)
			}
		}
	})
}
