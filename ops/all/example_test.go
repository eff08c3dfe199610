package all_test

import (
	"fmt"

	_ "github.com/lathe-gpu/lathe/ops/all"
	"github.com/lathe-gpu/lathe/spec"
)

// A program that reads the names of operations, from a file or a user, finds their declarations.
func Example() {
	op := spec.Lookup("tan")
	fmt.Println(op.Doc)
	fmt.Println(spec.Lookup("unknown") == nil)
	// Output:
	// The tangent of each element, in radians. For f64 the result is NaN if |x| is above 2^27.
	// true
}
