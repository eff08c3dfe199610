package mir

import "slices"

// Rewriter copies a graph node by node, so that a pass can put others in the place of some.
type Rewriter struct {
	from, to *Graph
	moved    []Value
	copied   []bool
	given    int // the node before which all inputs and params have values
}

// NewRewriter begins a copy of a graph that Verify accepts.
func NewRewriter(from *Graph) *Rewriter {
	moved := make([]Value, from.Values())
	for i := range moved {
		moved[i] = None
	}
	return &Rewriter{from: from, to: &Graph{}, moved: moved, copied: make([]bool, len(from.Nodes()))}
}

// To is the new graph, to which a pass adds nodes.
func (r *Rewriter) To() *Graph {
	if r == nil {
		return nil
	}
	return r.to
}

// At returns the value of the new graph that stands for a value of the old one, or None if there is none yet.
func (r *Rewriter) At(v Value) Value {
	if r == nil || v < 0 || int(v) >= len(r.moved) {
		return None
	}
	return r.moved[v]
}

// Set says which value of the new graph stands for a value of the old one.
func (r *Rewriter) Set(old, new Value) {
	if r != nil && old >= 0 && int(old) < len(r.moved) {
		r.moved[old] = new
	}
}

// Copy copies a node whose inputs have values in the new graph. It does nothing the second time. Inputs and params stay in their order, in which runs
// and bodies are given values: Copy of one copies those before it first, unless Set has given them values.
func (r *Rewriter) Copy(node int) {
	if r == nil || node < 0 || node >= len(r.copied) || r.copied[node] {
		return
	}
	if r.from.declares(node) {
		for ; r.given < node; r.given++ {
			if r.from.declares(r.given) && r.At(r.from.nodes[r.given].Out[0]) == None {
				r.copy(r.given)
			}
		}
	}
	r.copy(node)
}

// copy copies a node that was not copied.
func (r *Rewriter) copy(node int) {
	r.copied[node] = true
	n := r.from.nodes[node]
	old := n.Out
	n.In, n.Out = slices.Clone(n.In), nil
	for k, v := range n.In {
		n.In[k] = r.At(v)
	}
	descs := r.from.descs[:0:0]
	for _, v := range old {
		descs = append(descs, r.from.descs[v])
	}
	for k, v := range r.to.add(n, descs...) {
		r.moved[old[k]] = v
	}
}

// Finish returns the new graph, with outputs for those of the old one.
func (r *Rewriter) Finish() *Graph {
	if r == nil || r.to == nil {
		return &Graph{}
	}
	for _, o := range r.from.Outputs() {
		r.to.outputs = append(r.to.outputs, Output{o.Name, r.At(o.Value)})
	}
	return r.to
}

// declares reports whether a node is an input or a param.
func (g *Graph) declares(node int) bool {
	kind := g.nodes[node].Kind
	return kind == Input || kind == Param
}
