package ops_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	_ "github.com/lathe-gpu/lathe" // registers every operation
	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
	"github.com/lathe-gpu/lathe/vk"
)

// device opens the first Vulkan device for a test.
func device(t testing.TB) gpu.Device {
	t.Helper()
	dev, err := vk.Open(context.Background(), vk.Options{NoCache: true, Warn: func(string) {}})
	return testkit.Device(t, dev, err)
}

func runner(t testing.TB, dev gpu.Device, opts ...exec.Option) *exec.Runner {
	t.Helper()
	r, err := exec.New(dev, opts...)
	return testkit.Device(t, r, err)
}

// onVariants runs f on every variant of the first Vulkan device: with a Runner that plans
// as the variant says, and under its limits.
func onVariants(t *testing.T, f func(t *testing.T, dev gpu.Device, r *exec.Runner)) {
	t.Helper()
	onVariantsBy(t, "", f)
}

// onVariantsBy is onVariants by plans of a strategy. "" is the plan's own.
func onVariantsBy(t *testing.T, strategy string, f func(t *testing.T, dev gpu.Device, r *exec.Runner)) {
	t.Helper()
	base := device(t)
	for _, v := range conformance.Variants(base.Info()) {
		t.Run(v.Name, func(t *testing.T) {
			dev := base
			if v.Limits != nil {
				l := dev.Info().Limits
				v.Limits(&l)
				dev = guard.Restrict(dev, l)
			}
			f(t, dev, runner(t, dev, exec.WithTarget(func(t *spec.Target) {
				if v.Target != nil {
					v.Target(t)
				}
				t.Strategy = strategy
			})))
		})
	}
}

// lay gives a shape strides: its dimensions in a random order in memory, with
// gaps between some. With repeats, some are broadcast.
func lay(rng *rand.Rand, d tensor.DType, shape []int, repeats bool) tensor.Desc {
	steps := make([]int, len(shape))
	next := 1
	if rng.IntN(4) == 0 {
		next = 1 + rng.IntN(3)
	}
	order := rng.Perm(len(shape))
	if rng.IntN(3) == 0 {
		for i := range order {
			order[i] = len(shape) - 1 - i
		}
	}
	for _, i := range order {
		if repeats && rng.IntN(5) == 0 {
			continue
		}
		steps[i] = next
		next *= max(shape[i], 1)
		if rng.IntN(3) == 0 {
			next += rng.IntN(6)
		}
	}
	return tensor.Desc{DType: d, Shape: shape, Strides: steps}
}

// TestCopyStrides copies between random strides of every element size, on every variant,
// and compares all bytes of the output's buffer, gaps included.
func TestCopyStrides(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range 150 {
			d := []tensor.DType{tensor.U8, tensor.BF16, tensor.F32, tensor.F64}[i%4]
			shape := make([]int, rng.IntN(6))
			most := []int{1, 5000, 70, 17, 8, 5}[len(shape)]
			for k := range shape {
				shape[k] = 1 + rng.IntN(most)
			}
			if len(shape) == 2 && i%8 < 4 {
				shape[0] = 1 + rng.IntN(700)
			}
			copyOnce(t, r, dev, rng, lay(rng, d, shape, true), lay(rng, d, shape, false))
			if t.Failed() {
				return
			}
		}
		// Rows so close together that they share words.
		for i := range 100 {
			d := []tensor.DType{tensor.U8, tensor.F16}[i%2]
			shape, steps, next := []int{1 + rng.IntN(5), 1 + rng.IntN(4), 1 + rng.IntN(4), 1 + rng.IntN(40)}, make([]int, 4), 1
			for _, k := range rng.Perm(4) {
				steps[k] = next + rng.IntN(3)
				next = steps[k] * shape[k]
			}
			copyOnce(t, r, dev, rng, lay(rng, d, shape, true), tensor.Desc{DType: d, Shape: shape, Strides: steps})
			if t.Failed() {
				return
			}
		}
	})
}

