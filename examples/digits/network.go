package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	batch   = 64
	epsNorm = 1e-5
	rate    = 0.002 // of learning
	beta1   = 0.9   // of Adam
	beta2   = 0.999
	epsAdam = 1e-8
)

// model is a kind of network: the shapes of its weights, and what it makes of pictures.
type model struct {
	shapes [][]int
	// ones is the number of the weights that begin as 1, or -1. Other vectors begin as 0.
	ones int
	// forward takes pictures [n,pixels] through the network. It returns the logits [n,classes], and
	// a function that makes the gradients of all weights from that of the logits.
	forward func(s *lathe.Scope, w []*lathe.Tensor, images *lathe.Tensor) (logits *lathe.Tensor, backward func(dlogits *lathe.Tensor) []*lathe.Tensor)
}

// weights are the parameters of a model, as its shapes say.
type weights [][]float32

// newWeights draws the weights to begin with.
func newWeights(m model, seed uint64) weights {
	rng := rand.New(rand.NewPCG(seed, 0xba5e))
	w := make(weights, len(m.shapes))
	for i, shape := range m.shapes {
		w[i] = make([]float32, tensor.Contiguous(tensor.F32, shape...).Elems())
		in := shape[0] // what an output adds up
		if len(shape) == 4 {
			in = shape[1] * shape[2] * shape[3]
		}
		for j := range w[i] {
			switch {
			case len(shape) > 1:
				w[i][j] = float32(rng.NormFloat64() / math.Sqrt(float64(in)))
			case i == m.ones:
				w[i][j] = 1
			}
		}
	}
	return w
}

// network is the network on a device, and what training it takes.
type network struct {
	model
	dev      *lathe.Device
	param    []*lathe.Tensor // as weights has them
	m, v     []*lathe.Tensor // their moments in Adam
	images   *lathe.Tensor   // all digits to learn from, [n,pixels]
	labels   []int32         // and what they are
	dloss    *lathe.Tensor   // [batch], all 1/batch: what is made small is the mean loss
	lossMean *lathe.Tensor   // of the last batch
	step     int
	pictures pictures // of the digits to be tested with
}

// pictures are digits on the device.
type pictures struct{ images, labels *lathe.Tensor }

// newNetwork puts weights and digits on a device, for as long as it is open.
func newNetwork(ctx context.Context, dev *lathe.Device, m model, w weights, train, test dataset) (*network, error) {
	s := dev.Scope(ctx) // Close, which would free all of it, is left to the device.
	n := &network{model: m, dev: dev, labels: train.labels, images: upload(ctx, s, dev, train)}
	for i, shape := range m.shapes {
		zeros := tensor.Contiguous(tensor.F32, shape...)
		n.param = append(n.param, s.Take(lathe.FromSlice(ctx, dev, w[i], shape...)))
		n.m, n.v = append(n.m, s.Take(dev.NewTensor(zeros))), append(n.v, s.Take(dev.NewTensor(zeros)))
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

// learn makes one step of training on the digits of those numbers. It returns
// before the device is done.
func (n *network) learn(ctx context.Context, digits []int) error {
	s := n.dev.Scope(ctx)
	defer s.Close()
	rows, labels := make([]int32, len(digits)), make([]int32, len(digits))
	for i, digit := range digits {
		rows[i], labels[i] = int32(digit), n.labels[digit]
	}
	images := s.Embedding(s.Take(lathe.FromSlice(ctx, n.dev, rows)), n.images)
	targets := s.Take(lathe.FromSlice(ctx, n.dev, labels))
	logits, backward := n.forward(s, n.param, images)
	loss, probs := s.CrossEntropy(logits, targets)
	n.lossMean = s.Keep(s.ReduceMean(loss))
	grads := backward(s.CrossEntropyGrad(probs, targets, n.dloss))

	n.step++
	adam := ops.AdamUpdate{LR: rate, Beta1: beta1, Beta2: beta2, Eps: epsAdam, Step: n.step}
	for i, grad := range grads {
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
	logits, _ := n.forward(s, n.param, n.pictures.images)
	_, probs := s.CrossEntropy(logits, n.pictures.labels)
	return lathe.ToRows[float32](ctx, probs)
}
