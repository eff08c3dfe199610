package backends_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/tensor"
)

var quiet = lathe.WithLogger(nil)

// open opens a device for a test.
func open(t *testing.T) *lathe.Device {
	t.Helper()
	dev, err := lathe.Open(t.Context(), quiet, lathe.WithoutCache())
	return testkit.Device(t, dev, err)
}

// must returns v. An error ends the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// onBackends runs a test on every backend that the program has.
func onBackends(t *testing.T, run func(t *testing.T, dev *lathe.Device)) {
	if testkit.ToolIfAny(t, "glslc") == "" {
		return
	}
	for _, name := range drivers.Built() {
		t.Run(name, func(t *testing.T) {
			dev, err := lathe.Open(t.Context(), quiet, lathe.WithBackend(name))
			run(t, testkit.Device(t, dev, err))
		})
	}
}

// load makes a Kernel of GLSL.
func load(t *testing.T, dev *lathe.Device, source string, flags ...string) *lathe.Kernel {
	t.Helper()
	return must(dev.LoadKernel(testkit.GLSL(t, "#version 450\n"+source, flags...)))(t)
}

const blockSource = `layout(local_size_x = 4) in;
struct Stage { float scale; int shift; };
layout(push_constant) uniform Params {
	uint n; float a; vec3 dir; float after_it; ivec2 pair; float weights[3]; bool flip; vec3 last; Stage stage[2]; mat2 m;
};
layout(binding = 0) writeonly buffer Out { float to[]; };
void main() {
	uint i = gl_GlobalInvocationID.x;
	float all[20] = float[](float(n), a, dir.x, dir.y, dir.z, after_it, float(pair.x), float(pair.y), weights[0], weights[1], weights[2],
		flip ? 1.0 : 0.0, last.x, last.z, stage[0].scale, float(stage[0].shift), stage[1].scale, float(stage[1].shift), m[0].y, m[1].x);
	if (i < n) to[i] = all[i];
}`

type stage struct {
	Scale float32
	Shift int32
}

// The struct has neither offsets nor padding: the block of the shader says where its numbers
// are.
func TestKernelParams(t *testing.T) {
	type size struct{ N uint32 }
	type params struct {
		size
		A       float32
		_       [3]float32
		Dir     [3]float32
		AfterIt float32
		pair    [2]int32
		Weights [3]float32
		Flip    bool
		Last    [3]float32
		Stage   [2]stage
		M       [2][2]float32
	}
	p := params{size: size{20}, A: 0.5, Dir: [3]float32{1, 2, 3}, AfterIt: 4, pair: [2]int32{-5, 6}, Weights: [3]float32{7, 8, 9}, Flip: true,
		Last: [3]float32{10, 11, 12}, Stage: [2]stage{{13, -14}, {15, 16}}, M: [2][2]float32{{17, 18}, {19, 20}}}
	want := []float32{20, 0.5, 1, 2, 3, 4, -5, 6, 7, 8, 9, 1, 10, 12, 13, -14, 15, 16, 18, 19, 0}
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		for _, flags := range [][]string{{"-O0"}, {"-O"}} { // -O removes the names
			k := load(t, dev, blockSource, flags...)
			for _, arg := range []any{p, &p} {
				y := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 21)))(t)
				if err := k.Run(t.Context(), []int{21}, arg, y); err != nil {
					t.Fatal(err)
				}
				if got := must(lathe.ToSlice[float32](t.Context(), y))(t); !slices.Equal(got, want) {
					t.Errorf("%v, %T: got %v, want %v", flags, arg, got, want)
				}
			}
		}
	})
}

