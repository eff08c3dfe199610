package graphs_test

import (
	"context"
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
	"github.com/lathe-gpu/lathe/tensor"
)

// spelled is attention that is spelled out, in one of many forms.
type spelled struct {
	b, heads, group, sq, skv, d, dv int // heads of keys and values, each for a group of queries

	scale   string // mul, left, div, q, k, both, none, zero, negative
	mask    string // none, add, triangle, tril, greater, where, unless, condition, far, constant, two
	repeat  string // expand, view, call, tile
	trans   string // call, view, copy
	dtype   tensor.DType
	wide    bool // scores are cast to F32
	leading bool // q is [b, heads·group, sq, d], or else heads·group is its only leading dimension
}

func (s spelled) String() string {
	return fmt.Sprintf("%v/%d·%d·%d heads/%d·%d·%d·%d/%s/%s/%s/%s/%v/%v", s.dtype, s.b, s.heads, s.group, s.sq, s.skv, s.d, s.dv, s.scale, s.mask, s.repeat, s.trans, s.leading, s.wide)
}

// maskShape is the shape of an added mask. Each form has another one.
func (s spelled) maskShape() []int {
	switch {
	case !s.leading:
		return []int{s.heads * s.group, s.sq, s.skv}
	case s.sq%2 == 0:
		return []int{s.b, 1, 1, s.skv}
	case s.skv%2 == 0:
		return []int{1, s.heads * s.group, s.sq, 1}
	}
	return []int{s.sq, s.skv}
}

// factor is the scale of the scores.
func (s spelled) factor() float64 {
	switch s.scale {
	case "none":
		return 1
	case "zero":
		return 0
	case "negative":
		return -0.5
	}
	return 0.25
}

// build makes the graph. mask and condition are inputs, if the form has them.
func (s spelled) build() *graph.Graph {
	g := graph.New()
	h := s.heads * s.group
	lead, keys := []int{h}, []int{s.heads}
	if s.leading {
		lead, keys = []int{s.b, h}, []int{s.b, s.heads}
	}
	shape := func(lead []int, more ...int) []int { return append(slices.Clone(lead), more...) }
	q := g.Input("q", s.dtype, shape(lead, s.sq, s.d)...)
	k := g.Input("k", s.dtype, shape(keys, s.skv, s.d)...)
	v := g.Param("v", s.dtype, shape(keys, s.skv, s.dv)...)
	repeat := func(x *graph.Value) *graph.Value {
		if s.group == 1 {
			return x
		}
		at, n := len(keys), x.Shape()[len(keys)+1]
		if s.repeat == "tile" { // of a dimension of one index behind the heads
			repeats := slices.Repeat([]int{1}, at+3)
			repeats[at] = s.group
			return g.Call(ops.Tile{Repeats: repeats}, x.Reshape(shape(keys, 1, s.skv, n)...))[0].Reshape(shape(lead, s.skv, n)...)
		}
		x = x.Reshape(shape(keys, 1, s.skv, n)...)
		if s.repeat == "call" {
			x = g.Call(ops.Expand{Shape: shape(keys, s.group, s.skv, n)}, x)[0]
		} else {
			x = x.Expand(shape(keys, s.group, s.skv, n)...)
		}
		return x.Reshape(shape(lead, s.skv, n)...)
	}
	number := func(x float64) *graph.Value { return graph.Scalar(x) }
	switch s.scale {
	case "q":
		q = g.Mul(q, number(0.25))
	case "k":
		k = g.Div(k, number(4))
	case "both":
		q, k = g.Mul(number(0.5), q), g.Mul(k, number(0.5))
	}
	k, v = repeat(k), repeat(v)
	var scores *graph.Value
	swap := []int{0, 2, 1}
	if s.leading {
		swap = []int{0, 1, 3, 2}
	}
	switch s.trans {
	case "call":
		scores = g.Call(ops.MatMul{TransB: true}, q, k)[0]
	case "view":
		scores = g.MatMul(q, k.Transpose(swap...))
	default:
		scores = g.MatMul(q, g.Call(ops.Transpose{Perm: swap}, k)[0])
	}
	switch s.scale {
	case "mul":
		scores = g.Mul(scores, number(0.25))
	case "left":
		scores = g.Mul(number(0.25), scores)
	case "zero", "negative":
		scores = g.Mul(scores, number(s.factor()))
	case "div":
		scores = g.Div(scores, g.Sqrt(g.Constant(host(s.dtype, nil, 16))))
	}
	d := s.dtype
	if s.wide {
		scores, d = g.Cast(scores, tensor.F32), tensor.F32
	}
	infinity, ones := g.Constant(host(d, nil, math.Inf(-1))), g.Call(ops.Fill{Value: 1, DType: tensor.Bool, Shape: []int{s.sq, s.skv}})[0]
	triangle := make([]float64, s.sq*s.skv)
	for i := range triangle {
		if s.hidden(i/s.skv, i%s.skv) {
			triangle[i] = math.Inf(-1)
		}
	}
	offset := s.skv - s.sq
	switch s.mask {
	case "add":
		scores = g.Add(scores, g.Input("mask", d, s.maskShape()...))
	case "two":
		scores = g.Add(g.Constant(host(d, []int{s.sq, s.skv}, triangle...)), scores)
		scores = g.Add(scores, g.Input("mask", d, s.maskShape()...))
	case "triangle":
		scores = g.Add(scores, g.Constant(host(d, []int{1, s.sq, s.skv}, triangle...)))
	case "tril":
		lower := g.Call(ops.Trilu{K: offset, Lower: true}, ones)[0]
		scores = g.Where(lower, scores, infinity)
	case "far":
		lower := g.Call(ops.Trilu{K: offset, Lower: true}, ones)[0]
		scores = g.Where(lower, scores, g.Constant(host(d, nil, -3e4)))
	case "unless": // as Attention.Gradient writes it
		scores = g.Where(g.Call(ops.Trilu{K: offset + 1}, ones)[0], infinity, scores)
	case "greater":
		i := g.Call(ops.Range{Limit: float64(s.sq), Delta: 1, DType: tensor.I32})[0].Reshape(s.sq, 1)
		j := g.Call(ops.Range{Limit: float64(s.skv), Delta: 1, DType: tensor.I32})[0]
		scores = g.Where(g.Greater(j, g.Add(i, graph.Scalar(offset))), infinity, scores)
	case "constant": // a condition that is no triangle
		scores = g.Where(g.Constant(host(tensor.Bool, []int{s.skv}, s.odd()...)), scores, infinity)
	case "condition":
		scores = g.Where(g.Input("seen", tensor.Bool, s.skv), scores, infinity)
	}
	p := g.Softmax(scores, []int{-1, len(lead) + 1}[s.sq%2])
	if s.wide {
		p = g.Cast(p, s.dtype)
	}
	g.Output("y", g.MatMul(p, v))
	return g
}

