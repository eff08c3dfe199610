package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// backendCases are what the section "backends" measures besides tensorCases.
var backendCases = []tensorCase{
	{call: "matmul", in: "f32[512,512] f32[512,512]"},
	{call: "matmul", in: "f32[1024,1024] f32[1024,1024]"},
	{call: "gaussian_blur sigma=3", in: "u8[1080,1920,4]"},
	{call: "sobel_edges", in: "u8[1080,1920,4]"},
	{call: "sharpen", in: "u8[1080,1920,4]"},
	{call: "brightness factor=1.5", in: "u8[1080,1920,4]"},
}

// webgpuTarget is the part of Vulkan's speed that WebGPU should reach on whatever
// takes Vulkan more than a millisecond.
const webgpuTarget = 0.6

// backends times operations by Vulkan and by WebGPU on the same hardware.
func (b *bench) backends() (*table, error) {
	t := &table{
		Title:  "WebGPU beside Vulkan",
		Header: []string{"operation", "inputs", "by vk", "by wgpu", "vk / wgpu", "target"},
	}
	t.note("The same calls on the same hardware, in turns; medians ± half the interquartile range. The target is for what takes Vulkan more than a millisecond. " +
		"WebGPU has no texel buffers: the same plans read storage buffers instead, which CPU drivers read more slowly.")
	other, err := lathe.Open(b.ctx, lathe.WithBackend("wgpu"), lathe.WithDevice(b.dev.Info().Name), lathe.WithWarnings(func(string) {}))
	if errors.Is(err, gpu.ErrNoDevice) || b.dev.Info().Backend != "vk" {
		t.note("Not measured: it takes a device that both backends reach.")
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	defer other.Close()
	w := *b
	w.dev = other
	for _, tc := range append(append([]tensorCase{}, backendCases...), tensorCases...) {
		if !strings.Contains(tc.call+" "+tc.in, b.match) {
			continue
		}
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.backendRow(t, &w, tc); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", tc.call, tc.in, err)
		}
	}
	return t, b.tinyRow(t, &w)
}

func (b *bench) budget() (all, each time.Duration) {
	if b.quick {
		return 300 * time.Millisecond, 8 * time.Millisecond
	}
	return 1500 * time.Millisecond, 20 * time.Millisecond
}

func (b *bench) backendRow(t *table, w *bench, tc tensorCase) error {
	all, each := b.budget()
	p, err := b.prepare(tc)
	if err != nil {
		return err
	}
	q, err := w.prepare(tc)
	if err != nil {
		return err
	}
	n, err := repeats(func(times int) func() error { return b.run(p, times) }, each)
	if err != nil {
		return err
	}
	m, err := repeats(func(times int) func() error { return w.run(q, times) }, each)
	if err != nil {
		return err
	}
	s, err := interleave(all, 40, b.run(p, n), w.run(q, m))
	if err != nil {
		return err
	}
	byVK, byWGPU := s[0].over(n), s[1].over(m)
	speed := ratio(byVK, byWGPU)
	target := ""
	if byVK.median() > time.Millisecond {
		if target = fmt.Sprintf("≥ %g", webgpuTarget); speed < webgpuTarget {
			target += ", missed"
		}
	}
	t.row(tc.call, tc.in, byVK, byWGPU, fmt.Sprintf("**%.2f**", speed), target)
	t.value(tc.call+" "+tc.in+"/vk_ns", float64(byVK.median().Nanoseconds()))
	t.value(tc.call+" "+tc.in+"/speed", speed)
	return errors.Join(b.free(p), w.free(q))
}

// tinyRow times a small kernel among many of its kind, each with parameters of
// its own.
func (b *bench) tinyRow(t *table, w *bench) error {
	const count = 1000
	list := func(x *bench) ([]gpu.Dispatch, error) {
		m, err := spirv.Module("demo/saxpy.f32")
		if err != nil {
			return nil, err
		}
		var hs [2]gpu.Handle
		for i := range hs {
			if hs[i], err = x.dev.GPU().Alloc(int64(64 * tensor.F32.Size())); err != nil {
				return nil, err
			}
		}
		var ds []gpu.Dispatch
		for i := range count {
			push := binary.LittleEndian.AppendUint32(nil, 64)
			push = binary.LittleEndian.AppendUint32(push, math.Float32bits(float32(i)))
			ds = append(ds, gpu.Dispatch{Module: m, Bindings: []gpu.Binding{{Buffer: hs[0]}, {Buffer: hs[1]}}, Params: push, Groups: [3]uint32{1, 1, 1}})
		}
		return ds, nil
	}
	byVK, err := list(b)
	if err != nil {
		return err
	}
	byWGPU, err := list(w)
	if err != nil {
		return err
	}
	all, _ := b.budget()
	s, err := interleave(all, 40, b.launches(byVK, 1), w.launches(byWGPU, 1))
	if err != nil {
		return err
	}
	v, g := s[0].over(count), s[1].over(count)
	t.row("a dispatch", fmt.Sprintf("of 64 numbers, among %d", count), v, g, fmt.Sprintf("**%.2f**", ratio(v, g)), "")
	t.value("dispatch/vk_ns", float64(v.median().Nanoseconds()))
	t.value("dispatch/wgpu_ns", float64(g.median().Nanoseconds()))
	return nil
}