func TestKernelParamsRefused(t *testing.T) {
	if testkit.ToolIfAny(t, "glslc") == "" {
		return
	}
	dev := open(t)
	const source = `layout(push_constant) uniform Params { uint n; float row_scale; vec2 dir; };
layout(binding = 0) buffer Out { float to[]; };
void main() { to[0] = n + row_scale + dir.x + dir.y; }`
	named, stripped := load(t, dev, source, "-O0"), load(t, dev, source, "-O")
	none := load(t, dev, "layout(binding = 0) buffer Out { float to[]; };\nvoid main() { to[0] = 1; }")
	y := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 4)))(t)
	type good struct {
		N        uint32
		RowScale float32
		Dir      [2]float32
	}
	const whole = "n uint32, row_scale float32, dir [2]float32"
	for _, c := range []struct {
		k      *lathe.Kernel
		params any
		want   string // in the error; empty for none
	}{
		{named, good{}, ""},
		{named, &good{}, ""},
		{stripped, good{}, ""},
		{stripped, struct {
			X    uint32
			Y, Z float32
			W    float32
		}{}, ""},
		{none, nil, ""},
		{none, struct{}{}, ""},
		{none, good{}, "field N is one too many (the shader has no push constants)"},
		{named, nil, "got nil, want a struct of " + whole},
		{named, (*good)(nil), "got nil, want a struct of " + whole},
		{named, 7, "got int, want a struct of " + whole},
		{named, []byte{1}, "got []uint8, want a struct"},
		{named, struct{ N uint32 }{}, "a field for row_scale float32 is missing"},
		{named, struct{ N int }{}, "field N is int"},
		{named, struct{ N int32 }{}, "field N (got int32, want uint32 for n uint32)"},
		{named, struct{ N *uint32 }{}, "field N is *uint32"},
		{named, struct{ N []uint32 }{}, "field N is []uint32"},
		{named, struct {
			N   uint32
			Dir [2]float32
		}{}, "field Dir[0] is at the place of row_scale float32"},
		{named, struct {
			good
			More float32
		}{}, "field More is one too many"},
		{named, struct{ N [1 << 12]uint32 }{}, "field N[1] (got uint32, want float32"},
		{named, struct{ N [1 << 30]struct{} }{}, "a field for n uint32 is missing"},
		{stripped, struct {
			N        uint32
			RowScale float64
			Dir      [2]float32
		}{}, "field RowScale (got float64, want float32"},
	} {
		err := c.k.Run(t.Context(), nil, c.params, y)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%T: %v", c.params, err)
		case c.want != "" && (!errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%T: got %v, want ErrInvalidArgument with %q", c.params, err, c.want)
		}
	}
}

// The size is in invocations, and dimensions that are left out are 1.
func TestKernelSize(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		// Invocation x, y, z sets element x + 8y + 64z.
		k := load(t, dev, `layout(local_size_x = 4, local_size_y = 2) in;
layout(binding = 0) writeonly buffer Out { uint to[]; };
void main() { uvec3 i = gl_GlobalInvocationID; to[i.x + 8 * i.y + 64 * i.z] = 1; }`)
		if got := k.LocalSize(); got != [3]int{4, 2, 1} {
			t.Errorf("local size %v", got)
		}
		for _, c := range []struct{ size, ran []int }{
			{nil, []int{4, 2, 1}},
			{[]int{0}, []int{0, 0, 0}},
			{[]int{4, 0}, []int{0, 0, 0}},
			{[]int{1}, []int{4, 2, 1}},
			{[]int{5, 1}, []int{8, 2, 1}},
			{[]int{8, 3, 2}, []int{8, 4, 2}},
		} {
			y := must(dev.NewTensor(tensor.Contiguous(tensor.U32, 128)))(t)
			if err := k.Run(t.Context(), c.size, nil, y); err != nil {
				t.Fatal(err)
			}
			got := must(lathe.ToSlice[uint32](t.Context(), y))(t)
			for i, v := range got {
				in := i%8 < c.ran[0] && i/8%8 < c.ran[1] && i/64 < c.ran[2]
				if (v == 1) != in {
					t.Fatalf("size %v: element %d is %d", c.size, i, v)
				}
			}
		}
		y := must(dev.NewTensor(tensor.Contiguous(tensor.U32, 128)))(t)
		for _, size := range [][]int{{-1}, {1, math.MinInt}, {1, 1, 1, 1}} {
			if err := k.Run(t.Context(), size, nil, y); !errors.Is(err, lathe.ErrInvalidArgument) {
				t.Errorf("size %v: got %v, want ErrInvalidArgument", size, err)
			}
		}
		var limit *lathe.LimitError
		if err := k.Run(t.Context(), []int{1, math.MaxInt}, nil, y); !errors.As(err, &limit) || limit.Name != "MaxGroups[1]" {
			t.Errorf("got %v, want the limit MaxGroups[1]", err)
		}
	})
}

