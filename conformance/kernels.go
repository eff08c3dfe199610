package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
)

// unclaimed are the groups of kernels that belong to no operation. They are for the suite
// of devices and for examples.
var unclaimed = []string{"test/", "demo/"}

// CheckKernels compares the operations with their shaders. Every kernel that an operation
// lists must exist, and its push-constant block must match the params struct. No
// operation may list a kernel twice, and two operations may not list it with different
// structs. Every operation must list a kernel, and every kernel must be listed.
// CheckKernels needs no device. It returns all errors.
// Errors: ErrABIMismatch; ErrInvalidArgument (a nil operation, or module is nil).
func CheckKernels(ops []*spec.Op, names []string, module spec.Modules) error {
	if module == nil {
		return fmt.Errorf("conformance: kernels: %w: no function that finds modules", errs.ErrInvalidArgument)
	}
	if slices.Contains(ops, nil) {
		return fmt.Errorf("conformance: kernels: %w: no operation", errs.ErrInvalidArgument)
	}
	var wrong []error
	bad := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("conformance: %w: "+format, append([]any{errs.ErrABIMismatch}, args...)...))
	}
	claims := map[string][]string{}
	params := map[string]any{}
	for _, op := range ops {
		if len(op.Kernels) == 0 {
			bad("operation %s claims no kernel, so the ABI fingerprint leaves it out; name those that it launches", op.Name)
		}
		for _, k := range op.Kernels {
			if slices.Contains(claims[k.Name], op.Name) {
				bad("operation %s claims kernel %q twice", op.Name, k.Name)
			}
			if len(claims[k.Name]) > 0 && fmt.Sprintf("%T", params[k.Name]) != fmt.Sprintf("%T", k.Params) {
				bad("kernel %q has params %T in operation %s and %T in %s", k.Name, k.Params, op.Name, params[k.Name], claims[k.Name][0])
			}
			claims[k.Name], params[k.Name] = append(claims[k.Name], op.Name), k.Params
			m, err := module(k.Name)
			if err != nil {
				bad("operation %s claims kernel %q: %w", op.Name, k.Name, err)
				continue
			}
			if err := spec.CheckParams(m, k.Params); err != nil {
				bad("operation %s, kernel %q: %w", op.Name, k.Name, err)
			}
		}
	}
	for _, n := range names {
		free := slices.ContainsFunc(unclaimed, func(p string) bool { return strings.HasPrefix(n, p) })
		if len(claims[n]) == 0 && !free {
			bad("no operation claims kernel %q; remove its shader, or name it in an operation", n)
		}
	}
	return errors.Join(wrong...)
}
