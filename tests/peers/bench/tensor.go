package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// tensorCase is a call to measure: as spec.ParseCall reads it, and its inputs
// as tensor.Desc writes them. target is what fraction of the roofline it should
// reach, 0 for none.
type tensorCase struct {
	call, in string
	inPlace  bool // outputs are the inputs that may be overwritten
	target   float64
}

// tensorCases are what the section "tensor" measures. Everything else about an
// operation, its outputs, values and cost, is in its declaration.
var tensorCases = []tensorCase{
	{call: "copy", in: "f32[4096,1024]", target: 0.3},
	{call: "add", in: "f32[4096,1024] f32[4096,1024]", target: 0.3},
	{call: "add", in: "f32[4096,1024] f32[1024]", target: 0.3},
	{call: "add", in: "f32[256,256] f32[256,256]", target: 0.3},
	{call: "add", in: "f16[4096,1024] f16[4096,1024]"},
	{call: "relu", in: "f32[4096,1024]", target: 0.3},
	{call: "gelu", in: "f32[4096,1024]", target: 0.3},
	{call: "exp", in: "f32[4096,1024]", target: 0.3},
	{call: "cast to=f16", in: "f32[4096,1024]", target: 0.3},
	{call: "transpose perm=1,0", in: "f32[2048,2048]"},
	{call: "reduce_sum dims=1", in: "f32[4096,1024]", target: 0.3},
	{call: "reduce_sum dims=0", in: "f32[4096,1024]", target: 0.3},
	{call: "reduce_sum", in: "f32[4096,1024]", target: 0.3},
	{call: "softmax", in: "f32[4096,1024]"},
	{call: "layer_norm", in: "f32[4096,1024] f32[1024] f32[1024]"},
	{call: "layer_norm_grad", in: "f32[4096,1024] f32[1024] f32[4096,1024]"},
	{call: "attention", in: "f32[8,512,64] f32[8,512,64] f32[8,512,64]"},
	{call: "gelu_grad", in: "f32[4096,1024] f32[4096,1024]"},
	{call: "cross_entropy", in: "f32[4096,1024] i32[4096]"},
	{call: "embedding", in: "i32[8192] f32[32768,256]"},
	{call: "adam_update", in: "f32[4096,1024] f32[4096,1024] f32[4096,1024] f32[4096,1024]", inPlace: true},
}

// prepared is a call with its tensors on the device.
type prepared struct {
	call    spec.Call
	descs   []tensor.Desc
	in, out []*lathe.Tensor
	cost    spec.Cost
}

// parse reads the case, and returns what its outputs are.
func (c tensorCase) parse() (*prepared, []tensor.Desc, error) {
	call, err := spec.ParseCall(c.call)
	if err != nil {
		return nil, nil, err
	}
	p := &prepared{call: call}
	for s := range strings.FieldsSeq(c.in) {
		d, err := parseDesc(s)
		if err != nil {
			return nil, nil, err
		}
		p.descs = append(p.descs, d)
	}
	outs, err := call.Spec().Shape(call, p.descs)
	if err != nil {
		return nil, nil, err
	}
	p.cost = call.Spec().Cost(call, p.descs)
	return p, outs, nil
}

// prepare makes a case's tensors, of random values that its declaration allows.
func (b *bench) prepare(c tensorCase) (*prepared, error) {
	p, outs, err := c.parse()
	if err != nil {
		return nil, err
	}
	call, op := p.call, p.call.Spec()
	rng := rand.New(rand.NewPCG(b.seed, 7))
	for i, d := range p.descs {
		t, err := b.dev.NewTensor(d)
		if err != nil {
			return nil, err
		}
		p.in = append(p.in, t)
		low, high := op.Cases.Low, op.Cases.High
		if op.Cases.Range != nil {
			low, high = op.Cases.Range(call, i, p.descs)
		}
		if err := b.dev.Write(b.ctx, t, randomData(d, low, high, rng)); err != nil {
			return nil, err
		}
	}
	for i, d := range outs {
		if c.inPlace && i < len(op.InPlace) && op.InPlace[i] >= 0 {
			p.out = append(p.out, p.in[op.InPlace[i]])
			continue
		}
		t, err := b.dev.NewTensor(d)
		if err != nil {
			return nil, err
		}
		p.out = append(p.out, t)
	}
	return p, nil
}

// run calls the operation some times and waits.
func (b *bench) run(p *prepared, times int) func() error {
	return func() error {
		for range times {
			if err := b.dev.Run(b.ctx, p.call, p.out, p.in); err != nil {
				return err
			}
		}
		return b.dev.Sync(b.ctx)
	}
}

// free gives back the tensors, having checked that the operation left something
// in them, so that nothing fast is measured that does nothing.
func (b *bench) free(p *prepared) error {
	for i, t := range p.out {
		data, err := b.dev.Read(b.ctx, t)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(data, func(v byte) bool { return v != 0 }) {
			return fmt.Errorf("%s: output %d is all zeros", spec.FormatCall(p.call), i)
		}
	}
	return freeAll(b.dev, append(slices.Clone(p.in), p.out...)...)
}

