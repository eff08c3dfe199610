package graph

import (
	"fmt"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// lower makes the matrix products of F32 compute in 16 bits: d is F16 or BF16. It casts their inputs, and casts their results back to F32.
// Another product reads the result before that cast. It returns how many calls it has changed.
func lower(g *mir.Graph, t *spec.Target, d tensor.DType) (*mir.Graph, int, error) {
	switch d {
	case tensor.Invalid, tensor.F32:
		return g, 0, nil
	case tensor.F16:
		if !t.F16 {
			return nil, 0, fmt.Errorf("%w: %w: precision f16: this device does not compute with f16 (bf16 needs no support)", errs.ErrGraphRefused, errs.ErrUnsupported)
		}
	case tensor.BF16:
	default:
		return nil, 0, fmt.Errorf("%w: precision %v (want f32, f16 or bf16)", errs.ErrInvalidArgument, d)
	}
	l := &lowerer{g: g, r: mir.NewRewriter(g), d: d, small: map[mir.Value]mir.Value{}}
	changes := 0
	for i := range g.Nodes() {
		n := &g.Nodes()[i]
		in := l.dtypes(n)
		if in == nil {
			l.r.Copy(i)
			if err := l.copied(n); err != nil {
				return nil, 0, err
			}
			continue
		}
		if err := l.call(n, in); err != nil {
			return nil, 0, err
		}
		changes++
	}
	return l.r.Finish(), changes, nil
}

// lowerer is a graph in which products become those of 16 bits.
type lowerer struct {
	g *mir.Graph
	r *mir.Rewriter
	d tensor.DType
	// small has the value of 16 bits for values of g, if there is one. Its values are those of the new graph.
	small map[mir.Value]mir.Value
}

// dtypes are the dtypes of the inputs of a call in 16 bits, or nil for one that stays as it is. An input that a call may leave
// out stays F32 if the operation takes that, as gemm takes c, and then has a result of F32.
func (l *lowerer) dtypes(n *mir.Node) []tensor.DType {
	if n.Kind != mir.Op || n.Call.Spec().Class != spec.MatrixProduct || len(n.In) == 0 || l.g.Desc(n.In[0]).DType != tensor.F32 {
		return nil
	}
	op := n.Call.Spec()
	for _, all := range []bool{false, true} {
		descs, types := make([]tensor.Desc, len(n.In)), make([]tensor.DType, len(n.In))
		for i, v := range n.In {
			if v == mir.None {
				descs[i], _ = op.LeftOut(i, l.d)
				continue
			}
			descs[i] = l.g.Desc(v)
			if descs[i].DType == tensor.F32 && (all || i >= len(op.In) || !op.In[i].Optional) {
				descs[i].DType = l.d
			}
			types[i] = descs[i].DType
		}
		if out, err := op.Shape(n.Call, descs); err == nil && l.suits(n, out) {
			return types
		}
	}
	return nil
}

// suits reports whether the results of a call in 16 bits are those of the call, but for the dtype.
func (l *lowerer) suits(n *mir.Node, out []tensor.Desc) bool {
	if len(out) != len(n.Out) {
		return false
	}
	for i, v := range n.Out {
		want := l.g.Desc(v).DType
		if out[i].DType != want && (want != tensor.F32 || out[i].DType != l.d) {
			return false
		}
	}
	return true
}

// call appends a call in 16 bits.
func (l *lowerer) call(n *mir.Node, types []tensor.DType) error {
	in := make([]mir.Value, len(n.In))
	for i, v := range n.In {
		in[i] = l.r.At(v)
		if v == mir.None || types[i] == l.g.Desc(v).DType {
			continue
		}
		var err error
		if in[i], err = l.cast(v); err != nil {
			return err
		}
	}
	out, err := l.r.To().AddCall(n.Call, in...)
	if err != nil {
		return err
	}
	l.r.To().SetName(out[0], n.Name)
	for i, v := range n.Out {
		l.r.Set(v, out[i])
		if l.g.Desc(v).DType == tensor.F32 && l.r.To().Desc(out[i]).DType == l.d {
			l.small[v] = out[i]
			back, err := l.r.To().AddCall(ops.Cast{To: tensor.F32}, out[i])
			if err != nil {
				return err
			}
			l.r.Set(v, back[0])
		}
	}
	return nil
}

// copied copies the value of 16 bits where a call copies that of F32, so that a product which reads the copy needs no cast.
func (l *lowerer) copied(n *mir.Node) error {
	if n.Kind != mir.Op || n.Call.Spec() != (ops.Copy{}).Spec() {
		return nil
	}
	root, _ := l.g.Root(n.In[0])
	if _, ok := l.small[root]; !ok {
		return nil
	}
	s, err := l.cast(n.In[0])
	if err != nil {
		return err
	}
	out, err := l.r.To().AddCall(n.Call, s)
	if err != nil {
		return err
	}
	l.small[n.Out[0]] = out[0]
	return nil
}

// cast returns a value in 16 bits. Of a view that shows all of another value, it casts that one, so that the view costs nothing still.
func (l *lowerer) cast(v mir.Value) (mir.Value, error) {
	if s, ok := l.small[v]; ok {
		return s, nil
	}
	d := l.g.Desc(v)
	s := mir.None
	root, offset := l.g.Root(v)
	_, known := l.small[root]
	if root != v && (known || l.g.Desc(root).Elems() <= d.Elems()) {
		whole, err := l.cast(root)
		if err != nil {
			return mir.None, err
		}
		d.DType = l.d
		if s, err = l.r.To().AddView(l.g.Nodes()[l.g.Maker(v)].Name, whole, offset/int64(tensor.F32.Size())*int64(l.d.Size()), d); err != nil {
			return mir.None, err
		}
	} else {
		out, err := l.r.To().AddCall(ops.Cast{To: l.d}, l.r.At(v))
		if err != nil {
			return mir.None, err
		}
		s = out[0]
	}
	l.small[v] = s
	return s, nil
}
