package mir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	_ "github.com/lathe-gpu/lathe/ops/all"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// written is the graph of a file with each kind of node.
const written = `{"format":"lathe graph 1","nodes":[
{"kind":"input","name":"x","out":["f32[2,3]"]},
{"kind":"constant","values":[0.5,-0,1e+30],"out":["f32[3]"]},
{"kind":"constant","data":"AADAfw==","out":["f32[]"]},
{"kind":"view","name":"transpose","in":[0],"strides":[1,3],"out":["f32[3,2]"]},
{"kind":"view","name":"narrow","in":[0],"offset":4,"out":["f32[2]"]},
{"kind":"param","name":"b","out":["f32[3]"]},
{"kind":"op","name":"with a label","call":"add","in":[0,1],"out":["f32[2,3]"]},
{"kind":"op","call":"layer_norm eps=1e-05","in":[6,-1,5],"out":["f32[2,3]"]},
{"kind":"op","call":"clip min=0 max=2.5","in":[7],"out":["f32[2,3]"]},
{"kind":"op","call":"top_k k=2 axis=-1 smallest=false wide=true","in":[7],"out":["f32[2,2]","i64[2,2]"]}
],"outputs":[
{"name":"y","value":8},
{"name":"t","value":3}
]}`

// TestFile reads and writes a file with each kind of node.
func TestFile(t *testing.T) {
	var g mir.Graph
	if err := json.Unmarshal([]byte(written), &g); err != nil {
		t.Fatal(err)
	}
	const text = `v0 = input x  f32[2,3]
v1 = constant  f32[3]
v2 = constant  f32[]
v3 = transpose v0  f32[3,2] strides [1 3]
v4 = narrow v0 +4 bytes  f32[2]
v5 = param b  f32[3]
v6 = add v0 v1 (with a label)  f32[2,3]
v7 = layer_norm eps=1e-05 v6 - v5  f32[2,3]
v8 = clip min=0 max=2.5 v7  f32[2,3]
v9 v10 = top_k k=2 axis=-1 smallest=false wide=true v7  f32[2,2] i64[2,2]
output y = v8
output t = v3
`
	if g.String() != text {
		t.Errorf("got\n%swant\n%s", g.String(), text)
	}
	if bits := g.Nodes()[1].Data; !math.Signbit(float64(math.Float32frombits(uint32(bits[7]) << 24))) {
		t.Error("the constant has lost a sign")
	}
	again, err := g.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != written {
		t.Errorf("wrote\n%s\nwant\n%s", again, written)
	}
}

