package rawptr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/rawptr"
)

// convolution is a convolution with its numbers.
type convolution struct {
	in, filter, out [4]int
	stride, pad     [2]int
	o               rawptr.Conv2DOptions
}

// at is the index of an element of a row-major tensor.
func at(shape [4]int, a, b, c, d int) int {
	return ((a*shape[1]+b)*shape[2]+c)*shape[3] + d
}

func elements(shape [4]int) int { return shape[0] * shape[1] * shape[2] * shape[3] }

// taps calls f for each product of the convolution: the indices of its factors, and of the sum.
func (v convolution) taps(f func(x, w, y int)) {
	dilation, groups := v.o.Dilation, max(v.o.Groups, 1)
	for i := range dilation {
		dilation[i] = max(dilation[i], 1)
	}
	perGroup := v.filter[0] / groups
	for n := range v.out[0] {
		for k := range v.out[1] {
			for oy := range v.out[2] {
				for ox := range v.out[3] {
					for c := range v.filter[1] {
						for r := range v.filter[2] {
							for s := range v.filter[3] {
								y, x := oy*v.stride[0]+r*dilation[0]-v.pad[0], ox*v.stride[1]+s*dilation[1]-v.pad[1]
								if y >= 0 && y < v.in[2] && x >= 0 && x < v.in[3] {
									f(at(v.in, n, k/perGroup*v.filter[1]+c, y, x), at(v.filter, k, c, r, s), at(v.out, n, k, oy, ox))
								}
							}
						}
					}
				}
			}
		}
	}
}

// randomConvolution has small sizes of all kinds.
func randomConvolution(r *rand.Rand) convolution {
	for {
		groups := 1 + r.IntN(3)
		c, k := (1+r.IntN(3))*groups, (1+r.IntN(4))*groups
		v := convolution{
			in: [4]int{1 + r.IntN(2), c, 1 + r.IntN(12), 1 + r.IntN(14)}, filter: [4]int{k, c / groups, 1 + r.IntN(4), 1 + r.IntN(4)},
			stride: [2]int{1 + r.IntN(3), 1 + r.IntN(3)}, pad: [2]int{r.IntN(3), r.IntN(3)},
			o: rawptr.Conv2DOptions{Dilation: [2]int{r.IntN(3), r.IntN(3)}, Groups: groups - r.IntN(2)*truncated(groups)},
		}
		v.out = [4]int{v.in[0], k}
		for i := range 2 {
			reach := v.in[2+i] + 2*v.pad[i] - max(v.o.Dilation[i], 1)*(v.filter[2+i]-1) - 1
			if reach < 0 {
				v.out[2+i] = 0
				continue
			}
			v.out[2+i] = reach/v.stride[i] + 1
		}
		if v.out[2] > 0 && v.out[3] > 0 {
			return v
		}
	}
}

// truncated is 1 for one group, which may be left out.
func truncated(groups int) int {
	if groups == 1 {
		return 1
	}
	return 0
}

// wantNear compares a tensor on the device with sums, whose terms have these magnitudes in all.
func wantNear(t *testing.T, d rawptr.Backend, what string, p rawptr.Ptr, want, size []float64) {
	t.Helper()
	for i, got := range get[float32](t, d, p, len(want)) {
		if !near(got, want[i], size[i]) {
			t.Errorf("%s: element %d is %v (want %v)", what, i, got, want[i])
			return
		}
	}
}

// Random convolutions and their gradients are sums of the same products. The references know
// nothing of the operations.
func TestConv2D(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(15, 16))
	for i := range 200 {
		v := randomConvolution(r)
		what := fmt.Sprintf("convolution %d, %+v", i, v)
		xs, ws, dys := random(r, elements(v.in), -1, 1), random(r, elements(v.filter), -1, 1), random(r, elements(v.out), -1, 1)
		x, w, dy := put(t, d, xs), put(t, d, ws), put(t, d, dys)
		y, dx, dw := alloc(t, d, 4*len(dys)), alloc(t, d, 4*len(xs)), alloc(t, d, 4*len(ws))
		bias := random(r, v.filter[0], -1, 1)
		forward := v.o
		if i%2 == 0 {
			forward.Bias = put(t, d, bias)
		}
		sums := func(n int) (sum, size []float64) { return make([]float64, n), make([]float64, n) }
		wantY, sizeY := sums(len(dys))
		wantX, sizeX := sums(len(xs))
		wantW, sizeW := sums(len(ws))
		for k := range wantY {
			if forward.Bias != 0 {
				wantY[k] = float64(bias[k/(v.out[2]*v.out[3])%v.out[1]])
				sizeY[k] = math.Abs(wantY[k])
			}
		}
		add := func(sum, size []float64, i int, a, b float32) {
			sum[i] += float64(a) * float64(b)
			size[i] += math.Abs(float64(a) * float64(b))
		}
		v.taps(func(i, j, k int) {
			add(wantY, sizeY, k, xs[i], ws[j])
			add(wantX, sizeX, i, dys[k], ws[j])
			add(wantW, sizeW, j, dys[k], xs[i])
		})
		if err := d.Conv2DForward(x, v.in, w, v.filter, y, v.out, v.stride, v.pad, forward); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := d.Conv2DBackwardData(dy, v.out, w, v.filter, dx, v.in, v.stride, v.pad, v.o); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := d.Conv2DBackwardFilter(x, v.in, dy, v.out, dw, v.filter, v.stride, v.pad, v.o); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		wantNear(t, d, what+": forward", y, wantY, sizeY)
		wantNear(t, d, what+": data", dx, wantX, sizeX)
		wantNear(t, d, what+": filter", dw, wantW, sizeW)
		free(t, d, x, w, dy, y, dx, dw)
	}
}

