package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// ceilings are the kernels that the device runs fastest: one that copies, one
// that multiplies and adds. Every row of a table runs them again in turns with
// what it measures, so that a busy machine slows all alike.
type ceilings struct {
	b    *bench
	copy copyKernel
	fma  fmaKernel
}

// copyKernel is a variant of shaders/test/roofline_copy.comp.
type copyKernel struct {
	name  string
	texel bool
	packs int // of 16 bytes a workgroup
}

// fmaKernel is shaders/test/roofline_fma.comp.
type fmaKernel struct {
	list  []gpu.Dispatch
	flops float64       // of a launch
	times int           // launches that take some milliseconds
	out   *lathe.Tensor // as long as it is held, its handle is good
}

// copyKernels are the variants this device can run.
func (b *bench) copyKernels() []copyKernel {
	info := b.dev.Info()
	ks := []copyKernel{{"test/roofline_copy.u32", false, 64}}
	if info.Limits.MaxTexelBuffers > 0 && info.Limits.MaxInvocations >= 256 {
		ks = append(ks, copyKernel{"test/roofline_copy.u32.texel", true, 1024})
	}
	return ks
}

// plan is the launches that copy n bytes, a multiple of 16, from src to dst.
func (k copyKernel) plan(info *gpu.Info, dst, src *lathe.Tensor, n int64) ([]gpu.Dispatch, error) {
	m, err := spirv.Module(k.name)
	if err != nil {
		return nil, err
	}
	l := info.Limits
	align := max(l.OffsetAlign, l.TexelAlign, 16)
	most := l.MaxBinding
	if k.texel {
		most = min(most, l.MaxTexels*16)
	}
	most = min(most/align*align, 1<<30)
	var list []gpu.Dispatch
	for at := int64(0); at < n; at += most {
		size := min(most, n-at)
		groups := uint32((size/16 + int64(k.packs) - 1) / int64(k.packs))
		layers := (groups + l.MaxGroups[0] - 1) / l.MaxGroups[0]
		list = append(list, gpu.Dispatch{
			Module:   m,
			Bindings: []gpu.Binding{{Buffer: src.Handle(), Offset: at, Size: size}, {Buffer: dst.Handle(), Offset: at, Size: size}},
			Params:   binary.LittleEndian.AppendUint32(nil, uint32(size/16)),
			Groups:   [3]uint32{(groups + layers - 1) / layers, layers, 1},
		})
	}
	return list, nil
}

// launches returns a function that submits the list some times and waits.
func (b *bench) launches(list []gpu.Dispatch, times int) func() error {
	return func() error {
		for range times {
			if err := b.dev.GPU().Submit(list); err != nil {
				return err
			}
		}
		return b.dev.Sync(b.ctx)
	}
}

// copier prepares copies of n bytes each with kernel k: a function that makes
// some of them, and one that frees their tensors.
func (b *bench) copier(k copyKernel, n int64) (run func(times int) func() error, free func() error, err error) {
	n = max(n/16, 1) * 16
	src, err := b.dev.NewTensor(tensor.Contiguous(tensor.U8, int(n)))
	if err != nil {
		return nil, nil, err
	}
	dst, err := b.dev.NewTensor(src.Desc())
	if err != nil {
		return nil, nil, err
	}
	list, err := k.plan(b.dev.Info(), dst, src, n)
	if err != nil {
		return nil, nil, err
	}
	run = func(times int) func() error { return b.launches(list, times) }
	return run, func() error { return freeAll(b.dev, src, dst) }, nil
}

func freeAll(dev *lathe.Device, ts ...*lathe.Tensor) error {
	seen := map[*lathe.Tensor]bool{}
	for _, t := range ts {
		if seen[t] {
			continue
		}
		seen[t] = true
		if err := dev.Free(t); err != nil {
			return err
		}
	}
	return nil
}

