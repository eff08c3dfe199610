package mir

import "github.com/lathe-gpu/lathe/spec"

// dropDead is the pass dce.
func dropDead(g *Graph, _ *spec.Target) (*Graph, int, error) {
	live := make([]bool, len(g.nodes))
	need := func(v Value) {
		if v != None {
			live[g.Maker(v)] = true
		}
	}
	for _, o := range g.outputs {
		need(o.Value)
	}
	dropped := 0
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := &g.nodes[i]
		live[i] = live[i] || n.Kind == Input || n.Kind == Param
		if !live[i] {
			dropped++
			continue
		}
		for _, v := range n.In {
			need(v)
		}
	}
	return g.rebuild(func(i int) bool { return live[i] }, func(v Value) Value { return v }), dropped, nil
}
