package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/extra"
)

// Ceilings are the limits of a device. All of them are measured, and none comes from a data
// sheet.
type Ceilings struct {
	// Copy and HostCopy are copies by the fastest kernel the device can run and,
	// for comparison, by Go's copy with a goroutine a processor. GB/s counts
	// bytes read and bytes written.
	Copy     []Rate `json:"copy"`
	HostCopy []Rate `json:"host_copy"`
	// MultiplyAdd has the rates of kernels that only multiply and add, by dtype. If the
	// device has cooperative matrices, it has the rate of their products too.
	MultiplyAdd []Rate `json:"multiply_add"`
	// Upload and Readback move bytes from and to memory of the program.
	Upload   []Rate `json:"upload"`
	Readback []Rate `json:"readback"`
	// Launch is the cost of dispatches that compute almost nothing.
	Launch Launch `json:"launch"`

	copy copyKernel
	fma  map[string]*fmaKernel // by Rate.DType
}

// Rate is one measurement of a ceiling.
type Rate struct {
	What   string  `json:"what"` // the kernel or function
	DType  string  `json:"dtype,omitempty"`
	Bytes  int64   `json:"bytes,omitempty"`
	Time   Timing  `json:"time"`
	GBps   float64 `json:"gb_per_s,omitempty"`
	GFlops float64 `json:"gflop_per_s,omitempty"`
}

// Launch is the cost of dispatches. Each is a time for one dispatch.
type Launch struct {
	// Listed is the time of a dispatch in a list of 1000, until it has run. Submitted is
	// the part until Submit returns, which the calling goroutine spends.
	Listed    Timing `json:"listed"`
	Submitted Timing `json:"submitted"`
	// Replayed and Resubmitted are the same of the list that gpu.Prepare keeps, in turns with it. They are 0 in reports of
	// before.
	Replayed    Timing `json:"replayed"`
	Resubmitted Timing `json:"resubmitted"`
	// Alone is the time of a Submit of one dispatch and a Sync.
	Alone Timing `json:"alone"`
}

// copyKernel is a variant of shaders/test/roofline_copy.comp.
type copyKernel struct {
	name  string
	texel bool
	packs int // of 16 bytes a workgroup
}

// copyKernels are the variants a device can run.
func copyKernels(info *gpu.Info) []copyKernel {
	ks := []copyKernel{{"test/roofline_copy.u32", false, 64}}
	if info.Limits.MaxInvocations < 256 {
		return ks
	}
	if info.Limits.MaxTexelBuffers > 0 {
		ks = append(ks, copyKernel{"test/roofline_copy.u32.texel", true, 1024})
	}
	if info.Kind != gpu.CPU {
		ks = append(ks, copyKernel{"test/roofline_copy.u32.wide", false, 1024})
	}
	return ks
}

// plan makes the launches that copy n bytes. n is a multiple of 16.
func (k copyKernel) plan(info *gpu.Info, dst, src gpu.Handle, n int64) ([]gpu.Dispatch, error) {
	m, err := extra.Module(k.name)
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
			Bindings: []gpu.Binding{{Buffer: src, Offset: at, Size: size}, {Buffer: dst, Offset: at, Size: size}},
			Params:   binary.LittleEndian.AppendUint32(nil, uint32(size/16)),
			Groups:   [3]uint32{(groups + layers - 1) / layers, layers, 1},
		})
	}
	return list, nil
}

// copier prepares copies of n bytes each. It returns a function that makes a number of them,
// and a function that frees their buffers.
func (b *bench) copier(k copyKernel, n int64) (run func(times int) func() error, free func() error, err error) {
	runs, free, err := b.copiers([]copyKernel{k}, n)
	if err != nil {
		return nil, nil, err
	}
	return runs[0], free, nil
}

