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
	// Bits says that the function takes the bits of elements, then Words, and gives bits.
	Bits  bool
	Words [3]uint32
	// Twice says that it takes the only input twice.
	Twice bool
}

// Part returns the function that a call is on a device, for inputs of these element types: the one that the kernels of its plans
// have there. It reports false if no function of
// one element of each input is known.
func (op *Op) Part(c Call, t *Target, in []tensor.DType) (Part, bool) {
	if op == nil || op.part == nil || t == nil {
		return Part{}, false
	}
	a, err := op.attrs(c)
	if err != nil || op.countInputs(len(in)) != nil {
		return Part{}, false
	}
	p := op.part(a, t, in)
	return p, p.Name != ""
}
