package lathe_test

import (
	"bytes"
	"context"
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

// slice makes a tensor of one dimension.
func slice[E lathe.Element](t *testing.T, dev *lathe.Device, data []E) *lathe.Tensor {
	t.Helper()
	x, err := lathe.FromSlice(t.Context(), dev, data, len(data))
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

// TestConstantsAreChecked compiles graphs whose constants a call refuses on the device: Compile says so, and no other call does.
func TestConstantsAreChecked(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	x := filled(t, dev, 2)
	for _, bad := range []bool{true, false, true} {
		index := []float64{1, 2}
		if bad {
			index[1] = 9
		}
		list, err := tensor.FromFloats(tensor.I32, []int{2}, index)
		if err != nil {
			t.Fatal(err)
		}
		g := graph.New()
		table := g.Constant(tensor.NewHost(tensor.Contiguous(tensor.F32, 3)))
		g.Output("y", g.Add(g.Gather(table, g.Constant(list), 0), g.Input("x", tensor.F32, 2)))
		exe, err := dev.Compile(ctx, g, graph.Options{})
		if bad != errors.Is(err, lathe.ErrInvalidArgument) || bad && !strings.Contains(err.Error(), "gather") {
			t.Fatalf("index %v: %v", index, err)
		}
		if _, err := lathe.ToSlice[float32](ctx, x); err != nil {
			t.Errorf("an unrelated read: %v", err)
		}
		if bad {
			continue
		}
		out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lathe.ToSlice[float32](ctx, out["y"]); err != nil {
			t.Error(err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := dev.Compile(cancelled, chain(1), graph.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled compilation: %v", err)
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
	w, i := g.Weight("w", tensor.F32, 32, 32), g.Weight("i", tensor.I32, 32)
	h := g.MatMul(g.MatMul(g.Add(x, c), g.Exp(w)), w) // a call and launches that run once a weight is set
	g.Output("y", g.Softmax(g.MatMul(h, g.Gather(w, i, 0)), -1))
	weights, indices := filled(t, dev, 32, 32), slice(t, dev, make([]int32, 32))
	in := map[string]*lathe.Tensor{"x": filled(t, dev, 32, 32)}
	try := func() error {
		exe, err := dev.Compile(ctx, g, graph.Options{})
		if err != nil {
			return err
		}
		if err := errors.Join(exe.SetParam("w", weights), exe.SetParam("i", indices)); err != nil {
			return errors.Join(err, exe.Free())
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
	labelled := graph.New()
	w := labelled.Param("w", tensor.F32, 32, 32)
	y := labelled.MatMul(labelled.Input("x", tensor.F32, 32, 32), w).Label("the product")
	labelled.Output("y", labelled.Neg(labelled.Exp(y).Label("the power")))
	x := filled(t, dev, 32, 32)
	for _, g := range []*graph.Graph{chain(1), labelled} {
		exe, err := dev.Compile(ctx, g, graph.Options{Without: []string{"epilogue", "prologue"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := exe.SetParam("w", x); err != nil {
			t.Fatal(err)
		}
		if _, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x}); err != nil {
			t.Fatal(err)
		}
	}
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`"matmul"`, `"fused"`, `"add, tanh"`, `"the product"`, `"exp (the power), neg"`} {
		if !strings.Contains(trace.String(), name) {
			t.Errorf("the trace has no %s", name)
		}
	}
}
