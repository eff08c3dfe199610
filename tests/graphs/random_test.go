// Package graphs_test compares compiled graphs with the same calls one by one, on every backend.
package graphs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	_ "github.com/lathe-gpu/lathe/ops/all"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"

	_ "github.com/lathe-gpu/lathe/wgpu"
)

// pair is a value of a graph, and the tensor that the same calls make one by one.
type pair struct {
	value  *graph.Value
	tensor *lathe.Tensor
}

// builder makes a random graph and computes it at the same time.
type builder struct {
	t      *testing.T
	dev    *lathe.Device
	rng    *rand.Rand
	g      *graph.Graph
	made   []pair
	inputs map[string]*lathe.Tensor
	params map[string]*lathe.Tensor
	calls  int
	text   []string
}

// mostElements bounds the tensors of a random graph.
const mostElements = 4096

var dtypes = []tensor.DType{tensor.F32, tensor.F32, tensor.F32, tensor.F16, tensor.BF16, tensor.I32, tensor.U8, tensor.I64, tensor.Bool, tensor.F64,
	tensor.U32, tensor.U16, tensor.I16}

// leaf adds an input, a param or a constant.
func (b *builder) leaf(d tensor.DType) {
	shape := make([]int, b.rng.IntN(4))
	for i := range shape {
		shape[i] = []int{1, 2, 3, 4, 4, 5}[b.rng.IntN(6)]
	}
	n := tensor.Contiguous(d, shape...).Elems()
	values := make([]float64, n)
	for i := range values {
		if values[i] = float64(b.rng.IntN(7)); !slices.Contains([]tensor.DType{tensor.U8, tensor.U16, tensor.U32, tensor.Bool}, d) {
			values[i] -= 3
		}
		if d == tensor.Bool {
			values[i] = float64(b.rng.IntN(2))
		}
	}
	h, err := tensor.FromFloats(d, shape, values)
	if err != nil {
		b.t.Fatal(err)
	}
	x, err := b.dev.NewTensor(h.Desc)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.dev.Write(context.Background(), x, h.Data); err != nil {
		b.t.Fatal(err)
	}
	name := fmt.Sprintf("x%d", len(b.made))
	var v *graph.Value
	switch b.rng.IntN(3) {
	case 0:
		v, b.inputs[name] = b.g.Input(name, d, shape...), x
	case 1:
		declare := b.g.Param
		if b.rng.IntN(2) == 0 {
			declare = b.g.Weight
		}
		v, b.params[name] = declare(name, d, shape...), x
	default:
		v = b.g.Constant(h)
	}
	b.made = append(b.made, pair{v, x})
}

func (b *builder) pick() pair { return b.made[b.rng.IntN(len(b.made))] }

