package lathe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/tensor"
)

func ExampleDevice_Compile() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	g := graph.New()
	x := g.Input("x", tensor.F32, 2, 3)
	w := g.Param("w", tensor.F32, 3, 2)
	g.Output("y", g.ReLU(g.MatMul(x, w)))
	exe, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer exe.Free()

	weights, err := lathe.FromSlice(ctx, dev, []float32{1, 0, 0, 1, -1, 1}, 3, 2)
	if err != nil {
		log.Fatal(err)
	}
	if err := exe.SetParam("w", weights); err != nil {
		log.Fatal(err)
	}
	in, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": in})
	if err != nil {
		log.Fatal(err)
	}
	y, err := lathe.ToSlice[float32](ctx, out["y"])
	fmt.Println(y, err)
	// Output: [0 5 0 11] <nil>
}

// device is an open device for a test.
func deviceFor(t *testing.T) *lathe.Device {
	t.Helper()
	dev, err := lathe.Open(context.Background(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

func filled(t *testing.T, dev *lathe.Device, shape ...int) *lathe.Tensor {
	t.Helper()
	data := make([]float32, tensor.Contiguous(tensor.F32, shape...).Elems())
	for i := range data {
		data[i] = float32(i%7) - 3
	}
	x, err := lathe.FromSlice(context.Background(), dev, data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// chain is a graph of n calls, each of which can overwrite its input, between two matrix products that cannot.
func chain(n int) *graph.Graph {
	g := graph.New()
	x := g.Input("x", tensor.F32, 32, 32)
	w := g.Param("w", tensor.F32, 32, 32)
	v := g.MatMul(x, w)
	for range n {
		v = g.Tanh(g.Add(v, graph.Scalar(1)))
	}
	g.Output("y", g.MatMul(v, w))
	return g
}

// TestPlanMemory looks at where values lie: a chain of calls that can work in place needs the memory of one value.
func TestPlanMemory(t *testing.T) {
	dev := deviceFor(t)
	plan, err := dev.PlanGraph(chain(10), graph.Options{Without: []string{"fuse"}})
	if err != nil {
		t.Fatal(err)
	}
	const value = 32 * 32 * 4
	b := plan.Program.Bytes
	if b.Arena != b.Lower || b.Arena > 3*value || b.Values != 21*value { // a product may need scratch memory
		t.Errorf("got %+v, want an arena of at most %d, in place of %d", b, 3*value, 21*value)
	}
	if n := len(plan.Program.Steps); n != 22 {
		t.Errorf("got %d calls, want 22", n)
	}
	text := plan.String()
	for _, want := range []string{"matmul", "arena[0]", "outputs[0]", "cse 9", fmt.Sprintf("arena %d bytes (at least %d; 86016 without sharing)", b.Arena, b.Lower)} {
		if !strings.Contains(strings.ReplaceAll(text, "arena+", "arena[0]+"), want) {
			t.Errorf("the plan has no %q:\n%s", want, text)
		}
	}
	var data struct {
		Steps    []struct{ Call string }
		Launches int
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &data); err != nil || len(data.Steps) != 22 || data.Launches != plan.Program.Launches() {
		t.Errorf("got %d steps and %d launches, %v, from %s", len(data.Steps), data.Launches, err, raw)
	}
}

// TestPasses counts what the passes do, and what they leave alone if they are off.
func TestPasses(t *testing.T) {
	dev := deviceFor(t)
	g := graph.New()
	x := g.Input("x", tensor.F32, 4, 5)
	c := g.Exp(g.Constant(tensor.NewHost(tensor.Contiguous(tensor.F32, 5)))) // of constants only
	a, b := g.Add(g.Sin(x), c), g.Add(g.Sin(x), c)                           // the same twice
	g.Cos(x)                                                                 // dead
	g.Output("y", g.Mul(a, b))
	g.Output("again", x.Transpose())
	for _, c := range []struct {
		without     []string
		calls, once int
	}{
		{[]string{"fuse"}, 4, 1}, // sin, add, mul, and a copy for the view
		{[]string{"fuse", "cse"}, 6, 1},
		{[]string{"fuse", "dce"}, 5, 1},
		{[]string{"fuse", "cse", "dce"}, 7, 1},
		{nil, 2, 1}, // what depends on constants only is not joined with the rest
	} {
		plan, err := dev.PlanGraph(g, graph.Options{Without: c.without})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(plan.Program.Steps); got != c.calls || len(plan.Program.Once) != c.once {
			t.Errorf("without %q: %d calls and %d once (want %d and %d):\n%v", c.without, got, len(plan.Program.Once), c.calls, c.once, plan)
		}
	}
	if _, err := dev.PlanGraph(g, graph.Options{Without: []string{"magic"}}); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("an unknown pass: %v", err)
	}
}

// TestFusion looks at which calls become one launch, and which must not.
func TestFusion(t *testing.T) {
	dev := deviceFor(t)
	for _, c := range []struct {
		name     string
		build    func(g *graph.Graph, x, w *graph.Value)
		calls    int // that are left
		fused    int // calls in shared launches
		launches int // of fused calls
		missed   string
	}{
		{"a chain", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.Tanh(g.Mul(g.Add(x, w), x))) }, 1, 3, 1, ""},
		{"a row is broadcast", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.Exp(g.Add(x, w.Narrow(0, 0, 1)))) }, 1, 2, 1, ""},
		{"branches meet", func(g *graph.Graph, x, w *graph.Value) {
			a := g.Exp(x)
			g.Output("y", g.Add(g.Sin(a), g.Cos(a)))
		}, 1, 4, 1, ""},
		{"a value between is an output", func(g *graph.Graph, x, w *graph.Value) {
			a := g.Exp(x)
			g.Output("a", a)
			g.Output("y", g.Sin(a))
		}, 1, 2, 1, ""},
		{"another call reads a value between", func(g *graph.Graph, x, w *graph.Value) {
			a := g.Exp(x)
			g.Output("y", g.Sin(a))
			g.Output("m", g.MatMul(a, w))
		}, 2, 2, 1, ""},
		{"a product between", func(g *graph.Graph, x, w *graph.Value) {
			a := g.Exp(x)
			g.Output("y", g.Add(g.MatMul(a, w), a))
		}, 3, 0, 0, "a call between them cannot be fused"},
		{"outputs of two shapes", func(g *graph.Graph, x, w *graph.Value) {
			a := g.Exp(w.Narrow(0, 0, 1))
			g.Output("a", a)
			g.Output("y", g.Add(x, a))
		}, 2, 0, 0, "shapes"},
		{"a transposed value", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.Sin(g.Exp(x).Transpose())) }, 2, 0, 0, ""},
		{"a call that is no function of single elements", func(g *graph.Graph, x, w *graph.Value) { g.Output("y", g.Sin(g.Softmax(x, -1))) }, 2, 0, 0, ""},
		{"more than 32 calls", func(g *graph.Graph, x, w *graph.Value) {
			for range 40 {
				x = g.Tanh(x)
			}
			g.Output("y", x)
		}, 2, 40, 2, "more than 32 calls"},
		{"two groups that need each other", func(g *graph.Graph, x, w *graph.Value) {
			a, b := g.Exp(x), g.Exp(w)
			p, q := g.MatMul(a, x), g.MatMul(b, x)
			g.Output("y", g.Add(p, b)) // with b it needs a, and the other one needs b with a
			g.Output("z", g.Add(q, a))
		}, 5, 2, 1, "a call between them cannot be fused"},
	} {
		g := graph.New()
		c.build(g, g.Input("x", tensor.F32, 16, 16), g.Input("w", tensor.F32, 16, 16))
		plan, err := dev.PlanGraph(g, graph.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f := plan.Report.Fusion
		if n := len(plan.Program.Steps); n != c.calls || f.Calls != c.fused || f.Launches != c.launches {
			t.Errorf("%s: %d calls, %d of %d in shared launches (want %d, %d of %d)\n%v", c.name, n, f.Launches, f.Calls, c.calls, c.launches, c.fused, plan)
		}
		if found := slices.ContainsFunc(f.Missed, func(m graph.Missed) bool { return c.missed != "" && strings.Contains(m.Reason, c.missed) }); found != (c.missed != "") {
			t.Errorf("%s: missed %v, want %q", c.name, f.Missed, c.missed)
		}
	}
}