// hidden reports whether a triangle hides key j from query i.
func (s spelled) hidden(i, j int) bool { return j > i+s.skv-s.sq }

// odd are the keys that a condition shows.
func (s spelled) odd() []float64 {
	list := make([]float64, s.skv)
	for j := range list {
		list[j] = float64(1 - j%2)
	}
	return list
}

func host(d tensor.DType, shape []int, values ...float64) *tensor.Host {
	h, err := tensor.FromFloats(d, shape, values)
	if err != nil {
		panic(err)
	}
	return h
}

// want is the result in float64.
func (s spelled) want(q, k, v, mask []float64) []float64 {
	b := s.b
	if !s.leading {
		b = 1
	}
	h := s.heads * s.group
	out := make([]float64, b*h*s.sq*s.dv)
	shape := s.maskShape()
	for len(shape) < 4 {
		shape = append([]int{1}, shape...)
	}
	added := func(at ...int) float64 {
		place := 0
		for d, n := range shape {
			place = place*n + min(at[d], n-1)
		}
		return mask[place]
	}
	for z := range b * h {
		kv := z/h*s.heads + z%h/s.group
		for i := range s.sq {
			scores, most := make([]float64, s.skv), math.Inf(-1)
			for j := range scores {
				for e := range s.d {
					scores[j] += q[(z*s.sq+i)*s.d+e] * k[(kv*s.skv+j)*s.d+e]
				}
				scores[j] *= s.factor()
				switch s.mask {
				case "add", "two":
					scores[j] += added(z/h, z%h, i, j)
				case "constant", "condition":
					if j%2 == 1 {
						scores[j] = math.Inf(-1)
					}
				}
				if s.mask != "none" && s.mask != "add" && s.mask != "constant" && s.mask != "condition" && s.hidden(i, j) {
					scores[j] = math.Inf(-1)
				}
				most = max(most, scores[j])
			}
			sum := 0.0
			for j, x := range scores {
				if scores[j] = math.Exp(x - most); math.IsInf(most, -1) {
					scores[j] = 0
				}
				sum += scores[j]
			}
			for j, p := range scores {
				for e := range s.dv {
					if p != 0 {
						out[(z*s.sq+i)*s.dv+e] += p / sum * v[(kv*s.skv+j)*s.dv+e]
					}
				}
			}
		}
	}
	return out
}

