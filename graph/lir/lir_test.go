package lir_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// paper is a Compiler for no device. It refuses one operation.
type paper struct {
	most    int64
	refuses string
}

func (paper) Target() spec.Target { return spec.Target{} }
func (paper) Align() int64        { return 64 }
func (p paper) MaxBuffer() int64  { return p.most }

func (p paper) Compile(c spec.Call, in, out []spec.Place) (lir.Code, error) {
	if c.Spec().Name == p.refuses {
		return nil, fmt.Errorf("%w: on paper", errs.ErrUnsupported)
	}
	for _, o := range append(in, out...) {
		if o.Misalignment < 0 || o.Misalignment >= 64 {
			return nil, fmt.Errorf("%w: misalignment %d", errs.ErrInvalidArgument, o.Misalignment)
		}
	}
	return launch(c.Spec().Name), nil
}

// launch is the code of a call: one launch. That of softmax needs scratch memory.
type launch string

func (l launch) Kernels() []string { return []string{string(l)} }
func (l launch) Scratch() []int64 {
	if l == "softmax" {
		return []int64{100, 200}
	}
	return nil
}

func Example() {
	g := &mir.Graph{}
	x, _ := g.AddInput("x", tensor.Contiguous(tensor.F32, 32))
	a, _ := g.AddCall(ops.Exp{}, x)
	b, _ := g.AddCall(ops.Sin{}, a[0]) // in place of a
	c, _ := g.AddCall(ops.Neg{}, b[0])
	_ = g.AddOutput("c", c[0])
	p, err := lir.Schedule(g, paper{})
	fmt.Println(p.Bytes.Arena, p.Bytes.Values, p.Launches(), err)
	// Output: 128 256 3 <nil>
}

// TestRandom schedules random graphs. No two values that are needed at one time overlap, and none crosses the end of a buffer.
func TestRandom(t *testing.T) {
	worst := 1.0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 5))
		g := &mir.Graph{}
		var values []mir.Value
		add := func(v mir.Value, err error) {
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v)
		}
		for i := range 3 {
			add(g.AddInput(fmt.Sprint("x", i), tensor.Contiguous(tensor.F32, 1+rng.IntN(40))))
		}
		for range 5 + rng.IntN(60) {
			v := values[len(values)-1-rng.IntN(min(len(values), 6))]
			var out []mir.Value
			var err error
			switch rng.IntN(4) {
			case 0:
				out, err = g.AddCall(ops.Softmax{Dim: -1}, v)
			case 1:
				out, err = g.AddCall(ops.Concat{}, v, values[rng.IntN(len(values))])
			default:
				out, err = g.AddCall(ops.Exp{}, v)
			}
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, out[0])
		}
		if err := g.AddOutput("y", values[len(values)-1]); err != nil {
			t.Fatal(err)
		}
		c := paper{}
		if seed%2 == 1 {
			c.most = 1 << 14
		}
		p, err := lir.Schedule(g, c)
		if errors.Is(err, errs.ErrLimit) {
			continue // a concatenation larger than a buffer
		}
		if err != nil {
			t.Fatal(err)
		}
		checkArena(t, g, p)
		if c.most == 0 && p.Bytes.Lower > 0 {
			worst = max(worst, float64(p.Bytes.Arena)/float64(p.Bytes.Lower))
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%v", seed, g)
		}
	}
	t.Logf("the largest arena is %.3f of its lower bound", worst)
	if worst > 1.15 {
		t.Errorf("an arena of %.3f times its lower bound (want at most 1.15)", worst)
	}
}

// checkArena runs a schedule with marks in place of numbers: each byte of the arena knows which value it belongs to.
func checkArena(t *testing.T, g *mir.Graph, p *lir.Program) {
	t.Helper()
	arena := make([][]mir.Value, len(p.Arena))
	for i, n := range p.Arena {
		arena[i] = make([]mir.Value, n)
	}
	mark := func(o lir.Operand, check bool) {
		if o.Memory != lir.Arena {
			return
		}
		root, _ := g.Root(o.Value)
		for k := range o.Desc.Bytes() {
			at := &arena[o.Buffer][o.Offset+k]
			if check && *at != root {
				t.Fatalf("%v is overwritten by %v before it is read", o.Value, *at)
			}
			*at = root
		}
	}
	for _, s := range p.Steps {
		for _, r := range s.Scratch {
			for k := range r.Size {
				arena[r.Buffer][r.Offset+k] = -2
			}
		}
		for _, o := range s.In {
			mark(o, true) // after scratch memory was written, inputs are still there
		}
		for _, o := range s.Out {
			mark(o, false)
		}
	}
}

// TestRefused lists each call that the compiler refuses.
func TestRefused(t *testing.T) {
	g := &mir.Graph{}
	x, err := g.AddInput("x", tensor.Contiguous(tensor.F32, 8))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		out, err := g.AddCall(ops.Exp{}, x)
		if err != nil {
			t.Fatal(err)
		}
		x = out[0]
	}
	g.SetName(x, "the last one")
	if err := g.AddOutput("y", x); err != nil {
		t.Fatal(err)
	}
	_, err = lir.Schedule(g, paper{refuses: "exp"})
	var refused *lir.LegaliseError
	if !errors.As(err, &refused) || len(refused.Nodes) != 3 || !errors.Is(err, errs.ErrUnsupported) || !errors.Is(err, errs.ErrGraphRefused) {
		t.Fatalf("got %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "node 3, exp (the last one): unsupported: on paper") {
		t.Error(text)
	}
}

// TestTooLarge schedules a value that no buffer of the device holds.
func TestTooLarge(t *testing.T) {
	g := &mir.Graph{}
	x, err := g.AddInput("x", tensor.Contiguous(tensor.F32, 1000))
	if err != nil {
		t.Fatal(err)
	}
	a, err := g.AddCall(ops.Exp{}, x)
	if err != nil {
		t.Fatal(err)
	}
	b, err := g.AddCall(ops.Exp{}, a[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := g.AddOutput("y", b[0]); err != nil {
		t.Fatal(err)
	}
	var limit *errs.LimitError
	if _, err := lir.Schedule(g, paper{most: 2048}); !errors.As(err, &limit) || limit.Name != "MaxBuffer" {
		t.Errorf("got %v", err)
	}
}

// TestOutputs refuses outputs that are no results of calls of their own.
func TestOutputs(t *testing.T) {
	g := &mir.Graph{}
	x, err := g.AddInput("x", tensor.Contiguous(tensor.F32, 8))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.AddOutput("y", x); err != nil {
		t.Fatal(err)
	}
	if _, err := lir.Schedule(g, paper{}); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("an input as output: %v", err)
	}
	own, err := g.WithOwnOutputs(ops.Copy{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := lir.Schedule(own, paper{})
	if err != nil || len(p.Steps) != 1 || p.Steps[0].Call.Spec().Name != "copy" {
		t.Errorf("got %v, %v", p, err)
	}
}
