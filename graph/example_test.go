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

// The gradient of a mean square by the weights of a product is a product again.
func ExampleGraph_Gradients() {
	g := graph.New()
	x, w := g.Input("x", tensor.F32, 64, 784), g.Param("w", tensor.F32, 784, 10)
	y := g.MatMul(x, w)
	loss := g.ReduceMean(g.Mul(y, y))
	g.Output("dw", g.Gradients(loss, w)[0])
	m, err := g.MIR()
	fmt.Printf("%v%v", m, err)
	// Output:
	// v0 = input x  f32[64,784]
	// v1 = param w  f32[784,10]
	// v2 = matmul trans_a=false trans_b=false v0 v1  f32[64,10]
	// v3 = mul v2 v2  f32[64,10]
	// v4 = reduce_mean dims=none keepdims=false v3  f32[]
	// v5 = fill value=1 dtype=f32 shape=none  f32[]
	// v6 = reshape v5  f32[1,1]
	// v7 = constant  f32[]
	// v8 = mul v6 v7  f32[1,1]
	// v9 = expand v8  f32[64,10] strides [0 0]
	// v10 = mul v9 v2  f32[64,10]
	// v11 = mul v9 v2  f32[64,10]
	// v12 = add v10 v11  f32[64,10]
	// v13 = matmul trans_a=true trans_b=false v0 v12  f32[784,10]
	// output dw = v13
	// <nil>
}
