// Package networks has small networks that the tests of graphs, the bench and "lathe graph example" share. A network is written once, for any
// Maker: one makes values of a graph, and the other one tensors, call by call.
package networks

import (
	"math"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
)

// Maker makes the values of a network. All are F32.
type Maker[V any] interface {
	// Input is what the network is given, and Param a weight, which a graph has as Graph.Weight.
	Input(name string, shape ...int) V
	Param(name string, shape ...int) V
	// Call is the first result of a call.
	Call(c spec.Call, in ...V) V
	Reshape(v V, shape ...int) V
	Transpose(v V, perm ...int) V
}

// Network is a network with one result.
type Network struct {
	// Name and Doc say what it is, for users.
	Name, Doc string
	// Graph and Eager build it for both makers.
	Graph func(Maker[*graph.Value]) *graph.Value
	Eager func(Maker[*lathe.Tensor]) *lathe.Tensor
}

// All lists the networks.
var All = []Network{
	{"chain", "eight elementwise calls on three operands", chain[*graph.Value], chain[*lathe.Tensor]},
	{"mlp", "a perceptron with a hidden layer, for 64 digits of 28 by 28 pixels", mlp[*graph.Value], mlp[*lathe.Tensor]},
	{"block", "a block of a transformer, for 128 positions", block[*graph.Value], block[*lathe.Tensor]},
	{"cnn", "a network with two convolutions, for 16 digits", cnn[*graph.Value], cnn[*lathe.Tensor]},
}

func chain[V any](m Maker[V]) V {
	x, y, z := m.Input("x", 4096, 1024), m.Input("y", 4096, 1024), m.Param("z", 1024)
	v := m.Call(ops.Mul{}, m.Call(ops.Add{}, x, z), y)
	v = m.Call(ops.ReLU{}, m.Call(ops.Sub{}, v, x))
	v = m.Call(ops.Maximum{}, m.Call(ops.Mul{}, v, z), y)
	return m.Call(ops.Neg{}, m.Call(ops.Add{}, v, x))
}

func mlp[V any](m Maker[V]) V {
	h := m.Call(ops.MatMul{}, m.Input("digits", 64, 784), m.Param("hidden.weight", 784, 256))
	h = m.Call(ops.ReLU{}, m.Call(ops.Add{}, h, m.Param("hidden.bias", 256)))
	y := m.Call(ops.MatMul{}, h, m.Param("classes.weight", 256, 10))
	return m.Call(ops.Softmax{Dim: -1}, m.Call(ops.Add{}, y, m.Param("classes.bias", 10)))
}

func block[V any](m Maker[V]) V {
	const n, d, heads = 128, 256, 8
	mul := func(a V, name string, rows, columns int) V {
		return m.Call(ops.MatMul{}, a, m.Param(name, rows, columns))
	}
	split := func(v V) V { return m.Transpose(m.Reshape(v, n, heads, d/heads), 1, 0, 2) }
	norm := func(v V, name string) V { return m.Call(ops.RMSNorm{Dim: -1, Eps: 1e-5}, v, m.Param(name, d)) }
	x := m.Input("x", n, d)
	h := norm(x, "attention.norm")
	q, k, v := split(mul(h, "attention.q", d, d)), split(mul(h, "attention.k", d, d)), split(mul(h, "attention.v", d, d))
	a := m.Call(ops.Attention{Scale: 1 / math.Sqrt(d/heads)}, q, k, v)
	x = m.Call(ops.Add{}, x, mul(m.Reshape(m.Transpose(a, 1, 0, 2), n, d), "attention.o", d, d))
	h = norm(x, "mlp.norm")
	up := m.Call(ops.Mul{}, m.Call(ops.SiLU{}, mul(h, "mlp.gate", d, 4*d)), mul(h, "mlp.up", d, 4*d))
	return m.Call(ops.Add{}, x, mul(up, "mlp.down", 4*d, d))
}

func cnn[V any](m Maker[V]) V {
	conv := func(v V, name string, from, to int) V {
		v = m.Call(ops.Conv{Group: 1, AutoPad: "SAME_UPPER"}, v, m.Param(name+".weight", to, from, 3, 3), m.Param(name+".bias", to))
		return m.Call(ops.MaxPool{Kernel: []int{2, 2}, Strides: []int{2, 2}}, m.Call(ops.ReLU{}, v))
	}
	v := conv(conv(m.Input("digits", 16, 1, 28, 28), "first", 1, 16), "second", 16, 32)
	y := m.Call(ops.MatMul{}, m.Reshape(v, 16, -1), m.Param("classes.weight", 32*7*7, 10))
	return m.Call(ops.Softmax{Dim: -1}, m.Call(ops.Add{}, y, m.Param("classes.bias", 10)))
}
