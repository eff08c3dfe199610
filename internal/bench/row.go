package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// call is a prepared call: its tensors lie on the device.
type call struct {
	c       spec.Call
	in, out []exec.Operand
	cost    spec.Cost
	free    func() error
}

// prepare makes the tensors of a call, with random values that its declaration allows.
// Outputs that may overwrite an input do so.
func (b *bench) prepare(w spec.BenchCase) (*call, error) {
	op := w.Call.Spec()
	outs, err := op.Shape(w.Call, w.In)
	if err != nil {
		return nil, err
	}
	var sizes []int64
	for _, d := range append(slices.Clone(w.In), outs...) {
		sizes = append(sizes, d.Bytes())
	}
	// If every output of the operation may overwrite an input, it does.
	inPlace := len(outs) > 1
	for i := range outs {
		inPlace = inPlace && len(op.Overwritable(i)) > 0
	}
	if inPlace {
		sizes = sizes[:len(w.In)]
	}
	hs, free, err := b.alloc(sizes...)
	if err != nil {
		return nil, err
	}
	p := &call{c: w.Call, cost: op.Cost(w.Call, w.In), free: free}
	rng := rand.New(rand.NewPCG(b.opts.Seed, 7))
	var first [2]float64 // the bounds of input 0
	for i, d := range w.In {
		p.in = append(p.in, exec.Operand{Buffer: hs[i], Desc: d})
		low, high := op.Cases.Low, op.Cases.High
		if op.Cases.Range != nil {
			low, high = op.Cases.Range(w.Call, i, w.In)
		} else if d.DType == tensor.U8 {
			low, high = 0, 255
		}
		if err := b.fill(hs[i], d, i, low, high, w.Opaque, rng); err != nil {
			return nil, errors.Join(err, free())
		}
		if i == 0 {
			first = [2]float64{low, high}
		} else if first == [2]float64{low, high} && d.DType == w.In[0].DType {
			if err := b.share(hs[0], hs[i], min(d.Bytes(), w.In[0].Bytes())); err != nil {
				return nil, errors.Join(err, free())
			}
		}
	}
	for i, d := range outs {
		buffer := len(w.In) + i
		if inPlace {
			buffer = op.Overwritable(i)[0]
		}
		p.out = append(p.out, exec.Operand{Buffer: hs[buffer], Desc: d, Alone: true})
	}
	return p, nil
}

// share makes the first elements of two inputs of n bytes the same. Random numbers are hardly ever equal, and equal would find nothing.
func (b *bench) share(from, to gpu.Handle, n int64) error {
	data := make([]byte, min(n, 16)/4*4)
	if len(data) == 0 {
		return nil
	}
	if err := b.run.Read(b.ctx, from, 0, data); err != nil {
		return err
	}
	return b.dev.Write(b.ctx, to, 0, data)
}

// times returns a function of a number n. The result of that is a function that makes the
// call n times and waits.
func (b *bench) times(p *call) func(times int) func() error {
	return func(times int) func() error {
		return func() error {
			for range times {
				if err := b.run.Run(b.ctx, p.c, p.in, p.out); err != nil {
					return err
				}
			}
			return b.run.Sync(b.ctx)
		}
	}
}

// check reads an output and returns an error if it has nothing but zeros. So the bench
// does not measure a call that computes nothing.
func (b *bench) check(p *call) error {
	for i, o := range p.out {
		const part = 4 << 20 // mostly the first one has other numbers
		size := o.Desc.Bytes()
		data := make([]byte, min(part, size))
		zeros := true
		for at := int64(0); at < size && zeros; at += part {
			data = data[:min(part, size-at)]
			if err := b.run.Read(b.ctx, o.Buffer, at, data); err != nil {
				return err
			}
			zeros = !slices.ContainsFunc(data, func(v byte) bool { return v != 0 })
		}
		if zeros {
			return fmt.Errorf("output %d is all zeros", i)
		}
	}
	return nil
}

// measure times a call in turns with the ceilings and the peers. If the device is apart, the
// ceilings have been measured before.
func (b *bench) measure(j job) (Row, error) {
	row := newRow(j)
	p, err := b.prepare(j.benchCase)
	if err == nil {
		err = cmp.Or(b.measureCall(j, p, &row), p.free())
	}
	// A call for GPUs may need more memory than this one has.
	if errors.Is(err, gpu.ErrUnsupported) || j.benchCase.GPU && (errors.Is(err, gpu.ErrOutOfMemory) || errors.Is(err, gpu.ErrLimit)) {
		row.Unsupported = err.Error()
		return row, nil
	}
	return row, err
}

