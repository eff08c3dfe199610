package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// The network has one hidden layer:
//
//	image → matmul_bias → gelu → layer_norm → matmul_bias → cross_entropy
const (
	hidden  = 64
	batch   = 64
	epsNorm = 1e-5
	rate    = 0.002 // of learning
	beta1   = 0.9   // of Adam
	beta2   = 0.999
	epsAdam = 1e-8
)

// weights are the parameters: w1 [pixels,hidden], b1 [hidden], gamma [hidden],
// beta [hidden], w2 [hidden,classes], b2 [classes].
type weights [6][]float32

var weightShapes = [6][]int{{pixels, hidden}, {hidden}, {hidden}, {hidden}, {hidden, classes}, {classes}}

// newWeights draws the weights to begin with.
func newWeights(seed uint64) weights {
	rng := rand.New(rand.NewPCG(seed, 0xba5e))
	var w weights
	for i, shape := range weightShapes {
		w[i] = make([]float32, tensor.Contiguous(tensor.F32, shape...).Elems())
		for j := range w[i] {
			switch {
			case len(shape) == 2:
				w[i][j] = float32(rng.NormFloat64() / math.Sqrt(float64(shape[0])))
			case i == 2:
				w[i][j] = 1 // gamma
			}
		}
	}
	return w
}

// network is the network on a device, and what training it takes.
type network struct {
	dev      *lathe.Device
	param    [6]*lathe.Tensor // as weights has them
	m, v     [6]*lathe.Tensor // their moments in Adam
	images   *lathe.Tensor    // all digits to learn from, [n,pixels]
	labels   []int32          // and what they are
	dloss    *lathe.Tensor    // [batch], all 1/batch: what is made small is the mean loss
	lossMean *lathe.Tensor    // of the last batch
	step     int
	pictures pictures // of the digits to be tested with
}

// pictures are digits on the device.
type pictures struct{ images, labels *lathe.Tensor }

// result is what a network makes of some digits, layer by layer.
type result struct {
	hidden, active, normal *lathe.Tensor // [n,hidden]
	loss, probs            *lathe.Tensor // [n], [n,classes]
}

// newNetwork puts weights and digits on a device, for as long as it is open.
func newNetwork(ctx context.Context, dev *lathe.Device, w weights, train, test dataset) (*network, error) {
	s := dev.Scope(ctx) // Close, which would free all of it, is left to the device.
	n := &network{dev: dev, labels: train.labels, images: upload(ctx, s, dev, train)}
	for i, shape := range weightShapes {
		zeros := tensor.Contiguous(tensor.F32, shape...)
		n.param[i] = s.Take(lathe.FromSlice(ctx, dev, w[i], shape...))
		n.m[i], n.v[i] = s.Take(dev.NewTensor(zeros)), s.Take(dev.NewTensor(zeros))
	}
	n.dloss = s.Fill(1.0/batch, tensor.F32, batch)
	n.pictures = pictures{upload(ctx, s, dev, test), s.Take(lathe.FromSlice(ctx, dev, test.labels))}
	return n, s.Err()
}

// upload puts the pixels of digits on a device, from 0 for paper to 1 for ink.
func upload(ctx context.Context, s *lathe.Scope, dev *lathe.Device, d dataset) *lathe.Tensor {
	levels := s.Take(lathe.FromSlice(ctx, dev, d.images, d.len(), pixels))
	return s.Div(s.Cast(levels, tensor.F32), lathe.Scalar(255))
}

// forward takes digits through the network.
func (n *network) forward(s *lathe.Scope, d pictures) (r result) {
	w1, b1, gamma, beta, w2, b2 := n.param[0], n.param[1], n.param[2], n.param[3], n.param[4], n.param[5]
	r.hidden = s.MatMulBias(d.images, w1, b1)
	r.active = s.GELU(r.hidden)
	r.normal = s.LayerNorm(r.active, gamma, beta, epsNorm)
	r.loss, r.probs = s.CrossEntropy(s.MatMulBias(r.normal, w2, b2), d.labels)
	return r
}

// learn makes one step of training on the digits of those numbers. It returns
// before the device is done.
func (n *network) learn(ctx context.Context, digits []int) error {
	s := n.dev.Scope(ctx)
	defer s.Close()
	rows, labels := make([]int32, len(digits)), make([]int32, len(digits))
	for i, digit := range digits {
		rows[i], labels[i] = int32(digit), n.labels[digit]
	}
	d := pictures{
		s.Embedding(s.Take(lathe.FromSlice(ctx, n.dev, rows)), n.images),
		s.Take(lathe.FromSlice(ctx, n.dev, labels)),
	}
	r := n.forward(s, d)
	n.lossMean = s.Keep(s.ReduceMean(r.loss))

	// Backwards: the gradient of what went into each layer, from that of what
	// came out of it. A bias was added to every row, so its gradient is a sum.
	gamma, w2 := n.param[2], n.param[4]
	dlogits := s.CrossEntropyGrad(r.probs, d.labels, n.dloss)
	dw2 := s.MatMul(s.Take(r.normal.Transpose()), dlogits)
	db2 := s.ReduceSum(dlogits, 0)
	dnormal := s.MatMul(dlogits, s.Take(w2.Transpose()))
	dactive, dgamma, dbeta := s.LayerNormGrad(r.active, gamma, dnormal, epsNorm)
	dhidden := s.GELUGrad(r.hidden, dactive)
	dw1 := s.MatMul(s.Take(d.images.Transpose()), dhidden)
	db1 := s.ReduceSum(dhidden, 0)

	n.step++
	adam := ops.AdamUpdate{LR: rate, Beta1: beta1, Beta2: beta2, Eps: epsAdam, Step: n.step}
	for i, grad := range []*lathe.Tensor{dw1, db1, dgamma, dbeta, dw2, db2} {
		s.AdamUpdate(adam, n.param[i], grad, n.m[i], n.v[i])
	}
	return s.Err()
}

// loss is the mean loss of the last batch, before it was learnt from.
func (n *network) loss(ctx context.Context) (float64, error) {
	v, err := lathe.ToSlice[float32](ctx, n.lossMean)
	if err != nil {
		return 0, err
	}
	return float64(v[0]), nil
}

// recognise returns what the network takes each digit of the test for: the
// probabilities of the ten.
func (n *network) recognise(ctx context.Context) ([][]float32, error) {
	s := n.dev.Scope(ctx)
	defer s.Close()
	return lathe.ToRows[float32](ctx, n.forward(s, n.pictures).probs)
}
