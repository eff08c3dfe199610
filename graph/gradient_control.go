package graph

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/spec"
)

// branches adds the gradients of what an If reads: another If, whose branches compute the branches again and walk them back. results
// are the gradients of its results.
func (t *reverse) branches(n mir.Node, results []spec.Value) error {
	g := t.g
	var needed []int // of the captured values
	for i, v := range n.In[1:] {
		if t.depends[v] {
			needed = append(needed, i)
		}
	}
	captured := slices.Clone(n.In[1:])
	var seeded []int // of the results
	for k, grad := range results {
		if grad == spec.NoValue {
			continue
		}
		seed, err := g.direct(mir.Value(grad))
		if err != nil {
			return err
		}
		seeded, captured = append(seeded, k), append(captured, seed)
	}
	if len(needed) == 0 {
		return nil
	}
	var bodies [2]*mir.Graph
	for i, b := range n.Bodies[:2] {
		var err error
		if bodies[i], err = t.branch(b, captured[len(n.In)-1:], needed, seeded); err != nil {
			return err
		}
	}
	out, err := g.mir.AddIf(n.In[0], captured, bodies[0], bodies[1])
	if err != nil {
		return err
	}
	for k, i := range needed {
		t.parts[n.In[1+i]] = append(t.parts[n.In[1+i]], out[k])
	}
	return nil
}

// branch is a branch of an If followed by the gradients of some of its inputs, which are its outputs. seeds are the gradients of some of the
// outputs of the branch.
func (t *reverse) branch(b *mir.Graph, seeds []mir.Value, needed, seeded []int) (*mir.Graph, error) {
	r := mir.NewRewriter(b)
	var inputs []mir.Value
	for i, n := range b.Nodes() {
		r.Copy(i)
		if n.Kind == mir.Input {
			inputs = append(inputs, r.At(n.Out[0]))
		}
	}
	sub := t.g.child()
	sub.mir = r.To()
	taken := map[string]bool{} // A graph from a file has names of its own.
	for _, n := range b.Nodes() {
		taken[n.Name] = true
	}
	number := len(inputs)
	free := func() string {
		for ; ; number++ {
			if name := fmt.Sprint("c", number); !taken[name] {
				taken[name] = true
				return name
			}
		}
	}
	var from, grads, of []mir.Value
	for k, v := range seeds {
		in, err := sub.mir.AddInput(free(), t.g.mir.Desc(v))
		if err != nil {
			return nil, err
		}
		grads, from = append(grads, in), append(from, r.At(b.Outputs()[seeded[k]].Value))
	}
	for _, i := range needed {
		of = append(of, inputs[i])
	}
	back := &reverse{g: sub, parts: map[mir.Value][]mir.Value{}}
	sums, err := back.walk(from, func(i int) (mir.Value, error) { return grads[i], nil }, of)
	if err != nil {
		return nil, err
	}
	for i, v := range sums {
		if v, err = sub.direct(v); err == nil {
			err = sub.mir.AddOutput(fmt.Sprintf("r%d", i), v)
		}
		if err != nil {
			return nil, err
		}
	}
	return sub.mir, nil
}
