package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/tensor"
)

// A graph takes operations of a program like those of Lathe.
func ExampleDifference() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend("cpu"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	g := graph.New()
	x, y := g.Input("x", tensor.F32, 3), g.Input("y", tensor.F32, 3)
	far := g.Call(Difference{}, x, y)[0]
	g.Output("farthest", g.ReduceMax(g.Sqrt(far)))
	exe, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer exe.Free()
	fmt.Println(exe.Plan().Steps()[0].Call)
	// Output: example_difference
}

// TestGraph runs an operation of the program between operations of Lathe in a graph, which was written to a file and read again.
func TestGraph(t *testing.T) {
	onBackends(t, func(t *testing.T, open func(...lathe.Option) *lathe.Device) {
		dev, ctx := open(), context.Background()
		built := graph.New()
		x, y := built.Input("x", tensor.F32, 4, 3), built.Param("y", tensor.F32, 3, 4)
		far := built.Call(Difference{}, built.Abs(built.Neg(x)), y.Transpose())[0] // it takes no strides
		built.Output("z", built.Add(built.Neg(far), x))
		data, err := json.Marshal(built)
		if err != nil {
			t.Fatal(err)
		}
		g := graph.New()
		if err := json.Unmarshal(data, g); err != nil {
			t.Fatal(err)
		}
		exe, err := dev.Compile(ctx, g, graph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, b, want := make([]float32, 12), make([]float32, 12), make([]float32, 12)
		for i := range a {
			a[i], b[i] = float32(i)-5, float32(i*i%7)
		}
		for i := range a {
			p, q := max(a[i], -a[i]), b[i%3*4+i/3]
			want[i] = a[i] - max(p-q, q-p)
		}
		in, err := lathe.FromSlice(ctx, dev, a, 4, 3)
		if err != nil {
			t.Fatal(err)
		}
		param, err := lathe.FromSlice(ctx, dev, b, 3, 4)
		if err != nil {
			t.Fatal(err)
		}
		if err := exe.SetParam("y", param); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": in})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := lathe.ToSlice[float32](ctx, out["z"]); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		}
		if n := exe.Plan().Report.Fusion.Launches; n != 2 {
			t.Errorf("%d fused launches around the operation, want 2:\n%v", n, exe.Plan())
		}
		if err := exe.Free(); err != nil {
			t.Error(err)
		}
	})
}
