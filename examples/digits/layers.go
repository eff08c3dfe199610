package main

import "github.com/lathe-gpu/lathe"

const hidden = 64

// layers is a network with one hidden layer:
//
//	image → matmul_bias → gelu → layer_norm → matmul_bias → cross_entropy
//
// Its weights are w1 [pixels,hidden], b1 [hidden], gamma [hidden], beta [hidden],
// w2 [hidden,classes], b2 [classes].
var layers = model{
	shapes: [][]int{{pixels, hidden}, {hidden}, {hidden}, {hidden}, {hidden, classes}, {classes}},
	ones:   2,
	forward: func(s *lathe.Scope, w []*lathe.Tensor, images *lathe.Tensor) (*lathe.Tensor, func(*lathe.Tensor) []*lathe.Tensor) {
		w1, b1, gamma, beta, w2, b2 := w[0], w[1], w[2], w[3], w[4], w[5]
		sums := s.MatMulBias(images, w1, b1)
		active := s.GELU(sums)
		normal := s.LayerNorm(active, gamma, beta, epsNorm)
		logits := s.MatMulBias(normal, w2, b2)

		// Backwards: the gradient of what went into each layer, from that of what
		// came out of it. A bias was added to every row, so its gradient is a sum.
		return logits, func(dlogits *lathe.Tensor) []*lathe.Tensor {
			dw2 := s.MatMul(s.Take(normal.Transpose()), dlogits)
			db2 := s.ReduceSum(dlogits, 0)
			dnormal := s.MatMul(dlogits, s.Take(w2.Transpose()))
			dactive, dgamma, dbeta := s.LayerNormGrad(active, gamma, dnormal, epsNorm)
			dsums := s.GELUGrad(sums, dactive)
			dw1 := s.MatMul(s.Take(images.Transpose()), dsums)
			db1 := s.ReduceSum(dsums, 0)
			return []*lathe.Tensor{dw1, db1, dgamma, dbeta, dw2, db2}
		}
	},
}
