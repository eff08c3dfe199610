package gradients_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/tensor"
)

// evaluate computes the only output of a graph, which has one element, by the references of its operations in float64.
func evaluate(g *graph.Graph, given map[string][]float64) float64 {
	m, err := g.MIR()
	if err != nil {
		return math.NaN()
	}
	values := make([]*tensor.Host, m.Values())
	for _, n := range m.Nodes() {
		for _, v := range n.Out {
			d := m.Desc(v)
			values[v] = host(d, make([]float64, d.Elems()))
		}
		switch n.Kind {
		case mir.Input, mir.Param:
			values[n.Out[0]].SetFloats(given[n.Name])
		case mir.Constant:
			values[n.Out[0]].SetFloats((&tensor.Host{Desc: m.Desc(n.Out[0]), Data: n.Data}).Floats())
		case mir.View:
			values[n.Out[0]].SetFloats(viewed(m, n, values[n.In[0]].Floats()))
		case mir.Op:
			var in, out []*tensor.Host
			for _, v := range n.In {
				if v == mir.None {
					in = append(in, tensor.NewHost(tensor.Contiguous(tensor.F64, 0)))
				} else {
					in = append(in, values[v])
				}
			}
			for _, v := range n.Out {
				out = append(out, values[v])
			}
			n.Call.Spec().Reference(n.Call, in, out)
		}
	}
	return values[m.Outputs()[0].Value].Floats()[0]
}

// viewed are the elements of a view.
func viewed(m *mir.Graph, n mir.Node, root []float64) []float64 {
	d := m.Desc(n.Out[0])
	list, strides := make([]float64, 0, d.Elems()), d.ElementStrides()
	h := tensor.NewHost(tensor.Contiguous(tensor.F64, d.Shape...))
	h.Each(func(index []int, _ int) {
		at := int(n.Offset) / d.DType.Size()
		for i, k := range index {
			at += k * strides[i]
		}
		list = append(list, root[at])
	})
	return list
}

// network adds a network to a graph and returns its loss.
type network func(n *building) (loss *graph.Value)

// building is a graph in the making with random numbers for its inputs.
type building struct {
	g      *graph.Graph
	dtype  tensor.DType
	rng    *rand.Rand
	given  map[string][]float64
	names  []string
	leaves []*graph.Value
}

// leaf adds an input of random numbers, whose gradient is compared.
func (b *building) leaf(name string, shape ...int) *graph.Value {
	v := b.g.Input(name, b.dtype, shape...)
	values := make([]float64, tensor.Contiguous(b.dtype, shape...).Elems())
	for i := range values {
		values[i] = float64(float32(b.rng.NormFloat64() / 2))
	}
	b.given[name], b.names, b.leaves = values, append(b.names, name), append(b.leaves, v)
	return v
}

// classes are random numbers of n classes.
func (b *building) classes(n, classes int) *graph.Value {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(b.rng.IntN(classes))
	}
	h, err := tensor.FromFloats(tensor.I32, []int{n}, values)
	if err != nil {
		panic(err)
	}
	return b.g.Constant(h)
}

func build(net network, d tensor.DType, seed uint64) (*building, *graph.Value) {
	b := &building{g: graph.New(), dtype: d, rng: rand.New(rand.NewPCG(seed, 1)), given: map[string][]float64{}}
	return b, net(b)
}

// checkNetwork compares the gradients of a network, run on a device, with slopes of the same network that the references compute. most is
// relative to the largest gradient of each input.
func checkNetwork(t *testing.T, dev *lathe.Device, net network, d tensor.DType, most float64) {
	t.Helper()
	forward, loss := build(net, d, 1)
	forward.g.Output("loss", loss)
	b, loss := build(net, d, 1)
	for i, v := range b.g.Gradients(loss, b.leaves...) {
		b.g.Output(b.names[i], v)
	}
	exe, err := dev.Compile(t.Context(), b.g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Free()
	inputs := map[string]*lathe.Tensor{}
	for i, name := range b.names {
		h := tensor.NewHost(b.leaves[i].Desc())
		h.SetFloats(b.given[name])
		if inputs[name], err = dev.NewTensor(h.Desc); err == nil {
			err = dev.Write(t.Context(), inputs[name], h.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	results, err := exe.Run(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range b.names {
		data, err := dev.Read(t.Context(), results[name])
		if err != nil {
			t.Fatal(err)
		}
		got := (&tensor.Host{Desc: results[name].Desc(), Data: data}).Floats()
		largest := 0.0
		for _, v := range got {
			largest = max(largest, math.Abs(v))
		}
		x := forward.given[name]
		for range 12 {
			k := b.rng.IntN(len(x))
			const h = 1e-5
			at := x[k]
			slope := func(h float64) float64 {
				x[k] = at + h
				up := evaluate(forward.g, forward.given)
				x[k] = at - h
				down := evaluate(forward.g, forward.given)
				x[k] = at
				return (up - down) / (2 * h)
			}
			want := slope(h)
			if math.Abs(want-slope(h/8)) > 1e-6*max(1, math.Abs(want)) {
				continue // a kink of relu or a maximum lies between
			}
			compared++
			if off := math.Abs(got[k] - want); !(off <= most*max(largest, 1e-3)) {
				t.Errorf("input %s, element %d of %v: gradient %v, slope %v (the largest is %v)", name, k, slices.Clone(results[name].Shape()), got[k], want, largest)
				break
			}
		}
	}
	if compared < 8*len(b.names) {
		t.Errorf("%d elements of %d inputs were compared", compared, len(b.names))
	}
}
