package spec

import "github.com/lathe-gpu/lathe/tensor"

// Part says which function of one element of each input an elementwise operation is. Several such operations can
// be one launch.
type Part struct {
	// Name is the name of the function's module among the parts of package spirv, such as
	// "math/exp.f32.function". It takes an element of each input, and then the numbers. It is empty if there
	// is none.
	Name string
	// Lanes says that there is a variant Name.lanes for devices with Target.HostVectors.
	Lanes bool
	// Numbers are numbers that the attributes give. They have the type in which the function computes.
	Numbers []float64
}

// Part returns the function that a call is, for inputs of these element types. It reports false if no function of
// one element of each input is known.
func (op *Op) Part(c Call, in []tensor.DType) (Part, bool) {
	if op == nil || op.part == nil {
		return Part{}, false
	}
	a, err := op.attrs(c)
	if err != nil || op.countInputs(len(in)) != nil {
		return Part{}, false
	}
	p := op.part(a, in)
	return p, p.Name != ""
}
