package spirv

import "github.com/lathe-gpu/lathe/internal/spv"

// Kernel is Module for plans, which name kernels that are there. For any other name it
// returns a module without code, so that the error comes where the plan is used and
// says the name.
func Kernel(name string) *spv.Module {
	if m, err := Module(name); err == nil {
		return m
	}
	return &spv.Module{Name: name}
}