func copyOnce(t *testing.T, r *exec.Runner, dev gpu.Device, rng *rand.Rand, in, out tensor.Desc) {
	t.Helper()
	ctx := t.Context()
	random := func(n int64) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	const behind = 64
	src := &tensor.Host{Desc: in, Data: random(in.Bytes() + behind)}
	was := random(out.Bytes() + behind)
	a, b := testgpu.Load(t, dev, src.Data), testgpu.Load(t, dev, was)
	defer dev.Free(a)
	defer dev.Free(b)
	err := r.Run(ctx, ops.Copy{}, []exec.Operand{{Buffer: a, Desc: in}}, []exec.Operand{{Buffer: b, Desc: out}})
	if err != nil {
		t.Fatalf("%v to %v: %v", in, out, err)
	}
	want := &tensor.Host{Desc: out, Data: bytes.Clone(was)}
	var from []int
	src.Each(func(_ []int, off int) { from = append(from, off) })
	size := in.DType.Size()
	i := 0
	want.Each(func(_ []int, to int) {
		copy(want.Data[to*size:(to+1)*size], src.Data[from[i]*size:])
		i++
	})
	got := make([]byte, len(was))
	if err := r.Read(ctx, b, 0, got); err != nil {
		t.Fatal(err)
	}
	for k := range got {
		if got[k] != want.Data[k] {
			t.Errorf("%v to %v: byte %d: got %#x, want %#x (was %#x)", in, out, k, got[k], want.Data[k], was[k])
			return
		}
	}
}

// BenchmarkCopy measures copies of 16 MiB between strides.
func BenchmarkCopy(b *testing.B) {
	dev := device(b)
	strided := func(d tensor.DType, shape, steps []int) tensor.Desc {
		return tensor.Desc{DType: d, Shape: shape, Strides: steps}
	}
	flat := tensor.Contiguous(tensor.F32, 2048, 2048)
	turned := strided(tensor.F32, []int{2048, 2048}, []int{1, 2048})
	padded := strided(tensor.F32, []int{2048, 2048}, []int{2051, 1})
	for _, c := range []struct {
		name    string
		in, out tensor.Desc
	}{
		{"flat", flat, flat},
		{"transpose", turned, flat},
		{"transpose-out", flat, turned},
		{"transpose-f64", strided(tensor.F64, []int{2048, 1024}, []int{1, 2048}), tensor.Contiguous(tensor.F64, 2048, 1024)},
		{"transpose-f16", strided(tensor.F16, []int{2048, 4096}, []int{1, 2048}), tensor.Contiguous(tensor.F16, 2048, 4096)},
		{"transpose-u8", strided(tensor.U8, []int{4096, 4096}, []int{1, 4096}), tensor.Contiguous(tensor.U8, 4096, 4096)},
		{"padded-in", padded, flat},
		{"padded-out", flat, padded},
		{"pitched-in", strided(tensor.F32, []int{2048, 2048}, []int{2112, 1}), flat},
		{"padded-u8", strided(tensor.U8, []int{4096, 4096}, []int{4099, 1}), tensor.Contiguous(tensor.U8, 4096, 4096)},
		{"broadcast-rows", strided(tensor.F32, []int{2048, 2048}, []int{0, 1}), flat},
		{"broadcast-columns", strided(tensor.F32, []int{2048, 2048}, []int{1, 0}), flat},
		{"broadcast-scalar", strided(tensor.F32, []int{2048, 2048}, []int{0, 0}), flat},
		{"heads", strided(tensor.F32, []int{8, 16, 512, 64}, []int{512 * 16 * 64, 64, 16 * 64, 1}), tensor.Contiguous(tensor.F32, 8, 16, 512, 64)},
		{"planes-to-pixels-u8", strided(tensor.U8, []int{1 << 22, 3}, []int{1, 1 << 22}), tensor.Contiguous(tensor.U8, 1<<22, 3)},
		{"pixels-to-planes-u8", strided(tensor.U8, []int{3, 1 << 22}, []int{1, 3}), tensor.Contiguous(tensor.U8, 3, 1<<22)},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := runner(b, dev)
			src, dst := testgpu.Load(b, dev, make([]byte, c.in.Bytes())), testgpu.Load(b, dev, make([]byte, c.out.Bytes()))
			defer dev.Free(src)
			defer dev.Free(dst)
			run := func() {
				if err := r.Run(b.Context(), ops.Copy{}, []exec.Operand{{Buffer: src, Desc: c.in}}, []exec.Operand{{Buffer: dst, Desc: c.out}}); err != nil {
					b.Fatal(err)
				}
				if err := r.Sync(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			run()
			b.SetBytes(2 * int64(c.out.Elems()*c.out.DType.Size()))
			for b.Loop() {
				run()
			}
		})
	}
}
