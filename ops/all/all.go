// Package all registers every operation of packages ops and imageops, so that package spec finds
// them by name. A program that calls operations by their types does not need it, and has only the
// operations that it uses.
//
//	import _ "github.com/lathe-gpu/lathe/ops/all"
package all

import (
	"github.com/lathe-gpu/lathe/internal/calls"
	"github.com/lathe-gpu/lathe/spec"
)

func init() {
	for _, c := range calls.All {
		spec.Register(c.Spec())
	}
}
