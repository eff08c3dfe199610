package ops_test

import (
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestConvOfPoints convolves with filters of one element, which are products of matrices, and makes the gradient of the input. All
// numbers are integers, so that sums are exact in any order.
func TestConvOfPoints(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, s := range []struct{ images, groups, channels, results, height, width int }{
			{1, 1, 64, 33, 12, 8}, {3, 1, 9, 5, 4, 5}, {2, 3, 8, 4, 5, 5}, {5, 6, 8, 4, 4, 4}, {1, 1, 700, 40, 6, 6}, {2, 1, 16, 8, 100, 64},
		} {
			for _, d := range []tensor.DType{tensor.F32, tensor.F16} {
				t.Run(fmt.Sprintf("%v %v", s, d), func(t *testing.T) {
					c, k, n := s.groups*s.channels, s.groups*s.results, s.height*s.width
					x, w, bias := make([]float64, s.images*c*n), make([]float64, k*s.channels), make([]float64, k)
					for i := range x {
						x[i] = float64(i*7%5 - 2)
					}
					for i := range w {
						w[i] = float64(i * 5 % 7 % 3)
					}
					for i := range bias {
						bias[i] = float64(i%11 - 5)
					}
					y, plain, dx := make([]float64, s.images*k*n), make([]float64, s.images*k*n), make([]float64, len(x))
					for at := range y {
						image, out, i := at/(k*n), at/n%k, at%n
						for j := range s.channels {
							from := (image*c+out/s.results*s.channels+j)*n + i
							plain[at] += x[from] * w[out*s.channels+j]
							dx[from] += bias[out] * w[out*s.channels+j]
						}
						y[at] = plain[at] + bias[out]
					}
					dy := make([]float64, len(y))
					for at := range dy {
						dy[at] = bias[at/n%k]
					}
					hx, hw := host(d, []int{s.images, c, s.height, s.width}, x...), host(d, []int{k, s.channels, 1, 1}, w...)
					shape := []int{s.images, k, s.height, s.width}
					conv := ops.Conv{Group: s.groups, AutoPad: "NOTSET"}
					expectCall(t, r, dev, conv, []*tensor.Host{hx, hw, host(d, []int{k}, bias...)}, []*tensor.Host{host(d, shape, y...)})
					expectCall(t, r, dev, conv, []*tensor.Host{hx, hw}, []*tensor.Host{host(d, shape, plain...)})
					expectCall(t, r, dev, ops.ConvInputGrad{Size: []int{s.height, s.width}, Group: s.groups},
						[]*tensor.Host{host(d, shape, dy...), hw}, []*tensor.Host{host(d, hx.Shape, dx...)})
				})
			}
		}
	})
}
