package graph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	_ "github.com/lathe-gpu/lathe/ops/all"
	"github.com/lathe-gpu/lathe/tensor"
)

// A graph is a file of a line for each node. Reading it needs the operations: import _ "github.com/lathe-gpu/lathe/ops/all".
func ExampleGraph_MarshalJSON() {
	g := graph.New()
	x := g.Input("x", tensor.F32, 64, 784)
	w := g.Param("w", tensor.F32, 784, 10)
	g.Output("p", g.Softmax(g.Mul(g.MatMul(x, w), graph.Scalar(0.5)), -1))
	data, err := g.MarshalJSON()
	fmt.Printf("%s\n%v\n", data, err)
	again := graph.New()
	fmt.Println(json.Unmarshal(data, again))
	// Output:
	// {"format":"lathe graph 1","nodes":[
	// {"kind":"input","name":"x","out":["f32[64,784]"]},
	// {"kind":"param","name":"w","out":["f32[784,10]"]},
	// {"kind":"op","call":"matmul trans_a=false trans_b=false","in":[0,1],"out":["f32[64,10]"]},
	// {"kind":"constant","values":[0.5],"out":["f32[]"]},
	// {"kind":"op","call":"mul","in":[2,3],"out":["f32[64,10]"]},
	// {"kind":"op","call":"softmax dim=-1","in":[4],"out":["f32[64,10]"]}
	// ],"outputs":[
	// {"name":"p","value":5}
	// ]}
	// <nil>
	// <nil>
}

// TestJSON writes a graph with a mistake, and reads a damaged one.
func TestJSON(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.F32, 2, 3)
	g.Output("y", g.Exp(x))
	data, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	again := graph.New()
	again.MatMul(nil, nil) // a mistake of the graph that it was
	if err := json.Unmarshal(data, again); err != nil || again.Err() != nil {
		t.Fatal(err, again.Err())
	}
	before, err := again.MIR()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(strings.Replace(string(data), `"exp"`, `"expp"`, 1)), again); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), "read node 1") {
		t.Errorf("a damaged graph: %v", err)
	}
	if after, err := again.MIR(); err != nil || after != before {
		t.Error("the graph has changed", err)
	}
	again.Output("z", again.Sin(again.Input("w", tensor.F32, 2))) // it goes on
	if err := again.Err(); err != nil {
		t.Error(err)
	}
	g.MatMul(x, x)
	if _, err := json.Marshal(g); !errors.Is(err, errs.ErrGraph) {
		t.Errorf("a graph with a mistake: %v", err)
	}
}

// TestFromMIR goes on with a graph of nodes, which does not change.
func TestFromMIR(t *testing.T) {
	var m mir.Graph
	x, err := m.AddInput("x", tensor.Contiguous(tensor.F32, 2))
	if err == nil {
		err = m.AddOutput("x", x)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := m.String()
	g, err := graph.FromMIR(&m)
	if err != nil {
		t.Fatal(err)
	}
	g.Output("y", g.Exp(g.Input("z", tensor.F32, 2)))
	to, err := g.MIR()
	if err != nil || to.String() != before[:strings.Index(before, "output")]+"v1 = input z  f32[2]\nv2 = exp v1  f32[2]\noutput x = v0\noutput y = v2\n" || m.String() != before {
		t.Errorf("%v: got\n%vand\n%v", err, to, &m)
	}
	if _, err := graph.FromMIR(nil); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("of nothing: %v", err)
	}
}
