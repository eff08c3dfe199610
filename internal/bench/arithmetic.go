package bench

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/tensor"
)

// fmaKernel is a kernel that only multiplies and adds, ready to run.
type fmaKernel struct {
	name   string
	what   string // Rate.DType
	groups int
	floats int // that a workgroup writes
	params []float32
	want   float32 // each of them
	flops  float64 // of a workgroup

	list  []gpu.Dispatch
	times int // launches that take some milliseconds
	free  func() error
	peak  float64 // GFLOP/s that measureArithmetic measured
}

// matrices is the Rate.DType of products of cooperative matrices.
const matrices = "f16 matrices"

// fmaKernels returns the kernels that a device can run.
func fmaKernels(info *gpu.Info) []*fmaKernel {
	f := info.Features
	groups, variant, steps := 256, "", 256
	if info.Kind != gpu.CPU {
		groups, variant, steps = 16384, ".loop", 512 // groups fill the many processors of a GPU
	}
	var ks []*fmaKernel
	for _, d := range []tensor.DType{tensor.F32, tensor.F16, tensor.F64} {
		if d == tensor.F16 && !f.F16 || d == tensor.F64 && !f.F64 {
			continue
		}
		// As shaders/test/roofline_fma.comp has them: invocations, chains, and steps of
		// x → x·x + 3/16, which settles at 1/4.
		const local, chains = 64, 3
		ks = append(ks, &fmaKernel{name: "test/roofline_fma." + d.String() + variant, what: d.String(), groups: groups,
			floats: 4 * local, params: []float32{3.0 / 16}, want: chains / 4.0, flops: 2 * 4 * chains * local * float64(steps)})
	}
	if m := f.Matrix[0]; m > 0 && f.FullSubgroups {
		// As shaders/test/roofline_matrix.comp has them: subgroups, sums, which begin
		// with 0, 1, 2 and 3, and products, four of which add 1, 2, 3 and 4.
		const subgroups, chains, steps, begin, four = 4, 4, 256, 0 + 1 + 2 + 3, 1 + 2 + 3 + 4
		name := fmt.Sprintf("test/roofline_matrix.f16.m%d.s%d", m, f.SubgroupSize)
		if slices.Contains(extra.Names(), name) {
			ks = append(ks, &fmaKernel{name: name, what: matrices, groups: groups / 4, floats: int(subgroups * m * m),
				params: []float32{1, 1 / float32(m)}, want: chains*steps/4*four + begin, flops: 2 * float64(m*m*m) * chains * steps * subgroups})
		}
	}
	return ks
}

// prepareArithmetic makes k ready to run, and checks what it computes.
func (b *bench) prepareArithmetic(k *fmaKernel) error {
	m, err := extra.Module(k.name)
	if err != nil {
		return err
	}
	size := int64(k.groups) * int64(k.floats) * 4
	hs, free, err := b.alloc(size)
	if err != nil {
		return err
	}
	var push []byte
	for _, v := range k.params {
		push = binary.LittleEndian.AppendUint32(push, math.Float32bits(v))
	}
	k.list = []gpu.Dispatch{{Module: m, Bindings: []gpu.Binding{{Buffer: hs[0]}}, Params: push, Groups: [3]uint32{uint32(k.groups), 1, 1}}}
	k.free = free
	if k.times, err = Repeats(func(times int) func() error { return b.launches(k.list, times) }, b.opts.each()); err != nil {
		free()
		return err
	}
	got := make([]byte, size)
	if err := b.dev.Read(b.ctx, hs[0], 0, got); err != nil {
		return err
	}
	for i := 0; i < len(got); i += 4 {
		if v := math.Float32frombits(binary.LittleEndian.Uint32(got[i:])); v != k.want {
			return fmt.Errorf("bench: multiply-adds in %s: number %d is %g, want %g", k.what, i/4, v, k.want)
		}
	}
	return nil
}

// rate is GFLOP/s of measurements of k.times launches.
func (k *fmaKernel) rate(s Sample) float64 {
	return k.flops * float64(k.groups*k.times) / float64(s.Median().Nanoseconds())
}

func (b *bench) measureArithmetic(c *Ceilings) error {
	for _, k := range fmaKernels(b.dev.Info()) {
		if err := b.prepareArithmetic(k); err != nil {
			return err
		}
		s, err := Interleave(b.opts.budget(), 50, b.launches(k.list, k.times))
		if err != nil {
			return err
		}
		c.fma[k.what], k.peak = k, k.rate(s[0])
		c.MultiplyAdd = append(c.MultiplyAdd, Rate{What: k.name, DType: k.what, Time: timing(s[0].Over(k.times)), GFlops: k.peak})
	}
	return nil
}

// ceiling is the ceiling of arithmetic for a call on elements of d. It is that of the dtype,
// or that of cooperative matrices if one of the kernels multiplies them.
func (b *bench) ceiling(p *call, d tensor.DType) (*fmaKernel, error) {
	fma := b.report.Ceilings.fma
	if k := fma[matrices]; k != nil {
		call, err := b.run.Compile(p.c, b.places(p.in), b.places(p.out))
		if err != nil {
			return nil, err
		}
		for _, m := range call.Modules() {
			if m.Matrices() {
				return k, nil
			}
		}
	}
	if k := fma[d.String()]; d == tensor.F64 && k != nil { // a device without f64 only moves such elements
		return k, nil
	}
	return fma[tensor.F32.String()], nil
}

// close frees the memory of the device that the ceilings use.
func (c *Ceilings) close() error {
	for _, k := range c.fma {
		if err := k.free(); err != nil {
			return err
		}
	}
	return nil
}

// places says where the operands of a call lie.
func (b *bench) places(operands []exec.Operand) []exec.Place {
	var places []exec.Place
	for _, o := range operands {
		places = append(places, b.run.PlaceOf(o))
	}
	return places
}
