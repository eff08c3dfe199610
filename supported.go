package lathe

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// SupportedOps lists the names of the registered operations, those of a program too, that the device runs with at least one element type. Those of Lathe
// are registered if the program imports package ops/all. Device.PlanGraph says of each call of a graph whether the device runs it, and why not.
// The list is empty without an open device.
func (d *Device) SupportedOps() []string {
	if d.open("supported ops") != nil {
		return nil
	}
	var names []string
	compiler := d.session.GraphCompiler()
	for _, op := range spec.All() {
		if op.Offered() && slices.ContainsFunc(op.Cases.DTypes, func(t tensor.DType) bool {
			in := op.TypicalInputs(t)
			if in == nil && len(op.In) > 0 || op.Shape == nil {
				return false
			}
			out, err := op.Shape(op.Defaults, in)
			if err != nil {
				return false
			}
			_, err = compiler.Compile(op.Defaults, spec.PlacesOf(in), spec.PlacesOf(out))
			return err == nil
		}) {
			names = append(names, op.Name)
		}
	}
	return names
}
