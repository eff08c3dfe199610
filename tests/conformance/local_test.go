package conformance_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestCLAHEOfGreys compares with the algorithm of OpenCV's createCLAHE, step by step as it is
// published: whole counts, a table of whole levels for each tile, and their mix. Its
// tables are rounded, and the remainder of what is spread goes to some levels only.
func TestCLAHEOfGreys(t *testing.T) {
	const h, w, tilesX, tilesY = 256, 480, 3, 2
	rng := rand.New(rand.NewPCG(3, 5))
	in := picture(tensor.U8, h, w, func(y, x int) [4]float64 {
		v := float64(20 + y/3 + x/4 + rng.IntN(30))
		return [4]float64{v, v, v, 255}
	})
	for _, limit := range []float64{1, 2.5, 40} {
		var tables [tilesX * tilesY][256]float64
		for i := range tables {
			var counts [256]int
			for y := i / tilesX * 128; y < i/tilesX*128+128; y++ {
				for x := i % tilesX * 160; x < i%tilesX*160+160; x++ {
					counts[in.Data[4*(y*w+x)]]++
				}
			}
			most, spare := max(1, int(limit*160*128/256)), 0
			for v, n := range counts {
				spare += max(0, n-most)
				counts[v] = min(n, most)
			}
			rest := spare % 256
			for v := range counts {
				counts[v] += spare / 256
			}
			for v := 0; rest > 0; v, rest = v+max(1, 256/(spare%256)), rest-1 {
				counts[v%256]++
			}
			sum := 0
			for v, n := range counts {
				sum += n
				tables[i][v] = math.Round(float64(sum) * 255 / (160 * 128))
			}
		}
		want := make([]float64, h*w)
		for i := range want {
			u, v := (float64(i%w)+0.5)/160-0.5, (float64(i/w)+0.5)/128-0.5
			for k := range 4 {
				x, y := math.Floor(u)+float64(k%2), math.Floor(v)+float64(k/2)
				tile := &tables[min(max(int(y), 0), tilesY-1)*tilesX+min(max(int(x), 0), tilesX-1)]
				want[i] += (1 - math.Abs(u-x)) * (1 - math.Abs(v-y)) * tile[in.Data[4*i]]
			}
		}
		eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
			got := filtered(t, dev, run, imageops.CLAHE{ClipLimit: limit, TilesX: tilesX, TilesY: tilesY}, in)
			for i, v := range want {
				for c := range 3 {
					if d := float64(got.Data[4*i+c]) - v; math.Abs(d) > 2 {
						t.Fatalf("limit %v: pixel %d is %v, want %v", limit, i, got.Data[4*i:4*i+4], v)
					}
				}
			}
		})
	}
}

// TestCLAHEKeepsHue checks that colours move along one line, that alpha stays, and that the
// colours of pixels whose alpha is 0 do not count.
func TestCLAHEKeepsHue(t *testing.T) {
	colour := func(hidden float64) *tensor.Host {
		return picture(tensor.F32, 64, 80, func(y, x int) [4]float64 {
			if y < 40 && x > 30 {
				return [4]float64{hidden, hidden, hidden, 0}
			}
			return [4]float64{float64(60 + y), float64(90 + x), float64(200 - y), 200}
		})
	}
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		call := imageops.CLAHE{ClipLimit: 6, TilesX: 2, TilesY: 2}
		in := colour(0)
		got, other := filtered(t, dev, run, call, in), filtered(t, dev, run, call, colour(255))
		was, now, same, changed := in.Floats(), got.Floats(), other.Floats(), 0.0
		for i := 0; i < len(was); i += 4 {
			if was[i+3] != now[i+3] {
				t.Fatalf("pixel %d: alpha %v became %v", i/4, was[i+3], now[i+3])
			}
			if was[i+3] == 0 {
				continue
			}
			if now[i] != same[i] {
				t.Fatalf("pixel %d: %v, and %v if transparent pixels have another colour", i/4, now[i], same[i])
			}
			changed = max(changed, math.Abs(now[i]-was[i]))
			// The ratio of differences of colours is that of before, so hue is.
			if a, b := (now[i]-now[i+1])*(was[i+1]-was[i+2]), (now[i+1]-now[i+2])*(was[i]-was[i+1]); math.Abs(a-b) > 1e-5 {
				t.Fatalf("pixel %d: %v became %v, of another hue", i/4, was[i:i+3], now[i:i+3])
			}
		}
		if changed < 0.1 {
			t.Errorf("colours changed by %v only", changed)
		}
	})
}

