package spv

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

// What drivers compile is counted after inlining, and values by their scalars.
func TestAmounts(t *testing.T) {
	base, err := Parse("", assemble(t, v13, good))
	if err != nil {
		t.Fatal(err)
	}
	vars := edit(t, good, "%main = OpFunction %void 0 %mainType", `
%tileF = OpTypePointer 7 %tile
%uF = OpTypePointer 7 %u32
%zeros = OpConstantNull %tile
%main = OpFunction %void 0 %mainType`)
	vars = edit(t, vars, "%helpEntry = OpLabel", "%helpEntry = OpLabel\n%mine = OpVariable %tileF 7 %zeros\n%scalar = OpVariable %uF 7")
	copied := edit(t, vars, "%scalar = OpVariable %uF 7", "%scalar = OpVariable %uF 7\n%all = OpLoad %tile %mine\nOpStore %mine %all")
	twice := edit(t, copied, "%r = OpFunctionCall %f32 %help %sum", "%r0 = OpFunctionCall %f32 %help %sum\n%r = OpFunctionCall %f32 %help %r0")
	one, err := Parse("", assemble(t, v13, edit(t, good, "%r = OpFunctionCall %f32 %help %sum", "%r0 = OpFunctionCall %f32 %help %sum\n%r = OpFunctionCall %f32 %help %r0")))
	if err != nil {
		t.Fatal(err)
	}
	body := one.Instructions - base.Instructions // a call and the function
	for _, c := range []struct {
		name, text              string
		registers, scalars, all uint64
	}{
		{"none", good, 0, 0, base.Instructions},
		{"initialised", vars, 1, 16, base.Instructions + 16},
		{"copied", copied, 1, 16, base.Instructions + 48},
		{"called twice", twice, 2, 16, base.Instructions + 96 + body},
	} {
		m, err := Parse("", assemble(t, v13, c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if m.Registers != c.registers || m.ValueScalars != c.scalars || m.Instructions != c.all {
			t.Errorf("%s: got %d registers, %d scalars, %d instructions, want %d, %d, %d", c.name, m.Registers, m.ValueScalars, m.Instructions, c.registers, c.scalars, c.all)
		}
	}
}
