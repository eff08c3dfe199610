package pack

import (
	"sync/atomic"

	"github.com/lathe-gpu/lathe/internal/spv"
)

// more finds the kernels that are not in package spirv.
var more atomic.Pointer[func(name string) (*spv.Module, error)]

// SetMore says where the steps of an operation that only tests declare find a kernel
// that package spirv does not hold. Package extra calls it.
func SetMore(find func(name string) (*spv.Module, error)) { more.Store(&find) }

// More finds such a kernel; nil if there is none.
func More(name string) *spv.Module {
	find := more.Load()
	if find == nil {
		return nil
	}
	m, err := (*find)(name)
	if err != nil {
		return nil
	}
	return m
}
