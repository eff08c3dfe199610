package graphs_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// step is a call whose result is like its first input.
type step struct {
	call spec.Call
	rest []pair // the other inputs
}

// stepOn finds a call of a random operation with a result of the dtype and shape of p. Without one it is an Abs, or nothing.
func (b *builder) stepOn(p pair, table []*spec.Op) (step, bool) {
	for range 300 {
		op := table[b.rng.IntN(len(table))]
		if len(op.In) == 0 || len(op.Out) != 1 {
			continue
		}
		calls := op.Cases.Calls
		if len(calls) == 0 {
			calls = []spec.Call{op.Defaults}
		}
		c, err := spec.Resolve(calls[b.rng.IntN(len(calls))])
		if err != nil {
			continue
		}
		s, descs := step{call: c}, []tensor.Desc{p.tensor.Desc()}
		for len(s.rest)+1 < len(op.In) && !(op.In[len(s.rest)+1].Optional && b.rng.IntN(2) == 0) {
			other := b.pick()
			s.rest, descs = append(s.rest, other), append(descs, other.tensor.Desc())
		}
		want, err := op.Shape(c, descs)
		if err != nil || len(want) != 1 || want[0].DType != descs[0].DType || !slices.Equal(want[0].Shape, descs[0].Shape) {
			continue
		}
		if _, err := s.alone(b.dev, p.tensor); err == nil {
			b.text = append(b.text, fmt.Sprintf("%s %v", spec.FormatCall(c), descs))
			return s, true
		}
	}
	return step{}, false
}

// alone computes the step by itself.
func (s step) alone(dev *lathe.Device, x *lathe.Tensor) (*lathe.Tensor, error) {
	in := []*lathe.Tensor{x}
	for _, p := range s.rest {
		in = append(in, p.tensor)
	}
	out, err := dev.Call(context.Background(), s.call, in...)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// add adds the step to a graph.
func (s step) add(g *graph.Graph, x *graph.Value) *graph.Value {
	in := values{x}
	for _, p := range s.rest {
		in = append(in, p.value)
	}
	return g.Call(s.call, in...)[0]
}

// control adds an If or a While. It reports false if no operation suits what it has picked.
func (b *builder) control(table []*spec.Op) bool {
	p := b.pick()
	first, ok := b.stepOn(p, table)
	if !ok {
		return false
	}
	if b.rng.IntN(2) == 0 {
		return b.loop(p, first)
	}
	second, ok := b.stepOn(p, table)
	if !ok {
		return false
	}
	is := b.rng.IntN(2) == 0
	name := fmt.Sprintf("c%d", len(b.made))
	var cond *graph.Value
	b.inputs[name] = flag(b.t, b.dev, is)
	cond = b.g.Input(name, tensor.Bool)
	b.text = append(b.text, fmt.Sprintf("if %v", is))
	nested := b.rng.IntN(3) == 0
	r := b.g.If(cond, func(g *graph.Graph) values {
		v := p.value
		if nested {
			v = g.If(cond, func(g *graph.Graph) values { return values{p.value} }, func(g *graph.Graph) values { return values{second.add(g, p.value)} })[0]
		}
		return values{first.add(g, v), v}
	}, func(g *graph.Graph) values { return values{p.value, second.add(g, p.value)} })
	s := second
	if is {
		s = first
	}
	x, err := s.alone(b.dev, p.tensor)
	if err != nil {
		b.t.Fatal(err)
	}
	made := []pair{{r[0], p.tensor}, {r[1], x}}
	if is {
		made = []pair{{r[0], x}, {r[1], p.tensor}}
	}
	for _, p := range made { // not a view: what the calls take may depend on strides
		c, err := b.dev.Copy(p.tensor)
		if err != nil {
			b.t.Fatal(err)
		}
		b.made = append(b.made, pair{p.value, c})
	}
	b.calls += 2
	return true
}

// loop adds a While of 0 to 4 steps.
func (b *builder) loop(p pair, s step) bool {
	steps := b.rng.IntN(5)
	b.text = append(b.text, fmt.Sprintf("while, %d steps", steps))
	zero, err := tensor.FromFloats(tensor.I32, nil, []float64{0})
	if err != nil {
		b.t.Fatal(err)
	}
	bound := steps
	if b.rng.IntN(2) == 0 {
		bound += 1 + b.rng.IntN(3)
	}
	most := graph.Scalar(steps + 9) // the bound ends the loop
	if bound != steps || steps == 0 {
		bound, most = max(bound, 1), graph.Scalar(steps)
	}
	r := b.g.WhileAtMost(bound, values{p.value, b.g.Constant(zero), p.value},
		func(g *graph.Graph, s values) *graph.Value { return g.Less(s[1], most) },
		func(g *graph.Graph, state values) values {
			return values{s.add(g, state[0]), g.Add(state[1], graph.Scalar(1)), state[0]}
		})
	last, before := p.tensor, p.tensor
	for range steps {
		next, err := s.alone(b.dev, last)
		if err != nil {
			b.t.Fatal(err)
		}
		last, before = next, last
	}
	for i, x := range []*lathe.Tensor{last, before} {
		c, err := b.dev.Copy(x)
		if err != nil {
			b.t.Fatal(err)
		}
		b.made = append(b.made, pair{r[2*i], c})
	}
	b.calls += steps
	return true
}
