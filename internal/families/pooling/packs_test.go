package pooling

import (
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPacks looks for which windows and targets a maximum is made by whole packs.
func TestPacks(t *testing.T) {
	driver := spec.Target{
		CPU: true, MaxBinding: 1 << 30, MaxTexels: 1 << 26, OffsetAlign: 16, TexelAlign: 16, TexelBuffers: true,
		MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024,
	}
	other := func(f func(*spec.Target)) spec.Target {
		x := driver
		f(&x)
		return x
	}
	two := Windows{Kernel: []int{2, 2}, Strides: []int{2, 2}}
	image := []int{3, 5, 28, 14}
	for _, c := range []struct {
		what   string
		target spec.Target
		d      tensor.DType
		w      Windows
		shape  []int
		groups uint32 // 0: other kernels
	}{
		{"2 by 2", driver, tensor.F32, two, image, 2},
		{"bf16", driver, tensor.BF16, two, image, 1},
		{"f64", driver, tensor.F64, two, image, 0},
		{"with pads", driver, tensor.F16, Windows{Kernel: []int{3, 3}, Pads: []int{1, 1, 1, 1}, CeilMode: true}, image, 3},
		{"lines", driver, tensor.F32, Windows{Kernel: []int{5}}, []int{2, 3, 50}, 1},
		{"gaps", driver, tensor.F32, Windows{Kernel: []int{2, 2}, Dilations: []int{1, 2}}, image, 0},
		{"gaps between single taps", driver, tensor.F32, Windows{Kernel: []int{2, 1}, Dilations: []int{1, 2}}, image, 6},
		{"planes in a volume", driver, tensor.F32, Windows{Kernel: []int{1, 2, 2}}, []int{1, 2, 4, 9, 9}, 1},
		{"volumes", driver, tensor.F32, Windows{Kernel: []int{2, 2, 2}}, []int{1, 2, 4, 9, 9}, 0},
		{"steps from plane to plane", driver, tensor.F32, Windows{Kernel: []int{1, 2, 2}, Strides: []int{2, 1, 1}}, []int{1, 2, 4, 9, 9}, 0},
		{"large windows", driver, tensor.F32, Windows{Kernel: []int{9, 9}}, image, 0},
		{"a GPU", other(func(x *spec.Target) { x.CPU = false }), tensor.F32, two, image, 0},
		{"small bindings", other(func(x *spec.Target) { x.MaxBinding = 4096 }), tensor.F32, two, image, 0},
		{"few iterations", other(func(x *spec.Target) { x.MaxIterations = 40 }), tensor.F32, two, image, 0},
	} {
		g, err := c.w.geometry(c.shape)
		if err != nil {
			t.Fatal(err)
		}
		step, ok := g.packs(&c.target, c.d, spec.In(0), spec.Out(0))
		if ok != (c.groups > 0) || ok && step.Groups != [3]uint32{c.groups, 1, 1} {
			t.Errorf("%s: %v workgroups, %v (want %d)", c.what, step.Groups, ok, c.groups)
		}
	}
}
