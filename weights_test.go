package lathe_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestWeightsSetAlone counts the launches of runs after some of the weights were set: those that depend on these, and no others.
func TestWeightsSetAlone(t *testing.T) {
	ctx := t.Context()
	inner := null.NewRecorder(nil)
	dev, err := lathe.Open(ctx, quiet, lathe.WithGPU(inner))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	g := graph.New()
	x := g.Input("x", tensor.F32, 8, 8)
	a, b, c, d := g.Weight("a", tensor.F32, 8, 8), g.Weight("b", tensor.F32, 8, 8), g.Weight("c", tensor.F32, 8, 8), g.Weight("d", tensor.F32, 8, 8)
	g.Weight("unread", tensor.F32, 8)
	g.Output("one", g.MatMul(g.Exp(x), g.Exp(a)))                                              // 1 launch depends on a
	g.Output("two", g.MatMul(g.Neg(x), g.Concat(0, g.Exp(b), g.Tanh(c)).Narrow(0, 0, 8)))      // 1 each on b and on c, and 2 on both
	g.Output("three", g.MatMul(g.Abs(x), g.Sqrt(g.Exp(g.Constant(tensor.NewHost(x.Desc())))))) // none: these run once
	g.Output("four", g.MatMul(g.Tanh(x), d))
	exe, err := dev.Compile(ctx, g, graph.Options{Without: []string{"fuse", "stack"}})
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Free()
	in := map[string]*lathe.Tensor{"x": filled(t, dev, 8, 8)}
	set := func(names ...string) {
		for _, name := range names {
			shape := []int{8, 8}
			if name == "unread" {
				shape = shape[:1]
			}
			if err := exe.SetParam(name, filled(t, dev, shape...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func() int {
		inner.Forget()
		if _, err := exe.Run(ctx, in); err != nil {
			t.Fatal(err)
		}
		if err := dev.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		return len(inner.Recorded())
	}
	set("a", "b", "c", "d", "unread")
	first := run()
	each := run()
	if first != each+5 || each != exe.Plan().Program.Launches() {
		t.Fatalf("%d launches at first, and %d in each run (want 5 more, and %d)\n%v", first, each, exe.Plan().Program.Launches(), exe.Plan())
	}
	for _, s := range []struct {
		names []string
		more  int
	}{{nil, 0}, {[]string{"a"}, 1}, {[]string{"b"}, 3}, {[]string{"c"}, 3}, {[]string{"c", "b"}, 4}, {[]string{"a", "c"}, 4}, {[]string{"a", "a"}, 1}, {[]string{"d", "unread"}, 0}, {[]string{"d", "c", "b", "a"}, 5}} {
		set(s.names...)
		if n := run() - each; n != s.more {
			t.Errorf("%v were set: %d launches more (want %d)", s.names, n, s.more)
		}
		if n := run() - each; n != 0 {
			t.Errorf("in the run after that: %d launches more", n)
		}
	}
}

// TestWeightsRefused has a weight of indices that are out of range: each run says so until another one is set, and nothing else does.
func TestWeightsRefused(t *testing.T) {
	ctx := t.Context()
	dev := deviceFor(t)
	g := graph.New()
	table, i, j := g.Weight("table", tensor.F32, 5, 3), g.Weight("i", tensor.I32, 2), g.Weight("j", tensor.I32, 2)
	g.Output("y", g.Mul(g.Gather(table, i, 0), g.Add(g.Input("x", tensor.F32, 2, 3), g.Gather(table, j, 0))))
	exe, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Free()
	if n := len(exe.Plan().Program.Prepare); n != 2 {
		t.Fatalf("%d calls are hoisted (want 2)\n%v", n, exe.Plan())
	}
	indices := func(list ...int32) *lathe.Tensor {
		v, err := lathe.FromSlice(ctx, dev, list, len(list))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	x := filled(t, dev, 2, 3)
	run := func() ([]float32, error) {
		out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
		if err != nil {
			return nil, err
		}
		return lathe.ToSlice[float32](ctx, out["y"])
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(errors.Join(exe.SetParam("table", filled(t, dev, 5, 3)), exe.SetParam("i", indices(4, 0)), exe.SetParam("j", indices(1, 2))))
	want, err := run()
	check(err)
	for _, name := range []string{"i", "j"} {
		check(exe.SetParam(name, indices(1, 7)))
		for range 3 {
			if _, err := run(); !errors.Is(err, lathe.ErrInvalidArgument) {
				t.Errorf("%s is out of range: %v", name, err)
			}
		}
	}
	check(errors.Join(exe.SetParam("i", indices(4, 0)), exe.SetParam("j", indices(1, 2))))
	for range 3 {
		got, err := run()
		check(err)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// TestConstantsRefused compiles a graph of which several constants are out of range, and then others that are not.
func TestConstantsRefused(t *testing.T) {
	ctx := t.Context()
	dev := deviceFor(t)
	gathers := func(index ...float64) error {
		g := graph.New()
		table := g.Constant(tensor.NewHost(tensor.Contiguous(tensor.F32, 5, 3)))
		for k, i := range index {
			h, err := tensor.FromFloats(tensor.I32, []int{1}, []float64{i})
			if err != nil {
				t.Fatal(err)
			}
			g.Output(fmt.Sprint("y", k), g.Mul(g.Gather(table, g.Constant(h), 0), g.Input(fmt.Sprint("x", k), tensor.F32, 1, 3)))
		}
		exe, err := dev.Compile(ctx, g, graph.Options{})
		if err == nil {
			err = exe.Free()
		}
		return err
	}
	for range 3 {
		if err := gathers(7, 1, -9, 5); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("indices out of range: %v", err)
		}
		if err := gathers(0, 1, 2, 3); err != nil {
			t.Errorf("after a graph that was refused: %v", err)
		}
	}
}

// endsAfter is a context that ends once it was asked so many times.
type endsAfter struct {
	context.Context
	asked int
	done  chan struct{}
}

func (c *endsAfter) Done() <-chan struct{} { return c.done }

func (c *endsAfter) Err() error {
	if c.asked--; c.asked == -1 {
		close(c.done)
	}
	if c.asked < 0 {
		return context.Canceled
	}
	return nil
}

// TestWeightsRefusedAndCancelled has contexts that end anywhere in a run that the device refuses for an index in a weight. With another weight, runs after that are
// not refused.
func TestWeightsRefusedAndCancelled(t *testing.T) {
	ctx, dev := t.Context(), deviceFor(t)
	g := graph.New()
	i, j := g.Weight("i", tensor.I32, 2), g.Weight("j", tensor.I32, 2)
	table := g.Weight("table", tensor.F32, 5, 3)
	g.Output("y", g.Mul(g.Gather(table, i, 0), g.Add(g.Input("x", tensor.F32, 2, 3), g.Gather(table, j, 0))))
	exe, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Free()
	x := filled(t, dev, 2, 3)
	set := func(name string, list ...int32) {
		v, err := lathe.FromSlice(ctx, dev, list, len(list))
		if err == nil {
			err = exe.SetParam(name, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(ctx context.Context) error {
		_, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
		return err
	}
	if err := exe.SetParam("table", filled(t, dev, 5, 3)); err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		for _, name := range []string{"i", "j"} {
			set("i", 0, 1)
			set("j", 0, 1)
			set(name, 0, 9)
			if err := run(&endsAfter{ctx, n, make(chan struct{})}); err == nil {
				t.Errorf("%d: the index in %s is not refused", n, name)
			}
			for range 2 {
				set(name, 2, 3)
				if err := errors.Join(run(ctx), dev.Sync(ctx)); err != nil {
					t.Errorf("context ended after %d questions, %s was set again: %v", n, name, err)
				}
			}
		}
	}
}
