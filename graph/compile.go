package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/fusion"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Options say how a graph is compiled. The zero value is the usual choice.
type Options struct {
	// Without names passes that are left out: those that Passes lists.
	Without []string
	// Strict says that results of 16 bits inside of a launch are rounded as those of single calls are. Without it they are
	// rounded once, at the end of the launch, which is more exact and other bits. Results of other types are the same either way.
	// Strict also leaves out the passes idiom and stack, because the calls that they make may round in another order.
	Strict bool
	// Precision is F16 or BF16 to let matrix products, convolutions and attention of F32 compute in these 16 bits: their inputs are
	// rounded to it, and so are their results. All other calls and the outputs stay as they are. F32, or no dtype, is as the graph says.
	Precision tensor.DType
	// Supported are the names of the operations that may run, such as "matmul". Those that passes add count too: "cast", "copy", "concat", what an idiom becomes, and
	// "fused", "epilogue" and "prologue", without which nothing is joined so. Compile lists each call of another one. Nil is all that the device runs.
	Supported []string
	// AssertFusionClean makes Compile fail if the report has calls that miss the launch of a call that they read.
	AssertFusionClean bool
}

// optimise runs the passes on a graph, and then on the bodies that it still has. body is where it is itself.
func optimise(m *mir.Graph, t *spec.Target, o Options, body string, r *Report) (*mir.Graph, error) {
	var own Report
	m, changes, err := mir.Optimise(m, t, passes(o, body != "", &own), o.Without)
	if err != nil {
		return nil, err
	}
	if r.Changes == nil {
		r.Changes = map[string]int{}
	}
	for pass, n := range changes {
		r.Changes[pass] += n
	}
	r.Fusion.add(&own.Fusion, body)
	r.Idioms.add(&own.Idioms, body)
	r.Stack.add(&own.Stack)
	return m.WithBodies(func(i, k int, b *mir.Graph) (*mir.Graph, error) {
		return optimise(b, t, o, strings.TrimSpace(fmt.Sprintf("%s %d %s", body, i, m.Nodes()[i].BodyName(k))), r)
	})
}

// Passes are the passes of Compile, in their order.
func Passes() []mir.Pass { return passes(Options{}, false, &Report{}) }

// passes are the passes for some options, for the body of an If or a While if isBody. What they do is told to r.
func passes(o Options, isBody bool, r *Report) []mir.Pass {
	supported := func(name string) bool { return o.Supported == nil || slices.Contains(o.Supported, name) }
	idiom := mir.Pass{
		Name: "idiom", Doc: "Calls that spell out another operation, such as attention, become one call of it (idiom recognition).",
		Run: func(g *mir.Graph, t *spec.Target) (*mir.Graph, int, error) {
			if o.Strict {
				return g, 0, nil
			}
			return replaceIdioms(g, t, supported, &r.Idioms)
		},
	}
	precision := mir.Pass{
		Name: "precision", Doc: "With `Precision`, matrix products, convolutions and attention of F32 compute in 16 bits.",
		After: []string{"idiom"}, Why: "casts would stand between the calls of an idiom",
		Run: func(g *mir.Graph, t *spec.Target) (*mir.Graph, int, error) { return lower(g, t, o.Precision) },
	}
	// only runs a pass that makes calls like c, unless the options do not support these.
	only := func(c spec.Call, run func(*mir.Graph, *spec.Target, bool, *FusionReport) (*mir.Graph, int, error)) func(*mir.Graph, *spec.Target) (*mir.Graph, int, error) {
		return func(g *mir.Graph, t *spec.Target) (*mir.Graph, int, error) {
			if !supported(c.Spec().Name) {
				return g, 0, nil
			}
			return run(g, t, o.Strict, &r.Fusion)
		}
	}
	return append(append([]mir.Pass{mir.Passes[0], idiom, precision}, mir.Passes[1:]...), mir.Pass{
		Name: "stack", Doc: "Products of one value with several constant matrices become one product (horizontal fusion).",
		After: []string{"precision", "cse", "dce"}, Why: "calls share an input only where equal values are one, and none may be dead",
		Run: func(g *mir.Graph, t *spec.Target) (*mir.Graph, int, error) {
			if o.Strict || isBody || !supported(ops.Concat{}.Spec().Name) { // nothing of a body runs once: it would be concatenated each time
				return g, 0, nil
			}
			return stackProducts(g, t, &r.Stack)
		},
	}, mir.Pass{
		Name: "fuse", Doc: "Elementwise calls that read each other's results become one launch, up to 32 of them.",
		After: []string{"cse", "dce"}, Why: "a result that an equal call or a dead one reads would be kept for it",
		Run: only(fusion.Fused{}, fuse),
	}, mir.Pass{
		Name: "epilogue", Doc: "Kernels of other calls compute the elementwise call that reads their result, before they store it.",
		After: []string{"fuse"}, Why: "what fuse has joined is one epilogue",
		Run: only(fusion.Epilogue{}, addEpilogues),
	}, mir.Pass{
		Name: "prologue", Doc: "Kernels of reductions, norms and softmax compute the elementwise call that makes their input, from what they load.",
		After: []string{"epilogue"}, Why: "an epilogue computes once, and a prologue as often as its kernel loads",
		Run: only(fusion.Prologue{}, addPrologues),
	})
}

// Compile compiles a graph for a device: it runs the passes and makes a schedule. Device.Compile of package lathe calls it. It
// does not change g, and many goroutines may compile one graph that nobody changes.
// Errors: those of Graph.Err; ErrGraph for a graph without outputs, or with a size of a dim that it does not have; ErrInvalidArgument for an unknown pass or precision;
// ErrGraphRefused, which lists each call that the device cannot run or Options.Supported does not list, or calls that
// AssertFusionClean does not allow, or says that the device lacks the precision.
func Compile(g *Graph, c lir.Compiler, o Options) (*Plan, error) {
	m, err := g.MIR()
	if err != nil {
		return nil, err
	}
	if errs.Nil(c) {
		return nil, fmt.Errorf("graph: compile: %w: no compiler", errs.ErrInvalidArgument)
	}
	if len(m.Outputs()) == 0 {
		return nil, fmt.Errorf("graph: compile: %w: it has no outputs", errs.ErrGraph)
	}
	if err := g.allAsked(); err != nil {
		return nil, err
	}
	report, target := Report{Calls: calls(m)}, c.Target()
	if m, err = optimise(m, &target, o, "", &report); err != nil {
		return nil, fmt.Errorf("graph: compile: %w", err)
	}
	if m, err = m.WithOwnOutputs(ops.Copy{}); err != nil {
		return nil, fmt.Errorf("graph: compile: %w", err)
	}
	if o.AssertFusionClean {
		if err := report.Fusion.clean(); err != nil {
			return nil, err
		}
	}
	about := device{target, c.Align(), c.MaxBuffer()}
	if o.Supported != nil {
		c = supporting{c, o.Supported}
	}
	p, err := lir.Schedule(m, c)
	if err != nil {
		return nil, fmt.Errorf("graph: compile: %w", err)
	}
	o.Without, o.Supported = slices.Clone(o.Without), slices.Clone(o.Supported)
	return &Plan{Graph: m, Program: p, Report: report, options: o, device: about}, nil
}

// calls counts the calls of a graph and of its bodies.
func calls(m *mir.Graph) int {
	n := 0
	for _, node := range m.Nodes() {
		if node.Kind == mir.Op {
			n++
		}
		for _, b := range node.Bodies {
			n += calls(b)
		}
	}
	return n
}
