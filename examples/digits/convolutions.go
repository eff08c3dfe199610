package main

import (
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/ops"
)

// Channels of the two convolutions, and what is left of a picture after the second one.
const (
	maps1 = 8
	maps2 = 16
	flat  = maps2 * (side / 4) * (side / 4)
)

// convolutions is a convolutional network. conv has three by three taps and zeros around the
// picture, and max_pool halves it:
//
//	image → conv → relu → max_pool → conv → relu → max_pool → matmul_bias
//
// Its weights are w1 [maps1,1,3,3], b1 [maps1], w2 [maps2,maps1,3,3], b2 [maps2],
// w3 [flat,classes], b3 [classes].
var convolutions = model{
	shapes: [][]int{{maps1, 1, 3, 3}, {maps1}, {maps2, maps1, 3, 3}, {maps2}, {flat, classes}, {classes}},
	ones:   -1,
	forward: func(g *graph.Graph, w []*graph.Value, images *graph.Value) *graph.Value {
		x := images.Reshape(-1, 1, side, side)
		x = convolved(g, x, w[0], w[1])
		x = convolved(g, x, w[2], w[3])
		return g.MatMulBias(x.Reshape(-1, flat), w[4], w[5])
	},
}

// convolved is a convolution of x [n,c,h,w] with what follows it, [n,k,h/2,w/2].
func convolved(g *graph.Graph, x, w, b *graph.Value) *graph.Value {
	x = g.ReLU(g.Conv(ops.Conv{Pads: []int{1, 1, 1, 1}, Group: 1}, x, w, b))
	return g.MaxPool(ops.MaxPool{Kernel: []int{2, 2}, Strides: []int{2, 2}}, x)
}