// TestDamagedFile changes the file in one place. Each is an error that says where, and the graph stays what it was.
func TestDamagedFile(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"lathe graph 1"`, `"lathe graph 2"`, `the format is "lathe graph 2"`},
		{`"nodes":[`, `"nodes":[[`, "byte"},
		{`"nodes"`, `"knots"`, `unknown field "knots"`},
		{`"in":[0,1]`, `"in":[0,1.5]`, "byte"},
		{`"kind":"param"`, `"kind":"parameter"`, "read node 5, parameter"},
		{`"name":"b"`, `"name":"x"`, "read node 5, param"},
		{`"call":"add"`, `"call":"ad"`, "read node 6, op"},
		{`"in":[0,1]`, `"in":[0,99]`, "read node 6, op"},
		{`"in":[0,1]`, `"in":[0,6]`, "read node 6, op"},
		{`"call":"add","in":[0,1],"out":["f32[2,3]"]`, `"call":"add","in":[0,1],"out":["f32[2,4]"]`, `makes ["f32[2,3]"]`},
		{`"out":["f32[2,2]","i64[2,2]"]`, `"out":["f32[2,2]"]`, "read node 9, op"},
		{`"call":"add"`, `"call":"add","offset":8`, "a field of another kind"},
		{`"values":[0.5,-0,1e+30]`, `"values":[0.5,-0]`, "read node 1, constant"},
		{`"values":[0.5,-0,1e+30]`, `"values":[0.5,-0,1e+40]`, "1e+40 is no element of f32"},
		{`"values":[0.5,-0,1e+30],"out":["f32[3]"]`, `"values":[0.5,-0,1],"out":["i32[3]"]`, "0.5 is no element of i32"},
		{`"values":[0.5`, `"data":"AAAA","values":[0.5`, "values and data"},
		{`"data":"AADAfw=="`, `"data":"AADA"`, "read node 2, constant"},
		{`"data":"AADAfw==","out":["f32[]"]`, `"data":"AADAfw==","out":["f32[4000000000000]"]`, "read node 2, constant"},
		{`"data":"AADAfw==","out":["f32[]"]`, `"data":"AADAfw==","out":["f32[4000000000000,4000000000000]"]`, "read node 2, constant"},
		{`"out":["f32[]"]`, `"out":["f33[]"]`, `"f33[]" is no dtype with a shape`},
		{`"out":["f32[]"]`, `"out":["f32[1,]"]`, `"f32[1,]" is no dtype with a shape`},
		{`"out":["f32[]"]`, `"out":["f32[-1]"]`, "negative"},
		{`"out":["f32[]"]`, `"out":[]`, "it makes 0 values"},
		{`"offset":4`, `"offset":20`, "read node 4, view"},
		{`"offset":4`, `"offset":9223372036854775804`, "read node 4, view"},
		{`"in":[0],"offset":4`, `"in":[0,1],"offset":4`, "read node 4, view"},
		{`"in":[0],"offset":4,"out":["f32[2]"]`, `"in":[0],"out":["f32[2,3]"]`, "the whole of v0"},
		{`"strides":[1,3]`, `"strides":[1,300]`, "read node 3, view"},
		{`"strides":[1,3]`, `"strides":[1]`, "read node 3, view"},
		{`{"name":"y","value":8}`, `{"name":"y","value":11}`, `output "y"`},
		{`{"name":"t"`, `{"name":"y"`, `output "y"`},
		{"\n]}", "\n]}]", "byte"},
	} {
		text := strings.Replace(written, c.old, c.new, 1)
		if text == written {
			t.Errorf("the file has no %s", c.old)
		}
		var g mir.Graph
		err := g.UnmarshalJSON([]byte(text))
		if !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), c.want) || g.Values() != 0 {
			t.Errorf("%q for %q: %v (want %q)", c.new, c.old, err, c.want)
		}
	}
	for n := range written {
		if err := new(mir.Graph).UnmarshalJSON([]byte(written[:n])); err == nil {
			t.Errorf("%d bytes are a graph", n)
		}
	}
}

// TestFileOfEachOperation writes and reads the calls of the conformance suite: each comes back as it was.
func TestFileOfEachOperation(t *testing.T) {
	calls, left := 0, map[string]int{}
	for _, op := range spec.All() {
		if !op.Offered() || op.Cases.Inputs == nil {
			continue
		}
		for _, c := range op.Cases.Calls {
			var g mir.Graph
			if !withCall(&g, c) {
				continue
			}
			data, err := json.Marshal(&g)
			if err != nil {
				if !strings.Contains(err.Error(), "NaN or infinity is not a value") && !strings.Contains(err.Error(), "is another call") {
					t.Errorf("%s: %v", spec.FormatCall(c), err)
				}
				left[op.Name]++
				continue
			}
			var again mir.Graph
			if err := json.Unmarshal(data, &again); err != nil {
				t.Errorf("%s: %v", spec.FormatCall(c), err)
				continue
			}
			n, m := g.Nodes(), again.Nodes()
			have, _ := spec.AppendKey(nil, m[len(m)-1].Call)
			want, _ := spec.AppendKey(nil, n[len(n)-1].Call)
			if again.String() != g.String() || !bytes.Equal(have, want) {
				t.Errorf("%s came back as\n%v", spec.FormatCall(c), &again)
			}
			calls++
		}
	}
	// Pictures, infinities, and a zero of a Go program that means what is left out, which text cannot say.
	known := []string{"canny", "fill", "lut", "sobel_edges", "to_profile", "to_srgb", "vignette", "zoom_blur"}
	if got := slices.Sorted(maps.Keys(left)); !slices.Equal(got, known) || calls < 200 {
		t.Errorf("%d calls came back, and calls of %q cannot be written (want those of %q)", calls, got, known)
	}
	t.Logf("%d calls came back", calls)
}

// withCall adds a call with inputs of its first cases that its shape rule takes.
func withCall(g *mir.Graph, c spec.Call) bool {
	op := c.Spec()
	for _, d := range op.Cases.DTypes {
		for size := 1; size <= 16; size++ {
			dims := make([]int, len(op.Cases.Dims))
			for i, dim := range op.Cases.Dims {
				dims[i] = size
				if len(dim.Only) > 0 {
					dims[i] = dim.Only[0]
				}
			}
			in := op.Cases.Inputs(c, d, dims)
			if in == nil {
				continue
			}
			var to mir.Graph
			values := make([]mir.Value, len(in))
			for i, desc := range in {
				v, err := to.AddInput(string(rune('a'+i)), tensor.Contiguous(desc.DType, desc.Shape...))
				if err != nil {
					return false
				}
				values[i] = v
			}
			if _, err := to.AddCall(c, values...); err == nil {
				*g = to
				return true
			}
		}
	}
	return false
}

// TestNotWritten refuses calls that no text says.
func TestNotWritten(t *testing.T) {
	var g mir.Graph
	must[[]mir.Value](t)(g.AddCall(ops.Fill{Value: math.Inf(1), DType: tensor.F32, Shape: []int{2}}))
	if _, err := g.MarshalJSON(); err == nil || !strings.Contains(err.Error(), "mir: write node 0, fill") {
		t.Errorf("an infinite attribute: %v", err)
	}
}

// FuzzRead wants of any file an error that matches ErrInvalidArgument or ErrUnsupported, or a graph that comes back as the same text.
func FuzzRead(f *testing.F) {
	f.Add([]byte(written))
	f.Add([]byte(written[:len(written)/2]))
	f.Add([]byte(`{"format":"lathe graph 1","nodes":[{"kind":"input","name":"x","out":["f32[1000000,1000000]"]},{"kind":"op","call":"tile repeats=9,9","in":[0],"out":["f32[9000000,9000000]"]}],"outputs":[]}`))
	f.Add([]byte(`{"format":"lathe graph 1","nodes":[{"kind":"input","name":"x","out":["f32[4,4]"]},{"kind":"op","call":"einsum equation=\"ij,jk->ik\"","in":[0,0],"out":["f32[4,4]"]}],"outputs":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var g mir.Graph
		if err := g.UnmarshalJSON(data); err != nil {
			return
		}
		again, err := g.MarshalJSON()
		if err != nil {
			t.Fatalf("it was read, and cannot be written: %v", err)
		}
		var h mir.Graph
		if err := h.UnmarshalJSON(again); err != nil || h.String() != g.String() {
			t.Fatalf("%v: it came back as\n%swant\n%s", err, &h, &g)
		}
	})
}
