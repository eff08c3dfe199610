package spec_test

import (
	"fmt"

	_ "github.com/lathe-gpu/lathe/imageops" // declares the operations on pictures
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
)

func ExampleParseCall() {
	c, err := spec.ParseCall("blur 3")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(spec.FormatCall(c))
	fmt.Printf("%T\n", c)
	// Output:
	// gaussian_blur sigma=3 ignore_alpha=false
	// imageops.GaussianBlur
}

func ExampleWithDefaults() {
	fmt.Printf("%+v\n", spec.WithDefaults(ops.AdamUpdate{LR: 0.01, Step: 1}))
	// Output:
	// {LR:0.01 Beta1:0.9 Beta2:0.999 Eps:1e-08 Step:1}
}
