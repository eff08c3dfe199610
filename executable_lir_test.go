package lathe_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// A program can write a schedule itself: which call runs when, and where its operands lie.
func ExampleDevice_CompileLIR() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend("cpu"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	d := tensor.Contiguous(tensor.F32, 3)
	x, between, y := lir.Operand{Value: 0, Memory: lir.Inputs, Desc: d}, lir.Operand{Value: 1, Memory: lir.Arena, Offset: 256, Desc: d}, lir.Operand{Value: 2, Memory: lir.Outputs, Desc: d}
	exe, err := dev.CompileLIR(ctx, &lir.Program{
		Inputs: []lir.Port{{Name: "x", Desc: d}}, Outputs: []lir.Port{{Name: "y", Desc: d}}, Arena: []int64{512},
		Steps: []lir.Step{
			{Call: ops.Neg{}, In: []lir.Operand{x}, Out: []lir.Operand{between}},
			{Call: ops.Abs{}, In: []lir.Operand{between}, Out: []lir.Operand{y}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer exe.Free()
	in, err := lathe.FromSlice(ctx, dev, []float32{1, -2, 3}, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": in})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lathe.ToSlice[float32](ctx, out["y"]))
	// Output: [1 2 3] <nil>
}

// TestCompileLIR gives every value of a schedule memory of its own, and runs it beside the schedule that it was. Then it damages it.
func TestCompileLIR(t *testing.T) {
	dev, ctx := deviceFor(t), context.Background()
	g := chain(4)
	one, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Free()
	p := *one.Plan().Program
	p.Steps, p.Arena = slices.Clone(p.Steps), []int64{0}
	at := map[int]int64{} // by value
	place := func(n int64) int64 {
		from := p.Arena[0]
		p.Arena[0] += (n + 1023) / 1024 * 1024
		return from
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		s.In, s.Out, s.Scratch, s.Code = slices.Clone(s.In), slices.Clone(s.Out), slices.Clone(s.Scratch), nil
		for k := range s.Out {
			if o := &s.Out[k]; o.Memory == lir.Arena {
				o.Offset = place(o.Desc.Bytes())
				at[int(o.Value)] = o.Offset
			}
		}
		for k := range s.In {
			if o := &s.In[k]; o.Memory == lir.Arena {
				o.Offset = at[int(o.Value)]
			}
		}
		for k := range s.Scratch {
			s.Scratch[k] = lir.Range{Offset: place(s.Scratch[k].Size), Size: s.Scratch[k].Size}
		}
	}
	two, err := dev.CompileLIR(ctx, &p)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Free()
	if two.Plan().String() == "" || two.Plan().Program.Launches() != one.Plan().Program.Launches() {
		t.Errorf("the plan is\n%v", two.Plan())
	}
	x, w := filled(t, dev, 32, 32), filled(t, dev, 32, 32)
	var got [2][]float32
	p.Steps[0].In[0].Offset = 1 << 40 // the Executable keeps nothing of p
	for i, exe := range []*lathe.Executable{one, two} {
		if err := exe.SetParam("w", w); err != nil {
			t.Fatal(err)
		}
		out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		if got[i], err = lathe.ToSlice[float32](ctx, out["y"]); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got[0], got[1]) {
		t.Errorf("got %v, want %v", got[1][:8], got[0][:8])
	}
	if _, err := dev.CompileLIR(ctx, &p); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("an offset outside of the arena: %v", err)
	}
	if _, err := dev.CompileLIR(ctx, nil); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("no program: %v", err)
	}
	bare := &graph.Plan{Program: &lir.Program{Steps: []lir.Step{{}, {Call: ops.Neg{}}, {Call: ops.MatMul{}, In: []lir.Operand{{Memory: lir.Inputs, Buffer: 7}}}}}}
	if bare.String() == "" || bare.Program.Launches() != 0 || bare.Cost().Flops != 0 {
		t.Error("a plan of nothing")
	}
}

// TestPrepareOfConstants moves a call of constants to those that depend on weights. No weight is ever set for it, and it runs all the same.
func TestPrepareOfConstants(t *testing.T) {
	dev, ctx := deviceFor(t), context.Background()
	for _, weight := range []bool{false, true} {
		g := graph.New()
		four, err := tensor.FromFloats(tensor.F32, []int{1}, []float64{4})
		if err != nil {
			t.Fatal(err)
		}
		x, w := g.Input("x", tensor.F32, 2), g.Sqrt(g.Constant(four))
		if weight {
			w = g.Add(w, g.Exp(g.Weight("w", tensor.F32, 2)))
		}
		g.Output("y", g.Mul(x, w))
		first, err := dev.Compile(ctx, g, graph.Options{Without: []string{"fuse", "epilogue", "prologue"}})
		if err != nil {
			t.Fatal(err)
		}
		defer first.Free()
		p := *first.Plan().Program
		if len(p.Once) == 0 {
			t.Fatalf("nothing runs once:\n%v", first.Plan())
		}
		p.Once, p.Prepare = nil, slices.Concat(p.Once, p.Prepare)
		exe, err := dev.CompileLIR(ctx, &p)
		if err != nil {
			t.Fatal(err)
		}
		defer exe.Free()
		zeros, err := lathe.FromSlice(ctx, dev, []float32{0, 0}, 2)
		if err != nil {
			t.Fatal(err)
		}
		in, err := lathe.FromSlice(ctx, dev, []float32{3, 5}, 2)
		if err != nil {
			t.Fatal(err)
		}
		want := []float32{6, 10}
		if weight {
			want = []float32{9, 15}
			if err := exe.SetParam("w", zeros); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": in})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := lathe.ToSlice[float32](ctx, out["y"]); err != nil || !slices.Equal(got, want) {
			t.Errorf("weight %v: got %v (%v), want %v", weight, got, err, want)
		}
	}
}