// view adds a view of something.
func (b *builder) view() {
	p := b.pick()
	rank := len(p.value.Shape())
	var x *lathe.Tensor
	var err error
	var v *graph.Value
	switch b.rng.IntN(4) {
	case 0:
		perm := b.rng.Perm(rank)
		x, err = p.tensor.Transpose(perm...)
		v = p.value.Transpose(perm...)
	case 1:
		if rank == 0 {
			return
		}
		dim := b.rng.IntN(rank)
		n := p.value.Shape()[dim]
		from := b.rng.IntN(n + 1)
		x, err = p.tensor.Narrow(dim, from, b.rng.IntN(n-from+1))
		v = p.value.Narrow(dim, from, x.Shape()[dim])
	case 2:
		shape := append([]int{2}, p.value.Shape()...)
		x, err = p.tensor.Expand(shape...)
		v = p.value.Expand(shape...)
	default:
		c := p.tensor
		if !c.Desc().IsContiguous() {
			if c, err = b.dev.Copy(c); err != nil {
				b.t.Fatal(err)
			}
		}
		x, err = c.Reshape(-1)
		v = p.value.Reshape(-1)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.made = append(b.made, pair{v, x})
}

// call adds a call of a random operation with inputs that it takes. It reports false if none was found.
func (b *builder) call(table []*spec.Op) bool {
	elementwise := b.rng.IntN(2) == 0 // such calls can share launches
	for range 200 {
		op := table[b.rng.IntN(len(table))]
		if elementwise && op.Class != spec.Elementwise {
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
		first := b.pick()
		if elementwise && b.rng.IntN(2) == 0 {
			first = b.made[len(b.made)-1]
		}
		in := []pair{first}
		for len(in) < len(op.In) {
			if op.In[len(in)].Optional && b.rng.IntN(2) == 0 {
				break
			}
			in = append(in, b.pick())
		}
		if len(op.In) == 0 {
			in = nil
		}
		var descs []tensor.Desc
		var tensors []*lathe.Tensor
		var values []*graph.Value
		for _, p := range in {
			descs, tensors, values = append(descs, p.tensor.Desc()), append(tensors, p.tensor), append(values, p.value)
		}
		want, err := op.Shape(c, descs)
		if err != nil || slices.ContainsFunc(want, func(d tensor.Desc) bool { return d.Elems() > mostElements }) {
			continue
		}
		out, err := b.dev.Call(context.Background(), c, tensors...)
		if err != nil {
			continue // such as a dtype that the device lacks
		}
		b.text = append(b.text, fmt.Sprintf("%s %v", spec.FormatCall(c), descs))
		for i, v := range b.g.Call(c, values...) {
			b.made = append(b.made, pair{v, out[i]})
		}
		b.calls++
		return true
	}
	return false
}

// TestRandom compiles random graphs of all operations with all passes and with none, and compares every value with the same calls one
// by one, bit for bit.
func TestRandom(t *testing.T) {
	var table []*spec.Op
	for _, op := range spec.All() {
		if op.Offered() && op.Group != "image" && op.Updates(0) < 0 {
			table = append(table, op)
		}
	}
	for _, c := range []struct {
		backend     string
		quick, full int // graphs
	}{{"cpu", 20, 1000}, {"vk", 10, 1000}, {"wgpu", 2, 60}} { // WebGPU's driver waits for each result
		t.Run(c.backend, func(t *testing.T) {
			graphs, backend := c.quick, c.backend
			if testlevel.IsFull() {
				graphs = c.full
			}
			dev, err := lathe.Open(context.Background(), lathe.WithBackend(backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			calls, fused, refused, seed := 0, 0, 0, testlevel.Seed(t)
			for i := range graphs {
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				n, m, ok := randomGraph(t, dev, rng, table)
				calls, fused = calls+n, fused+m
				if !ok {
					refused++
				}
				if t.Failed() {
					t.Fatalf("graph %d of seed %d", i, seed)
				}
			}
			t.Logf("%d graphs of %d calls, %d refused by the device; %d calls shared launches", graphs, calls, refused, fused)
			if refused*2 > graphs {
				t.Errorf("the device refused %d of %d graphs", refused, graphs)
			}
		})
	}
}

// randomGraph makes and compares one graph. It reports false if a call one by one found bad indices.
func randomGraph(t *testing.T, dev *lathe.Device, rng *rand.Rand, table []*spec.Op) (calls, fused int, ok bool) {
	ctx := context.Background()
	b := &builder{t: t, dev: dev, rng: rng, g: graph.New(), inputs: map[string]*lathe.Tensor{}, params: map[string]*lathe.Tensor{}}
	// A few dtypes, so that operations find inputs of one.
	kinds := []tensor.DType{dtypes[rng.IntN(len(dtypes))], dtypes[rng.IntN(len(dtypes))]}
	for range 3 + rng.IntN(3) {
		b.leaf(kinds[rng.IntN(2)])
	}
	for range 4 + rng.IntN(12) {
		if k := rng.IntN(12); k < 3 {
			b.view()
		} else if k == 3 {
			b.control(table)
		} else {
			b.call(table)
		}
	}
	if dev.Sync(ctx) != nil {
		return b.calls, 0, false // an index that is out of range
	}
	// Some of the values are results. The others may share memory.
	var results []pair
	for i, p := range b.made {
		if i == len(b.made)-1 || rng.IntN(3) == 0 {
			b.g.Output(fmt.Sprintf("y%d", len(results)), p.value)
			results = append(results, p)
		}
	}
	forms := []graph.Options{{Strict: true}, {Without: []string{"idiom", "stack", "cse", "dce", "fuse"}}, {Without: []string{"cse", "dce"}, Strict: true}}
	if !slices.ContainsFunc(b.made, func(p pair) bool { return p.value.DType().Size() == 2 }) {
		forms = append(forms, graph.Options{Without: []string{"idiom", "stack"}})
	}
	forms = append(forms, graph.Options{Precision: tensor.BF16}) // whose results are others, of the same dtypes and shapes
	for k, o := range forms {
		g := b.g
		if k == 0 {
			g = b.fromFile()
		}
		exe, err := dev.Compile(ctx, g, o)
		if err != nil {
			t.Errorf("%v\n%v", err, b.text)
			return b.calls, fused, true
		}
		for name, x := range b.params {
			if err := exe.SetParam(name, x); err != nil {
				t.Fatal(err)
			}
		}
		runs := 1
		if k == 0 {
			runs = 2 // The second run finds the arena in use.
		}
		for range runs {
			out, err := exe.Run(ctx, b.inputs)
			if o.Precision != tensor.Invalid && errors.Is(err, lathe.ErrInvalidArgument) {
				continue // other numbers were indices out of range, which a condition has waited for
			}
			if err != nil {
				t.Fatal(err)
			}
			if o.Precision != tensor.Invalid {
				for i, p := range results {
					if y := out[fmt.Sprintf("y%d", i)]; !slices.Equal(y.Shape(), p.value.Shape()) || y.DType() != p.value.DType() {
						t.Errorf("with precision %v, y%d is %v (want %v)", o.Precision, i, y, p.value)
					}
				}
				_ = dev.Sync(ctx) // other numbers may be indices out of range
				continue
			}
			for i, p := range results {
				compare(t, dev, out[fmt.Sprintf("y%d", i)], p.tensor)
				if t.Failed() {
					t.Logf("output y%d of\n%v\n%s", i, exe.Plan().Graph, exe.Plan())
					return b.calls, fused, true
				}
			}
		}
		fused += exe.Plan().Report.Fusion.Calls
		if bytes := exe.Plan().Program.Bytes; bytes.Arena < bytes.Lower {
			t.Errorf("an arena of %d bytes, below its lower bound %d", bytes.Arena, bytes.Lower)
		}
		if err := exe.Free(); err != nil {
			t.Error(err)
		}
	}
	return b.calls, fused, true
}

// fromFile is the graph written to a file and read again, or the graph itself if a call of it cannot be written, as one with an infinite
// attribute.
func (b *builder) fromFile() *graph.Graph {
	data, err := json.Marshal(b.g)
	if err != nil {
		if !strings.Contains(err.Error(), "mir: write node") {
			b.t.Error(err)
		}
		return b.g
	}
	g := graph.New()
	if err := json.Unmarshal(data, g); err != nil {
		b.t.Fatalf("%v\n%s", err, data)
	}
	was, err := b.g.MIR()
	if err != nil {
		b.t.Fatal(err)
	}
	is, err := g.MIR()
	if err != nil || is.String() != was.String() {
		b.t.Errorf("%v: it came back as\n%vwant\n%v", err, is, was)
	}
	return g
}

// sameNumbers reports whether bytes are the same numbers. The sign and the digits of a NaN that a driver makes depend on what the
// instruction before it is.
func sameNumbers(d tensor.Desc, a, b []byte) bool {
	x, y := tensor.Host{Desc: d, Data: a}, tensor.Host{Desc: d, Data: b}
	p, q, size := x.Floats(), y.Floats(), d.DType.Size()
	for i := range p {
		if !bytes.Equal(a[i*size:(i+1)*size], b[i*size:(i+1)*size]) && !(math.IsNaN(p[i]) && math.IsNaN(q[i])) {
			return false
		}
	}
	return true
}

// compare compares two tensors, one of them a view perhaps, bit for bit.
func compare(t *testing.T, dev *lathe.Device, got, want *lathe.Tensor) {
	t.Helper()
	ctx := context.Background()
	c, err := dev.Call(ctx, ops.Copy{}, want)
	if err != nil {
		t.Fatal(err)
	}
	w, err := dev.Read(ctx, c[0])
	if err != nil {
		t.Fatal(err)
	}
	g, err := dev.Read(ctx, got)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Shape(), want.Shape()) || got.DType() != want.DType() {
		t.Errorf("got %v, want %v", got, want)
	}
	if !bytes.Equal(g, w) && !sameNumbers(got.Desc(), g, w) {
		t.Errorf("%v: got %x, want %x", got, g[:min(len(g), 64)], w[:min(len(w), 64)])
	}
}
