package backends_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

// long compiles a graph of so many launches: each moves the columns of x by one, as a product with a matrix.
func long(t testing.TB, dev *lathe.Device, launches, rows, cols int) *lathe.Executable {
	t.Helper()
	g := graph.New()
	v, by := g.Input("x", tensor.F32, rows, cols), g.Input("by", tensor.F32, cols, cols)
	for range launches {
		v = g.MatMul(v, by)
	}
	g.Output("y", v)
	exe, err := dev.Compile(context.Background(), g, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := exe.Plan().Program.Launches(); n < launches {
		t.Fatalf("%d launches, want at least %d", n, launches)
	}
	return exe
}

// columns makes the matrix that moves columns by one.
func columns(t testing.TB, dev *lathe.Device, cols int) *lathe.Tensor {
	t.Helper()
	data := make([]float32, cols*cols)
	for i := range cols {
		data[i*cols+(i+1)%cols] = 1
	}
	by, err := lathe.FromSlice(context.Background(), dev, data, cols, cols)
	if err != nil {
		t.Fatal(err)
	}
	return by
}

// TestRunRepeated runs a graph of many launches many times: with the same tensors, with others by turns, after a tensor was freed, and after Free of a second one.
func TestRunRepeated(t *testing.T) {
	ctx := context.Background()
	for _, backend := range []string{"vk", "wgpu", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			testkit.Built(t, drivers.Built(), backend)
			dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithoutCache(), lathe.WithTuneMode("off"))
			testkit.Device(t, dev, err)
			const launches, rows, cols = 37, 3, 5
			exe := long(t, dev, launches, rows, cols)
			other := long(t, dev, launches, rows, cols)
			by := columns(t, dev, cols)
			const sets = 11 // more than are kept
			var in, out [sets]*lathe.Tensor
			data := make([][]float32, sets)
			for i := range sets {
				data[i] = make([]float32, rows*cols)
				for k := range data[i] {
					data[i][k] = float32(math.Sin(float64(i*31 + k)))
				}
				if in[i], err = lathe.FromSlice(ctx, dev, data[i], rows, cols); err != nil {
					t.Fatal(err)
				}
				if out[i], err = dev.NewTensor(tensor.Contiguous(tensor.F32, rows, cols)); err != nil {
					t.Fatal(err)
				}
			}
			run := func(exe *lathe.Executable, i int) {
				t.Helper()
				if err := exe.RunInto(ctx, []*lathe.Tensor{in[i], by}, []*lathe.Tensor{out[i]}); err != nil {
					t.Fatal(err)
				}
			}
			want := func(what string, i int) {
				t.Helper()
				got, err := lathe.ToSlice[float32](ctx, out[i])
				if err != nil {
					t.Fatal(err)
				}
				for k := range got {
					if w := data[i][k-k%cols+(k%cols+launches*(cols-1))%cols]; got[k] != w {
						t.Fatalf("%s, set %d: element %d: got %v, want %v", what, i, k, got[k], w)
					}
				}
				if err := dev.Write(ctx, out[i], make([]byte, 4*rows*cols)); err != nil {
					t.Fatal(err)
				}
			}
			for round := range 5 {
				for range 3 {
					run(exe, 0)
				}
				for i := range min(2+3*round, sets) {
					run(exe, i)
					run(other, i)
				}
				for i := range min(2+3*round, sets) {
					want(fmt.Sprint("round ", round), i)
				}
			}
			for i := range data[0] { // other data in the same tensor
				data[0][i] = float32(i) / 3
			}
			fresh, err := lathe.FromSlice(ctx, dev, data[0], rows, cols)
			if err != nil {
				t.Fatal(err)
			}
			bytes, err := dev.Read(ctx, fresh)
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				run(exe, 0)
			}
			if err := dev.Write(ctx, in[0], bytes); err != nil {
				t.Fatal(err)
			}
			run(exe, 0)
			want("other data", 0)
			for range 30 {
				run(exe, 0)
			}
			if n := testing.AllocsPerRun(50, func() { run(exe, 0) }); n > 0 && !testkit.Race {
				t.Errorf("%v allocations a run, want none", n)
			}
			if err := other.Free(); err != nil {
				t.Fatal(err)
			}
			if err := dev.Free(out[0]); err != nil {
				t.Fatal(err)
			}
			if err := exe.RunInto(ctx, []*lathe.Tensor{in[0], by}, []*lathe.Tensor{out[0]}); err == nil {
				t.Error("a freed output: no error")
			}
			run(exe, 1)
			want("after all", 1)
		})
	}
}

// BenchmarkRunRepeated is the time of the calls of a run of 100 launches: with the same tensors, and with others each time. The time of Sync does not count.
func BenchmarkRunRepeated(b *testing.B) {
	ctx := context.Background()
	for _, backend := range []string{"vk", "wgpu", "cpu"} {
		for _, launches := range []int{8, 32, 100} {
			for _, sets := range []int{1, 40} {
				b.Run(fmt.Sprintf("%s/launches=%d/sets=%d", backend, launches, sets), func(b *testing.B) {
					testkit.Built(b, drivers.Built(), backend)
					dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithoutCache(), lathe.WithTuneMode("off"))
					testkit.Device(b, dev, err)
					exe, by := long(b, dev, launches, 3, 5), columns(b, dev, 5)
					x, err := dev.NewTensor(tensor.Contiguous(tensor.F32, 3, 5))
					if err != nil {
						b.Fatal(err)
					}
					out := make([]*lathe.Tensor, sets)
					for i := range out {
						if out[i], err = dev.NewTensor(tensor.Contiguous(tensor.F32, 3, 5)); err != nil {
							b.Fatal(err)
						}
					}
					i := 0
					for b.Loop() {
						for range 4 {
							i++
							if err := exe.RunInto(ctx, []*lathe.Tensor{x, by}, []*lathe.Tensor{out[i%sets]}); err != nil {
								b.Fatal(err)
							}
						}
						b.StopTimer()
						if err := dev.Sync(ctx); err != nil {
							b.Fatal(err)
						}
						b.StartTimer()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4, "ns/run")
				})
			}
		}
	}
}
