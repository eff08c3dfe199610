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
	alphabet  = " abcdefghijklmnopqrstuvwxyz" // a token is a letter
	positions = 512                           // the longest text
	width     = 64                            // elements of a token's vector
	hidden    = 128
	heads     = 4
	size      = width / heads
	eps       = 1e-5
)

// decoder is a decoder of two layers. All its tensors are made before a step is recorded, so they are the program's: a replay reads and writes them.
type decoder struct {
	capture               *lathe.Capture
	vectors, norm, logits *lathe.Tensor // [tokens,width], [width], [width,tokens]
	cosines, sines        *lathe.Tensor // of the angles of the positions
	layers                [2]layer
	next                  *lathe.Tensor // the result of the recorded step
}

// layer is a block: attention and a feed-forward network.
type layer struct {
	norm, q, k, v, o           *lathe.Tensor
	keys, values               *lathe.Tensor // the caches [1,heads,positions,size]
	hiddenNorm, gate, up, down *lathe.Tensor
}

// newDecoder makes the weights, which follow from the seed, and the caches.
func newDecoder(ctx context.Context, c *lathe.Capture, seed uint64) (*decoder, error) {
	d := &decoder{capture: c}
	// With this mode, Token, Position and ValidLength are words on the device. Without it they would be numbers of the step that is recorded.
	c.SetDeviceStateMode(true)
	rng := rand.New(rand.NewPCG(seed, 0))
	var failed error
	fill := func(f func(i int) float64, shape ...int) *lathe.Tensor {
		data := make([]float64, tensor.Contiguous(tensor.F32, shape...).Elems())
		for i := range data {
			data[i] = f(i)
		}
		t, err := lathe.FromFloats(ctx, c.Device(), tensor.F32, data, shape...)
		if err != nil {
			failed = err
		}
		return t
	}
	matrix := func(rows, columns int) *lathe.Tensor {
		return fill(func(int) float64 { return rng.NormFloat64() / math.Sqrt(float64(rows)) }, rows, columns)
	}
	ones := func() *lathe.Tensor { return fill(func(int) float64 { return 1 }, width) }
	cache := func() *lathe.Tensor { return fill(func(int) float64 { return 0 }, 1, heads, positions, size) }
	angle := func(i int) float64 {
		position, pair := i/(size/2), i%(size/2)
		return float64(position) * math.Pow(10000, -2*float64(pair)/size)
	}
	d.vectors = fill(func(int) float64 { return rng.NormFloat64() }, len(alphabet), width)
	d.norm, d.logits = ones(), matrix(width, len(alphabet))
	d.cosines = fill(func(i int) float64 { return math.Cos(angle(i)) }, positions, size/2)
	d.sines = fill(func(i int) float64 { return math.Sin(angle(i)) }, positions, size/2)
	for i := range d.layers {
		d.layers[i] = layer{
			norm: ones(), q: matrix(width, width), k: matrix(width, width), v: matrix(width, width), o: matrix(width, width),
			keys: cache(), values: cache(),
			hiddenNorm: ones(), gate: matrix(width, hidden), up: matrix(width, hidden), down: matrix(hidden, width),
		}
	}
	return d, failed
}

// forward makes the calls of a step: they run, or they are recorded. The result is the next token, i32 [1].
func (d *decoder) forward(ctx context.Context) (*lathe.Tensor, error) {
	s := d.capture.Device().Scope(ctx)
	defer s.Close()
	token, position, valid := s.Take(d.capture.Token().Reshape(1)), s.Take(d.capture.Position().Reshape(1)), s.Take(d.capture.ValidLength().Reshape(1))
	x := s.Embedding(token, d.vectors)
	for i := range d.layers {
		l := &d.layers[i]
		h := s.RMSNorm(x, l.norm, -1, eps)
		split := func(m *lathe.Tensor) *lathe.Tensor { return s.Take(s.MatMul(h, m).Reshape(1, heads, 1, size)) }
		rotate := func(v *lathe.Tensor) *lathe.Tensor { return s.RotaryEmbedding(v, position, d.cosines, d.sines, 0) }
		q := rotate(split(l.q))
		s.TensorScatter(l.keys, rotate(split(l.k)), position, -2, "")
		s.TensorScatter(l.values, split(l.v), position, -2, "")
		// The step reads how many keys are valid on the device, so what an earlier text has left behind them does not count.
		a := s.Call(ops.Attention{Scale: 1 / math.Sqrt(size)}, q, l.keys, l.values, nil, valid)[0]
		x = s.Add(x, s.MatMul(s.Take(a.Reshape(1, width)), l.o))
		h = s.RMSNorm(x, l.hiddenNorm, -1, eps)
		x = s.Add(x, s.MatMul(s.Mul(s.SiLU(s.MatMul(h, l.gate)), s.MatMul(h, l.up)), l.down))
	}
	logits := s.MatMul(s.RMSNorm(x, d.norm, -1, eps), d.logits)
	next := s.Keep(s.Sample(ops.Sample{Temperature: 0.8, TopK: 10, Seed: 1}, logits, position, nil, nil))
	return next, s.Err()
}
