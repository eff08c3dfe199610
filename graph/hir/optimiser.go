package hir

import (
	"math"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/tensor"
)

// AdamDecay are the numbers of Adam besides the rate. 0.9, 0.999 and 1e-8 are usual.
type AdamDecay struct {
	// Beta1 and Beta2 are the decays of the first and the second moment, at least 0 and below 1.
	Beta1, Beta2 float64
	// Eps is added to the root of the second moment.
	Eps float64
}

// Adam is one step of the optimiser Adam (Kingma and Ba, 2015, algorithm 1), as ops.AdamUpdate is. Here the number of the step is a value, so that
// one compiled graph makes every step:
//
//	step := g.Add(g.Param("step", tensor.F32), graph.Scalar(1)) // 0 before the first run
//
// param, grad and the moments m and v have one dtype and shape, and the moments are 0 before the first step. step, from 1 on, is a value
// of shape []. rate, the rate of learning, is another one, or a graph.Scalar. The results are for the next run.
func Adam(g *graph.Graph, param, grad, m, v, step, rate *graph.Value, d AdamDecay) (newParam, newM, newV *graph.Value) {
	newM = g.Add(g.Mul(m, graph.Scalar(d.Beta1)), g.Mul(grad, graph.Scalar(1-d.Beta1)))
	newV = g.Add(g.Mul(v, graph.Scalar(d.Beta2)), g.Mul(g.Mul(grad, grad), graph.Scalar(1-d.Beta2)))
	step, rate = like(g, step, param), like(g, rate, param)
	down := g.Add(g.Mul(g.Sqrt(newV), g.Rsqrt(powerRest(g, step, d.Beta2))), graph.Scalar(d.Eps))
	newParam = g.Sub(param, g.Div(g.Mul(newM, g.Div(rate, powerRest(g, step, d.Beta1))), down))
	return newParam, newM, newV
}

// powerRest is 1 − b^n. Near 1 a power has few bits left once it is subtracted, so that it is 2u/(1 + u) with u = tanh(−½·n·ln b).
func powerRest(g *graph.Graph, n *graph.Value, b float64) *graph.Value {
	u := g.Tanh(g.Mul(n, graph.Scalar(-math.Log(b)/2)))
	return g.Div(g.Mul(u, graph.Scalar(2)), g.Add(u, graph.Scalar(1)))
}

// SGD is one step of stochastic gradient descent with momentum: velocity·momentum + grad is the new velocity, and param less rate times that the new
// param. They have one dtype and shape, and the velocity is 0 before the first step. Without momentum velocity is nil, and so is the new one.
// rate is a value of shape [], or a graph.Scalar.
func SGD(g *graph.Graph, param, grad, velocity, rate *graph.Value, momentum float64) (newParam, newVelocity *graph.Value) {
	if velocity != nil {
		newVelocity = g.Add(g.Mul(velocity, graph.Scalar(momentum)), grad)
		grad = newVelocity
	}
	return g.Sub(param, g.Mul(grad, like(g, rate, param))), newVelocity
}

// like is v in the dtype of param. A graph.Scalar has none of its own.
func like(g *graph.Graph, v, param *graph.Value) *graph.Value {
	if d := v.DType(); d == tensor.Invalid || d == param.DType() {
		return v
	}
	return g.Cast(v, param.DType())
}
