package lir_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// randomGraph is a graph with views, constants, calls that need scratch memory and calls that work in place.
func randomGraph(t *testing.T, rng *rand.Rand) *mir.Graph {
	t.Helper()
	g := &mir.Graph{}
	d := tensor.Contiguous(tensor.F32, 4, 32)
	values := []mir.Value{}
	add := func(v mir.Value, err error) {
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	add(g.AddInput("x", d))
	add(g.AddParam("w", d))
	add(g.AddWeight("fixed", d))
	add(g.AddConstant(d, make([]byte, d.Bytes())))
	for range 4 + rng.IntN(20) {
		pick := func() mir.Value { return values[len(values)-1-rng.IntN(min(len(values), 5))] }
		var out []mir.Value
		var err error
		switch rng.IntN(5) {
		case 0:
			out, err = g.AddCall(ops.Softmax{Dim: -1}, pick())
		case 1:
			add(g.AddView("transpose", pick(), 0, tensor.Desc{DType: tensor.F32, Shape: []int{4, 32}, Strides: []int{1, 4}}))
			continue
		case 2:
			out, err = g.AddCall(ops.MatMul{TransB: true}, pick(), pick())
			if err == nil {
				out, err = g.AddCall(ops.MatMul{}, out[0], pick())
			}
		default:
			out, err = g.AddCall(ops.Add{}, pick(), pick())
		}
		if err != nil {
			t.Fatal(err)
		}
		add(out[0], nil)
	}
	out, err := g.AddCall(ops.Exp{}, values[len(values)-1])
	if err != nil {
		t.Fatal(err)
	}
	if err := g.AddOutput("y", out[0]); err != nil {
		t.Fatal(err)
	}
	return g
}

// schedule schedules a graph and links the program again, which changes nothing.
func schedule(t *testing.T, g *mir.Graph) *lir.Program {
	t.Helper()
	p, err := lir.Schedule(g, paper{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := lir.Link(p, paper{})
	if err != nil {
		t.Fatalf("%v\n%v", err, g)
	}
	if fmt.Sprint(*again) != fmt.Sprint(*p) {
		t.Fatalf("got %v, want %v", *again, *p)
	}
	return again
}

// mutations change a program in one place. Each returns what it has changed.
var mutations = []func(p *lir.Program, rng *rand.Rand) string{
	func(p *lir.Program, rng *rand.Rand) string {
		o, name := anyOperand(p, rng)
		o.Offset += []int64{-128, -64, -1, 1, 4, 64, 512, 1 << 40, -1 << 62}[rng.IntN(9)]
		return "the offset of " + name
	},
	func(p *lir.Program, rng *rand.Rand) string {
		o, name := anyOperand(p, rng)
		o.Memory = lir.Memory(rng.IntN(7))
		return "the memory of " + name
	},
	func(p *lir.Program, rng *rand.Rand) string {
		o, name := anyOperand(p, rng)
		o.Buffer += []int{-1, 1, 1 << 30}[rng.IntN(3)]
		return "the buffer of " + name
	},
	func(p *lir.Program, rng *rand.Rand) string {
		o, name := anyOperand(p, rng)
		o.Value = mir.Value(rng.IntN(30) - 2)
		return "the value of " + name
	},
	func(p *lir.Program, rng *rand.Rand) string {
		o, name := anyOperand(p, rng)
		o.Desc = []tensor.Desc{{}, tensor.Contiguous(tensor.F32, 4, 33), tensor.Contiguous(tensor.F16, 4, 32), tensor.Contiguous(tensor.F32, -4, -32), tensor.Contiguous(tensor.F32, min(1<<40, math.MaxInt), min(1<<40, math.MaxInt)), {DType: tensor.F32, Shape: []int{4, 32}, Strides: []int{1 << 20, 1}}}[rng.IntN(6)]
		return "the description of " + name
	},
	func(p *lir.Program, rng *rand.Rand) string {
		i, j := rng.IntN(len(p.Steps)), rng.IntN(len(p.Steps))
		p.Steps[i], p.Steps[j] = p.Steps[j], p.Steps[i]
		return "the order"
	},
	func(p *lir.Program, rng *rand.Rand) string {
		i := rng.IntN(len(p.Steps))
		p.Steps = append(p.Steps[:i:i], p.Steps[i+1:]...)
		return "a step less"
	},
	func(p *lir.Program, rng *rand.Rand) string {
		i := rng.IntN(len(p.Steps))
		p.Steps = append(p.Steps[:i+1:i+1], p.Steps[i:]...)
		return "a step twice"
	},
	func(p *lir.Program, rng *rand.Rand) string {
		s := &p.Steps[rng.IntN(len(p.Steps))]
		if len(s.Scratch) == 0 {
			s.Scratch = []lir.Range{{Size: 64}}
			return "scratch memory that nobody needs"
		}
		r := &s.Scratch[rng.IntN(len(s.Scratch))]
		switch rng.IntN(4) {
		case 0:
			r.Offset += []int64{-64, 64, 4, 1 << 50}[rng.IntN(4)]
		case 1:
			r.Size += []int64{-300, -1, 64, 1 << 50}[rng.IntN(4)]
		case 2:
			r.Buffer = rng.IntN(3) - 1
		default:
			s.Scratch = s.Scratch[1:]
		}
		return "scratch memory"
	},
	func(p *lir.Program, rng *rand.Rand) string {
		if len(p.Arena) > 0 {
			p.Arena[0] += []int64{-64, -1, -1 << 62}[rng.IntN(3)]
		}
		return "the size of the arena"
	},
	func(p *lir.Program, rng *rand.Rand) string {
		p.Kept -= 1 + rng.Int64N(64)
		return "the size of what is kept"
	},
	func(p *lir.Program, rng *rand.Rand) string {
		if len(p.Constants) > 0 {
			p.Constants[0].Offset += []int64{-64, 4, 64, 1 << 50}[rng.IntN(4)]
		}
		return "the offset of a constant"
	},
	func(p *lir.Program, rng *rand.Rand) string {
		ports := [][]lir.Port{p.Inputs, p.Params, p.Outputs}[rng.IntN(3)]
		ports[0].Desc = []tensor.Desc{{}, tensor.Contiguous(tensor.F32, 4, 31), tensor.Contiguous(tensor.I32, 4, 32), {DType: tensor.F32, Shape: []int{4, 32}, Strides: []int{1, 4}}}[rng.IntN(4)]
		return "the description of a port"
	},
	func(p *lir.Program, rng *rand.Rand) string {
		s := &p.Steps[rng.IntN(len(p.Steps))]
		s.Call = ops.Transpose{}
		return "a call"
	},
}

func anyOperand(p *lir.Program, rng *rand.Rand) (*lir.Operand, string) {
	steps := p.Steps
	if early := [][]lir.Step{p.Once, p.Prepare}[rng.IntN(2)]; len(early) > 0 && rng.IntN(4) == 0 {
		steps = early
	}
	i := rng.IntN(len(steps))
	list, name := steps[i].In, "an input"
	if rng.IntN(3) == 0 {
		list, name = steps[i].Out, "a result"
	}
	k := rng.IntN(len(list))
	return &list[k], fmt.Sprintf("%s, %d of step %d", name, k, i)
}

// TestMutated changes programs in one place. What Link does not refuse does what the graph says, or reads a value by a view of another place, which
// a program cannot be told from one that should.
func TestMutated(t *testing.T) {
	refused, tried := map[int]int{}, 0
	for seed := range uint64(2800) {
		rng := rand.New(rand.NewPCG(seed, 17))
		g := randomGraph(t, rng)
		p := schedule(t, g)
		k := int(seed) % len(mutations)
		what := mutations[k](p, rng)
		tried++
		linked, err := lir.Link(p, paper{})
		if err != nil {
			refused[k]++
			if !errors.Is(err, errs.ErrInvalidArgument) && !errors.Is(err, errs.ErrGraphRefused) && !errors.Is(err, errs.ErrUnsupported) {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if problem := replay(g, linked); problem != "" {
			t.Fatalf("seed %d, %s: accepted, and %s\n%v", seed, what, problem, g)
		}
	}
	for k := range mutations {
		if refused[k] == 0 {
			t.Errorf("mutation %d was never refused", k)
		}
	}
	sum := 0
	for _, n := range refused {
		sum += n
	}
	t.Logf("%d of %d were refused", sum, tried)
	if sum*4 < tried*3 {
		t.Errorf("only %d of %d changes were refused", sum, tried)
	}
}

// replay runs a program with marks in place of numbers: each byte knows which value it belongs to. It returns what goes wrong.
func replay(g *mir.Graph, p *lir.Program) string {
	type place struct {
		m      lir.Memory
		buffer int
		at     int64
	}
	const unknown, given = mir.Value(-10), mir.Value(-11)
	marks := map[place]mir.Value{}
	get := func(o lir.Operand, k int64) mir.Value {
		if o.Memory == lir.Inputs || o.Memory == lir.Params {
			return given
		}
		if v, ok := marks[place{o.Memory, o.Buffer, o.Offset + k}]; ok {
			return v
		}
		return unknown
	}
	for _, c := range p.Constants {
		for k := range c.Data {
			marks[place{lir.Kept, 0, c.Offset + int64(k)}] = given
		}
	}
	made := map[mir.Value]bool{}
	for _, steps := range [][]lir.Step{p.Once, p.Prepare, p.Steps} {
		for _, s := range steps {
			for _, r := range s.Scratch {
				for k := range r.Size {
					marks[place{lir.Arena, r.Buffer, r.Offset + k}] = unknown
				}
			}
			for _, o := range s.In {
				first := get(o, 0)
				for k := range o.Desc.Bytes() {
					if v := get(o, k); v == unknown || made[o.Value] && v != o.Value || v != first {
						return fmt.Sprintf("%v at %v[%d]+%d is read where %v is", o.Value, o.Memory, o.Buffer, o.Offset, v)
					}
				}
			}
			for _, o := range s.Out {
				made[o.Value] = true
				for k := range o.Desc.Bytes() {
					marks[place{o.Memory, o.Buffer, o.Offset + k}] = o.Value
				}
			}
		}
	}
	for i, o := range p.Outputs {
		for k := range o.Desc.Bytes() {
			if _, ok := marks[place{lir.Outputs, i, k}]; !ok {
				return fmt.Sprintf("output %d is not written", i)
			}
		}
	}
	return ""
}

// TestLinked refuses changes that must never pass, and says where they are.
func TestLinked(t *testing.T) {
	g := &mir.Graph{}
	d := tensor.Contiguous(tensor.F32, 4, 32)
	x, err := g.AddInput("x", d)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		out, err := g.AddCall(ops.Softmax{Dim: -1}, x)
		if err != nil {
			t.Fatal(err)
		}
		x = out[0]
	}
	if err := g.AddOutput("y", x); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want   string
		change func(p *lir.Program)
	}{
		{"step 1: softmax: input 0", func(p *lir.Program) { p.Steps[1].In[0].Offset += 64 }},
		{"step 1: softmax: input 0", func(p *lir.Program) { p.Steps[1].In[0].Memory = lir.Outputs }},
		{"step 1: softmax: result 0", func(p *lir.Program) { p.Steps[1].Out[0].Memory = lir.Inputs }},
		{"step 1: softmax: result 0", func(p *lir.Program) { p.Steps[1].Out[0].Memory = lir.Kept }},
		{"step 1: softmax: result 0", func(p *lir.Program) { p.Steps[1].Out[0].Value = p.Steps[0].Out[0].Value }},
		{"step 2: softmax: result 0", func(p *lir.Program) { p.Steps[2].Out[0].Desc = tensor.Contiguous(tensor.F32, 32, 4) }},
		{"step 0: softmax: scratch memory 1", func(p *lir.Program) { p.Steps[0].Scratch[0] = p.Steps[0].Scratch[1] }},
		{"step 0: softmax: scratch memory 1", func(p *lir.Program) { p.Steps[0].Scratch[1].Offset += 4 }},
		{"step 1: softmax: scratch memory 0", func(p *lir.Program) {
			p.Steps[1].Scratch[0] = lir.Range{Buffer: 0, Offset: p.Steps[1].In[0].Offset, Size: 100}
		}},
		{"output \"y\": invalid argument: no call makes", func(p *lir.Program) { p.Steps = p.Steps[:2] }},
		{"inputs: \"\"", func(p *lir.Program) { p.Inputs[0].Name = "" }},
		{"a buffer of", func(p *lir.Program) { p.Arena[0] = -1 }},
		{"step 0", func(p *lir.Program) { p.Steps[0].Call = nil }},
	} {
		p := schedule(t, g)
		c.change(p)
		if _, err := lir.Link(p, paper{}); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	p := schedule(t, g)
	if _, err := lir.Link(p, paper{refuses: "softmax"}); !errors.Is(err, errs.ErrGraphRefused) {
		t.Errorf("a call that the compiler refuses: %v", err)
	}
	for _, err := range []error{second(lir.Link(nil, paper{})), second(lir.Link(p, nil)), second(lir.Link(&lir.Program{Outputs: []lir.Port{{Name: "y", Desc: d}}}, paper{}))} {
		if !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("nothing: %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
