package spirv

import "github.com/lathe-gpu/lathe/internal/spv"

// Kernel is Module for plans, which only name kernels that exist and whose folder is linked. For
// any other name it returns a module without code. The use of the plan then fails, with an error
// that has the name.
func Kernel(name string) *spv.Module {
	if m, err := own().load(name); err == nil {
		return m
	}
	return &spv.Module{Name: name}
}
