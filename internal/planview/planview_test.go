package planview

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/networks"
	"github.com/lathe-gpu/lathe/tensor"
)

// plans compiles graphs for the device cpu.
func plans(t *testing.T) map[string]*graph.Plan {
	t.Helper()
	dev, err := lathe.Open(t.Context(), lathe.WithBackend("cpu"), lathe.WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	list := map[string]*graph.Plan{}
	add := func(name string, g *graph.Graph) {
		p, err := dev.PlanGraph(g, graph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list[name] = p
	}
	for i := range networks.All {
		add(networks.All[i].Name, networks.All[i].Build())
	}
	g := graph.New()
	g.Output(`<script>alert("&")</script>`, g.MatMul(g.Input("a<b", tensor.F32, 8, 8), g.Param("x&\"y", tensor.F32, 8, 8)).Label("</svg>\x00"))
	add("names", g)
	g = graph.New()
	g.Output("y", g.Exp(g.Constant(tensor.NewHost(tensor.Contiguous(tensor.F32, 4)))))
	g.Output("x", g.Input("x", tensor.F32, 0))
	add("small", g)
	g = graph.New()
	c := g.Input("c", tensor.Bool)
	one := func(g *graph.Graph) []*graph.Value {
		return g.WhileAtMost(3, []*graph.Value{g.Exp(c0(g, c))}, func(*graph.Graph, []*graph.Value) *graph.Value { return c }, func(g *graph.Graph, s []*graph.Value) []*graph.Value {
			return []*graph.Value{g.MatMul(s[0], s[0])}
		})
	}
	g.Output("y", g.Neg(g.If(c, one, one)[0]))
	add("control", g)
	for seed := range uint64(6) {
		add(fmt.Sprint("random ", seed), random(rand.New(rand.NewPCG(seed, 3)), []int{20, 40, 80, 160, 300, 600}[seed]))
	}
	return list
}

// c0 is a matrix of ones or zeros.
func c0(g *graph.Graph, c *graph.Value) *graph.Value { return g.Cast(c.Expand(4, 4), tensor.F32) }

// random is a graph of n calls that read what is near, and sometimes what is far.
func random(rng *rand.Rand, n int) *graph.Graph {
	g := graph.New()
	values := []*graph.Value{g.Input("x", tensor.F32, 16, 16), g.Input("y", tensor.F32, 16, 16)}
	pick := func() *graph.Value {
		if rng.IntN(8) == 0 {
			return values[rng.IntN(len(values))]
		}
		return values[len(values)-1-rng.IntN(min(3, len(values)))]
	}
	for range n {
		var v *graph.Value
		switch rng.IntN(4) {
		case 0:
			v = g.MatMul(pick(), pick().Transpose())
		case 1:
			v = g.Softmax(pick(), -1)
		default:
			v = g.Add(pick(), pick())
		}
		values = append(values, v)
	}
	g.Output("result", values[len(values)-1])
	return g
}

// TestPictures draws plans: each is XML that shows every call.
func TestPictures(t *testing.T) {
	for name, p := range plans(t) {
		var svg, page bytes.Buffer
		if err := WriteSVG(&svg, p, name); err != nil {
			t.Fatal(err)
		}
		boxes := 0
		for d := xml.NewDecoder(&svg); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "path" && slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Value == "track" }) {
				boxes++
			}
		}
		if boxes != len(p.Program.Steps) {
			t.Errorf("%s: %d boxes of calls, want %d", name, boxes, len(p.Program.Steps))
		}
		if err := WriteHTML(&page, p, name, "cpu"); err != nil {
			t.Fatal(err)
		}
		if text := page.String(); strings.Contains(text, "<script") || strings.Count(text, "</svg>") != 1 || !strings.Contains(text, p.Steps()[0].Kernels[0]) {
			t.Errorf("%s: the page has a script, another picture or no kernels", name)
		}
	}
	if err := WriteSVG(io.Discard, nil, ""); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("no plan: %v", err)
	}
	if err := WriteHTML(io.Discard, &graph.Plan{}, "", ""); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("an empty plan: %v", err)
	}
}

// TestPlaces looks where nodes are drawn: no box lies on another one, lines lead downwards, and few cross.
func TestPlaces(t *testing.T) {
	for name, p := range plans(t) {
		layers := layered(model(p))
		cross := crossings(layers)
		columns, height := placed(layers)
		nodes, joined := 0, 0
		for _, c := range columns {
			bottom := -1.0
			for _, layer := range c.layers {
				lowest, top, right := bottom, height, -1.0
				for _, n := range layer {
					if n.x-n.w/2 < right-1e-6 || n.x-n.w/2 < c.left-1e-6 || n.x+n.w/2 > c.left+c.width+1e-6 {
						t.Errorf("%s: %q lies on its neighbour or outside of its column", name, n.title)
					}
					right, lowest, top = n.x+n.w/2, max(lowest, n.y+n.h), min(top, n.y)
					if n.kind != point {
						nodes++
					}
					for _, l := range n.to {
						joined++
						if l.to.layer != n.layer+1 {
							t.Errorf("%s: a line from layer %d to %d", name, n.layer, l.to.layer)
						}
					}
				}
				if top <= bottom || lowest > height+1e-6 {
					t.Errorf("%s: a layer lies on the one above, or under the picture", name)
				}
				bottom = lowest
			}
		}
		if want := len(p.Program.Once) + len(p.Program.Prepare) + len(p.Program.Steps) + len(p.Program.Inputs) + len(p.Program.Outputs); nodes != want {
			t.Errorf("%s: %d nodes, want %d", name, nodes, want)
		}
		if !strings.HasPrefix(name, "random") && cross > 0 {
			t.Errorf("%s: %d crossings", name, cross)
		}
		t.Logf("%s: %d columns, %d crossings of %d lines", name, len(columns), cross, joined)
	}
}

// TestLives looks at the values of the arena: none lies on another one at the same time, or above the peak.
func TestLives(t *testing.T) {
	for name, p := range plans(t) {
		list := lives(p)
		for i, a := range list {
			if a.offset < 0 || a.offset+a.size > p.Program.Bytes.Arena || a.last < a.first {
				t.Errorf("%s: %q lies at %d to %d, in an arena of %d, from call %d to %d", name, a.tip, a.offset, a.offset+a.size, p.Program.Bytes.Arena, a.first, a.last)
			}
			for _, b := range list[:i] {
				if a.first <= b.last && b.first <= a.last && a.offset < b.offset+b.size && b.offset < a.offset+a.size {
					t.Errorf("%s: %q lies on %q", name, a.tip, b.tip)
				}
			}
		}
	}
}

// TestTooLarge refuses to draw more than anybody could look at.
func TestTooLarge(t *testing.T) {
	dev, err := lathe.Open(t.Context(), lathe.WithBackend("cpu"), lathe.WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	g := graph.New()
	x := g.Input("x", tensor.F32, 4, 4)
	for range mostCalls + 1 {
		x = g.Softmax(x, -1)
	}
	g.Output("y", x)
	p, err := dev.PlanGraph(g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteSVG(io.Discard, p, "x"); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("got %v", err)
	}
}
