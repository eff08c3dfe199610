package spirv

import "github.com/lathe-gpu/lathe/internal/spv"

// Usable returns nil if Kernel finds a kernel, and otherwise the error of Module. Unlike Module it
// links no folder.
// Errors: ErrInvalidArgument for an unknown name, ErrABIMismatch for a kernel that is damaged, that is
// not the one of the ABI text, or whose folder is not linked.
func Usable(name string) error {
	_, err := own().load(name)
	return err
}

// Kernel is Module for plans, which only name kernels that exist and whose folder is linked. For
// any other name it returns a module without code. The use of the plan then fails, with the error of
// Usable.
func Kernel(name string) *spv.Module {
	if m, err := own().load(name); err == nil {
		return m
	}
	return &spv.Module{Name: name}
}