// A local size that specialisation constants give is that of their defaults.
func TestKernelSpecialised(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		k := load(t, dev, `layout(local_size_x_id = 0, local_size_y = 2) in;
layout(local_size_x = 8) in;
layout(constant_id = 1) const uint factor = 3;
layout(binding = 0) buffer Data { uint data[]; };
void main() { if (gl_GlobalInvocationID.y == 0) data[gl_GlobalInvocationID.x] += factor * gl_WorkGroupSize.x; }`)
		if got := k.LocalSize(); got != [3]int{8, 2, 1} {
			t.Errorf("local size %v, want 8, 2, 1", got)
		}
		y := must(lathe.FromSlice(t.Context(), dev, make([]uint32, 17)))(t)
		if err := k.Run(t.Context(), []int{9}, nil, y); err != nil {
			t.Fatal(err)
		}
		want := append(slices.Repeat([]uint32{24}, 16), 0)
		if got := must(lathe.ToSlice[uint32](t.Context(), y))(t); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestKernelTensors(t *testing.T) {
	if testkit.ToolIfAny(t, "glslc") == "" {
		return
	}
	dev, other := open(t), open(t)
	k := load(t, dev, `layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 2) buffer Y { uvec2 y[]; };
layout(binding = 3) buffer Header { uint count; float values[]; };
void main() { y[0] = uvec2(floatBitsToUint(x[0]), 7); values[0] = 1; count = 2; }`, "-O0")
	text := k.String()
	for _, part := range []string{"local size 1,1,1", "binding 0 (X): f32, read", "binding 2 (Y): u32x2, read-write", "binding 3 (Header)"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
	f := must(lathe.FromSlice(t.Context(), dev, []float32{1, 2, 3, 4}))(t)
	u := must(lathe.FromSlice(t.Context(), dev, []uint32{1, 2, 3, 4}))(t)
	bytes := must(lathe.FromSlice(t.Context(), dev, make([]uint8, 16)))(t)
	long := must(lathe.FromSlice(t.Context(), dev, make([]int64, 2)))(t)
	signed := must(lathe.FromSlice(t.Context(), dev, make([]int32, 4)))(t)
	square := must(lathe.FromSlice(t.Context(), dev, []float32{1, 2, 3, 4}, 2, 2))(t)
	turned := must(square.Transpose())(t)
	foreign := must(lathe.FromSlice(t.Context(), other, []float32{1}))(t)
	freed := must(lathe.FromSlice(t.Context(), dev, []float32{1}))(t)
	if err := dev.Free(freed); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tensors []*lathe.Tensor
		err     error
		want    string
	}{
		"good":                 {[]*lathe.Tensor{f, u, u, f}, nil, ""},
		"none at a gap":        {[]*lathe.Tensor{f, nil, u, f}, nil, ""},
		"bytes as words":       {[]*lathe.Tensor{f, nil, bytes, bytes}, nil, ""},
		"long as words":        {[]*lathe.Tensor{f, nil, long, u}, nil, ""},
		"square":               {[]*lathe.Tensor{square, nil, u, u}, nil, ""},
		"floats as words":      {[]*lathe.Tensor{f, nil, f, f}, lathe.ErrInvalidArgument, "binding 2 (Y): invalid argument: elements (got f32, want u32)"},
		"signed as unsigned":   {[]*lathe.Tensor{f, nil, signed, f}, lathe.ErrInvalidArgument, "elements (got i32, want u32)"},
		"integers as floats":   {[]*lathe.Tensor{u, nil, u, f}, lathe.ErrInvalidArgument, "binding 0 (X): invalid argument: elements (got u32, want f32)"},
		"bytes as floats":      {[]*lathe.Tensor{bytes, nil, u, f}, lathe.ErrInvalidArgument, "elements (got u8, want f32)"},
		"too few":              {[]*lathe.Tensor{f, u, u}, lathe.ErrInvalidArgument, "got 3, want 4"},
		"too many":             {[]*lathe.Tensor{f, u, u, f, f}, lathe.ErrInvalidArgument, "got 5, want 4"},
		"none":                 {nil, lathe.ErrInvalidArgument, "got 0, want 4"},
		"nil":                  {[]*lathe.Tensor{nil, u, u, f}, lathe.ErrInvalidHandle, "binding 0 (X)"},
		"zero":                 {[]*lathe.Tensor{f, u, {}, f}, lathe.ErrInvalidHandle, "binding 2 (Y)"},
		"turned":               {[]*lathe.Tensor{turned, u, u, f}, lathe.ErrInvalidArgument, "use Device.Copy"},
		"of another device":    {[]*lathe.Tensor{foreign, u, u, f}, lathe.ErrInvalidHandle, "another device"},
		"freed":                {[]*lathe.Tensor{freed, u, u, f}, lathe.ErrInvalidHandle, "freed"},
		"of another, at a gap": {[]*lathe.Tensor{f, foreign, u, f}, lathe.ErrInvalidHandle, "another device"},
	} {
		err := k.Run(t.Context(), nil, nil, c.tensors...)
		if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %v with %q", name, err, c.err, c.want)
		}
	}
	x, y := must(lathe.FromSlice(t.Context(), dev, []float32{9}))(t), must(lathe.FromSlice(t.Context(), dev, make([]uint32, 2)))(t)
	if err := k.Run(t.Context(), nil, nil, x, nil, y, u); err != nil {
		t.Fatal(err)
	}
	if got := must(lathe.ToSlice[uint32](t.Context(), y))(t); got[0] != math.Float32bits(9) || got[1] != 7 {
		t.Errorf("with a gap: got %d", got)
	}
}

