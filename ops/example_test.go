package ops_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/ops"
)

// The struct of an operation has attributes that its method lacks, such as KeepDims.
func Example() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	out, err := dev.Call(ctx, ops.ReduceSum{Dims: []int{-1}, KeepDims: true}, x)
	if err != nil {
		log.Fatal(err)
	}
	sums, err := lathe.ToSlice[float32](ctx, out[0])
	fmt.Println(out[0], sums, err)
	// Output:
	// f32[2,1] [6 15] <nil>
}