// TestGraphMistakes builds graphs wrongly: all mistakes are listed with their places.
func TestGraphMistakes(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	g := graph.New()
	x := g.Input("x", tensor.F32, 4, 5)
	bad := g.MatMul(x, x)
	g.Output("y", g.Add(bad, x)) // no mistake of its own
	g.Input("x", tensor.F32)
	x.Narrow(0, 3, 2)
	g.Add(graph.Scalar(1), graph.Scalar(2))
	other := graph.New().Input("z", tensor.F32, 4, 5)
	g.Add(x, other)
	g.Output("w", nil)
	g.Output("v", graph.Scalar(1).Transpose())
	_, err := dev.Compile(ctx, g, graph.Options{})
	if !errors.Is(err, lathe.ErrGraph) || !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Fatalf("got %v", err)
	}
	lines := strings.Split(err.Error(), "\n\t")
	if len(lines) != 8 {
		t.Errorf("got %d lines, want one and 7 mistakes:\n%v", len(lines), err)
	}
	for _, l := range lines[1:] {
		if !strings.Contains(l, "(executable_test.go:") {
			t.Errorf("no place in %q", l)
		}
	}
	for name, g := range map[string]*graph.Graph{"none": nil, "zero": {}, "empty": graph.New()} {
		if _, err := dev.Compile(ctx, g, graph.Options{}); err == nil {
			t.Errorf("compiled a graph: %s", name)
		}
	}
}