// copiers prepares copies of n bytes by several kernels, between the same two buffers.
func (b *bench) copiers(ks []copyKernel, n int64) (runs []func(times int) func() error, free func() error, err error) {
	n = max(n/16, 1) * 16
	hs, free, err := b.alloc(n, n)
	if err != nil {
		return nil, nil, err
	}
	for _, k := range ks {
		list, err := k.plan(b.dev.Info(), hs[1], hs[0], n)
		if err != nil {
			return nil, nil, errors.Join(err, free())
		}
		runs = append(runs, func(times int) func() error { return b.launches(list, times) })
	}
	return runs, free, nil
}

// launches returns a function that submits the list some times and waits.
func (b *bench) launches(list []gpu.Dispatch, times int) func() error {
	return func() error {
		for range times {
			if err := b.dev.Submit(list); err != nil {
				return err
			}
		}
		return b.dev.Sync(b.ctx)
	}
}

// alloc makes buffers of the sizes, and a function that frees them.
func (b *bench) alloc(sizes ...int64) (hs []gpu.Handle, free func() error, err error) {
	free = func() error {
		for _, h := range hs {
			if err := b.dev.Free(h); err != nil {
				return err
			}
		}
		return nil
	}
	for _, n := range sizes {
		h, err := b.dev.Alloc(n)
		if err != nil {
			free()
			return nil, nil, err
		}
		hs = append(hs, h)
	}
	return hs, free, nil
}

// measureCeilings measures the Ceilings.
func (b *bench) measureCeilings() error {
	b.report.Ceilings = Ceilings{fma: map[string]*fmaKernel{}}
	for _, part := range []func(*Ceilings) error{b.measureCopies, b.measureArithmetic, b.measureTransfers, b.measureLaunch} {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if err := part(&b.report.Ceilings); err != nil {
			return err
		}
	}
	return nil
}

// mostHostCopy is the size of the largest copy that the host makes. It lies in no cache, so a
// larger one takes as much longer as it is larger.
const mostHostCopy = 64 << 20