// run computes the graph, and returns the largest difference from want.
func (s spelled) run(t *testing.T, dev *lathe.Device, o graph.Options, rng *rand.Rand) (*graph.Plan, float64) {
	ctx := context.Background()
	exe, err := dev.Compile(ctx, s.build(), o)
	if err != nil {
		t.Fatalf("%v: %v", s, err)
	}
	defer exe.Free()
	plan, given, numbers := exe.Plan(), map[string]*lathe.Tensor{}, map[string][]float64{}
	for _, port := range slices.Concat(plan.Program.Inputs, plan.Program.Params) {
		values := make([]float64, port.Desc.Elems())
		for i := range values {
			values[i] = float64(rng.IntN(33))/16 - 1
		}
		if port.Name == "seen" {
			values = s.odd()
		}
		h := host(port.Desc.DType, port.Desc.Shape, values...)
		x, err := dev.NewTensor(h.Desc)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = dev.Free(x) }()
		if err := dev.Write(ctx, x, h.Data); err != nil {
			t.Fatal(err)
		}
		if given[port.Name], numbers[port.Name] = x, values; port.Name == "v" {
			if err := exe.SetParam("v", x); err != nil {
				t.Fatal(err)
			}
			delete(given, "v")
		}
	}
	out, err := exe.Run(ctx, given)
	if err != nil {
		t.Fatalf("%v: %v", s, err)
	}
	data, err := dev.Read(ctx, out["y"])
	if err != nil {
		t.Fatal(err)
	}
	_ = dev.Free(out["y"])
	got := (&tensor.Host{Desc: out["y"].Desc(), Data: data}).Floats()
	want, off := s.want(numbers["q"], numbers["k"], numbers["v"], numbers["mask"]), 0.0
	if len(got) != len(want) {
		t.Fatalf("%v: %d elements (want %d)", s, len(got), len(want))
	}
	for i := range got {
		if d := math.Abs(got[i] - want[i]); !(d <= off) {
			off = d
		}
	}
	return plan, off
}