// TestRunMistakes runs a graph wrongly.
func TestRunMistakes(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	exe, err := dev.Compile(ctx, chain(1), graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, w := filled(t, dev, 32, 32), filled(t, dev, 32, 32)
	if _, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x}); !errors.Is(err, lathe.ErrNotInitialized) || !strings.Contains(err.Error(), `"w"`) {
		t.Errorf("without a param: %v", err)
	}
	if err := exe.SetParam("v", w); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), `["w"]`) {
		t.Errorf("an unknown param: %v", err)
	}
	if err := exe.SetParam("w", filled(t, dev, 32, 31)); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("a param of another shape: %v", err)
	}
	if err := exe.SetParam("w", w); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]map[string]*lathe.Tensor{"none": nil, "unknown": {"x": x, "q": x}, "shape": {"x": filled(t, dev, 32)}} {
		if _, err := exe.Run(ctx, in); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("input %s: %v", name, err)
		}
	}
	if err := exe.RunInto(ctx, []*lathe.Tensor{x}, []*lathe.Tensor{x}); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), "overlaps") {
		t.Errorf("an output over an input: %v", err)
	}
	if err := exe.RunInto(ctx, []*lathe.Tensor{x}, []*lathe.Tensor{w}); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("an output over a param: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := exe.Run(cancelled, map[string]*lathe.Tensor{"x": x}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run: %v", err)
	}
	if err := dev.Free(w); err != nil {
		t.Fatal(err)
	}
	if _, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x}); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("a freed param: %v", err)
	}
	for range 2 {
		if err := exe.Free(); err != nil {
			t.Errorf("free: %v", err)
		}
	}
	if _, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x}); !errors.Is(err, lathe.ErrClosed) {
		t.Errorf("a freed executable: %v", err)
	}
	var none *lathe.Executable
	if _, err := none.Run(ctx, nil); !errors.Is(err, lathe.ErrNotInitialized) {
		t.Errorf("no executable: %v", err)
	}
}

