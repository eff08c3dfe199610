package main

import (
	"github.com/lathe-gpu/lathe"
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
//	image → conv → relu → max_pool → conv → relu → max_pool → matmul_bias → cross_entropy
//
// Its weights are w1 [maps1,1,3,3], b1 [maps1], w2 [maps2,maps1,3,3], b2 [maps2],
// w3 [flat,classes], b3 [classes].
var convolutions = model{
	shapes: [][]int{{maps1, 1, 3, 3}, {maps1}, {maps2, maps1, 3, 3}, {maps2}, {flat, classes}, {classes}},
	ones:   -1,
	forward: func(s *lathe.Scope, w []*lathe.Tensor, images *lathe.Tensor) (*lathe.Tensor, func(*lathe.Tensor) []*lathe.Tensor) {
		x := s.Take(images.Reshape(-1, 1, side, side))
		first := newConvolved(s, x, w[0], w[1])
		second := newConvolved(s, first.out, w[2], w[3])
		rows := s.Take(second.out.Reshape(-1, flat))
		logits := s.MatMulBias(rows, w[4], w[5])

		return logits, func(dlogits *lathe.Tensor) []*lathe.Tensor {
			dw3 := s.MatMul(s.Take(rows.Transpose()), dlogits)
			db3 := s.ReduceSum(dlogits, 0)
			drows := s.MatMul(dlogits, s.Take(w[4].Transpose()))
			dsecond := s.Take(drows.Reshape(-1, maps2, side/4, side/4))
			dsums2, dw2, db2 := second.backward(s, dsecond)
			dfirst := s.ConvInputGrad(ops.ConvInputGrad{Size: []int{side / 2, side / 2}, Pads: around, Group: 1}, dsums2, w[2])
			_, dw1, db1 := first.backward(s, dfirst)
			return []*lathe.Tensor{dw1, db1, dw2, db2, dw3, db3}
		}
	},
}

var (
	around  = []int{1, 1, 1, 1}
	taps    = []int{3, 3}
	halving = []int{2, 2}
)

// convolved is a convolution with what follows it: x [n,c,h,w] → sums [n,k,h,w] → active → out
// [n,k,h/2,w/2].
type convolved struct{ x, sums, active, out *lathe.Tensor }

func newConvolved(s *lathe.Scope, x, w, b *lathe.Tensor) convolved {
	sums := s.Conv(ops.Conv{Pads: around, Group: 1}, x, w, b)
	active := s.ReLU(sums)
	return convolved{x, sums, active, s.MaxPool(ops.MaxPool{Kernel: halving, Strides: halving}, active)}
}

// backward makes the gradients of the sums and of the weights from that of out.
func (c convolved) backward(s *lathe.Scope, dout *lathe.Tensor) (dsums, dw, db *lathe.Tensor) {
	dactive := s.MaxPoolGrad(ops.MaxPoolGrad{Kernel: halving, Strides: halving}, c.active, dout)
	dsums = s.ReLUGrad(c.sums, dactive)
	dw = s.ConvFilterGrad(ops.ConvFilterGrad{KernelShape: taps, Pads: around, Group: 1}, c.x, dsums)
	return dsums, dw, s.ReduceSum(dsums, 0, 2, 3)
}
