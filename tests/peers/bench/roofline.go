package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strings"
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

// fmaKernel is a variant of shaders/test/roofline_fma.comp.
type fmaKernel struct {
	name   string
	chains int
	out    *lathe.Tensor
	rounds int
	groups uint32
}

const (
	fmaSteps = 64 // STEPS of the shader
	fmaLocal = 64 // its workgroup
)

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

// flops is the arithmetic of one launch.
func (k *fmaKernel) flops() float64 {
	return 2 * 4 * float64(k.chains) * fmaSteps * float64(k.rounds) * fmaLocal * float64(k.groups)
}

func (k *fmaKernel) plan() ([]gpu.Dispatch, error) {
	m, err := spirv.Module(k.name)
	if err != nil {
		return nil, err
	}
	push := binary.LittleEndian.AppendUint32(nil, uint32(k.rounds))
	push = binary.LittleEndian.AppendUint32(push, math.Float32bits(0.5))
	push = binary.LittleEndian.AppendUint32(push, math.Float32bits(1))
	return []gpu.Dispatch{{Module: m, Bindings: []gpu.Binding{{Buffer: k.out.Handle()}}, Params: push, Groups: [3]uint32{k.groups, 1, 1}}}, nil
}

// fmaKernels prepares every variant, with enough rounds that a launch takes
// some milliseconds, and checks what they compute.
func (b *bench) fmaKernels() ([]*fmaKernel, error) {
	var ks []*fmaKernel
	for _, chains := range []int{1, 2, 3, 4, 6} {
		k := &fmaKernel{name: fmt.Sprintf("test/roofline_fma.f32.chains%d", chains), chains: chains, rounds: 16, groups: 256}
		if b.dev.Info().Kind != gpu.CPU {
			k.groups = 16384 // to fill the many processors of a GPU
		}
		var err error
		if k.out, err = b.dev.NewTensor(tensor.Contiguous(tensor.F32, int(k.groups)*fmaLocal, 4)); err != nil {
			return nil, err
		}
		for {
			list, err := k.plan()
			if err != nil {
				return nil, err
			}
			s, err := interleave(0, 3, b.launches(list, 1))
			if err != nil {
				return nil, err
			}
			if s[0].median() > 4*time.Millisecond || k.rounds > 16384 {
				break
			}
			k.rounds *= 2
		}
		got, err := b.dev.Read(b.ctx, k.out)
		if err != nil {
			return nil, err
		}
		// x → x/2 + 1 settles at 2, in each chain.
		for i := 0; i < len(got); i += 4 {
			if v := math.Float32frombits(binary.LittleEndian.Uint32(got[i:])); v != float32(2*chains) {
				return nil, fmt.Errorf("%s: number %d is %g, want %d", k.name, i/4, v, 2*chains)
			}
		}
		ks = append(ks, k)
	}
	return ks, nil
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
		"The copies and the multiply-adds are kernels of their own (shaders/test/roofline_*.comp), each in every variant the device can run; the fastest counts. " +
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
	ks, err := b.fmaKernels()
	if err != nil {
		return nil, err
	}
	var fs []func() error
	for _, k := range ks {
		list, err := k.plan()
		if err != nil {
			return nil, err
		}
		fs = append(fs, b.launches(list, 2))
	}
	s, err := interleave(2*budget, 50, fs...)
	if err != nil {
		return nil, err
	}
	rate := func(i int) float64 { return 2 * ks[i].flops() / float64(s[i].median().Nanoseconds()) }
	at := 0
	var all []string
	for i, k := range ks {
		all = append(all, fmt.Sprintf("%.0f with %d", rate(i), 4*k.chains))
		if ks[i].flops()/float64(s[i].at(0)) > ks[at].flops()/float64(s[at].at(0)) {
			at = i
		}
	}
	t.row("multiply-add, f32", ks[at].name, s[at].over(2), "", rate(at))
	t.note("Multiply-adds by the number of independent chains an invocation keeps, in GFLOP/s: %s.", strings.Join(all, ", "))
	t.value("fma_gflops", rate(at))
	for i, k := range ks {
		if i != at {
			if err := b.dev.Free(k.out); err != nil {
				return nil, err
			}
		}
	}
	c.fma = *ks[at]
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