func TestConv2DErrors(t *testing.T) {
	rec := recorder(t)
	d := rec.Device
	p, q, y := alloc(t, d, 4*100), alloc(t, d, 4*100), alloc(t, d, 4*100)
	in, filter, out := [4]int{1, 2, 5, 5}, [4]int{3, 2, 3, 3}, [4]int{1, 3, 3, 3}
	one, none := [2]int{1, 1}, [2]int{}
	type args struct {
		in, filter, out [4]int
		stride, pad     [2]int
		o               rawptr.Conv2DOptions
		p, q, y         rawptr.Ptr
	}
	good := args{in: in, filter: filter, out: out, stride: one, pad: none, p: p, q: q, y: y}
	cases := map[string]func(a *args){
		"no stride": func(a *args) { a.stride[0] = 0 }, "a negative stride": func(a *args) { a.stride[1] = -1 }, "a negative padding": func(a *args) { a.pad[1] = -1 },
		"a negative dilation": func(a *args) { a.o.Dilation[0] = -1 }, "negative groups": func(a *args) { a.o.Groups = -1 }, "groups that do not divide": func(a *args) { a.o.Groups = 2 },
		"channels": func(a *args) { a.filter[1] = 1 }, "the output's rows": func(a *args) { a.out[2] = 4 }, "the output's channels": func(a *args) { a.out[1] = 2 },
		"the output's images": func(a *args) { a.out[0] = 2 }, "a negative size": func(a *args) { a.in[3] = -5 }, "a filter without taps": func(a *args) { a.filter[2] = 0 },
		"a filter larger than the input": func(a *args) { a.filter[2], a.out[2] = 6, 0 }, "no rows": func(a *args) { a.in[2] = 0 },
		"a large input":  func(a *args) { a.in = [4]int{math.MaxInt, math.MaxInt, 5, 5} },
		"past the input": func(a *args) { a.p = p + 300 }, "past the filter": func(a *args) { a.q = q + 300 }, "past the output": func(a *args) { a.y = y + 300 },
		"no input": func(a *args) { a.p = 0 }, "the output over the input": func(a *args) { a.y = a.p + 40 }, "a large stride": func(a *args) { a.stride[0] = math.MaxInt },
		"a large padding": func(a *args) { a.pad[0] = math.MaxInt },
	}
	rec.quiet(t, func() {
		for name, change := range cases {
			a := good
			change(&a)
			wantInvalid(t, "forward: "+name, d.Conv2DForward(a.p, a.in, a.q, a.filter, a.y, a.out, a.stride, a.pad, a.o))
			if a.y != p+40 {
				wantInvalid(t, "data: "+name, d.Conv2DBackwardData(a.y, a.out, a.q, a.filter, a.p, a.in, a.stride, a.pad, a.o))
				wantInvalid(t, "filter: "+name, d.Conv2DBackwardFilter(a.p, a.in, a.y, a.out, a.q, a.filter, a.stride, a.pad, a.o))
			}
		}
		bias := rawptr.Conv2DOptions{Bias: p}
		wantInvalid(t, "a bias of a gradient", d.Conv2DBackwardData(y, out, q, filter, p, in, one, none, bias))
		wantInvalid(t, "a bias of a gradient", d.Conv2DBackwardFilter(p, in, y, out, q, filter, one, none, bias))
		wantInvalid(t, "a foreign bias", d.Conv2DForward(p, in, q, filter, y, out, one, none, rawptr.Conv2DOptions{Bias: 5}))
		in[0], out[0] = 0, 0
		if err := d.Conv2DForward(0, in, q, filter, 0, out, one, none, rawptr.Conv2DOptions{}); err != nil {
			t.Errorf("no images: %v", err)
		}
	})
	if err := d.Conv2DForward(p, good.in, q, good.filter, y, good.out, one, none, rawptr.Conv2DOptions{}); err != nil {
		t.Error(err)
	}
}
