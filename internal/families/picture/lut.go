package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// LUT says what is in a look-up table. A table is a tensor f32 [rows,columns,4] of colours, whose
// fourth number is not used: those of a curve, and then those of a cube, in which red changes
// fastest and blue slowest.
type LUT struct {
	// Curve is the number of colours of the curve, and Size that along an edge of the cube. Each
	// is 0 or at least 2.
	Curve, Size int
	// CurveMin, CurveMax, CubeMin and CubeMax are the colours at the ends of the curve and of
	// the cube. The colours outside of them become those at the ends.
	CurveMin, CurveMax, CubeMin, CubeMax [3]float64
	// Matrix, if it is not nil, follows a curve for colours from 0 to 1, which makes light of them. If there
	// is a cube, it comes between, and makes colours that are encoded as sRGB has it. The matrix
	// makes light of the colours of a target, row by row, and these are encoded as sRGB has it.
	Matrix *[9]float64
	// Encode is the number of colours of a curve after that, or 0. They come after those of the cube.
	Encode int
	// Amount is the part of the result that is new, in 0..1.
	Amount float64
}

// The most colours of a curve, and along an edge of a cube.
const (
	MaxCurve = 1 << 16
	MaxCube  = 256
)

// WholeLUT returns what is in a table of a shape: the cube of [n·n,n,4], or the curve of [1,n,4], for
// colours from 0 to 1.
// Errors: ErrInvalidArgument.
func WholeLUT(d tensor.Desc) (l LUT, err error) {
	one := [3]float64{1, 1, 1}
	l = LUT{CurveMax: one, CubeMax: one, Amount: 1}
	if len(d.Shape) == 3 && d.Shape[2] == 4 {
		switch h, w := d.Shape[0], d.Shape[1]; {
		case w >= 2 && w <= MaxCube && h == w*w:
			l.Size = w
			return l, nil
		case h == 1 && w >= 2 && w <= MaxCurve:
			l.Curve = w
			return l, nil
		}
	}
	return l, planner.Invalid("table (got %v, want f32 [n·n,n,4] for a cube of 2 to %d colours along an edge, or [1,n,4] for a curve of 2 to %d colours)", d, MaxCube, MaxCurve)
}

// Colours returns the number of colours that the table has.
func (l LUT) Colours() int { return l.Curve + l.Size*l.Size*l.Size + l.Encode }

// lutParams is the push-constant block of lut.comp.
type lutParams struct {
	pointwiseGrid
	Channels                           uint32
	Curve, Size                        int32
	CurveR, CurveG, CurveB             float32
	CurveFromR, CurveFromG, CurveFromB float32
	CubeR, CubeG, CubeB                float32
	CubeFromR, CubeFromG, CubeFromB    float32
	Amount                             float32
}

// profileParams is the push-constant block of profile.comp.
type profileParams struct {
	pointwiseGrid
	Channels               uint32
	Curve                  int32
	RedR, RedG, RedB       float32
	GreenR, GreenG, GreenB float32
	BlueR, BlueG, BlueB    float32
}

// profileTablesParams is the push-constant block of profile.comp with TABLES.
type profileTablesParams struct {
	profileParams
	Size, Encode int32
}

// profileLevelsParams is the push-constant block of profile_levels.comp.
type profileLevelsParams struct{ Curve int32 }

// profileByteParams is the push-constant block of profile_byte.comp.
type profileByteParams struct {
	pointwiseGrid
	RedR, RedG, RedB       float32
	GreenR, GreenG, GreenB float32
	BlueR, BlueG, BlueB    float32
}

// lutKernels lists the kernels that PlanLUT launches, without a matrix and, if it may have one, with it.
func lutKernels(matrix bool) (list []spec.Kernel) {
	if matrix {
		list = append(list, spec.Kernel{Name: kernelName("profile_levels", tensor.U8, "", false), Params: profileLevelsParams{}},
			spec.Kernel{Name: kernelName("profile_byte", tensor.U8, "", false), Params: profileByteParams{}},
			spec.Kernel{Name: kernelName("profile_byte", tensor.U8, "", true), Params: profileByteParams{}})
	}
	for _, d := range dtypes {
		for _, texel := range []bool{false, true} {
			list = append(list, spec.Kernel{Name: kernelName("lut", d, "", texel), Params: lutParams{}})
			if matrix {
				list = append(list, spec.Kernel{Name: kernelName("profile", d, "", texel), Params: profileParams{}},
					spec.Kernel{Name: kernelName("profile", d, ".tables", texel), Params: profileTablesParams{}})
			}
		}
	}
	return list
}