// fma prepares the multiply-adds, and checks what they compute.
func (b *bench) fma() (*fmaKernel, error) {
	const local, chains, steps = 64, 3, 256 // as the shader has them
	groups := 256
	if b.dev.Info().Kind != gpu.CPU {
		groups = 16384 // to fill the many processors of a GPU
	}
	m, err := spirv.Module("test/roofline_fma.f32")
	if err != nil {
		return nil, err
	}
	out, err := b.dev.NewTensor(tensor.Contiguous(tensor.F32, groups*local, 4))
	if err != nil {
		return nil, err
	}
	push := binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.5))
	push = binary.LittleEndian.AppendUint32(push, math.Float32bits(1))
	k := &fmaKernel{
		list:  []gpu.Dispatch{{Module: m, Bindings: []gpu.Binding{{Buffer: out.Handle()}}, Params: push, Groups: [3]uint32{uint32(groups), 1, 1}}},
		flops: 2 * 4 * chains * steps * float64(groups*local),
		out:   out,
	}
	if k.times, err = repeats(func(times int) func() error { return b.launches(k.list, times) }, 8*time.Millisecond); err != nil {
		return nil, err
	}
	got, err := b.dev.Read(b.ctx, out)
	if err != nil {
		return nil, err
	}
	for i, v := range decode(got) {
		if v != 2*chains { // x → x/2 + 1 settles at 2, in each chain
			return nil, fmt.Errorf("multiply-adds: number %d is %g, want %d", i, v, 2*chains)
		}
	}
	return k, nil
}

// rate is GFLOP/s of measurements of times launches.
func (k *fmaKernel) rate(s sample) float64 {
	return k.flops * float64(k.times) / float64(s.median().Nanoseconds())
}

// ceil finds the ceilings, once.
func (b *bench) ceil() (*ceilings, error) {
	if b.ceilings == nil {
		if _, err := b.roofline(); err != nil {
			return nil, err
		}
	}
	return b.ceilings, nil
}

// roofline measures what the device does at most: copies of several sizes, and
// multiply-adds.
func (b *bench) roofline() (*table, error) {
	budget := 1500 * time.Millisecond
	if b.quick {
		budget = 300 * time.Millisecond
	}
	t := &table{Title: "What the device can do at most", Header: []string{"ceiling", "by", "time", "GB/s", "GFLOP/s"}}
	t.note("The ceilings that the tensor operations below are measured against. GB/s counts bytes read and bytes written. " +
		"The copies and the multiply-adds are kernels of their own (shaders/test/roofline_*.comp); of the copies the fastest the device can run counts. " +
		"The copy by the host is Go's copy with a goroutine a processor, for comparison.")
	c := &ceilings{b: b}
	for _, n := range []int64{64 << 10, 1 << 20, 4 << 20, 64 << 20} {
		times := max(1, int(64<<20/n))
		times = min(times, 128)
		var fs []func() error
		var frees []func() error
		ks := b.copyKernels()
		for _, k := range ks {
			run, free, err := b.copier(k, n)
			if err != nil {
				return nil, err
			}
			fs, frees = append(fs, run(times)), append(frees, free)
		}
		fs = append(fs, hostCopy(int(n), times))
		s, err := interleave(budget, 50, fs...)
		if err != nil {
			return nil, err
		}
		at := 0
		for i := range ks {
			if s[i].at(0) < s[at].at(0) { // whatever else the machine did
				at = i
			}
		}
		c.copy = ks[at] // that of the largest size stays
		for _, f := range frees {
			if err := f(); err != nil {
				return nil, err
			}
		}
		gbps := func(s sample) float64 { return 2 * float64(n) * float64(times) / float64(s.median().Nanoseconds()) }
		each := s[at].over(times)
		t.row("device copy, "+sizeName(n), ks[at].name, each, gbps(s[at]), "")
		last := len(s) - 1
		t.row("host copy, "+sizeName(n), "copy", s[last].over(times), gbps(s[last]), "")
		t.value(fmt.Sprintf("device_copy_gbps/%d", n), gbps(s[at]))
		t.value(fmt.Sprintf("host_copy_gbps/%d", n), gbps(s[last]))
	}
	k, err := b.fma()
	if err != nil {
		return nil, err
	}
	s, err := interleave(budget, 50, b.launches(k.list, k.times))
	if err != nil {
		return nil, err
	}
	t.row("multiply-add, f32", k.list[0].Module.Name, s[0].over(k.times), "", k.rate(s[0]))
	t.value("fma_gflops", k.rate(s[0]))
	c.fma = *k
	b.ceilings = c
	return t, nil
}

// hostCopy copies n bytes some times, on all processors.
func hostCopy(n, times int) func() error {
	src, dst := make([]byte, n), make([]byte, n)
	for i := range src {
		src[i], dst[i] = byte(i), 1 // the pages are there
	}
	return func() error {
		var wg sync.WaitGroup
		p := runtime.GOMAXPROCS(0)
		for i := range p {
			from, to := n*i/p, n*(i+1)/p
			wg.Go(func() {
				for range times {
					copy(dst[from:to], src[from:to])
				}
			})
		}
		wg.Wait()
		return nil
	}
}

func sizeName(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%.3g MiB", float64(n)/(1<<20))
}

func decode(data []byte) []float32 {
	out := make([]float32, len(data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}
