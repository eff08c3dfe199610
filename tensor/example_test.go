package tensor_test

import (
	"fmt"

	"github.com/lathe-gpu/lathe/tensor"
)

func ExampleDesc() {
	d := tensor.Contiguous(tensor.F16, 2, 3)
	fmt.Println(d, d.Elems(), "elements,", d.Bytes(), "bytes, strides", d.ElementStrides())

	// The same memory with its dimensions in another order.
	t := tensor.Desc{DType: tensor.F16, Shape: []int{3, 2}, Strides: []int{1, 3}}
	fmt.Println(t.IsContiguous(), t.Check())
	// Output:
	// f16[2,3] 6 elements, 12 bytes, strides [3 1]
	// false <nil>
}

func ExampleFromFloats() {
	h, err := tensor.FromFloats(tensor.F16, []int{2}, []float64{1, 0.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(h.At(0), h.At(1)) // rounded to nearest even
	// Output:
	// 1 0.0999755859375
}
