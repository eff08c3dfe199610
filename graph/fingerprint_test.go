package graph_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/child"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

func TestMain(m *testing.M) {
	child.Serve(map[string]func([]byte) []byte{"fingerprint": func([]byte) []byte {
		sum := fingerprint(sample{}, graph.Options{}, paper{})
		return sum[:]
	}})
	os.Exit(m.Run())
}

// paper is a Compiler for no device.
type paper struct{ target spec.Target }

func (p paper) Target() spec.Target {
	t := p.target
	t.MaxBinding, t.OffsetAlign, t.TexelAlign, t.MaxGroups, t.MaxInvocations, t.MaxSharedBytes = 1<<27, 64, 64, [3]uint32{1 << 16, 1 << 16, 1 << 16}, 256, 1<<15
	return t
}
func (paper) Align() int64     { return 64 }
func (paper) MaxBuffer() int64 { return 0 }
func (paper) Compile(c spec.Call, in, out []spec.Place) (lir.Code, error) {
	return launch(c.Spec().Name), nil
}

// launch is the code of a call: one launch.
type launch string

func (l launch) Kernels() []string { return []string{string(l)} }
func (launch) Scratch() []int64    { return nil }

// sample is what may differ in a graph.
type sample struct {
	name, label string
	d           tensor.DType
	rows        int
	eps         float64
	constant    float64
	swapped     bool
	calls       []spec.Call
}

func (s sample) graph() *graph.Graph {
	if s.d == tensor.Invalid {
		s.d = tensor.F32
	}
	g := graph.New()
	x := g.Input("x"+s.name, s.d, 4+s.rows, 8)
	h, err := tensor.FromFloats(s.d, []int{8}, []float64{1, 2, 3, 4, 5, 6, 7, 8 + s.constant})
	if err != nil {
		panic(err)
	}
	v := g.RMSNorm(x, g.Constant(h), -1, 1e-5+s.eps).Label(s.label)
	a, b := v, x
	if s.swapped {
		a, b = b, a
	}
	v = g.Exp(g.Sub(a, b))
	for _, c := range s.calls {
		v = g.Call(c, v)[0]
	}
	g.Output("y", g.MatMul(v, v.Transpose()))
	return g
}

func fingerprint(s sample, o graph.Options, c paper) [32]byte {
	plan, err := graph.Compile(s.graph(), c, o)
	if err != nil {
		panic(err)
	}
	return plan.Fingerprint()
}

// TestFingerprint changes one thing after the other: each makes another fingerprint. What means nothing makes none, and neither does
// another process.
func TestFingerprint(t *testing.T) {
	seen := map[[32]byte]string{}
	for _, c := range []struct {
		name string
		s    sample
		o    graph.Options
		on   spec.Target
	}{
		{name: "nothing"}, {name: "a name", s: sample{name: "2"}}, {name: "a dtype", s: sample{d: tensor.BF16}}, {name: "a shape", s: sample{rows: 1}},
		{name: "an attribute", s: sample{eps: 1e-9}}, {name: "a byte of a constant", s: sample{constant: 1}}, {name: "the order of inputs", s: sample{swapped: true}},
		{name: "a call", s: sample{calls: []spec.Call{ops.Neg{}}}}, {name: "another call", s: sample{calls: []spec.Call{ops.Abs{}}}},
		{name: "an attribute of a fused call", s: sample{calls: []spec.Call{ops.LeakyReLU{Alpha: 0.1}}}}, {name: "another one", s: sample{calls: []spec.Call{ops.LeakyReLU{Alpha: 0.2}}}},
		{name: "a list", s: sample{calls: []spec.Call{ops.PadTensor{Pads: []int{1, 0, 0, 0}}}}}, {name: "another list", s: sample{calls: []spec.Call{ops.PadTensor{Pads: []int{0, 0, 1, 0}}}}},
		{name: "strict", o: graph.Options{Strict: true}}, {name: "a pass", o: graph.Options{Without: []string{"fuse"}}},
		{name: "precision", o: graph.Options{Precision: tensor.BF16}}, {name: "an assertion", o: graph.Options{AssertFusionClean: true}},
		{name: "a list of operations", o: graph.Options{Supported: []string{"rms_norm", "sub", "exp", "matmul", "fused"}}},
		{name: "a device", on: spec.Target{F64: true}}, {name: "another device", on: spec.Target{MaxBindings: 9}},
	} {
		c.on.MaxBindings += 32
		c.on.MaxParamBytes = 128
		sum := fingerprint(c.s, c.o, paper{c.on})
		if again := fingerprint(c.s, c.o, paper{c.on}); again != sum {
			t.Errorf("%s: %x, and then %x", c.name, sum, again)
		}
		if other, ok := seen[sum]; ok {
			t.Errorf("%s and %s have one fingerprint", c.name, other)
		}
		seen[sum] = c.name
	}
	for name, o := range map[string]graph.Options{"order": {Without: []string{"fuse", "cse"}}, "twice": {Without: []string{"cse", "fuse", "cse"}}} {
		if fingerprint(sample{}, o, paper{}) != fingerprint(sample{}, graph.Options{Without: []string{"cse", "fuse"}}, paper{}) {
			t.Errorf("passes in other %s make another fingerprint", name)
		}
	}
	here := fingerprint(sample{}, graph.Options{}, paper{})
	if fingerprint(sample{label: "norm"}, graph.Options{}, paper{}) != here {
		t.Error("a label makes another fingerprint")
	}
	w := child.Worker{Name: "fingerprint"}
	defer w.Close()
	if there, err := w.Do(context.Background(), nil); err != nil || string(there) != string(here[:]) {
		t.Errorf("another process has %x, %v (want %x)", there, err, here)
	}
	if (*graph.Plan)(nil).Fingerprint() != [32]byte{} {
		t.Error("no plan has a fingerprint")
	}
}