// TestRunViews gives inputs that lie with strides, or at odd places of their buffers.
func TestRunViews(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	g := graph.New()
	g.Output("y", g.Sub(g.Input("x", tensor.F32, 3, 5), g.Param("w", tensor.F32, 3, 5)))
	exe, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := filled(t, dev, 5, 3).Transpose()
	if err != nil {
		t.Fatal(err)
	}
	w, err := filled(t, dev, 4, 5).Narrow(0, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := exe.SetParam("w", w); err != nil {
		t.Fatal(err)
	}
	out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	want, err := dev.Sub(x, w)
	if err != nil {
		t.Fatal(err)
	}
	a, err := lathe.ToSlice[float32](ctx, out["y"])
	if err != nil {
		t.Fatal(err)
	}
	b, err := lathe.ToSlice[float32](ctx, want)
	if err != nil || !slices.Equal(a, b) {
		t.Errorf("got %v, want %v, %v", a, b, err)
	}
}

// TestGraphCheck runs a graph whose indices are out of range: the next read says so, and names the operation.
func TestGraphCheck(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	g := graph.New()
	g.Output("y", g.Exp(g.Gather(g.Input("x", tensor.F32, 4), g.Input("i", tensor.I32, 2), 0)))
	exe, err := dev.Compile(ctx, g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := filled(t, dev, 4)
	for _, bad := range []bool{true, false, true} {
		index := []int32{1, 3}
		if bad {
			index[0] = 9
		}
		i, err := lathe.FromSlice(ctx, dev, index, 2)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x, "i": i})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = lathe.ToSlice[float32](ctx, out["y"]); bad != errors.Is(err, lathe.ErrInvalidArgument) || bad && !strings.Contains(err.Error(), "gather") {
			t.Errorf("index %v: %v", index, err)
		}
	}
}

// sink is a device that takes work and does not look at it.
type sink struct{ gpu.Device }

func (sink) Submit([]gpu.Dispatch) error { return nil }

