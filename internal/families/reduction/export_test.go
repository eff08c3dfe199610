package reduction

import "github.com/lathe-gpu/lathe/spec"

// Declare is Define of an operation that is not registered.
func Declare[A spec.Call](r Reduction[A]) *spec.Op { return declare(r) }
