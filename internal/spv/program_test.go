package spv

import (
	"os"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// TestProgram takes kernels apart and wants all operands, types and blocks to be there, before
// their calls are inlined and afterwards.
func TestProgram(t *testing.T) {
	files, err := committedFiles()
	if err != nil || len(files) == 0 {
		t.Fatalf("%d kernels, %v", len(files), err)
	}
	seen := map[ir.Op]int{}
	for i, file := range files {
		if !testlevel.Sampled(i, 4) {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Reflect(file, code)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Program(m)
		if err != nil {
			if slices.Contains(m.Capabilities, 5357) || slices.Contains(m.Capabilities, 6022) {
				continue // cooperative matrices
			}
			t.Errorf("%s: %v", file, err)
			continue
		}
		if p.LocalSize != m.LocalSize || p.Entry == nil || p.Entry != p.Funcs[len(p.Funcs)-1] {
			t.Errorf("%s: local size %v, entry %v", file, p.LocalSize, p.Entry)
		}
		slots := map[uint32]bool{}
		for _, v := range p.Vars {
			if c := v.Var.Class; c == ir.StorageBuffer || c == ir.Uniform || c == ir.UniformConstant {
				slots[v.Var.Slot] = true
			}
		}
		if len(slots) != len(m.Bindings) {
			t.Errorf("%s: %d slots, want %d", file, len(slots), len(m.Bindings))
		}
		for _, fn := range p.Funcs {
			for _, b := range fn.Blocks {
				for _, v := range b.Values {
					seen[v.Op]++
				}
			}
		}
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		p.Inline()
		if err := p.Check(); err != nil {
			t.Errorf("%s: without calls: %v", file, err)
		}
	}
	for _, op := range []ir.Op{ir.Phi, ir.Load, ir.Store, ir.AccessChain, ir.FAdd, ir.ExtInst, ir.ImageFetch, ir.ControlBarrier, ir.CompositeExtract} {
		if seen[op] == 0 {
			t.Errorf("%s is in no kernel: nothing was tested", InstructionName(op))
		}
	}
}

// TestProgramCalls inlines calls: in loops, with several returns, with pointers, of
// functions that call others.
func TestProgramCalls(t *testing.T) {
	text := `#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer B { int d[]; };
int twice(int x) { int y = x; if (x < 0) return -1; y += x; return y; }
void add(inout int to, in int x) { for (int i = 0; i < x; i++) { if (d[i] == 7) return; to += twice(d[i]); } }
int chain(int x) { int s = 3; add(s, x); add(s, twice(x)); return s + twice(s); }
void main() {
	int s = 0;
	for (int i = 0; i < d[0]; i++) { s += chain(i); if (twice(s) > 100) break; }
	d[1] = s;
	add(d[2], d[3]);
}
`
	m, err := Parse("calls", testkit.GLSL(t, text, "-O0"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Program(m)
	if err != nil {
		t.Fatal(err)
	}
	calls := func() (n int) {
		for _, fn := range p.Funcs {
			for _, b := range fn.Blocks {
				for _, v := range b.Values {
					if v.Op == ir.FunctionCall {
						n++
					}
				}
			}
		}
		return n
	}
	if n := calls(); n < 6 {
		t.Fatalf("%d calls: nothing is tested", n)
	}
	p.Inline()
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	if n := calls(); n > 0 || len(p.Funcs) != 1 {
		t.Errorf("%d calls and %d functions are left", n, len(p.Funcs))
	}
}
