package spec

import "github.com/lathe-gpu/lathe/tensor"

// Stackable is a Call whose operation computes each part of its result from one part of an input and all of the others, as a product computes each column from one
// column of its second matrix. So calls that differ in that input only can be one call.
type Stackable interface {
	Call
	// Stacks says which input may be divided. It reports false if none may for such inputs. in are inputs that Shape accepts.
	Stacks(in []tensor.Desc) (Stacking, bool)
}

// Stacking says how calls become one: if Input is a concatenation along dimension Dim, the first result is one along dimension OutDim of the results for its parts, which are as
// large there as the parts are along Dim.
type Stacking struct{ Input, Dim, OutDim int }