// onSink compiles a chain for a device that does no work. run runs it, each time with other tensors.
func onSink(t testing.TB, calls int) (exe *lathe.Executable, run func()) {
	t.Helper()
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet, lathe.WithGPU(sink{null.NewRecorder(nil)}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	if exe, err = dev.Compile(ctx, chain(calls), graph.Options{}); err != nil {
		t.Fatal(err)
	}
	tensors := make([]*lathe.Tensor, 5)
	for i := range tensors {
		if tensors[i], err = dev.NewTensor(tensor.Contiguous(tensor.F32, 32, 32)); err != nil {
			t.Fatal(err)
		}
	}
	if err := exe.SetParam("w", tensors[4]); err != nil {
		t.Fatal(err)
	}
	i := 0
	return exe, func() {
		if err := exe.RunInto(ctx, tensors[i%2:i%2+1], tensors[2+i%2:3+i%2]); err != nil {
			t.Fatal(err)
		}
		i++
	}
}

// TestRunAllocates runs a graph into tensors that are there: it allocates nothing.
func TestRunAllocates(t *testing.T) {
	_, run := onSink(t, 50)
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}

// BenchmarkRun is the time that a run takes on our side, without the device.
func BenchmarkRun(b *testing.B) {
	exe, run := onSink(b, 50)
	b.ReportMetric(float64(exe.Plan().Program.Launches()), "launches")
	for b.Loop() {
		run()
	}
}

// BenchmarkCompile is the time that a graph of 1000 calls takes to compile, without its kernels.
func BenchmarkCompile(b *testing.B) {
	dev, err := lathe.Open(context.Background(), quiet, lathe.WithGPU(sink{null.NewRecorder(nil)}))
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	for b.Loop() {
		if _, err := dev.PlanGraph(chain(499), graph.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestGraphFaults makes each call of the device fail once, in compiling and in running a graph. Nothing is left behind: the next attempt
// succeeds, and a failed one returns the memory.
func TestGraphFaults(t *testing.T) {
	ctx := context.Background()
	inner, err := cpu.Open(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	broken := faulty.New(inner)
	dev, err := lathe.Open(ctx, quiet, lathe.WithGPU(broken))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	g := graph.New()
	x := g.Input("x", tensor.F32, 32, 32)
	c := g.Exp(g.Constant(tensor.NewHost(tensor.Contiguous(tensor.F32, 32)))) // runs once
	g.Output("y", g.Softmax(g.MatMul(g.Add(x, c), x), -1))
	in := map[string]*lathe.Tensor{"x": filled(t, dev, 32, 32)}
	try := func() error {
		exe, err := dev.Compile(ctx, g, graph.Options{})
		if err != nil {
			return err
		}
		out, err := exe.Run(ctx, in)
		if err != nil {
			return errors.Join(err, exe.Free())
		}
		_, err = dev.Read(ctx, out["y"])
		return errors.Join(err, dev.Free(out["y"]), exe.Free())
	}
	if err := try(); err != nil {
		t.Fatal(err)
	}
	injected := errors.New("injected")
	for _, call := range []faulty.Call{faulty.Alloc, faulty.Write, faulty.Submit, faulty.Read} {
		before := broken.Calls(call)
		if err := try(); err != nil {
			t.Fatal(err)
		}
		n := broken.Calls(call) - before
		if n == 0 {
			t.Errorf("%v is never called", call)
		}
		for i := range n {
			allocs, frees := broken.Calls(faulty.Alloc), broken.Calls(faulty.Free)
			broken.Fail(call, i+1, injected)
			if err := try(); !errors.Is(err, injected) || broken.Pending() != 0 {
				t.Errorf("%v %d failed, and the error is %v", call, i+1, err)
			}
			allocs, frees = broken.Calls(faulty.Alloc)-allocs, broken.Calls(faulty.Free)-frees
			if call == faulty.Alloc {
				allocs-- // the one that failed
			}
			if allocs != frees && call != faulty.Read { // after a failed read the tensor is the program's
				t.Errorf("%v %d failed, and %d buffers are left", call, i+1, allocs-frees)
			}
		}
		if err := try(); err != nil {
			t.Errorf("after the failures: %v", err)
		}
	}
}

// TestBusy runs an Executable from two goroutines at once: one of them gets an error.
func TestBusy(t *testing.T) {
	ctx := context.Background()
	inner := &blocking{Device: null.NewRecorder(nil), entered: make(chan struct{}), leave: make(chan struct{})}
	dev, err := lathe.Open(ctx, quiet, lathe.WithGPU(inner))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	exe, err := dev.Compile(ctx, chain(1), graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := filled(t, dev, 32, 32)
	if err := exe.SetParam("w", x); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
		done <- err
	}()
	<-inner.entered
	if _, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x}); !errors.Is(err, lathe.ErrGraphBusy) {
		t.Errorf("a second run at once: %v", err)
	}
	close(inner.leave)
	if err := <-done; err != nil {
		t.Errorf("the first run: %v", err)
	}
}

// blocking is a device whose first Submit waits.
type blocking struct {
	gpu.Device
	once           sync.Once
	entered, leave chan struct{}
}

func (d *blocking) Submit([]gpu.Dispatch) error {
	d.once.Do(func() {
		close(d.entered)
		<-d.leave
	})
	return nil
}

// TestTraceOfGraph writes a trace of a run: it names the calls of the graph.
func TestTraceOfGraph(t *testing.T) {
	ctx := context.Background()
	var trace bytes.Buffer
	dev, err := lathe.Open(ctx, quiet, lathe.WithBackend("cpu"), lathe.WithTrace(&trace))
	if err != nil {
		t.Fatal(err)
	}
	exe, err := dev.Compile(ctx, chain(1), graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := filled(t, dev, 32, 32)
	if err := errors.Join(exe.SetParam("w", x)); err != nil {
		t.Fatal(err)
	}
	if _, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x}); err != nil {
		t.Fatal(err)
	}
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`"matmul"`, `"fused"`, `"add, tanh"`} {
		if !strings.Contains(trace.String(), name) {
			t.Errorf("the trace has no %s", name)
		}
	}
}