// repeats is how often to run f in a measurement, so that one takes about the
// given time and submitting is no part of it to speak of.
func repeats(f func(times int) func() error, want time.Duration) (int, error) {
	if err := f(1)(); err != nil { // compiles
		return 0, err
	}
	for times := 1; ; times *= 2 {
		t := time.Now()
		if err := f(times)(); err != nil {
			return 0, err
		}
		if took := time.Since(t); took > want/2 || times >= 4096 {
			return max(1, int(float64(times)*float64(want)/float64(took))), nil
		}
	}
}

// tensor times operations on tensors that stay on the device, and compares
// them with what the device can do at most.
func (b *bench) tensor() (*table, error) {
	c, err := b.ceil()
	if err != nil {
		return nil, err
	}
	t := &table{
		Title:  "Tensor operations, data on the device",
		Header: []string{"operation", "inputs", "time", "GB/s", "GFLOP/s", "copy of as many bytes", "of the roofline", "target"},
	}
	t.note("Medians ± half the interquartile range. GB/s and GFLOP/s come from the cost that each operation declares: every operand read or written once, and the useful arithmetic. " +
		"A copy of as many bytes, half of them read and half written, and the multiply-adds run in turns with the operation. " +
		"The roofline is the longer of the two times that the ceilings need for the bytes and for the arithmetic; 1 means the operation takes no longer than that.")
	for _, tc := range tensorCases {
		if !strings.Contains(tc.call+" "+tc.in, b.match) {
			continue
		}
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.tensorRow(t, c, tc); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", tc.call, tc.in, err)
		}
	}
	return t, nil
}

func (b *bench) tensorRow(t *table, c *ceilings, tc tensorCase) error {
	p, err := b.prepare(tc)
	if err != nil {
		return err
	}
	m, err := b.againstCeilings(c, p)
	if err != nil {
		return err
	}
	target := ""
	if tc.target > 0 {
		target = "≥ " + strconv.FormatFloat(tc.target, 'g', 2, 64)
		if m.fraction < tc.target {
			target += ", missed"
		}
	}
	t.row(tc.call, strings.ReplaceAll(tc.in, " ", " "), m.op, float64(p.cost.Bytes)/m.ns(), float64(p.cost.Flops)/m.ns(), m.copy,
		fmt.Sprintf("**%.2f**", m.fraction), target)
	key := tc.call + " " + tc.in
	t.value(key+"/ns", m.ns())
	t.value(key+"/roofline", m.fraction)
	return b.free(p)
}

// against is an operation's time beside those of the ceilings.
type against struct {
	op, copy sample
	gflops   float64 // of the multiply-adds
	fraction float64 // of the roofline
	others   []sample
}

func (m *against) ns() float64 { return float64(m.op.median().Nanoseconds()) }

// againstCeilings measures a call in turns with the ceilings, and with others.
func (b *bench) againstCeilings(c *ceilings, p *prepared, others ...func() error) (*against, error) {
	budget, each := 2*time.Second, 20*time.Millisecond
	if b.quick {
		budget, each = 300*time.Millisecond, 8*time.Millisecond
	}
	op := func(times int) func() error { return b.run(p, times) }
	n, err := repeats(op, each)
	if err != nil {
		return nil, err
	}
	copies, free, err := b.copier(c.copy, p.cost.Bytes/2)
	if err != nil {
		return nil, err
	}
	nc, err := repeats(copies, each)
	if err != nil {
		return nil, err
	}
	s, err := interleave(budget, 40, append([]func() error{op(n), copies(nc), b.launches(c.fma.list, c.fma.times)}, others...)...)
	if err != nil {
		return nil, err
	}
	m := &against{op: s[0].over(n), copy: s[1].over(nc), gflops: c.fma.rate(s[2]), others: s[3:]}
	roof := max(float64(m.copy.median().Nanoseconds()), float64(p.cost.Flops)/m.gflops)
	m.fraction = roof / m.ns()
	return m, free()
}

// parseDesc is the inverse of tensor.Desc's String for contiguous tensors.
func parseDesc(s string) (tensor.Desc, error) {
	name, dims, ok := strings.Cut(strings.TrimSuffix(s, "]"), "[")
	d, known := tensor.ParseDType(name)
	if !ok || !known {
		return tensor.Desc{}, fmt.Errorf("%q is not a tensor such as f32[2,3]", s)
	}
	var shape []int
	for f := range strings.SplitSeq(dims, ",") {
		n, err := strconv.Atoi(f)
		if err != nil {
			return tensor.Desc{}, fmt.Errorf("%q is not a tensor such as f32[2,3]", s)
		}
		shape = append(shape, n)
	}
	return tensor.Contiguous(d, shape...), nil
}

// randomData is a tensor's bytes, values uniform between the bounds.
func randomData(d tensor.Desc, low, high float64, rng *rand.Rand) []byte {
	h := tensor.NewHost(d)
	values := make([]float64, d.Elems())
	whole := d.DType == tensor.I32 || d.DType == tensor.I64
	for i := range values {
		if values[i] = low + (high-low)*rng.Float64(); whole {
			values[i] = low + float64(rng.Int64N(int64(high-low)+1))
		}
	}
	h.SetFloats(values)
	return h.Data
}
