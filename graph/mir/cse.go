package mir

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/lathe-gpu/lathe/spec"
)

// mergeEqual is the pass cse. Operations are functions of their attributes and inputs, random numbers too, whose
// seed is an attribute. So equal calls have equal results.
func mergeEqual(g *Graph, _ *spec.Target) (*Graph, int, error) {
	same := make([]Value, len(g.descs))
	for v := range same {
		same[v] = Value(v)
	}
	seen, merged := map[string]int{}, map[int]bool{}
	for i := range g.nodes {
		n := &g.nodes[i]
		key, ok := g.key(n, same)
		if !ok {
			continue
		}
		first, found := seen[key]
		if !found {
			seen[key] = i
			continue
		}
		merged[i] = true
		for k, v := range n.Out {
			same[v] = g.nodes[first].Out[k]
		}
	}
	return g.rebuild(func(i int) bool { return !merged[i] }, func(v Value) Value { return same[v] }), len(merged), nil
}

// key returns bytes that are equal for nodes that make the same. It reports false for nodes that are never merged.
func (g *Graph) key(n *Node, same []Value) (string, bool) {
	b := []byte{byte(n.Kind)}
	for _, v := range n.In {
		if v != None {
			v = same[v]
		}
		b = binary.AppendVarint(b, int64(v))
	}
	switch n.Kind {
	case Input, Param, If, While:
		return "", false
	case Constant:
		sum := sha256.Sum256(n.Data)
		return string(g.appendDesc(append(b, sum[:]...), n.Out[0])), true
	case View:
		return string(g.appendDesc(binary.AppendVarint(b, n.Offset), n.Out[0])), true
	}
	b, ok := spec.AppendKey(b, n.Call)
	return string(b), ok
}

// appendDesc appends the dtype, shape and strides of a value.
func (g *Graph) appendDesc(b []byte, v Value) []byte {
	d := g.Desc(v)
	b = append(b, byte(d.DType))
	b = binary.AppendUvarint(b, uint64(len(d.Shape)))
	for i, n := range d.Shape {
		b = binary.AppendVarint(b, int64(n))
		b = binary.AppendVarint(b, int64(d.ElementStrides()[i]))
	}
	return b
}
