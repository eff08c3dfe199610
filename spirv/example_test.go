package spirv_test

import (
	"fmt"

	"github.com/lathe-gpu/lathe/spirv"
)

// A kernel says what a caller must give it.
func ExampleModule() {
	m, err := spirv.Module("math/add.f64")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.LocalSize, len(m.Bindings), "buffers", m.Params[0].Name)
	_, err = spirv.Module("math/none.f32")
	fmt.Println(err != nil)
	// Output:
	// [64 1 1] 3 buffers count
	// true
}