// TestAttentionIdiomEdges spells attention out without queries, without keys, with one of each, and in F16.
func TestAttentionIdiomEdges(t *testing.T) {
	for _, backend := range []string{"cpu", "vk", "wgpu"} {
		t.Run(backend, func(t *testing.T) {
			dev, err := lathe.Open(context.Background(), lathe.WithBackend(backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			rng := rand.New(rand.NewPCG(5, 3))
			one := spelled{b: 2, heads: 2, group: 2, sq: 3, skv: 3, d: 5, dv: 7, scale: "mul", mask: "add", repeat: "view", trans: "view", dtype: tensor.F32, leading: true}
			for _, edit := range []func(*spelled){
				func(s *spelled) { s.sq = 0 }, func(s *spelled) { s.skv = 0 }, func(s *spelled) { s.d = 0 }, func(s *spelled) { s.dv = 0 }, func(s *spelled) { s.b = 0 },
				func(s *spelled) { s.sq, s.skv, s.mask = 5, 2, "tril" }, // the first queries see no key
				func(s *spelled) { s.sq, s.skv, s.mask, s.b, s.heads, s.group = 131, 257, "unless", 1, 1, 4 },
				func(s *spelled) { s.scale, s.sq = "zero", 2 }, func(s *spelled) { s.scale, s.mask = "negative", "tril" },
				func(s *spelled) { s.b, s.heads, s.group, s.skv = 1, 1, 1, 4 }, func(s *spelled) { s.b, s.heads, s.group, s.leading = 1, 1, 1, false },
			} {
				s := one
				edit(&s)
				plan, off := s.run(t, dev, graph.Options{}, rng)
				if r := plan.Report.Idioms; r.Replaced != 1 || !(off <= 2e-6) {
					t.Errorf("%v: off by %v, %+v\n%v", s, off, r, plan.Graph)
				}
			}
			f := dev.Info().Features
			testkit.Ability(t, f.F16 && f.Storage16, dev.Info().Name, "attention in f16")
			s := one
			s.dtype = tensor.F16
			if plan, off := s.run(t, dev, graph.Options{}, rng); plan.Report.Idioms.Replaced != 1 || !(off <= 3e-3) {
				t.Errorf("%v: off by %v, %+v", s, off, plan.Report.Idioms)
			}
		})
	}
}

// TestAttentionIdiomRanks spells attention out for operands of 2 and of 5 dimensions and for such that are broadcast, and compares it with that of the single calls.
func TestAttentionIdiomRanks(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"cpu", "vk", "wgpu"} {
		t.Run(backend, func(t *testing.T) {
			dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			rng := rand.New(rand.NewPCG(8, 1))
			for _, c := range []struct{ q, k, v, mask []int }{
				{q: []int{3, 5}, k: []int{7, 5}, v: []int{7, 2}},
				{q: []int{3, 5}, k: []int{7, 5}, v: []int{7, 2}, mask: []int{3, 1}},
				{q: []int{2, 1, 3, 2, 5}, k: []int{2, 1, 3, 7, 5}, v: []int{2, 1, 3, 7, 4}, mask: []int{2, 1, 1, 1, 7}},
				{q: []int{2, 1, 3, 5}, k: []int{1, 3, 7, 5}, v: []int{3, 7, 2}, mask: []int{1, 3, 1, 7}}, // scores of [2,3,3,7]
				{q: []int{3, 3, 5}, k: []int{7, 5}, v: []int{7, 2}, mask: []int{1}},
			} {
				g, given := graph.New(), map[string]*lathe.Tensor{}
				input := func(name string, shape []int) *graph.Value {
					values := make([]float32, tensor.Contiguous(tensor.F32, shape...).Elems())
					for i := range values {
						values[i] = float32(rng.IntN(33))/16 - 1
					}
					var err error
					if given[name], err = lathe.FromSlice(ctx, dev, values, shape...); err != nil {
						t.Fatal(err)
					}
					return g.Input(name, tensor.F32, shape...)
				}
				scores := g.Call(ops.MatMul{TransB: true}, input("q", c.q), input("k", c.k))[0]
				if c.mask != nil {
					scores = g.Add(input("mask", c.mask), scores)
				}
				g.Output("y", g.MatMul(g.Softmax(scores, -1), input("v", c.v)))
				var results [2][]float32
				for i, o := range []graph.Options{{}, {Without: []string{"idiom"}}} {
					exe, err := dev.Compile(ctx, g, o)
					if err != nil {
						t.Fatal(err)
					}
					defer exe.Free()
					if r := exe.Plan().Report.Idioms; r.Replaced != 1-i || len(r.Missed) > 0 {
						t.Errorf("%+v: %+v\n%v", c, r, exe.Plan())
					}
					out, err := exe.Run(ctx, given)
					if err != nil {
						t.Fatal(err)
					}
					if results[i], err = lathe.ToSlice[float32](ctx, out["y"]); err != nil {
						t.Fatal(err)
					}
				}
				for i, want := range results[1] {
					if got := results[0][i]; !(math.Abs(float64(got-want)) <= 2e-6) {
						t.Errorf("%+v: element %d is %v (want %v)", c, i, got, want)
						break
					}
				}
			}
		})
	}
}

// BenchmarkAttentionIdiom runs attention that is spelled out, with the pass and without, and reports the ratio of the least times.
func BenchmarkAttentionIdiom(b *testing.B) {
	ctx := context.Background()
	for _, backend := range []string{"vk", "cpu"} {
		for _, s := range []spelled{
			{heads: 8, group: 1, sq: 128, skv: 128, mask: "none"}, {heads: 8, group: 1, sq: 128, skv: 128, mask: "tril"}, {heads: 8, group: 1, sq: 512, skv: 512, mask: "none"},
			{heads: 8, group: 1, sq: 512, skv: 512, mask: "tril"}, {heads: 2, group: 4, sq: 128, skv: 128, mask: "none"}, {heads: 2, group: 4, sq: 128, skv: 128, mask: "tril"},
			{heads: 8, group: 1, sq: 1, skv: 512, mask: "none"}, {heads: 2, group: 4, sq: 1, skv: 512, mask: "add"}, {heads: 2, group: 4, sq: 16, skv: 512, mask: "add"},
		} {
			s.b, s.d, s.dv, s.scale = 1, 64, 64, "mul"
			s.repeat, s.trans, s.dtype, s.leading = "view", "view", tensor.F32, true
			b.Run(fmt.Sprintf("%s/%d·%d heads/%d·%d/%s", backend, s.heads, s.group, s.sq, s.skv, s.mask), func(b *testing.B) {
				dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
				testkit.Opened(b, err)
				defer dev.Close()
				plan, err := dev.PlanGraph(s.build(), graph.Options{})
				if err != nil {
					b.Fatal(err)
				}
				given := map[string]*lathe.Tensor{}
				for _, port := range slices.Concat(plan.Program.Inputs, plan.Program.Params) {
					values := make([]float32, port.Desc.Elems())
					for i := range values {
						values[i] = float32(i%33)/16 - 1
					}
					if given[port.Name], err = lathe.FromSlice(ctx, dev, values, port.Desc.Shape...); err != nil {
						b.Fatal(err)
					}
				}
				milliseconds(b, leastTimes(b, timed(b, dev, s.build(), graph.Options{Without: []string{"idiom"}}, given), timed(b, dev, s.build(), graph.Options{}, given)), "spelled", "call")
			})
		}
	}
}

// TestAttentionIdiom spells out attention in random forms and shapes. Each becomes one call of attention, and the result is near that in float64.
func TestAttentionIdiom(t *testing.T) {
	scales, masks := []string{"mul", "left", "div", "q", "k", "both", "none"}, []string{"none", "add", "triangle", "tril", "greater", "unless", "condition", "far", "constant", "two"}
	repeats, trans := []string{"expand", "view", "call", "tile"}, []string{"call", "view", "copy"}
	for backend, levels := range map[string][2]int{"cpu": {2, 32}, "vk": {1, 24}, "wgpu": {1, 8}} {
		t.Run(backend, func(t *testing.T) {
			dev, err := lathe.Open(context.Background(), lathe.WithBackend(backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			rng := rand.New(rand.NewPCG(testlevel.Seed(t), 11))
			rounds := levels[0]
			if testlevel.IsFull() {
				rounds = levels[1]
			}
			small := []int{1, 2, 3, 5, 7, 13}
			n := func() int { return small[rng.IntN(len(small))] }
			for i := range rounds * len(masks) {
				s := spelled{b: 1 + rng.IntN(2), heads: 1 + rng.IntN(3), group: []int{1, 4, 3}[rng.IntN(3)], sq: n(), skv: n(), d: n(), dv: n(), dtype: tensor.F32,
					scale: scales[i%len(scales)], mask: masks[i%len(masks)], repeat: repeats[rng.IntN(4)], trans: trans[rng.IntN(3)], leading: rng.IntN(3) > 0}
				if s.skv < s.sq && s.mask == "far" {
					s.skv = s.sq // each query must see a key
				}
				most := 2e-6
				if (i+i/len(masks))%5 == 4 {
					s.dtype, most = tensor.BF16, 0.02
					s.wide = !slices.Contains([]string{"add", "two"}, s.mask) && rng.IntN(2) == 0
				}
				plan, off := s.run(t, dev, graph.Options{}, rng)
				if r := plan.Report.Idioms; r.Replaced != 1 || len(r.Missed) != 0 || plan.Report.Changes["idiom"] != 1 || strings.Contains(plan.Graph.String(), "softmax") {
					t.Errorf("%v: %+v\n%v", s, r, plan.Graph)
				}
				causal := strings.Contains(plan.Graph.String(), "causal=true")
				if triangle := slices.Contains([]string{"triangle", "tril", "greater", "unless", "far", "two"}, s.mask) && s.sq > 1; causal && !triangle || triangle && !causal && s.sq < s.skv+s.sq && s.skv > 1 {
					t.Errorf("%v: causal is %v\n%v", s, causal, plan.Graph)
				}
				calls := len(plan.Program.Steps) - strings.Count(plan.Graph.String(), "= copy") // of the result, if it is a view
				if s.group > 1 && s.mask != "condition" && s.mask != "two" && calls != 1 {
					t.Errorf("%v: %d calls, heads are repeated:\n%v", s, calls, plan)
				}
				if !(off <= most) {
					t.Errorf("%v: off by %v (want at most %v)\n%v", s, off, most, plan.Graph)
				}
				// Without the pass the result is near too, and there is no attention.
				without, off := s.run(t, dev, graph.Options{Strict: true}, rng)
				if without.Report.Idioms.Replaced != 0 || !strings.Contains(without.Graph.String(), "softmax") || !(off <= most) {
					t.Errorf("%v, strict: off by %v, %+v", s, off, without.Report.Idioms)
				}
			}
		})
	}
}
