package gonumblas_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/lathe-gpu/lathe/gonumblas"
	"github.com/lathe-gpu/lathe/rawptr"
)

// Products of gonum's matrices go to the device once they are large enough. This one is not, so gonum computes it.
func Example() {
	dev := rawptr.New()
	if err := dev.Init(context.Background()); err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	impl, err := gonumblas.New(dev)
	if err != nil {
		log.Fatal(err)
	}
	blas64.Use(impl)
	defer blas64.Use(gonum.Implementation{}) // No call comes after Close.

	a := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	var b mat.Dense
	b.Mul(a, a.T())
	fmt.Println(mat.Formatted(&b))
	// Output:
	// ⎡ 5  11⎤
	// ⎣11  25⎦
}
