package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
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
	lossSum  *lathe.Tensor    // of the last batch
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

// newNetwork puts weights and digits on a device.
func newNetwork(dev *lathe.Device, w weights, train, test dataset) (*network, error) {
	u := upload{dev: dev}
	n := &network{dev: dev, labels: train.labels, images: u.grey(train)}
	for i, shape := range weightShapes {
		n.param[i] = u.floats(w[i], shape...)
		n.m[i], n.v[i] = u.floats(make([]float32, len(w[i])), shape...), u.floats(make([]float32, len(w[i])), shape...)
	}
	even := make([]float32, batch)
	for i := range even {
		even[i] = 1.0 / batch
	}
	n.dloss = u.floats(even, batch)
	n.pictures = pictures{u.grey(test), u.ints(test.labels)}
	return n, u.err
}

// forward takes digits through the network.
func (n *network) forward(c *chain, d pictures) (r result) {
	w1, b1, gamma, beta, w2, b2 := n.param[0], n.param[1], n.param[2], n.param[3], n.param[4], n.param[5]
	r.hidden = c.result(ops.MatMulBias{}, d.images, w1, b1)
	r.active = c.result(ops.GELU{}, r.hidden)
	r.normal = c.result(ops.LayerNorm{Eps: epsNorm}, r.active, gamma, beta)
	logits := c.result(ops.MatMulBias{}, r.normal, w2, b2)
	out := c.call(2, ops.CrossEntropy{}, logits, d.labels)
	r.loss, r.probs = out[0], out[1]
	return r
}

// learn makes one step of training on the digits of those numbers. It returns
// before the device is done.
func (n *network) learn(digits []int) error {
	u, c := upload{dev: n.dev}, &chain{dev: n.dev}
	rows, labels := make([]int32, len(digits)), make([]int32, len(digits))
	for i, digit := range digits {
		rows[i], labels[i] = int32(digit), n.labels[digit]
	}
	d := pictures{c.result(ops.Embedding{}, u.ints(rows), n.images), u.ints(labels)}
	if u.err != nil {
		return u.err
	}
	r := n.forward(c, d)
	n.lossSum = c.result(ops.ReduceSum{}, r.loss)

	// Backwards: the gradient of what went into each layer, from that of what
	// came out of it. A bias was added to every row, so its gradient is a sum.
	gamma, w2 := n.param[2], n.param[4]
	dlogits := c.result(ops.CrossEntropyGrad{}, r.probs, d.labels, n.dloss)
	dw2 := c.result(ops.MatMul{TransA: true}, r.normal, dlogits)
	db2 := c.result(ops.ReduceSum{Dims: []int{0}}, dlogits)
	dnormal := c.result(ops.MatMul{TransB: true}, dlogits, w2)
	norm := c.call(3, ops.LayerNormGrad{Eps: epsNorm}, r.active, gamma, dnormal)
	dactive, dgamma, dbeta := norm[0], norm[1], norm[2]
	dhidden := c.result(ops.GELUGrad{}, r.hidden, dactive)
	dw1 := c.result(ops.MatMul{TransA: true}, d.images, dhidden)
	db1 := c.result(ops.ReduceSum{Dims: []int{0}}, dhidden)

	n.step++
	adam := ops.AdamUpdate{LR: rate, Beta1: beta1, Beta2: beta2, Eps: epsAdam, Step: n.step}
	for i, grad := range []*lathe.Tensor{dw1, db1, dgamma, dbeta, dw2, db2} {
		if c.err == nil {
			c.err = n.dev.AdamUpdate(adam, n.param[i], grad, n.m[i], n.v[i])
		}
	}
	return c.err
}

// loss is the mean loss of the last batch, before it was learnt from.
func (n *network) loss(ctx context.Context) (float64, error) {
	v, err := lathe.ToSlice[float32](ctx, n.dev, n.lossSum)
	if err != nil {
		return 0, err
	}
	return float64(v[0]) / batch, nil
}

// recognise returns what the network takes each digit of the test for: the
// probabilities of the ten.
func (n *network) recognise(ctx context.Context) ([][]float32, error) {
	c := &chain{dev: n.dev}
	r := n.forward(c, n.pictures)
	if c.err != nil {
		return nil, c.err
	}
	v, err := lathe.ToSlice[float32](ctx, n.dev, r.probs)
	var out [][]float32
	for len(v) > 0 {
		out, v = append(out, v[:classes]), v[classes:]
	}
	return out, err
}

// chain calls operations one after the other until one fails.
type chain struct {
	dev *lathe.Device
	err error // the first one
}

// call returns the results of an operation that has some number of them.
func (c *chain) call(results int, op spec.Call, in ...*lathe.Tensor) []*lathe.Tensor {
	if c.err == nil {
		var out []*lathe.Tensor
		if out, c.err = c.dev.Call(op, in...); c.err == nil {
			return out
		}
	}
	return make([]*lathe.Tensor, results)
}

func (c *chain) result(op spec.Call, in ...*lathe.Tensor) *lathe.Tensor {
	return c.call(1, op, in...)[0]
}

// upload makes tensors of slices until one fails.
type upload struct {
	dev *lathe.Device
	err error // the first one
}

func (u *upload) floats(v []float32, shape ...int) *lathe.Tensor { return put(u, v, shape) }

func (u *upload) ints(v []int32) *lathe.Tensor { return put(u, v, []int{len(v)}) }

// grey puts pixels on the device, from 0 for paper to 1 for ink.
func (u *upload) grey(d dataset) *lathe.Tensor {
	v := make([]float32, len(d.images))
	for i, p := range d.images {
		v[i] = float32(p) / 255
	}
	return put(u, v, []int{d.len(), pixels})
}

func put[T lathe.Element](u *upload, v []T, shape []int) (t *lathe.Tensor) {
	if u.err == nil {
		t, u.err = lathe.FromSlice(u.dev, v, shape...)
	}
	return t
}