func TestKernelLoad(t *testing.T) {
	dev := open(t)
	for text, want := range map[string]string{
		"":                              "invalid shader",
		"#version 450\nvoid main() { }": "compile it with glslc file.comp -o file.spv",
		"@compute @workgroup_size(64) fn main() { }": "this is WGSL",
	} {
		if _, err := dev.LoadKernel([]byte(text)); !errors.Is(err, lathe.ErrInvalidShader) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want ErrInvalidShader with %q", text, err, want)
		}
	}
	for _, k := range []*lathe.Kernel{nil, {}} {
		if err := k.Run(t.Context(), nil, nil); !errors.Is(err, lathe.ErrNotInitialized) {
			t.Errorf("got %v, want ErrNotInitialized", err)
		}
		if k.String() != "no kernel" || k.LocalSize() != [3]int{} {
			t.Errorf("got %q, %v", k.String(), k.LocalSize())
		}
	}
}

// One Kernel runs in many goroutines, and ends with its device.
func TestKernelConcurrent(t *testing.T) {
	onBackends(t, func(t *testing.T, dev *lathe.Device) {
		k := load(t, dev, `layout(local_size_x = 64) in;
layout(push_constant) uniform Params { uint add; };
layout(binding = 0) buffer Data { uint data[]; };
void main() { uint i = gl_GlobalInvocationID.x; if (i < data.length()) data[i] += add; }`)
		var all sync.WaitGroup
		failed := make([]error, 8)
		for g := range failed {
			all.Go(func() {
				failed[g] = func() error {
					x, err := lathe.FromSlice(t.Context(), dev, make([]uint32, 100))
					if err != nil {
						return err
					}
					for range 20 {
						if err := k.Run(context.Background(), []int{100}, struct{ add uint32 }{uint32(g)}, x); err != nil {
							return err
						}
					}
					got, err := lathe.ToSlice[uint32](context.Background(), x)
					if err == nil && !slices.Equal(got, slices.Repeat([]uint32{20 * uint32(g)}, 100)) {
						err = fmt.Errorf("got %d", got)
					}
					return err
				}()
			})
		}
		all.Wait()
		if err := errors.Join(failed...); err != nil {
			t.Fatal(err)
		}
		x := must(lathe.FromSlice(t.Context(), dev, make([]uint32, 100)))(t)
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := k.Run(cancelled, []int{100}, struct{ Add uint32 }{1}, x); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		if err := dev.Close(); err != nil {
			t.Fatal(err)
		}
		for _, size := range [][]int{{100}, {0}} {
			if err := k.Run(t.Context(), size, struct{ Add uint32 }{1}, x); !errors.Is(err, lathe.ErrClosed) {
				t.Errorf("size %v: got %v, want ErrClosed", size, err)
			}
		}
		if _, err := dev.LoadKernel(testkit.GLSL(t, "#version 450\nvoid main() {}")); !errors.Is(err, lathe.ErrClosed) {
			t.Errorf("load: got %v, want ErrClosed", err)
		}
	})
}
