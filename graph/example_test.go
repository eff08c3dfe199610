package graph_test

import (
	"fmt"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/tensor"
)

// A graph is built without a device. Device.Compile of package lathe compiles it.
func ExampleGraph() {
	g := graph.New()
	x := g.Input("x", tensor.F32, 64, 784)
	w := g.Param("w", tensor.F32, 784, 10)
	p := g.Softmax(g.MatMul(x, w), -1)
	g.Output("p", p)
	fmt.Println(p, g.Err())
	// Output: f32[64,10] <nil>
}

// Mistakes are collected, and do not stop the program where they are made.
func ExampleGraph_Err() {
	g := graph.New()
	x := g.Input("x", tensor.F32, 4, 5)
	y := g.MatMul(x, x) // a mistake
	g.Output("y", g.ReLU(y))
	fmt.Println(g.Err() != nil)
	// Output: true
}
