package bench

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/extra"
)

// A GPU copies more than its cache holds, if its memory is large enough.
func TestCopySizes(t *testing.T) {
	small := []int64{64 << 10, 1 << 20, 4 << 20, 64 << 20}
	large := append(slices.Clone(small), 256<<20, 1<<30)
	for _, c := range []struct {
		kind   gpu.Kind
		memory int64
		buffer int64
		want   []int64
	}{
		{gpu.CPU, 64 << 30, 4 << 30, small},
		{gpu.Discrete, 80 << 30, 4 << 30, large},
		{gpu.Discrete, 4 << 30, 4 << 30, large[:5]},
		{gpu.Discrete, 80 << 30, 256 << 20, large[:5]},
		{gpu.Integrated, 1 << 30, 4 << 30, small},
		{gpu.Discrete, 0, 4 << 30, small}, // unknown
	} {
		info := &gpu.Info{Kind: c.kind, Memory: c.memory}
		info.Limits.MaxBuffer = c.buffer
		if got := copySizes(info); !slices.Equal(got, c.want) {
			t.Errorf("%v, memory %d, buffers of %d: got %d, want %d", c.kind, c.memory, c.buffer, got, c.want)
		}
	}
}

// asGPU is the description of a device as if it were a GPU.
func asGPU(info *gpu.Info) *gpu.Info {
	as := *info
	as.Kind = gpu.Discrete
	return &as
}

// The kernels for GPUs compute on every device what the bench expects of them.
func TestKernelsForGPUs(t *testing.T) {
	dev := open(t)
	run, err := exec.New(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	b := &bench{ctx: t.Context(), dev: dev, run: run, info: dev.Info(), opts: Options{Quick: true}, report: &Report{}}
	kernels := fmaKernels(asGPU(dev.Info()))
	for _, k := range kernels {
		if k.what != matrices && !strings.HasSuffix(k.name, ".loop") {
			t.Errorf("%s is not the kernel for GPUs", k.name)
		}
		k.groups = 3
		if err := b.prepareArithmetic(k); err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		if err := k.free(); err != nil {
			t.Error(err)
		}
	}
	copies := copyKernels(asGPU(dev.Info()))
	if dev.Info().Limits.MaxInvocations >= 256 && !slices.ContainsFunc(copies, func(k copyKernel) bool { return strings.HasSuffix(k.name, ".wide") }) {
		t.Errorf("copies by %v, want a kernel with several packs an invocation", copies)
	}
	for _, k := range copies {
		const n = 16 * (2*1024 + 777)
		hs, free, err := b.alloc(n, n+16)
		if err != nil {
			t.Fatal(err)
		}
		want, got := make([]byte, n+16), make([]byte, n+16)
		for i := range want[:n] {
			want[i] = byte(i*7/5) | 1
		}
		list, err := k.plan(dev.Info(), hs[1], hs[0], n)
		if err != nil {
			t.Fatal(err)
		}
		if err := dev.Write(t.Context(), hs[0], 0, want[:n]); err != nil {
			t.Fatal(err)
		}
		if err := dev.Write(t.Context(), hs[1], 0, got); err != nil {
			t.Fatal(err)
		}
		if err := b.launches(list, 1)(); err != nil {
			t.Fatal(err)
		}
		if err := dev.Read(t.Context(), hs[1], 0, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the copy differs from its source", k.name)
		}
		if err := free(); err != nil {
			t.Error(err)
		}
	}
}

// No compiler can replace two steps of the multiply-adds by one: each is x·x + term, whose
// factors are the result of the step before.
func TestMultiplyAddsCannotMerge(t *testing.T) {
	seen := 0
	for _, name := range extra.Names() {
		if !strings.HasPrefix(name, "test/roofline_fma.") {
			continue
		}
		m, err := extra.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		const extInst, fma = 12, 50 // OpExtInst, and Fma of GLSL.std.450
		code := m.Code
		steps := 0
		for at := 20; at < len(code); {
			word := func(i int) uint32 { return binary.LittleEndian.Uint32(code[at+4*i:]) }
			if word(0)&0xffff == extInst && word(4) == fma {
				steps++
				if word(5) != word(6) || word(5) == word(7) {
					t.Errorf("%s: a multiply-add of %%%d, %%%d and %%%d, want a square and another term", name, word(5), word(6), word(7))
				}
			}
			at += 4 * int(word(0)>>16)
		}
		if want := map[bool]int{false: 3 * 256, true: 3 * 16}[strings.HasSuffix(name, ".loop")]; steps != want {
			t.Errorf("%s has %d multiply-adds, want %d", name, steps, want)
		}
		seen++
	}
	if seen != 6 {
		t.Errorf("%d kernels of multiply-adds, want 6", seen)
	}
}
