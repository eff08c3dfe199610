package resampling

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const affineShader = "nn/affine_grid"

// affineParams is the push-constant block of shaders/nn/affine_grid.comp.
type affineParams struct {
	Count, OutBase, First, Points, Axes, InBase uint32
	N, Spread                                   [3]uint32
}

// Affine are the attributes of an operation that makes a grid for a tensor of spatial sizes Size.
type Affine struct {
	Size         []int
	AlignCorners bool
}

// shape checks the attributes and the matrices, and returns the shape of the grid and the number of its points.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (a Affine) shape(theta tensor.Desc) (shape []int, points int, err error) {
	axes := len(a.Size)
	if axes < 1 || axes > 3 {
		return nil, 0, planner.Invalid("size %v (want 1 to 3 numbers)", a.Size)
	}
	if len(theta.Shape) != 3 || theta.Shape[1] != axes || theta.Shape[2] != axes+1 {
		return nil, 0, planner.Invalid("input theta has shape %v (want [N, %d, %d] for size %v)", theta.Shape, axes, axes+1, a.Size)
	}
	points = 1
	for _, n := range a.Size {
		if n < 0 {
			return nil, 0, planner.Invalid("size %v (want no negative number)", a.Size)
		}
		if n > maxSampled || int64(points)*int64(n) > math.MaxInt32 {
			return nil, 0, planner.Unsupported("size %v (numbers up to %d are supported, and products below 2^31)", a.Size, maxSampled)
		}
		points *= n
	}
	shape = slices.Concat(theta.Shape[:1], a.Size, []int{axes})
	return shape, points, tensor.Contiguous(theta.DType, shape...).Check()
}

// add appends the launches that make a grid of that many points for each image.
// Errors: *LimitError.
func (a Affine) add(plan *spec.Plan, t *spec.Target, d tensor.DType, images, points int) error {
	kernel, local, texel := affineShader+"."+d.String(), planner.SmallGroup, d.Size() < 8 && planner.UsesTexels(t, planner.TexelGroup)
	if texel {
		kernel, local = kernel+".texel", planner.TexelGroup
	}
	axes := len(a.Size)
	matrix := axes * (axes + 1)
	q := affineParams{Points: uint32(points), Axes: uint32(axes), N: [3]uint32{1, 1, 1}, Spread: [3]uint32{1, 1, 1}}
	for k := range axes {
		n := a.Size[axes-1-k]
		if q.N[k], q.Spread[k] = uint32(n), uint32(n); a.AlignCorners {
			q.Spread[k] = uint32(max(n-1, 1))
		}
	}
	// A part may begin and end within an image.
	matrices := planner.RoomFor(t, texel, d.Size())/matrix - 2
	most := min(int64(planner.RoomFor(t, false, d.Size())/axes), int64(matrices)*int64(points))
	if most < 1 {
		return &errs.LimitError{Name: "MaxBinding", Want: int64(3 * matrix * d.Size()), Have: t.MaxBinding}
	}
	per := max(4/d.Size(), 1)
	for first, all := int64(0), int64(images)*int64(points); first < all; first += most {
		n := min(most, all-first)
		image, last := first/int64(points), (first+n-1)/int64(points)
		read, base := planner.Window(t, spec.In(0), d.Size(), image*int64(matrix), (last-image+1)*int64(matrix))
		write, out := planner.Window(t, spec.Out(0), d.Size(), first*int64(axes), n*int64(axes))
		q.Count, q.OutBase, q.First, q.InBase = uint32(n)*uint32(axes), out, uint32(first-image*int64(points)), base
		groups, err := planner.Grid(t, planner.CeilDiv(planner.CeilDiv(int64(out)%int64(per)+n*int64(axes), int64(per)), int64(local)))
		if err != nil {
			return err
		}
		plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(kernel), Params: q, Bind: []spec.Bind{read, write}, Groups: groups})
	}
	return nil
}

// DefineAffine declares such an operation: d has its name, docs, attributes and calls.
func DefineAffine[A spec.Call](d spec.Definition[A], attributes func(A) Affine) *spec.Op {
	spirv.LinkNN()
	d.Group = "nn"
	d.In = []spec.Arg{{Name: "theta", Doc: "[N, axes, axes + 1], a matrix for each image: its last column is added", DTypes: planner.Floats}}
	d.Out = []spec.Arg{{Name: "grid", Doc: "[N, size..., axes], of the dtype of theta; the last axis first"}}
	d.Kernels = planner.DTypeVariants(affineShader, affineParams{}, planner.Floats, func(d tensor.DType) bool { return d.Size() < 8 })
	d.Shape = func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
		shape, _, err := attributes(a).shape(in[0])
		return []tensor.Desc{tensor.Contiguous(in[0].DType, shape...)}, err
	}
	d.Plan = func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		plan := &spec.Plan{}
		if err := planner.CheckTarget(t, in...); err != nil || out[0].Elems() == 0 {
			return plan, err
		}
		_, points, err := attributes(a).shape(in[0])
		if err != nil {
			return nil, err
		}
		return plan, attributes(a).add(plan, t, in[0].DType, in[0].Shape[0], points)
	}
	d.Strategies, d.SizeClass = planner.FlatStrategies[A], planner.ElementCounts[A]
	d.Reference = func(a A, in, out []*tensor.Host) { out[0].SetFloats(attributes(a).reference(in[0], out[0].Shape)) }
	d.Tolerance = func(a A, dt tensor.DType, _ []tensor.Desc) spec.Tolerance {
		e, axes := planner.AccumulatorEpsilon(dt), float64(len(attributes(a).Size))
		return spec.Tolerance{
			Abs: 2*(axes+1)*(axes+6)*e + planner.Tiny(dt), Rel: planner.StoreEpsilon(dt),
			Law: "ε·(6 + axes), times the largest element and 1 + the number of axes",
			Why: "a coordinate has two roundings and a quotient of 2.5 units, then there is a product, and a sum for each axis",
		}
	}
	d.Cost = func(a A, in []tensor.Desc) spec.Cost {
		shape, points, err := attributes(a).shape(in[0])
		if err != nil {
			return spec.Cost{}
		}
		axes := int64(len(attributes(a).Size))
		return spec.Cost{Flops: 2 * int64(in[0].Shape[0]) * int64(points) * axes * (axes + 1), Bytes: in[0].Bytes() + tensor.Contiguous(in[0].DType, shape...).Bytes()}
	}
	return spec.Define(d)
}

// reference multiplies each matrix by each point.
func (a Affine) reference(theta *tensor.Host, shape []int) []float64 {
	m, axes := theta.Floats(), len(a.Size)
	made := make([]float64, 0, tensor.Contiguous(theta.DType, shape...).Elems())
	points := 1
	for _, n := range a.Size {
		points *= n
	}
	at := make([]float64, axes+1)
	for image := range shape[0] {
		for point := range points {
			at[axes] = 1
			for k, rest := 0, point; k < axes; k++ {
				n := a.Size[axes-1-k]
				i := float64(rest % n)
				rest /= n
				switch {
				case n == 1:
					at[k] = 0
				case a.AlignCorners:
					at[k] = (2*i - float64(n-1)) / float64(n-1)
				default:
					at[k] = (2*i + 1 - float64(n)) / float64(n)
				}
			}
			for row := range axes {
				sum := 0.0
				for k, x := range at {
					sum += m[(image*axes+row)*(axes+1)+k] * x
				}
				made = append(made, sum)
			}
		}
	}
	return made
}
