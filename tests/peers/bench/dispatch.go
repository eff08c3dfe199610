package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/tensor"
	_ "github.com/lathe-gpu/lathe/wgpu" // measured beside Vulkan
)

// dispatch measures what one small launch costs, and that a million of them
// leave memory where it was.
func (b *bench) dispatch() (*table, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	n := 1_000_000
	if b.quick {
		n = 50_000
	}
	t := &table{
		Title:  fmt.Sprintf("%d dispatches of a small kernel", n),
		Header: []string{"by", "each", "Go allocations each", "resident at 10 %", "at 50 %", "at 100 %"},
	}
	t.note("The kernel adds 64 numbers to 64 others; each row runs in a process of its own, and the sums are checked at the end. " +
		"Invert is the operation on 4×4 pixels, checked and bound in each call.")
	for _, entry := range []struct{ key, name string }{
		{"submit", "gpu.Device.Submit, one a call"},
		{"list", "gpu.Device.Submit, 64 a call"},
		{"compute", "lathe.Device.DispatchCompute"},
		{"run", "lathe.Device.Run, invert"},
	} {
		u, err := b.measure(nil, self, "child", "dispatch", entry.key, strconv.Itoa(n))
		if err != nil {
			return nil, err
		}
		var each, allocs float64
		var rss [3]int64
		if _, err := fmt.Sscan(u.output, &each, &allocs, &rss[0], &rss[1], &rss[2]); err != nil {
			return nil, fmt.Errorf("reading %q: %w", u.output, err)
		}
		t.row(entry.name, fmt.Sprintf("%.0f ns", each), fmt.Sprintf("%.3f", allocs), mib(rss[0]), mib(rss[1]), mib(rss[2]))
		t.value(entry.key+"/ns", each)
		t.value(entry.key+"/allocs", allocs)
		t.value(entry.key+"/growth_bytes", float64(rss[2]-rss[0]))
	}
	return t, nil
}

// dispatchChild launches a kernel count times in one of the ways of dispatch
// and prints nanoseconds and allocations each, and three resident sizes.
func dispatchChild(way, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil || n < 10 {
		return fmt.Errorf("bad count %q", count)
	}
	ctx := context.Background()
	m, err := extra.Module("demo/saxpy.f32")
	if err != nil {
		return err
	}
	const size = 64
	push := binary.LittleEndian.AppendUint32(nil, size)
	push = binary.LittleEndian.AppendUint32(push, math.Float32bits(1)) // y = 1·x + y
	ones := make([]byte, 0, 4*size)
	for range size {
		ones = binary.LittleEndian.AppendUint32(ones, math.Float32bits(1))
	}

	switch way {
	case "submit", "list":
		dev, err := drivers.Open(ctx, drivers.Options{})
		if err != nil {
			return err
		}
		defer dev.Close()
		x, err := dev.Alloc(4 * size)
		if err != nil {
			return err
		}
		y, err := dev.Alloc(4 * size)
		if err != nil {
			return err
		}
		if err := dev.Write(ctx, x, 0, ones); err != nil {
			return err
		}
		d := gpu.Dispatch{Module: m, Bindings: []gpu.Binding{{Buffer: x}, {Buffer: y}}, Params: push, Groups: [3]uint32{1, 1, 1}}
		list := []gpu.Dispatch{d}
		if way == "list" {
			for len(list) < 64 {
				list = append(list, d)
			}
		}
		ran, err := count10(n/len(list), len(list), func() error { return dev.Submit(list) }, func() error { return dev.Sync(ctx) })
		if err != nil {
			return err
		}
		got := make([]byte, 4*size)
		if err := dev.Read(ctx, y, 0, got); err != nil {
			return err
		}
		return checkSums(got, ran)
	}

	dev, err := lathe.Open(ctx)
	if err != nil {
		return err
	}
	defer dev.Close()
	sync := func() error { return dev.Sync(ctx) }
	if way == "compute" {
		x, err := dev.NewTensor(tensor.Contiguous(tensor.F32, size))
		if err != nil {
			return err
		}
		y, err := dev.NewTensor(x.Desc())
		if err != nil {
			return err
		}
		if err := dev.Write(ctx, x, ones); err != nil {
			return err
		}
		bind := []*lathe.Tensor{x, y}
		ran, err := count10(n, 1, func() error { return dev.DispatchCompute(ctx, m.Code, bind, push, [3]uint32{1, 1, 1}) }, sync)
		if err != nil {
			return err
		}
		got, err := dev.Read(ctx, y)
		if err != nil {
			return err
		}
		return checkSums(got, ran)
	}
	in, err := dev.NewTensor(tensor.Contiguous(tensor.U8, 4, 4, 4))
	if err != nil {
		return err
	}
	out, err := dev.NewTensor(in.Desc())
	if err != nil {
		return err
	}
	var call imageops.InvertColors
	outs, ins := []*lathe.Tensor{out}, []*lathe.Tensor{in}
	if _, err := count10(n, 1, func() error { return dev.Run(ctx, call, ins, outs) }, sync); err != nil {
		return err
	}
	got, err := dev.Read(ctx, out)
	if err != nil {
		return err
	}
	if got[0] != 255 || got[3] != 0 {
		return fmt.Errorf("inverting zeros gave %v", got[:4])
	}
	return nil
}

// count10 warms up, calls f n times, prints the figures, and returns how many
// dispatches there were in all; each call makes per of them.
func count10(n, per int, f, sync func() error) (int, error) {
	warm := max(n/50, 10)
	for range warm {
		if err := f(); err != nil {
			return 0, err
		}
	}
	if err := sync(); err != nil {
		return 0, err
	}
	runtime.GC()
	var before, after runtime.MemStats
	var rss [3]int64
	runtime.ReadMemStats(&before)
	start := time.Now()
	for i := range n {
		if err := f(); err != nil {
			return 0, err
		}
		switch i + 1 {
		case n / 10:
			rss[0] = resident()
		case n / 2:
			rss[1] = resident()
		}
	}
	if err := sync(); err != nil {
		return 0, err
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	rss[2] = resident()
	done := float64(n * per)
	fmt.Println(float64(took.Nanoseconds())/done, float64(after.Mallocs-before.Mallocs)/done, rss[0], rss[1], rss[2])
	return (warm + n) * per, nil
}

// resident is the process's resident set in bytes; 0 where the system does
// not say.
func resident() int64 { return statusBytes("/proc/self/status", "VmRSS") }

// checkSums checks that every number was counted up once a dispatch.
func checkSums(got []byte, ran int) error {
	for i := 0; i < len(got); i += 4 {
		if v := math.Float32frombits(binary.LittleEndian.Uint32(got[i:])); v != float32(ran) {
			return fmt.Errorf("number %d is %g after %d dispatches", i/4, v, ran)
		}
	}
	return nil
}
