package ops

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// isIndex reports whether tensors of d may be indices.
func isIndex(d tensor.DType) bool { return slices.Contains(indexing.DTypes, d) }

// addIndexCheck is indexing.AddCheck for operations whose errors name themselves.
func addIndexCheck(plan *spec.Plan, t *spec.Target, op string, ref spec.Ref, d tensor.DType, count, limit int) error {
	status, err := indexing.AddCheck(plan, t, ref, d, count, limit)
	if err != nil {
		return err
	}
	check := &plan.Checks[status.Index]
	unnamed := check.Error
	check.Error = func(words [4]uint32) error { return fmt.Errorf("ops: %s: %w", op, unnamed(words)) }
	return nil
}