func (b *bench) measureCall(j job, p *call, row *Row) error {
	f := b.times(p)
	n, err := Repeats(f, b.opts.each())
	if err != nil {
		return err
	}
	row.Flops, row.Bytes = p.cost.Flops, p.cost.Bytes
	k, err := b.ceiling(p, j.dtype)
	if err != nil {
		return err
	}
	other, no, err := b.other(j)
	if err != nil {
		return err
	}
	fs := []func() error{f(n)}
	if other != nil {
		fs = append(fs, b.beside.times(other)(no))
	}
	times, beside, err := b.rounds(fs, p.cost.Bytes/2, k)
	if err == nil {
		row.fill(times[0].Over(n), beside)
		err = b.check(p)
	}
	if other != nil {
		if err == nil {
			t := timing(times[1].Over(no))
			row.Beside = &t
			err = b.beside.check(other)
		}
		err = cmp.Or(err, other.free())
	}
	return err
}

// besides are the ceilings of a row.
type besides struct {
	copied, host Sample  // copies of half of its bytes, each of them touched twice
	peak         float64 // GFLOP/s
}

// rounds times functions in turns with their ceilings: copies of some bytes, and the
// multiply-adds of k. The ceilings of a device that is apart were measured before.
func (b *bench) rounds(fs []func() error, bytes int64, k *fmaKernel) (times []Sample, c besides, err error) {
	if b.apart() {
		if c.copied, err = b.copyOf(bytes); err != nil {
			return nil, c, err
		}
		c.host, c.peak = b.report.Ceilings.hostCopy(bytes), k.peak
		times, err = Interleave(b.opts.budget()/2, 40, fs...)
		return times, c, err
	}
	part := min(bytes, b.mostCopied())
	copies, free, err := b.copier(b.report.Ceilings.copy, part)
	if err != nil {
		return nil, c, err
	}
	nc, err := Repeats(copies, b.opts.each())
	if err != nil {
		return nil, c, errors.Join(err, free())
	}
	host := hostCopy(int(max(bytes, 1)))
	nh, err := Repeats(host, b.opts.each()/4)
	if err != nil {
		return nil, c, errors.Join(err, free())
	}
	s, err := Interleave(b.opts.budget(), 40, append(fs, copies(nc), host(nh), b.launches(k.list, k.times))...)
	if err != nil {
		return nil, c, errors.Join(err, free())
	}
	at := len(fs)
	return s[:at], besides{s[at].Over(nc).times(bytes, part), s[at+1].Over(nh), k.rate(s[at+2])}, free()
}

// mostCopied is how many bytes are copied at once. A call may fit the memory where two buffers of half of its bytes
// do not.
func (b *bench) mostCopied() int64 {
	info := b.dev.Info()
	most := info.Limits.MaxBuffer
	if info.Memory > 0 {
		most = min(most, info.Memory/8)
	}
	return max(most/16*16, 16)
}

// copyOf is the time of a copy of n bytes on a device that is apart. It is measured once.
func (b *bench) copyOf(n int64) (Sample, error) {
	if most := b.mostCopied(); n > most {
		s, err := b.copyOf(most)
		return s.times(n, most), err
	}
	if s, ok := b.copied[n]; ok {
		return s, nil
	}
	copies, free, err := b.copier(b.report.Ceilings.copy, n)
	if err != nil {
		return nil, err
	}
	times, err := Repeats(copies, b.opts.each())
	if err != nil {
		return nil, errors.Join(err, free())
	}
	s, err := Interleave(b.opts.budget()/4, 40, copies(times))
	if err != nil {
		return nil, errors.Join(err, free())
	}
	if b.copied == nil {
		b.copied = map[int64]Sample{}
	}
	b.copied[n] = s[0].Over(times)
	return b.copied[n], free()
}

// other prepares the call on Options.Beside, and says how often to repeat it. It returns nil
// if there is no such device, or if it cannot make the call.
func (b *bench) other(j job) (p *call, times int, err error) {
	if b.beside == nil {
		return nil, 0, nil
	}
	cannot := func(err error) bool {
		return errors.Is(err, gpu.ErrUnsupported) || j.benchCase.GPU && (errors.Is(err, gpu.ErrOutOfMemory) || errors.Is(err, gpu.ErrLimit))
	}
	if p, err = b.beside.prepare(j.benchCase); err != nil {
		if cannot(err) {
			err = nil
		}
		return nil, 0, err
	}
	if times, err = Repeats(b.beside.times(p), b.opts.each()); err != nil {
		free := p.free()
		if cannot(err) {
			err = nil
		}
		return nil, 0, errors.Join(err, free)
	}
	return p, times, nil
}

// inputs writes descs as "f32[2,3] f32[3]".
func inputs(in []tensor.Desc) string {
	var b strings.Builder
	for i, d := range in {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(d.String())
	}
	return b.String()
}