// PlanLUT plans the pass that maps colours by a table.
// Errors: ErrStrides, *LimitError if the table does not fit a binding.
func PlanLUT(t *spec.Target, in, table, out tensor.Desc, l LUT) (*spec.Plan, error) {
	src, dst, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	plan := &spec.Plan{}
	if src.w == 0 || src.h == 0 {
		return plan, nil
	}
	if table.Bytes() > t.MaxBinding {
		return nil, &errs.LimitError{Name: "MaxBinding", Want: table.Bytes(), Have: t.MaxBinding}
	}
	curve, curveFrom := positions(l.CurveMin, l.CurveMax, l.Curve)
	cube, cubeFrom := positions(l.CubeMin, l.CubeMax, l.Size)
	pass := pointwisePass{
		name:  func(texel bool) string { return kernelName("lut", src.dtype, "", texel) },
		packs: func(bool) int { return pointwiseLocal },
		params: func(g pointwiseGrid, _ bool) any {
			return lutParams{
				pointwiseGrid: g, Channels: uint32(src.c), Curve: int32(l.Curve), Size: int32(l.Size),
				CurveR: curve[0], CurveG: curve[1], CurveB: curve[2], CurveFromR: curveFrom[0], CurveFromG: curveFrom[1], CurveFromB: curveFrom[2],
				CubeR: cube[0], CubeG: cube[1], CubeB: cube[2], CubeFromR: cubeFrom[0], CubeFromG: cubeFrom[1], CubeFromB: cubeFrom[2],
				Amount: float32(l.Amount),
			}
		},
		more:  []spec.Bind{{Buf: spec.In(1), Size: table.Bytes()}},
		words: table.Bytes() > 16*t.MaxTexels,
	}
	if l.Matrix != nil {
		var m [9]float32
		for i, v := range l.Matrix {
			m[i] = float32(v)
		}
		if src.dtype == tensor.U8 && l.Size == 0 && l.Encode == 0 && t.MaxInvocations >= 256 {
			pass = profileBytePass(plan, l.Curve, m, pass.more[0])
			return plan, pass.add(plan, t, spec.In(0), src, spec.Out(0), dst)
		}
		phase := ""
		if l.Size > 0 || l.Encode > 0 {
			phase = ".tables"
		}
		pass.name = func(texel bool) string { return kernelName("profile", src.dtype, phase, texel) }
		pass.params = func(g pointwiseGrid, _ bool) any {
			p := profileParams{g, uint32(src.c), int32(l.Curve), m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]}
			if phase == "" {
				return p
			}
			return profileTablesParams{p, int32(l.Size), int32(l.Encode)}
		}
	}
	return plan, pass.add(plan, t, spec.In(0), src, spec.Out(0), dst)
}

// profileBytePass appends the launch that makes light of all levels of bytes, and returns the pass that maps pixels.
func profileBytePass(plan *spec.Plan, curve int, m [9]float32, table spec.Bind) pointwisePass {
	const levels = 256
	plan.Scratch = []int64{3 * levels * 4}
	light := spec.Bind{Buf: spec.Scratch(0)}
	plan.Steps = append(plan.Steps, spec.Step{
		Module: kernel("profile_levels", tensor.U8, "", false), Params: profileLevelsParams{Curve: int32(curve)},
		Bind: []spec.Bind{table, light}, Groups: [3]uint32{groups(levels, 64), 1, 1},
	})
	return pointwisePass{
		name:  func(texel bool) string { return kernelName("profile_byte", tensor.U8, "", texel) },
		packs: func(bool) int { return manyPacks },
		params: func(g pointwiseGrid, _ bool) any {
			return profileByteParams{g, m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]}
		},
		more: []spec.Bind{light},
	}
}

// positions returns the factors and the offsets that make of colours their places among n ones.
func positions(low, high [3]float64, n int) (factor, from [3]float32) {
	for c := range factor {
		f := float64(n-1) / (high[c] - low[c])
		factor[c], from[c] = float32(f), float32(-f*low[c])
	}
	return factor, from
}

// LUTReference computes a LUT in float64.
func LUTReference(l LUT, in, table, out *tensor.Host) {
	numbers := table.Floats()
	entry := func(i, c int) float64 { return numbers[4*i+c] }
	// place returns the colour of n ones below v, and the distance from it.
	place := func(v, low, high float64, n int) (int, float64) {
		at := min(max((v-low)/(high-low), 0), 1) * float64(n-1)
		i := min(int(at), n-2)
		return i, at - float64(i)
	}
	curve := func(px [3]float64, first, n int, low, high [3]float64) [3]float64 {
		for c, v := range px {
			i, f := place(v, low[c], high[c], n)
			px[c] = entry(first+i, c)*(1-f) + entry(first+i+1, c)*f
		}
		return px
	}
	cube := func(px [3]float64) [3]float64 {
		at, stride, part := l.Curve, [3]int{1, l.Size, l.Size * l.Size}, [3]float64{}
		for c, v := range px {
			i, f := place(v, l.CubeMin[c], l.CubeMax[c], l.Size)
			at, part[c] = at+i*stride[c], f
		}
		var sum [3]float64
		// From the lowest corner it goes along the axis of the largest part that is left.
		for here, left := 1.0, part; ; {
			far := 0
			for c := range left {
				if left[c] > left[far] {
					far = c
				}
			}
			for c := range sum {
				sum[c] += (here - max(left[far], 0)) * entry(at, c)
			}
			if left[far] <= 0 {
				return sum
			}
			here, at, left[far] = left[far], at+stride[far], -1
		}
	}
	look := func(px [3]float64) [3]float64 {
		if l.Curve > 0 {
			px = curve(px, 0, l.Curve, l.CurveMin, l.CurveMax)
		}
		if l.Size > 0 {
			px = cube(px)
		}
		if m := l.Matrix; m != nil {
			light := px
			if l.Size > 0 {
				for c, v := range px {
					light[c] = math.Copysign(sRGBToLinear(math.Abs(v)), v)
				}
			}
			for c := range px {
				v := Clamp01(m[3*c]*light[0] + m[3*c+1]*light[1] + m[3*c+2]*light[2])
				px[c] = linearToSRGB(v)
			}
		}
		if l.Encode > 0 {
			px = curve(px, l.Curve+l.Size*l.Size*l.Size, l.Encode, [3]float64{}, [3]float64{1, 1, 1})
		}
		return px
	}
	EachPixel(in, out, func(px []float64) {
		old := [3]float64{px[0], px[0], px[0]}
		copy(old[:], px)
		made := look(old)
		for c := range made {
			made[c] = Clamp01(made[c]*l.Amount + old[c]*(1-l.Amount))
		}
		if len(px) == 1 {
			made[0] = Luma(made[:])
		}
		copy(px, made[:])
	})
}