// A picture that is transparent everywhere stays as it is.
func TestCLAHEOfNothing(t *testing.T) {
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		in := picture(tensor.U8, 9, 11, func(y, x int) [4]float64 { return [4]float64{float64(20 * x), 7, float64(9 * y), 0} })
		if got := filtered(t, dev, run, imageops.CLAHE{ClipLimit: 2, TilesX: 3, TilesY: 2}, in); !bytes.Equal(got.Data, in.Data) {
			t.Errorf("%v became %v", in.Data[:8], got.Data[:8])
		}
	})
}

// TestBilateralKeepsEdges checks that noise becomes less and a step stays, and that colours count
// alike where the tolerance for their distance is large: then the blur is a convolution.
func TestBilateralKeepsEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	in := picture(tensor.F32, 40, 60, func(y, x int) [4]float64 {
		v := 60 + float64(rng.IntN(20))
		if x >= 30 {
			v += 100
		}
		return [4]float64{v, v, v, 255}
	})
	const radius, sigma = 4, 2.0
	gauss := imageops.Convolve{Width: 2*radius + 1}
	sum := 0.0
	for i := range 81 {
		k, square := 0.0, (i%9-4)*(i%9-4)+(i/9-4)*(i/9-4)
		if square <= radius*radius {
			k = math.Exp(-float64(square) / (2 * sigma * sigma))
		}
		gauss.Kernel, sum = append(gauss.Kernel, k), sum+k
	}
	gauss.Scale = 1 / sum
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		kept := filtered(t, dev, run, imageops.Bilateral{SigmaSpace: 3, SigmaColor: 0.3}, in)
		for y := range 40 {
			for x := range 60 {
				want := 69.5
				if x >= 30 {
					want += 100
				}
				if got := 255 * kept.At(y, x, 0); math.Abs(got-want) > 7 {
					t.Fatalf("row %d, column %d: %v, want about %v", y, x, got, want)
				}
			}
		}
		blurred := filtered(t, dev, run, imageops.Bilateral{SigmaSpace: sigma, SigmaColor: 100, Radius: radius}, in).Floats()
		for i, want := range filtered(t, dev, run, gauss, in).Floats() {
			if math.Abs(blurred[i]-want) > 2e-4 {
				t.Fatalf("element %d: %v, %s has %v", i, blurred[i], spec.FormatCall(gauss)[:8], want)
			}
		}
	})
}

// TestNonLocalMeans checks the sizes that programs use and the largest ones against the reference,
// and that noise becomes less and lines stay.
func TestNonLocalMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	clean := picture(tensor.U8, 24, 29, func(y, x int) [4]float64 {
		v := 80 + 90*float64(x/6%2)
		return [4]float64{v, v, 200 - v, 255}
	})
	in := tensor.NewHost(clean.Desc)
	for i, v := range clean.Data {
		if in.Data[i] = v; i%4 < 3 {
			in.Data[i] = uint8(int(v) + rng.IntN(41) - 20)
		}
	}
	errorOf := func(p *tensor.Host) (sum float64) {
		for i, v := range p.Floats() {
			sum += (v - clean.Floats()[i]) * (v - clean.Floats()[i])
		}
		return math.Sqrt(sum / float64(24*29*3))
	}
	calls := []imageops.NonLocalMeans{{H: 0.06, Patch: 7, Search: 21}, {H: 0.06, Patch: 9, Search: 31}}
	var wants []*tensor.Host
	for _, call := range calls {
		want := tensor.NewHost(in.Desc)
		call.Spec().Reference(call, []*tensor.Host{in}, []*tensor.Host{want})
		wants = append(wants, want)
		if was, now := errorOf(in), errorOf(want); now > was/2 {
			t.Errorf("%s: the noise was %v and is %v", spec.FormatCall(call), was, now)
		}
	}
	devices(t, func(t *testing.T, dev gpu.Device) {
		run, err := exec.New(dev)
		run = testkit.Device(t, run, err)
		for k, call := range calls {
			got := filtered(t, dev, run, call, in)
			for i, v := range wants[k].Data {
				if d := int(got.Data[i]) - int(v); d < -1 || d > 1 {
					t.Fatalf("%s: component %d is %d, want %d", spec.FormatCall(call), i, got.Data[i], v)
				}
			}
		}
	})
}
