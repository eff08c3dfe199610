package networks

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Decoder is a small decoder of tokens, as Llama with norms of queries and keys: each step reads a token and its position on the device, appends to its
// caches, and draws the next token. Its weights follow from the seed.
type Decoder struct {
	// Width is the number of elements of a token's vector, and Hidden that of the feed-forward network.
	Width, Hidden int
	// Layers is the number of blocks. Heads are those of queries, and KV those of keys and values.
	Layers, Heads, KV int
	// Vocabulary is the number of tokens, and Positions the most tokens of a text.
	Vocabulary, Positions int
	// DType is that of weights, activations and caches.
	DType tensor.DType
	// Sample says how tokens are drawn.
	Sample ops.Sample
	// Seed chooses the weights.
	Seed uint64
}

// SmallDecoder returns a decoder of two layers for texts of so many tokens.
func SmallDecoder(d tensor.DType, positions int) *Decoder {
	return &Decoder{
		Width: 128, Hidden: 256, Layers: 2, Heads: 8, KV: 2, Vocabulary: 257, Positions: positions, DType: d, Seed: 11,
		Sample: ops.Sample{Temperature: 0.9, TopK: 50, TopP: 0.95, RepetitionPenalty: 1.1, Seed: 3},
	}
}

// State names what a step changes: "state", i32 [3], is the token, its position, and how many tokens there are with it. "tokens", i32 [1,positions], are all of them.
const (
	State  = "state"
	Tokens = "tokens"
)

// These are weights by name: the vectors of the tokens, and the angles of the positions.
const (
	table   = "tokens.vectors"
	cosines = "positions.cos"
	sines   = "positions.sin"
)

// StepMaker makes the values of a step.
type StepMaker[V any] interface {
	// Weight is a tensor that stays, and Changed one that steps change.
	Weight(name string) V
	Changed(name string) V
	// Update is an operation that works in place on its first input, which is Changed(name). The result is that tensor afterwards.
	Update(name string, c spec.Call, in ...V) V
	// Replace gives Changed(name) new contents at the end of the step.
	Replace(name string, v V)
	// Call is the first result of a call. None stands for an input that it leaves out, and One is the number 1.
	Call(c spec.Call, in ...V) V
	None() V
	One() V
	Reshape(v V, shape ...int) V
	Narrow(v V, dim, start, n int) V
}

// size is the number of elements of a head.
func (d *Decoder) size() int { return d.Width / d.Heads }

// Shapes describes what a step reads besides its results: the weights, and the tensors that it changes.
func (d *Decoder) Shapes() (weights, changed map[string]tensor.Desc) {
	of := func(shape ...int) tensor.Desc { return tensor.Contiguous(d.DType, shape...) }
	angles := tensor.Contiguous(tensor.F32, d.Positions, d.size()/2)
	weights = map[string]tensor.Desc{table: of(d.Vocabulary, d.Width), "norm": of(d.Width), "logits": of(d.Width, d.Vocabulary), cosines: angles, sines: angles}
	changed = map[string]tensor.Desc{State: tensor.Contiguous(tensor.I32, 3), Tokens: tensor.Contiguous(tensor.I32, 1, d.Positions)}
	for i := range d.Layers {
		for name, shape := range map[string][]int{
			"norm": {d.Width}, "qkv": {d.Width, (d.Heads + 2*d.KV) * d.size()}, "head.norm": {d.size()}, "o": {d.Width, d.Width},
			"mlp.norm": {d.Width}, "gate": {d.Width, d.Hidden}, "up": {d.Width, d.Hidden}, "down": {d.Hidden, d.Width},
		} {
			weights[layer(i, name)] = of(shape...)
		}
		for _, name := range []string{"keys", "values"} {
			changed[layer(i, name)] = of(1, d.KV, d.Positions, d.size())
		}
	}
	return weights, changed
}

func layer(i int, name string) string { return fmt.Sprintf("layer%d.%s", i, name) }

// WeightOf makes a weight. Those with one dimension are of norms.
func (d *Decoder) WeightOf(name string, desc tensor.Desc) *tensor.Host {
	h, hash := tensor.NewHost(desc), fnv.New64a()
	hash.Write([]byte(name))
	rng, values := rand.New(rand.NewPCG(d.Seed, hash.Sum64())), make([]float64, desc.Elems())
	for i := range values {
		angle := func() float64 {
			return float64(i/(d.size()/2)) * math.Pow(10000, -2*float64(i%(d.size()/2))/float64(d.size()))
		}
		switch {
		case name == cosines:
			values[i] = math.Cos(angle())
		case name == sines:
			values[i] = math.Sin(angle())
		case name == table:
			values[i] = rng.NormFloat64()
		case len(desc.Shape) == 1:
			values[i] = 1 + rng.NormFloat64()/8
		default:
			values[i] = rng.NormFloat64() / math.Sqrt(float64(desc.Shape[0]))
		}
	}
	h.SetFloats(values)
	return h
}

// Step is a step of a decoder, written once for all makers. The result is the next token, i32 [1].
func Step[V any](d *Decoder, m StepMaker[V]) V {
	size, both := d.size(), d.Heads+d.KV
	norm := func(v V, name string) V { return m.Call(ops.RMSNorm{Dim: -1, Eps: 1e-5}, v, m.Weight(name)) }
	mul := func(v V, name string) V { return m.Call(ops.MatMul{}, v, m.Weight(name)) }
	state := m.Changed(State)
	token, position, valid := m.Narrow(state, 0, 0, 1), m.Narrow(state, 0, 1, 1), m.Narrow(state, 0, 2, 1)
	tokens := m.Update(Tokens, ops.TensorScatter{Axis: 1}, m.Changed(Tokens), m.Reshape(token, 1, 1), position)
	x := m.Call(ops.Embedding{}, token, m.Weight(table))
	for i := range d.Layers {
		qkv := mul(norm(x, layer(i, "norm")), layer(i, "qkv"))
		heads := norm(m.Reshape(m.Narrow(qkv, 1, 0, both*size), 1, both, 1, size), layer(i, "head.norm"))
		heads = m.Call(ops.RotaryEmbedding{}, heads, position, m.Weight(cosines), m.Weight(sines))
		q, k := m.Narrow(heads, 1, 0, d.Heads), m.Narrow(heads, 1, d.Heads, d.KV)
		v := m.Reshape(m.Narrow(qkv, 1, both*size, d.KV*size), 1, d.KV, 1, size)
		appendTo := func(name string, v V) V {
			name = layer(i, name)
			c := m.Update(name, ops.TensorScatter{Axis: -2}, m.Changed(name), v, position)
			return m.Reshape(c, 1, d.KV, 1, d.Positions, size)
		}
		a := m.Call(ops.Attention{Scale: 1 / math.Sqrt(float64(size)), Causal: true},
			m.Reshape(q, 1, d.KV, d.Heads/d.KV, 1, size), appendTo("keys", k), appendTo("values", v), m.None(), valid)
		x = m.Call(ops.Add{}, x, mul(m.Reshape(a, 1, d.Width), layer(i, "o")))
		h := norm(x, layer(i, "mlp.norm"))
		x = m.Call(ops.Add{}, x, mul(m.Call(ops.Mul{}, m.Call(ops.SiLU{}, mul(h, layer(i, "gate"))), mul(h, layer(i, "up"))), layer(i, "down")))
	}
	next := m.Call(d.Sample, mul(norm(x, "norm"), "logits"), position, tokens, valid)
	m.Replace(State, m.Call(ops.Concat{}, next, m.Call(ops.Add{}, m.Narrow(state, 0, 1, 2), m.One())))
	return next
}
