package lathe_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/tensor"
)

func ExampleDevice_Model() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	model := dev.Model(func(g *graph.Graph) {
		x := g.Input("x", tensor.F32, g.Dim("BATCH"), 2)
		w := g.Param("w", tensor.F32, 2, 1)
		g.Output("y", g.MatMul(x, w))
	}, graph.Options{})
	defer model.Free()
	weights, err := lathe.FromSlice(ctx, dev, []float32{2, 3}, 2, 1)
	if err != nil {
		log.Fatal(err)
	}
	if err := model.SetParam("w", weights); err != nil {
		log.Fatal(err)
	}
	for _, rows := range [][][]float32{{{1, 1}}, {{1, 0}, {0, 1}, {2, 2}}} {
		exe, err := model.At(ctx, graph.Dims{"BATCH": len(rows)})
		if err != nil {
			log.Fatal(err)
		}
		x, err := lathe.FromRows(ctx, dev, rows)
		if err != nil {
			log.Fatal(err)
		}
		out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
		if err != nil {
			log.Fatal(err)
		}
		y, err := lathe.ToSlice[float32](ctx, out["y"])
		fmt.Println(y, err)
	}
	// Output:
	// [5] <nil>
	// [2 3 10] <nil>
}

// scaled multiplies rows of 8 by a matrix twice, and adds a constant.
func scaled(g *graph.Graph) {
	x := g.Input("x", tensor.F32, g.Dim("ROWS"), 8)
	w := g.Param("w", tensor.F32, 8, 8)
	one := g.Exp(g.Constant(tensor.NewHost(tensor.Contiguous(tensor.F32, 8)))) // runs once
	g.Output("y", g.Add(g.MatMul(g.MatMul(x, w), w), one))
}

// runScaled runs scaled for so many rows, and compares it with single calls.
func runScaled(t *testing.T, dev *lathe.Device, exe *lathe.Executable, w *lathe.Tensor, rows int) {
	t.Helper()
	ctx := context.Background()
	x := filled(t, dev, rows, 8)
	out, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	s := dev.Scope(ctx)
	want := s.Add(s.MatMul(s.MatMul(x, w), w), lathe.Scalar(1))
	a, err := lathe.ToSlice[float32](ctx, out["y"])
	if err != nil {
		t.Fatal(err)
	}
	b, err := lathe.ToSlice[float32](ctx, want)
	if err := errors.Join(err, s.Close(), dev.Free(x), dev.Free(out["y"])); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a, b) {
		t.Fatalf("%d rows: got %v, want %v", rows, a, b)
	}
}

