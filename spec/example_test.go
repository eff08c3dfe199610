package spec_test

import (
	"fmt"

	"github.com/lathe-gpu/lathe/spec"
)

// fade is a call of an operation of one's own. The tags of its fields declare attributes.
type fade struct {
	Factor float64 `attr:"factor" doc:"the factor of every colour, at least 0"`
	Steps  int     `attr:"steps,required" doc:"how many times, at least 1"`
}

func (fade) Spec() *spec.Op { return fadeOp }

// A real definition also has Shape, Plan, Reference and Tolerance. examples/ownop has two.
var fadeOp = spec.Define(spec.Definition[fade]{
	Name: "fade", Doc: "Makes a picture darker in steps.",
	Defaults: fade{Factor: 0.5, Steps: 1},
})

func ExampleWithDefaults() {
	fmt.Printf("%+v\n", spec.WithDefaults(fade{Steps: 3}))
	// Output:
	// {Factor:0.5 Steps:3}
}

func ExampleFormatCall() {
	fmt.Println(spec.FormatCall(fade{Factor: 0.25, Steps: 3}))
	for _, a := range (fade{}).Spec().Attrs() {
		fmt.Printf("%s: %s, default %q: %s\n", a.Name, a.Type, a.Default, a.Doc)
	}
	// Output:
	// fade factor=0.25 steps=3
	// factor: number, default "0.5": the factor of every colour, at least 0
	// steps: integer, default "": how many times, at least 1
}