// TestSupported lets a few operations run: Compile lists each call of another one, inside of fused calls too.
func TestSupported(t *testing.T) {
	c := paper{spec.Target{MaxBindings: 32, MaxParamBytes: 128}}
	for want, names := range map[string][]string{
		`"exp"`:      {"rms_norm", "sub", "matmul"},
		`"sub"`:      {"rms_norm", "exp", "matmul", "fused"},
		`"rms_norm"`: {"exp", "sub", "matmul", "fused"},
		"4 of the":   {},
	} {
		_, err := graph.Compile(sample{label: "norm"}.graph(), c, graph.Options{Supported: names})
		var refused *lir.LegaliseError
		if !errors.As(err, &refused) || !errors.Is(err, errs.ErrGraphRefused) || !errors.Is(err, errs.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("with %q: %v", names, err)
		}
	}
	plan, err := graph.Compile(sample{}.graph(), c, graph.Options{Supported: []string{"rms_norm", "exp", "sub", "matmul"}})
	if err != nil || plan.Report.Fusion.Launches != 0 {
		t.Errorf("without fused calls: %v, %v", plan, err)
	}
	plan, err = graph.Compile(sample{}.graph(), c, graph.Options{Supported: []string{"rms_norm", "exp", "sub", "matmul", "fused"}})
	if err != nil || plan.Report.Fusion.Launches != 1 {
		t.Errorf("with fused calls: %v, %v", plan, err)
	}
}

// TestAssertFusionClean compiles a graph in which a product stands between two elementwise calls.
func TestAssertFusionClean(t *testing.T) {
	c := paper{spec.Target{MaxBindings: 32, MaxParamBytes: 128}}
	g := graph.New()
	x := g.Exp(g.Input("x", tensor.F32, 4, 4))
	g.Output("y", g.Add(x, g.MatMul(x, x)))
	if _, err := graph.Compile(g, c, graph.Options{}); err != nil {
		t.Fatal(err)
	}
	if plan, err := graph.Compile(g, c, graph.Options{AssertFusionClean: true}); err != nil || plan.Report.Fusion.Epilogues != 1 || strings.Contains(plan.String(), "not fused") {
		t.Errorf("the sum is an epilogue of the product: %v\n%v", err, plan)
	}
	_, err := graph.Compile(g, c, graph.Options{AssertFusionClean: true, Without: []string{"epilogue"}})
	if !errors.Is(err, errs.ErrGraphRefused) || !strings.Contains(fmt.Sprint(err), "node 3, add: a call between them cannot be fused") {
		t.Errorf("got %v", err)
	}
	if _, err := graph.Compile(sample{}.graph(), c, graph.Options{AssertFusionClean: true}); err != nil {
		t.Errorf("a graph that is fused: %v", err)
	}
}
