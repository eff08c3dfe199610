package graphs_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/networks"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPrecision computes the networks with products in 16 bits: the products are, nothing else is, the outputs are F32, and the
// results are near those of F32.
func TestPrecision(t *testing.T) {
	testlevel.Turn(t, 5)
	ctx := context.Background()
	products := map[string]int{"chain": 0, "mlp": 2, "block": 8, "cnn": 3}
	for _, c := range []struct {
		backend string
		d       tensor.DType
		most    float64 // the largest error, of the largest result
	}{{"vk", tensor.F16, 4e-3}, {"cpu", tensor.F16, 4e-3}, {"vk", tensor.BF16, 3e-2}, {"cpu", tensor.BF16, 3e-2}, {"wgpu", tensor.BF16, 3e-2}} {
		for i := range networks.All {
			n := &networks.All[i]
			t.Run(fmt.Sprintf("%s/%v/%s", c.backend, c.d, n.Name), func(t *testing.T) {
				if c.d == tensor.F16 {
					dev, err := lathe.Open(ctx, lathe.WithBackend(c.backend), lathe.WithLogger(nil))
					testkit.Opened(t, err)
					f := dev.Info().Features
					dev.Close()
					testkit.Ability(t, f.F16 && f.Storage16, dev.Info().Name, "products in f16")
				}
				dev, p := prepare(t, c.backend, n, graph.Options{Precision: c.d, Without: []string{"stack", "epilogue", "prologue"}})
				plan := p.Exe.Plan()
				if got := plan.Report.Changes["precision"]; got != products[n.Name] {
					t.Errorf("%d calls in 16 bits (want %d)", got, products[n.Name])
				}
				in16 := 0
				for _, s := range plan.Steps() {
					name, _, _ := strings.Cut(s.Call, " ")
					small := strings.Contains(strings.Join(s.In, " "), c.d.String()+"[") && name != "fused" && name != "cast" && name != "copy"
					if product := name == "matmul" || name == "conv" || name == "attention"; small != product {
						t.Errorf("%s reads %v", s.Call, s.In)
					}
					if small {
						in16++
					}
				}
				if casts := strings.Count(plan.String(), "cast to="); n.Name == "block" && casts != 9 { // two norms and seven weights
					t.Errorf("%d casts to 16 bits:\n%v", casts, plan)
				}
				if in16 != products[n.Name] {
					t.Errorf("%d calls read 16 bits:\n%v", in16, plan)
				}
				if d := plan.Program.Outputs[0].Desc.DType; d != tensor.F32 {
					t.Errorf("the output is %v", d)
				}
				result, err := p.Compiled(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if err := oneByOne(ctx, dev, p, func(y *lathe.Tensor) { near(t, result, y, c.most, products[n.Name] > 0) }); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestPrecisionJoined checks that casts between products in 16 bits become epilogues: with all passes there are fewer launches than
// without epilogues, and the results have the same bits. The gate of the block is too long for the device cpu.
func TestPrecisionJoined(t *testing.T) {
	testlevel.Turn(t, 5)
	ctx := context.Background()
	for _, backend := range []string{"vk", "cpu", "wgpu"} {
		for i := range networks.All {
			n := &networks.All[i]
			if n.Name != "mlp" && (n.Name != "block" || backend == "cpu") {
				continue
			}
			t.Run(backend+"/"+n.Name, func(t *testing.T) {
				var results [2][]float32
				var launches [2]int
				for k, without := range [][]string{nil, {"epilogue", "prologue"}} {
					_, p := prepare(t, backend, n, graph.Options{Precision: tensor.BF16, Without: without})
					y, err := p.Compiled(ctx)
					if err != nil {
						t.Fatal(err)
					}
					if results[k], err = lathe.ToSlice[float32](ctx, y); err != nil {
						t.Fatal(err)
					}
					launches[k] = p.Exe.Plan().Program.Launches()
					if r := p.Exe.Plan().Report; k == 0 && r.Fusion.Epilogues == 0 {
						t.Errorf("no epilogues: %v", r.Fusion)
					}
				}
				if launches[0] >= launches[1] {
					t.Errorf("%d launches with epilogues, %d without", launches[0], launches[1])
				}
				t.Logf("%d launches with epilogues, %d without", launches[0], launches[1])
				for k := range results[0] {
					if a, b := results[0][k], results[1][k]; math.Float32bits(a) != math.Float32bits(b) {
						t.Fatalf("element %d: %v with epilogues, %v without", k, a, b)
					}
				}
			})
		}
	}
}

// near compares results. rounded says that they are not the same.
func near(t *testing.T, got, want *lathe.Tensor, most float64, rounded bool) {
	t.Helper()
	a, err := lathe.ToSlice[float32](context.Background(), got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := lathe.ToSlice[float32](context.Background(), want)
	if err != nil {
		t.Fatal(err)
	}
	var off, largest float64
	for i := range a {
		off = max(off, math.Abs(float64(a[i])-float64(b[i])))
		largest = max(largest, math.Abs(float64(b[i])))
	}
	t.Logf("the largest error is %.2g of %.2g", off, largest)
	if !(off <= most*largest) || rounded != (off > 0) {
		t.Errorf("the largest error is %v of %v (want at most %v of it)", off, largest, most)
	}
}

// TestPrecisionMistakes asks for precisions that there are not.
func TestPrecisionMistakes(t *testing.T) {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend("wgpu"), lathe.WithLogger(nil))
	testkit.Opened(t, err)
	defer dev.Close()
	g := graph.New()
	x := g.Input("x", tensor.F32, 4, 4)
	g.Output("y", g.MatMul(x, x))
	if _, err := dev.PlanGraph(g, graph.Options{Precision: tensor.I32}); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("precision i32: %v", err)
	}
	_, err = dev.PlanGraph(g, graph.Options{Precision: tensor.F16})
	if f := dev.Info().Features; f.F16 && f.Storage16 {
		if err != nil {
			t.Errorf("a device with f16: %v", err)
		}
	} else if !errors.Is(err, lathe.ErrGraphRefused) || !errors.Is(err, lathe.ErrUnsupported) || !strings.Contains(err.Error(), "f16") {
		t.Errorf("a device without f16: %v", err)
	}
}
