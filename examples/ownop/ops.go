package main

import (
	_ "embed"
	"fmt"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

//go:generate glslc --target-env=vulkan1.1 -O difference.comp -o difference.spv
//go:generate glslc --target-env=vulkan1.1 -O box.comp -o box.spv

var (
	//go:embed difference.spv
	differenceCode []byte
	//go:embed box.spv
	boxCode []byte

	differenceModule = module("difference", differenceCode)
	boxModule        = module("box", boxCode)
)

// module parses a shader that is part of the program.
func module(name string, code []byte) *gpu.Module {
	m, err := gpu.ParseModule(name, code)
	if err != nil {
		panic(err)
	}
	return m
}

// Difference is the distance between two tensors of f32 of one shape: |a - b|.
type Difference struct{}

// Spec returns the declaration.
func (Difference) Spec() *spec.Op { return differenceOp }

// differenceParams is the push-constant block of difference.comp.
type differenceParams struct{ N, Row uint32 }

// Register gives the operation a name, so that spec.ParseCall knows it. A program that
// does not need names may leave Register out. The name begins with that of the program,
// because a later version of Lathe may declare a difference itself.
var differenceOp = spec.Register(spec.Define(spec.Definition[Difference]{
	Name: "example_difference",
	Doc:  "The distance between two tensors, element by element.",
	In: []spec.Arg{
		{Name: "a", Doc: "f32 of any shape", DTypes: []tensor.DType{tensor.F32}},
		{Name: "b", Doc: "f32 of the shape of a", DTypes: []tensor.DType{tensor.F32}},
	},
	// The shader reads an element of each input and then writes the element of the
	// result, so that the result may be the tensor a.
	Out:    []spec.Arg{{Name: "out", Doc: "|a - b|", InPlace: []int{0}}},
	Traits: spec.Traits{Class: spec.Elementwise},
	// The plan writes every element of the result, so that a new one need not be zeroed.
	WritesAll: true,
	Shape: func(_ Difference, in []tensor.Desc) ([]tensor.Desc, error) {
		if fmt.Sprint(in[0].Shape) != fmt.Sprint(in[1].Shape) {
			return nil, fmt.Errorf("%w: shapes %v and %v", lathe.ErrInvalidArgument, in[0].Shape, in[1].Shape)
		}
		return []tensor.Desc{tensor.Contiguous(tensor.F32, in[0].Shape...)}, nil
	},
	// Plan sees contiguous tensors only, because no Arg says that it takes others. Views
	// are copied before it.
	Plan: func(_ Difference, t *spec.Target, _, out []tensor.Desc) (*spec.Plan, error) {
		n := uint32(out[0].Elems())
		if n == 0 {
			return &spec.Plan{}, nil
		}
		groups := (n + 63) / 64 // the shader has 64 invocations a workgroup
		across := min(groups, t.MaxGroups[0])
		return &spec.Plan{Steps: []spec.Step{{
			Module: differenceModule,
			Bind:   []spec.Bind{{Buf: spec.In(0)}, {Buf: spec.In(1)}, {Buf: spec.Out(0)}},
			Params: differenceParams{N: n, Row: 64 * across},
			Groups: [3]uint32{across, (groups + across - 1) / across, 1},
		}}}, nil
	},
	Scalar: func(_ Difference, x []float64) float64 { return max(x[0]-x[1], x[1]-x[0]) },
}))

// BoxBlur makes each pixel of a picture the mean of the square of pixels around it. The
// edge of the picture repeats outside of it.
type BoxBlur struct {
	Radius int `attr:"radius" doc:"pixels to either side, 1 to 100"`
}

// Spec returns the declaration.
func (BoxBlur) Spec() *spec.Op { return boxBlurOp }

// boxParams is the push-constant block of box.comp.
type boxParams struct{ Width, Height, Radius uint32 }

var boxBlurOp = spec.Register(spec.Define(spec.Definition[BoxBlur]{
	Name:      "example_box_blur",
	Doc:       "The mean of the square of pixels around each pixel.",
	In:        []spec.Arg{{Name: "in", Doc: "a picture, u8 [H,W,4]", DTypes: []tensor.DType{tensor.U8}}},
	Out:       []spec.Arg{{Name: "out", Doc: "the result, of the same shape"}},
	Traits:    spec.Traits{Class: spec.Filter},
	WritesAll: true,
	Defaults:  BoxBlur{Radius: 2},
	Shape: func(a BoxBlur, in []tensor.Desc) ([]tensor.Desc, error) {
		if a.Radius < 1 || a.Radius > 100 {
			return nil, fmt.Errorf("%w: radius (got %d, want 1 to 100)", lathe.ErrInvalidArgument, a.Radius)
		}
		if s := in[0].Shape; len(s) != 3 || s[2] != 4 {
			return nil, fmt.Errorf("%w: picture (got %v, want [H,W,4])", lathe.ErrInvalidArgument, in[0])
		}
		return []tensor.Desc{tensor.Contiguous(tensor.U8, in[0].Shape...)}, nil
	},
	Plan: func(a BoxBlur, _ *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
		h, w := uint32(in[0].Shape[0]), uint32(in[0].Shape[1])
		if h == 0 || w == 0 {
			return &spec.Plan{}, nil
		}
		return &spec.Plan{Steps: []spec.Step{{
			Module: boxModule,
			Bind:   []spec.Bind{{Buf: spec.In(0)}, {Buf: spec.Out(0)}},
			Params: boxParams{Width: w, Height: h, Radius: uint32(a.Radius)},
			Groups: [3]uint32{(w + 7) / 8, (h + 7) / 8, 1},
		}}}, nil
	},
	// Large pictures go through the device in strips. They overlap by this many rows.
	Halo: func(a BoxBlur) int { return a.Radius },
}))
