package abi

import "testing"

// What an invocation has in memory of its own is counted over the calls there are.
func TestPrivateBytes(t *testing.T) {
	arrays := edit(t, good, "%main = OpFunction %void 0 %mainType", `
%tileF = OpTypePointer 7 %tile
%tileV = OpTypePointer 6 %tile
%uF = OpTypePointer 7 %u32
%global = OpVariable %tileV 6
%main = OpFunction %void 0 %mainType`)
	arrays = edit(t, arrays, "%helpEntry = OpLabel", "%helpEntry = OpLabel\n%mine = OpVariable %tileF 7\n%scalar = OpVariable %uF 7")
	twice := edit(t, arrays, "%r = OpFunctionCall %f32 %help %sum", "%r0 = OpFunctionCall %f32 %help %sum\n%r = OpFunctionCall %f32 %help %r0")
	for _, c := range []struct {
		name, text string
		want       uint64
	}{{"none", good, 0}, {"a global one and one of a function", arrays, 128}, {"called twice", twice, 192}} {
		m, err := Parse("", assemble(t, v13, c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if m.PrivateBytes != c.want {
			t.Errorf("%s: got %d bytes, want %d", c.name, m.PrivateBytes, c.want)
		}
	}
}
