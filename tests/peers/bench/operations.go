package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	measure "github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/spec"
)

// target is what a call should reach on a CPU driver: a part of the host's copy
// in bytes a second, a part of the multiply-adds, GFLOP/s, or megapixels a second.
type target struct{ memcpy, peak, gflops, pixels float64 }

// targets are by a row's key.
var targets = map[string]target{
	"matmul f32[512,512] f32[512,512]":                    {peak: 0.2},
	"matmul f32[1024,1024] f32[1024,1024]":                {peak: 0.2},
	"attention f32[8,512,64] f32[8,512,64] f32[8,512,64]": {gflops: 15},
	"add f32[4096,1024] f32[4096,1024]":                   {memcpy: 0.4},
	"relu f32[4096,1024]":                                 {memcpy: 0.4},
	"gelu f32[4096,1024]":                                 {memcpy: 0.4},
	"cast to=f16 f32[4096,1024]":                          {memcpy: 0.4},
	"copy f32[4096,1024]":                                 {memcpy: 0.4},
	"softmax f32[4096,1024]":                              {memcpy: 0.2},
	"layer_norm f32[4096,1024] f32[1024] f32[1024]":       {memcpy: 0.2},
	"rms_norm f32[4096,1024] f32[1024]":                   {memcpy: 0.2},
	"reduce_sum dims=1 f32[4096,1024]":                    {memcpy: 0.4},
	"transpose f32[4096,1024]":                            {memcpy: 0.15},
	"brightness u8[4000,6000,4]":                          {pixels: 800},
	"contrast u8[4000,6000,4]":                            {pixels: 800},
	"grayscale u8[4000,6000,4]":                           {pixels: 800},
	"invert_colors u8[4000,6000,4]":                       {pixels: 800},
	"threshold u8[4000,6000,4]":                           {pixels: 800},
	"sharpen u8[4000,6000,4]":                             {pixels: 150},
	"sobel_edges u8[4000,6000,4]":                         {pixels: 150},
	"gaussian_blur sigma=3 u8[4000,6000,4]":               {pixels: 100},
	"resize percent=50 u8[4000,6000,4]":                   {pixels: 150},
	"median u8[4000,6000,4]":                              {pixels: 100},
	"box_blur u8[4000,6000,4]":                            {pixels: 100},
}

// megapixels of the pictures that targets are for.
const megapixels = 24

// of says what is wanted of the row, and whether it is missed.
func (g target) of(x *measure.Row) string {
	got, want, text := 0.0, 0.0, ""
	seconds := time.Duration(x.Time.Median).Seconds()
	switch {
	case g.memcpy > 0:
		got, want, text = x.Memcpy, g.memcpy, fmt.Sprintf("≥ %g of memcpy", g.memcpy)
	case g.peak > 0:
		got, want, text = x.GFlops/x.Peak, g.peak, fmt.Sprintf("≥ %g of the multiply-adds", g.peak)
	case g.gflops > 0:
		got, want, text = x.GFlops, g.gflops, fmt.Sprintf("≥ %g GFLOP/s", g.gflops)
	case g.pixels > 0:
		got, want = megapixels/seconds, g.pixels
		text = fmt.Sprintf("≥ %g MP/s, has %.0f", g.pixels, got)
	default:
		return ""
	}
	if got < want {
		text += ", missed"
	}
	return text
}

// webgpuTarget is the part of Vulkan's speed that WebGPU should reach on whatever
// takes Vulkan more than a millisecond.
const webgpuTarget = 0.6

// measured runs the bench of all operations, once; by WebGPU too where that
// reaches the same device.
func (b *bench) measured() (*measure.Report, error) {
	if b.report != nil {
		return b.report, nil
	}
	o := measure.Options{Quick: b.quick, Seed: b.seed, Keep: func(w spec.BenchCase) bool { return strings.Contains(measure.Key(w), b.match) }}
	if b.dev.Info().Backend == "vk" {
		other, err := drivers.Open(b.ctx, drivers.Options{Backend: "wgpu", Device: b.dev.Info().Name, Warn: func(string) {}})
		if err == nil {
			defer other.Close()
			o.Beside = other
		} else if !errors.Is(err, gpu.ErrNoDevice) && !errors.Is(err, gpu.ErrInvalidArgument) {
			return nil, err
		}
	}
	var err error
	b.report, err = measure.Run(b.ctx, b.dev.GPU(), o)
	return b.report, err
}

// ceilings is what the device does at most.
func (b *bench) ceilings() (*table, error) {
	r, err := b.measured()
	if err != nil {
		return nil, err
	}
	ls := r.Ceilings.Table()
	t := &table{Title: "What the device can do at most", Header: ls[0], Rows: ls[1:]}
	t.note("GB/s counts bytes read and bytes written by copies, and bytes moved by transfers. The copies and the multiply-adds are kernels of their own (shaders/test/roofline_*.comp); of the copies the fastest the device can run counts. " +
		"The copy by the host is Go's copy with a goroutine a processor.")
	return t, nil
}

// operations is every operation of the table at several sizes.
func (b *bench) operations() (*table, error) {
	r, err := b.measured()
	if err != nil {
		return nil, err
	}
	ls := r.Table()
	t := &table{Title: "Operations, data on the device", Header: append(ls[0], "target")}
	t.note("Medians ± half the interquartile range, as \"lathe bench\" prints them. Bytes and arithmetic are those that each operation declares. A copy of as many bytes on the device, one by the host, and the multiply-adds run in turns with the operation. " +
		"The roofline is the longer of the times that the ceilings need for the bytes and for the arithmetic; *of memcpy* is the rate of bytes over the host's copy.")
	if r.Beside != "" {
		t.note("Its speed is that of WebGPU over that of Vulkan; a target of %g holds for what takes Vulkan more than a millisecond.", webgpuTarget)
	}
	for i, l := range ls[1:] {
		x := &r.Rows[i]
		missed := targets[x.Key()].of(x)
		if s := x.Speed(); s > 0 && s < webgpuTarget && x.Time.Median > int64(time.Millisecond) {
			missed = strings.TrimPrefix(missed+"; WebGPU missed", "; ")
		}
		t.Rows = append(t.Rows, append(l, missed))
		t.value(x.Key()+"/ns", float64(x.Time.Median))
		t.value(x.Key()+"/roofline", x.Roofline)
	}
	return t, nil
}