// copySizes are the sizes of the copies that are a device's ceilings. Half of 64 MiB lie in
// the cache of a large GPU. So larger ones are measured on GPUs, if two buffers of the size
// take at most a quarter of the memory.
func copySizes(info *gpu.Info) []int64 {
	sizes := []int64{64 << 10, 1 << 20, 4 << 20, 64 << 20}
	for _, n := range []int64{256 << 20, 1 << 30} {
		if info.Kind != gpu.CPU && 8*n <= info.Memory && n <= info.Limits.MaxBuffer {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

func (b *bench) measureCopies(c *Ceilings) error {
	ks := copyKernels(b.dev.Info())
	for _, n := range copySizes(b.dev.Info()) {
		runs, free, err := b.copiers(ks, n)
		if err != nil {
			return err
		}
		if n <= mostHostCopy {
			runs = append(runs, hostCopy(int(n)))
		}
		// Each repeats its copy until the wait at the end hardly counts.
		times := make([]int, len(runs))
		fs := make([]func() error, len(runs))
		for i, run := range runs {
			if times[i], err = Repeats(run, b.opts.each()); err != nil {
				return errors.Join(err, free())
			}
			fs[i] = run(times[i])
		}
		s, err := Interleave(b.opts.budget(), 50, fs...)
		if err != nil {
			return errors.Join(err, free())
		}
		for i := range s {
			s[i] = s[i].Over(times[i])
		}
		at := 0
		for i := range ks {
			if s[i].At(0) < s[at].At(0) { // the least time, because other work on the machine only adds to it
				at = i
			}
		}
		c.copy = ks[at] // that of the largest size stays
		if err := free(); err != nil {
			return err
		}
		c.Copy = append(c.Copy, rateOf(ks[at].name, n, 2, s[at]))
		if n <= mostHostCopy {
			c.HostCopy = append(c.HostCopy, rateOf("copy", n, 2, s[len(ks)]))
		}
	}
	return nil
}

// hostCopy is the time of a copy of n bytes by the host. It has the rate of the ceiling of
// the nearest size below, or of the smallest one.
func (c *Ceilings) hostCopy(n int64) Sample {
	at := c.HostCopy[0]
	for _, r := range c.HostCopy {
		if r.Bytes <= n {
			at = r
		}
	}
	return Sample{time.Duration(float64(at.Time.Median) * float64(n) / float64(at.Bytes))}
}

// rateOf is the rate at which n bytes were moved, each of them touched some times.
func rateOf(what string, n int64, touched float64, s Sample) Rate {
	return Rate{What: what, Bytes: n, Time: timing(s), GBps: touched * float64(n) / float64(max(s.Median().Nanoseconds(), 1))}
}

func (b *bench) measureTransfers(c *Ceilings) error {
	for _, n := range []int64{4 << 10, 1 << 20, 64 << 20} {
		hs, free, err := b.alloc(n)
		if err != nil {
			return err
		}
		data, got := make([]byte, n), make([]byte, n)
		for i := range data {
			data[i] = byte(i * 7 / 5)
		}
		s, err := Interleave(b.opts.budget(), 200,
			func() error {
				if err := b.dev.Write(b.ctx, hs[0], 0, data); err != nil {
					return err
				}
				return b.dev.Sync(b.ctx)
			},
			func() error { return b.dev.Read(b.ctx, hs[0], 0, got) })
		if err != nil {
			return err
		}
		if string(got) != string(data) {
			return fmt.Errorf("bench: %d bytes came back from the device changed", n)
		}
		c.Upload = append(c.Upload, rateOf("Write and Sync", n, 1, s[0]))
		c.Readback = append(c.Readback, rateOf("Read", n, 1, s[1]))
		if err := free(); err != nil {
			return err
		}
	}
	return nil
}

// measureLaunch times dispatches that add 64 numbers to 64 others.
func (b *bench) measureLaunch(c *Ceilings) error {
	const numbers, count = 64, 1000
	m, err := extra.Module("demo/saxpy.f32")
	if err != nil {
		return err
	}
	hs, free, err := b.alloc(4*numbers, 4*numbers)
	if err != nil {
		return err
	}
	push := binary.LittleEndian.AppendUint32(nil, numbers)
	push = binary.LittleEndian.AppendUint32(push, math.Float32bits(1))
	var list []gpu.Dispatch
	for range count {
		list = append(list, gpu.Dispatch{Module: m, Bindings: []gpu.Binding{{Buffer: hs[0]}, {Buffer: hs[1]}}, Params: push, Groups: [3]uint32{1, 1, 1}})
	}
	kept, err := gpu.Prepare(b.dev, list)
	if err != nil {
		return err
	}
	var submitted, resubmitted Sample
	s, err := Interleave(b.opts.budget(), 100, func() error {
		t := time.Now()
		if err := b.dev.Submit(list); err != nil {
			return err
		}
		submitted = append(submitted, time.Since(t))
		return b.dev.Sync(b.ctx)
	}, func() error {
		t := time.Now()
		if err := kept.Submit(); err != nil {
			return err
		}
		resubmitted = append(resubmitted, time.Since(t))
		return b.dev.Sync(b.ctx)
	}, b.launches(list[:1], 1))
	if err != nil {
		return err
	}
	c.Launch = Launch{Listed: timing(s[0].Over(count)), Submitted: timing(submitted[1:].Over(count)), Replayed: timing(s[1].Over(count)), Resubmitted: timing(resubmitted[1:].Over(count)), Alone: timing(s[2])}
	return errors.Join(kept.Free(), free())
}

// hostCopy prepares copies of n bytes on all processors of the host. It returns a function
// that makes a number of them.
func hostCopy(n int) func(times int) func() error {
	src, dst := make([]byte, n), make([]byte, n)
	for i := 0; i < n; i += 1024 {
		src[i], dst[i] = byte(i>>10), 1 // the pages are there
	}
	workers := runtime.GOMAXPROCS(0)
	return func(times int) func() error {
		return func() error {
			var wg sync.WaitGroup
			for w := range workers {
				from, to := n*w/workers, n*(w+1)/workers
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
}
