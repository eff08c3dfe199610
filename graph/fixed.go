package graph

import (
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Elements that the compiler itself computes: no tensor has more, and no call more arithmetic.
const (
	mostKnown = 1 << 24
	mostFlops = 1 << 28
)

// known computes elements of values that depend on constants only, by the references of the calls. It is for passes that must see what a
// mask hides.
type known struct {
	g     *mir.Graph
	fixed []bool
	made  map[mir.Value]*tensor.Host
}

// elements are those of a value, without strides, or nil if they are not known, or take long.
func (k *known) elements(v mir.Value) *tensor.Host {
	if h, ok := k.made[v]; ok {
		return h
	}
	i := k.g.Maker(v)
	if i < 0 || i >= len(k.fixed) || !k.fixed[i] || k.g.Desc(v).Elems() > mostKnown {
		return nil
	}
	k.made[v] = k.compute(&k.g.Nodes()[i], k.g.Desc(v))
	return k.made[v]
}

// compute computes the only result of a node.
func (k *known) compute(n *mir.Node, d tensor.Desc) *tensor.Host {
	var in []*tensor.Host
	var descs []tensor.Desc
	for _, v := range n.In {
		if v == mir.None {
			return nil
		}
		h := k.elements(v)
		if h == nil {
			return nil
		}
		in, descs = append(in, h), append(descs, h.Desc)
	}
	switch n.Kind {
	case mir.Constant:
		return &tensor.Host{Desc: tensor.Contiguous(d.DType, d.Shape...), Data: n.Data}
	case mir.View:
		return packed(tensor.Host{Desc: d, Data: in[0].Data[n.Offset:]})
	case mir.Op:
		// References of other classes may not stand the indices and sizes that only a device checks.
		op := n.Call.Spec()
		if c := op.Class; len(in) > 0 && c != spec.Elementwise && c != spec.Movement || len(n.Out) != 1 || op.Reference == nil {
			return nil
		}
		if op.Cost != nil && op.Cost(n.Call, descs).Flops > mostFlops {
			return nil
		}
		out := tensor.NewHost(tensor.Contiguous(d.DType, slices.Clone(d.Shape)...))
		op.Reference(n.Call, in, []*tensor.Host{out})
		return out
	}
	return nil
}

// packed is a tensor without strides.
func packed(h tensor.Host) *tensor.Host {
	out, size, to := tensor.NewHost(tensor.Contiguous(h.DType, slices.Clone(h.Shape)...)), h.DType.Size(), 0
	h.Each(func(_ []int, at int) {
		copy(out.Data[to*size:(to+1)*size], h.Data[at*size:])
		to++
	})
	return out
}
