package graph

import (
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/families/fusion"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// addPrologues lets kernels of reductions, norms and softmax compute the elementwise calls that make their inputs, from what these read. A result must have
// no other reader. What it does is told to r.
func addPrologues(g *mir.Graph, target *spec.Target, strict bool, r *FusionReport) (*mir.Graph, int, error) {
	f, fixed := newJoiner(g, target, strict, r)
	type withPrologue struct {
		call fusion.Prologue
		in   []mir.Value
	}
	made := map[int]withPrologue{}
	for i := range g.Nodes() {
		n := &g.Nodes()[i]
		if n.Kind != mir.Op || fixed[i] || len(n.Out) != 1 || slices.Contains(n.In, mir.None) || !readsFewTimes(n.Call) {
			continue
		}
		for k, v := range n.In {
			maker := g.Maker(v)
			if f.readers[v] != 1 || fixed[maker] || f.taken[maker] {
				continue
			}
			first, ok := f.elementwise(&g.Nodes()[maker])
			if !ok {
				continue
			}
			from := g.Nodes()[maker].In
			at := slices.IndexFunc(from, func(w mir.Value) bool {
				d := g.Desc(w)
				return slices.Contains([]tensor.DType{tensor.F32, tensor.F16, tensor.BF16}, d.DType) && d.IsContiguous() && slices.Equal(d.Shape, g.Desc(v).Shape)
			})
			if at < 0 {
				continue
			}
			b := withPrologue{fusion.Prologue{First: behind(first, at), Call: n.Call, Inputs: len(n.In), Input: k}, slices.Clone(n.In)}
			b.in[k] = from[at]
			b.in = append(b.in, without(from, from[at])...)
			if err := b.call.Check(target, f.descs(b.in)); err != nil {
				f.miss(maker, "not in the kernel of "+spec.FormatBrief(n.Call), err)
				continue
			}
			made[i], f.taken[maker] = b, true
			r.joined(v)
			r.Prologues++
			break
		}
	}
	rewriter := mir.NewRewriter(g)
	for i, n := range g.Nodes() {
		b, ok := made[i]
		switch {
		case f.taken[i]:
		case !ok:
			rewriter.Copy(i)
		default:
			in := slices.Clone(b.in)
			for k, v := range in {
				in[k] = rewriter.At(v)
			}
			out, err := rewriter.To().AddCall(b.call, in...)
			if err != nil {
				return nil, 0, err
			}
			rewriter.Set(n.Out[0], out[0])
			rewriter.To().SetName(out[0], f.label(g.Maker(n.In[b.call.Input]))+", "+f.label(i))
		}
	}
	return rewriter.Finish(), len(made), nil
}

// readsFewTimes reports whether the kernels of a call load each element a few times at most.
func readsFewTimes(c spec.Call) bool {
	class := classOf(c)
	return class == spec.Reduction || class == spec.AxisWise
}

// classOf is the class of a call, and of the call of which elementwise ones are a prologue or an epilogue.
func classOf(c spec.Call) spec.Class {
	switch c := c.(type) {
	case fusion.Epilogue:
		return classOf(c.Call)
	case fusion.Prologue:
		return classOf(c.Call)
	}
	return c.Spec().Class
}