// TestModelMemory runs a model with more sizes than it keeps, in turns, and then 10 000 times with few. The memory of the device
// stays what the largest size needs.
func TestModelMemory(t *testing.T) {
	ctx := context.Background()
	inner, err := cpu.Open(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counted := faulty.New(inner)
	dev, err := lathe.Open(ctx, quiet, lathe.WithGPU(counted))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	model := dev.Model(scaled, graph.Options{})
	w := filled(t, dev, 8, 8)
	if err := model.SetParam("w", w); err != nil {
		t.Fatal(err)
	}
	at := func(rows int) *lathe.Executable {
		exe, err := model.At(ctx, graph.Dims{"ROWS": rows})
		if err != nil {
			t.Fatal(err)
		}
		return exe
	}
	first := at(100)
	for i := range 200 {
		rows := i * 37 % 101
		runScaled(t, dev, at(rows), w, rows)
	}
	runScaled(t, dev, first, w, 100) // the model has dropped it, and it still works
	left := func() int { return counted.Calls(faulty.Alloc) - counted.Calls(faulty.Free) }
	for range 100 {
		runtime.GC()
		if left() <= 64 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := left(); n > 64 {
		t.Errorf("%d buffers are left (want those of 32 graphs and few more)", n)
	}

	sizes := []int{1, 2, 3, 50, 99, 100}
	var in, out []*lathe.Tensor
	for _, rows := range sizes {
		in, out = append(in, filled(t, dev, rows, 8)), append(out, filled(t, dev, rows, 8))
		runScaled(t, dev, at(rows), w, rows)
	}
	allocs := counted.Calls(faulty.Alloc)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		i := rng.IntN(len(sizes))
		if err := at(sizes[i]).RunInto(ctx, in[i:i+1], out[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := dev.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if n := counted.Calls(faulty.Alloc) - allocs; n != 0 {
		t.Errorf("10 000 runs make %d buffers", n)
	}
	runtime.KeepAlive(first)
	if err := model.Free(); err != nil {
		t.Fatal(err)
	}
}

// TestModelMistakes uses a model wrongly.
func TestModelMistakes(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	model := dev.Model(scaled, graph.Options{})
	for name, dims := range map[string]graph.Dims{
		`dim "ROWS"`: nil, `no dim named ["COLS"]`: {"ROWS": 1, "COLS": 2}, "size -1": {"ROWS": -1},
	} {
		if _, err := model.At(ctx, dims); !errors.Is(err, lathe.ErrGraph) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: %v", dims, err)
		}
	}
	for _, rows := range []int{math.MaxInt, math.MaxInt32} {
		if _, err := model.At(ctx, graph.Dims{"ROWS": rows}); !errors.Is(err, lathe.ErrGraph) && !errors.Is(err, lathe.ErrLimit) {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
	empty, err := model.At(ctx, graph.Dims{"ROWS": 0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := empty.Run(ctx, map[string]*lathe.Tensor{"x": filled(t, dev, 0, 8)}); !errors.Is(err, lathe.ErrNotInitialized) || !strings.Contains(err.Error(), `"w"`) {
		t.Errorf("without a param: %v", err)
	}
	w := filled(t, dev, 8, 8)
	if err := model.SetParam("v", w); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), `["w"]`) {
		t.Errorf("an unknown param: %v", err)
	}
	if err := model.SetParam("w", nil); !errors.Is(err, lathe.ErrInvalidHandle) && !errors.Is(err, lathe.ErrInvalidArgument) && !errors.Is(err, lathe.ErrNotInitialized) {
		t.Errorf("no param: %v", err)
	}
	if err := model.SetParam("w", w); err != nil {
		t.Fatal(err)
	}
	runScaled(t, dev, empty, w, 0)
	if err := empty.Free(); err != nil {
		t.Fatal(err)
	}
	again, err := model.At(ctx, graph.Dims{"ROWS": 0})
	if err != nil {
		t.Fatal(err)
	}
	runScaled(t, dev, again, w, 0)
	for range 2 {
		if err := model.Free(); err != nil {
			t.Errorf("free: %v", err)
		}
	}
	if _, err := again.Run(ctx, map[string]*lathe.Tensor{"x": filled(t, dev, 0, 8)}); !errors.Is(err, lathe.ErrClosed) {
		t.Errorf("a graph of a freed model: %v", err)
	}
	if _, err := model.At(ctx, graph.Dims{"ROWS": 1}); !errors.Is(err, lathe.ErrClosed) {
		t.Errorf("a freed model: %v", err)
	}
	if err := model.SetParam("w", w); !errors.Is(err, lathe.ErrClosed) {
		t.Errorf("a param of a freed model: %v", err)
	}
	wrong := dev.Model(scaled, graph.Options{})
	if err := wrong.SetParam("v", w); err != nil {
		t.Errorf("a param before any graph is compiled: %v", err)
	}
	if _, err := wrong.At(ctx, graph.Dims{"ROWS": 1}); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), `"v"`) {
		t.Errorf("an unknown param: %v", err)
	}
	if _, err := wrong.At(ctx, graph.Dims{"ROWS": 1}); err != nil {
		t.Errorf("after that was said: %v", err)
	}
	var self *lathe.Model
	var inside error
	self = dev.Model(func(g *graph.Graph) {
		_, inside = self.At(ctx, graph.Dims{"ROWS": 1})
		scaled(g)
	}, graph.Options{})
	if _, err := self.At(ctx, graph.Dims{"ROWS": 2}); err != nil || !errors.Is(inside, lathe.ErrInvalidArgument) {
		t.Errorf("a function that asks for its own model: %v, and inside %v", err, inside)
	}
	if _, err := dev.Model(nil, graph.Options{}).At(ctx, nil); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("no function: %v", err)
	}
	other := deviceFor(t)
	late := other.Model(scaled, graph.Options{})
	if err := late.SetParam("w", w); !errors.Is(err, lathe.ErrInvalidHandle) {
		t.Errorf("a param of another device: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*lathe.Model{late, other.Model(scaled, graph.Options{})} {
		if _, err := m.At(ctx, graph.Dims{"ROWS": 1}); !errors.Is(err, lathe.ErrClosed) {
			t.Errorf("a closed device: %v", err)
		}
	}
}

// TestModelParamWithDim has a param whose shape depends on a dim: it is set anew for each size.
func TestModelParamWithDim(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	model := dev.Model(func(g *graph.Graph) {
		n := g.Dim("N")
		g.Output("y", g.Add(g.Input("x", tensor.F32, n), g.Param("b", tensor.F32, n)))
	}, graph.Options{})
	defer model.Free()
	for _, n := range []int{3, 5, 3} {
		if err := model.SetParam("b", filled(t, dev, n)); err != nil {
			t.Fatal(err)
		}
		exe, err := model.At(ctx, graph.Dims{"N": n})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": filled(t, dev, n)}); err != nil {
			t.Error(err)
		}
		larger, err := model.At(ctx, graph.Dims{"N": n + 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := larger.Run(ctx, map[string]*lathe.Tensor{"x": filled(t, dev, n+1)}); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), `param "b"`) {
			t.Errorf("a param of another size: %v", err)
		}
	}
}

// TestModelGoroutines asks for graphs and runs them from many goroutines.
func TestModelGoroutines(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	var mu sync.Mutex
	built := map[int]int{}
	model := dev.Model(func(g *graph.Graph) {
		mu.Lock()
		built[g.Dim("ROWS")]++
		mu.Unlock()
		scaled(g)
	}, graph.Options{})
	defer model.Free()
	if err := model.SetParam("w", filled(t, dev, 8, 8)); err != nil {
		t.Fatal(err)
	}
	var inputs []*lathe.Tensor
	for rows := range 8 {
		inputs = append(inputs, filled(t, dev, rows, 8))
	}
	var all sync.WaitGroup
	for k := range 6 {
		all.Go(func() {
			for i := range 24 {
				rows := (i + k) % 8
				exe, err := model.At(ctx, graph.Dims{"ROWS": rows})
				if err != nil {
					t.Error(err)
					return
				}
				for {
					_, err := exe.Run(ctx, map[string]*lathe.Tensor{"x": inputs[rows]})
					if err == nil {
						break
					}
					if !errors.Is(err, lathe.ErrGraphBusy) {
						t.Error(err)
						return
					}
					runtime.Gosched()
				}
			}
		})
	}
	all.Wait()
	if err := dev.Sync(ctx); err != nil {
		t.Error(err)
	}
	for rows, n := range built {
		if n != 1 {
			t.Errorf("%d rows are compiled %d times", rows, n)
		}
	}
}

// TestModelPanic builds a graph by a function that panics: the program sees the panic, and the model still works.
func TestModelPanic(t *testing.T) {
	dev := deviceFor(t)
	ctx := context.Background()
	bad := true
	model := dev.Model(func(g *graph.Graph) {
		if bad {
			panic("bad")
		}
		scaled(g)
	}, graph.Options{})
	defer model.Free()
	func() {
		defer func() {
			if recover() != "bad" {
				t.Error("the panic is lost")
			}
		}()
		_, _ = model.At(ctx, graph.Dims{"ROWS": 1})
	}()
	bad = false
	if _, err := model.At(ctx, graph.Dims{"ROWS": 1}); err != nil {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := model.At(cancelled, graph.Dims{"ROWS": 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled At: %v", err)
	}
}

// TestModelWaits asks for a graph that another goroutine builds: a cancelled wait ends, and the others get the graph. If the first goroutine is
// cancelled, another one builds it. A model that is freed meanwhile gives none.
func TestModelWaits(t *testing.T) {
	dev := deviceFor(t)
	entered, leave := make(chan struct{}, 8), make(chan struct{})
	model := dev.Model(func(g *graph.Graph) {
		entered <- struct{}{}
		<-leave
		scaled(g)
	}, graph.Options{})
	dims := graph.Dims{"ROWS": 2}
	at := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := model.At(ctx, dims)
			done <- err
		}()
		return done
	}
	background := context.Background()
	cancelled, cancel := context.WithCancel(background)
	first := at(cancelled)
	<-entered
	second := at(background)
	soon, end := context.WithTimeout(background, 10*time.Millisecond)
	defer end()
	if _, err := model.At(soon, dims); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that ends: %v", err)
	}
	cancel()
	leave <- struct{}{}
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first goroutine, which was cancelled: %v", err)
	}
	<-entered
	leave <- struct{}{}
	if err := <-second; err != nil {
		t.Errorf("the second goroutine: %v", err)
	}
	dims = graph.Dims{"ROWS": 3}
	late := at(background)
	<-entered
	if err := model.Free(); err != nil {
		t.Fatal(err)
	}
	leave <- struct{}{}
	if err := <-late; !errors.Is(err, lathe.ErrClosed) {
		t.Errorf("a graph of a model that was freed meanwhile: %v", err)
	}
}
