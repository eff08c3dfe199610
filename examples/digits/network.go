package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/hir"
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
	// forward takes pictures [n,pixels] through the network. It returns the logits [n,classes].
	forward func(g *graph.Graph, w []*graph.Value, images *graph.Value) *graph.Value
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

// network is a model on a device: a graph that learns, and one that reads.
type network struct {
	dev         *lathe.Device
	train, test *lathe.Executable
	state       map[string]*lathe.Tensor // the results of the last step: weights, their moments, the number of steps, and the loss
	labels      []int32                  // of the digits to learn from
}

// parameters declares the weights of a model.
func (m model) parameters(g *graph.Graph) []*graph.Value {
	var list []*graph.Value
	for i, shape := range m.shapes {
		list = append(list, g.Param(fmt.Sprint("w", i), tensor.F32, shape...))
	}
	return list
}

// images declares the pixels of digits.
func images(g *graph.Graph, d dataset) *graph.Value {
	return g.Param("images", tensor.U8, d.len(), pixels)
}

// ink is pixels from 0 for paper to 1 for ink.
func ink(g *graph.Graph, pixels *graph.Value) *graph.Value {
	return g.Div(g.Cast(pixels, tensor.F32), graph.Scalar(255))
}

// learning is the graph of one step of training: forwards, backwards, and the new weights. The
// outputs are params of the next step, by the same names.
func (m model) learning(d dataset) *graph.Graph {
	g := graph.New()
	w := m.parameters(g)
	digits := g.Embedding(g.Input("rows", tensor.I32, batch), images(g, d))
	losses, _ := g.CrossEntropy(m.forward(g, w, ink(g, digits)), g.Input("labels", tensor.I32, batch))
	loss := g.ReduceMean(losses)
	g.Output("loss", loss)
	step := g.Add(g.Param("step", tensor.F32), graph.Scalar(1))
	g.Output("step", step)
	for i, grad := range g.Gradients(loss, w...) {
		name := []string{fmt.Sprint("w", i), fmt.Sprint("m", i), fmt.Sprint("v", i)}
		m, v := g.Param(name[1], tensor.F32, w[i].Shape()...), g.Param(name[2], tensor.F32, w[i].Shape()...)
		p, m, v := hir.Adam(g, w[i], grad, m, v, step, graph.Scalar(rate), hir.AdamDecay{Beta1: beta1, Beta2: beta2, Eps: epsAdam})
		g.Output(name[0], p)
		g.Output(name[1], m)
		g.Output(name[2], v)
	}
	return g
}

// reading is the graph that gives the probabilities of the ten classes for each digit.
func (m model) reading(d dataset) *graph.Graph {
	g := graph.New()
	g.Output("probabilities", g.Softmax(m.forward(g, m.parameters(g), ink(g, images(g, d))), -1))
	return g
}

// newNetwork puts weights and digits on a device, for as long as it is open.
func newNetwork(ctx context.Context, dev *lathe.Device, m model, w weights, train, test dataset) (*network, error) {
	n := &network{dev: dev, state: map[string]*lathe.Tensor{}, labels: train.labels}
	s := dev.Scope(ctx) // Close, which would free all of it, is left to the device.
	n.state["step"] = s.Fill(0, tensor.F32)
	for i, shape := range m.shapes {
		n.state[fmt.Sprint("w", i)] = s.Take(lathe.FromSlice(ctx, dev, w[i], shape...))
		n.state[fmt.Sprint("m", i)] = s.Fill(0, tensor.F32, shape...)
		n.state[fmt.Sprint("v", i)] = s.Fill(0, tensor.F32, shape...)
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	var err error
	if n.train, err = compile(ctx, dev, m.learning(train), train); err != nil {
		return nil, err
	}
	if n.test, err = compile(ctx, dev, m.reading(test), test); err != nil {
		return nil, err
	}
	for name, x := range n.state {
		if err := n.train.SetParam(name, x); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// compile compiles a graph and gives it its digits.
func compile(ctx context.Context, dev *lathe.Device, g *graph.Graph, d dataset) (*lathe.Executable, error) {
	exe, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		return nil, err
	}
	images, err := lathe.FromSlice(ctx, dev, d.images, d.len(), pixels)
	if err != nil {
		return nil, err
	}
	return exe, exe.SetParam("images", images)
}

// learn makes one step of training on the digits of those numbers. It returns
// before the device is done.
func (n *network) learn(ctx context.Context, digits []int) error {
	rows, labels := make([]int32, len(digits)), make([]int32, len(digits))
	for i, digit := range digits {
		rows[i], labels[i] = int32(digit), n.labels[digit]
	}
	s := n.dev.Scope(ctx)
	defer s.Close()
	out, err := n.train.Run(ctx, map[string]*lathe.Tensor{
		"rows":   s.Take(lathe.FromSlice(ctx, n.dev, rows)),
		"labels": s.Take(lathe.FromSlice(ctx, n.dev, labels)),
	})
	if err != nil {
		return err
	}
	for name, x := range out {
		if name != "loss" {
			if err := n.train.SetParam(name, x); err != nil {
				return err
			}
		}
		if old := n.state[name]; old != nil {
			if err := n.dev.Free(old); err != nil {
				return err
			}
		}
		n.state[name] = x
	}
	return nil
}

// loss is the mean loss of the last batch, before it was learnt from.
func (n *network) loss(ctx context.Context) (float64, error) {
	v, err := lathe.ToSlice[float32](ctx, n.state["loss"])
	if err != nil {
		return 0, err
	}
	return float64(v[0]), nil
}

// recognise returns what the network takes each digit of the test for: the
// probabilities of the ten.
func (n *network) recognise(ctx context.Context) ([][]float32, error) {
	for name, x := range n.state {
		if name[0] == 'w' {
			if err := n.test.SetParam(name, x); err != nil {
				return nil, err
			}
		}
	}
	out, err := n.test.Run(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer n.dev.Free(out["probabilities"])
	return lathe.ToRows[float32](ctx, out["probabilities"])
}
