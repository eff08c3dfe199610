package main

import "github.com/lathe-gpu/lathe/graph"

const hidden = 64

// layers is a network with one hidden layer:
//
//	image → matmul_bias → gelu → layer_norm → matmul_bias
//
// Its weights are w1 [pixels,hidden], b1 [hidden], gamma [hidden], beta [hidden],
// w2 [hidden,classes], b2 [classes].
var layers = model{
	shapes: [][]int{{pixels, hidden}, {hidden}, {hidden}, {hidden}, {hidden, classes}, {classes}},
	ones:   2,
	forward: func(g *graph.Graph, w []*graph.Value, images *graph.Value) *graph.Value {
		active := g.GELU(g.MatMulBias(images, w[0], w[1]))
		return g.MatMulBias(g.LayerNorm(active, w[2], w[3], epsNorm), w[4], w[5])
	},
}
