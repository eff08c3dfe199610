package ir_test

import (
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/testgpu/committed"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// TestPasses runs the passes on committed kernels. The rules of the package hold after each
// of them, and no division by 4 is left.
func TestPasses(t *testing.T) {
	before, after := 0, 0
	for i, m := range committed.Kernels(t) {
		if !testlevel.Sampled(i, 32) {
			continue
		}
		p, err := spv.Program(m)
		if m.Matrices() { // Program knows no cooperative matrices.
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		p.Inline()
		before += count(p)
		for _, pass := range []struct {
			name string
			run  func()
		}{{"Promote", p.Promote}, {"Join", p.Join}, {"Simplify", p.Simplify}, {"Reuse", p.Reuse}, {"Simplify", p.Simplify}, {"Hoist", p.Hoist}} {
			pass.run()
			if err := p.Check(); err != nil {
				t.Fatalf("%s: after %s: %v", m.Name, pass.name, err)
			}
		}
		after += count(p)
		for _, b := range p.Entry.Blocks {
			for _, v := range b.Values {
				if d := v.Op == ir.UDiv && v.Args[1].Op == ir.Const; d && v.Args[1].Type.Kind == ir.Int && v.Args[1].Bits == 4 {
					t.Errorf("%s: a division by 4 is left", m.Name)
				}
			}
		}
	}
	t.Logf("%d values became %d", before, after)
	if after >= before {
		t.Error("the passes have removed nothing")
	}
}

func count(p *ir.Program) (n int) {
	for _, b := range p.Entry.Blocks {
		n += len(b.Values)
	}
	return n
}
