package ops_test

import (
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestConvOfLongLines convolves lines so long that three of them exceed small bindings. Plans then divide the taps of a
// window among launches. All numbers are integers, so that sums are exact in any order.
func TestConvOfLongLines(t *testing.T) {
	const height, width, results = 5, 70_001, 2
	x, w := make([]float64, height*width), make([]float64, results*3*3)
	for i := range x {
		x[i] = float64(i*7%23 - 11)
	}
	for i := range w {
		w[i] = float64(i*5%9 - 4)
	}
	for _, stride := range []int{1, 2} {
		call := spec.WithDefaults(ops.Conv{Pads: []int{1, 1, 1, 1}, Strides: []int{stride, stride}})
		h, n := (height-1)/stride+1, (width-1)/stride+1
		want := make([]float64, 0, results*h*n)
		for k := range results {
			for i := range h {
				for j := range n {
					sum := 0.0
					for a := range 3 {
						for b := range 3 {
							y, z := i*stride+a-1, j*stride+b-1
							if y >= 0 && y < height && z >= 0 && z < width {
								sum += x[y*width+z] * w[(k*3+a)*3+b]
							}
						}
					}
					want = append(want, sum)
				}
			}
		}
		onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
			var from []exec.Operand
			for _, in := range []*tensor.Host{host(tensor.F32, []int{1, 1, height, width}, x...), host(tensor.F32, []int{results, 1, 3, 3}, w...)} {
				from = append(from, exec.Operand{Buffer: testgpu.Load(t, dev, in.Data), Desc: in.Desc})
			}
			got := tensor.NewHost(tensor.Contiguous(tensor.F32, 1, results, h, n))
			to := exec.Operand{Buffer: testgpu.Load(t, dev, got.Data), Desc: got.Desc}
			if err := r.Run(t.Context(), call, from, []exec.Operand{to}); err != nil {
				t.Fatal(err)
			}
			if err := r.Read(t.Context(), to.Buffer, 0, got.Data); err != nil {
				t.Fatal(err)
			}
			for i, v := range got.Floats() {
				if v != want[i] {
					t.Fatalf("strides of %d: element %d is %v (want %v)", stride, i, v, want[i])
				}
			}
		})
	}
}
