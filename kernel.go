package lathe

import (
	"context"
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
)

// Kernel is a compute shader of your own, checked for one Device. Device.LoadKernel makes
// it. Its methods may be called from any goroutine. It holds nothing of the device, so there
// is nothing to close.
type Kernel struct{ kernel *session.Kernel }

// LoadKernel checks a compute shader and makes a Kernel of it. spirv is SPIR-V of any
// compiler, such as "glslc x.comp -o x.spv". The entry point is the one called "main", or the
// only one; gpu.ModuleEntry chooses among several. Specialisation constants have their default
// values, also where they are the size of a workgroup.
//
// The driver compiles the shader when it runs for the first time.
//
// Errors: ErrInvalidShader, ErrUnsupported (the device or Lathe does not have what the shader
// needs), *LimitError, ErrClosed.
func (d *Device) LoadKernel(spirv []byte) (*Kernel, error) {
	if err := d.ready("load kernel"); err != nil {
		return nil, err
	}
	k, err := d.session.LoadKernel(spirv)
	if err != nil {
		return nil, err
	}
	return &Kernel{k}, nil
}

// Run runs the kernel for so many invocations in x, y and z, and does not wait for the result.
// Dimensions that size leaves out are 1. If one is 0, nothing runs. The shader runs in whole
// workgroups, so that more invocations may run than asked for: the shader must compare
// gl_GlobalInvocationID with the size, which it finds in its push constants or in the length
// of a buffer. Where a workgroup does work of its own, such as a tile, size is the number of
// workgroups times LocalSize.
//
// params are the push constants: nil, or a struct or a pointer to one. Its fields are the
// members of the shader's block in the same order. They have the types of the members (float32
// for float, int32, uint32, [3]float32 for vec3, [4][4]float32 for the columns of a mat4, bool
// for bool, structs and arrays of them) and their names. Case and underscores in names do not
// count, and no name counts if the compiler has removed them, as glslc -O does. Fields
// called _ are left out. Run puts each number where the block has it, so that the struct needs
// no padding.
//
// tensors[i] is the tensor at binding i, as DispatchCompute counts. A number that the shader
// skips may be nil. Tensors must be contiguous. If the shader declares an array of numbers or
// vectors, the tensor must have elements of that type. An array of an unsigned type also takes
// elements of another size, so that a shader can read u8, f16 or i64 as words of u32. Arrays of
// integers of 16 bits take f16 and bf16 as their bits.
// DispatchCompute takes any tensors.
//
// Errors: ErrInvalidArgument, ErrInvalidHandle, *LimitError, ErrNotInitialized (a Kernel that
// LoadKernel did not make), ErrClosed, ctx.Err(). After an error nothing has been run.
func (k *Kernel) Run(ctx context.Context, size []int, params any, tensors ...*Tensor) error {
	if k == nil || k.kernel == nil {
		return fmt.Errorf("lathe: run kernel: %w: a Kernel that LoadKernel did not make", errs.ErrNotInitialized)
	}
	var fewBound [few]session.Tensor
	return k.kernel.Run(ctx, size, params, appendMemory(fewBound[:0], tensors))
}

// LocalSize is the number of invocations of a workgroup in x, y and z. It is zeros for a
// Kernel that LoadKernel did not make.
func (k *Kernel) LocalSize() [3]int {
	if k == nil || k.kernel == nil {
		return [3]int{}
	}
	return k.kernel.LocalSize()
}

// String describes what the shader expects: its local size, its bindings and its push
// constants, as "local size 64,1,1; binding 0 (X): f32, read; params: n uint32".
func (k *Kernel) String() string {
	if k == nil || k.kernel == nil {
		return "no kernel"
	}
	return k.kernel.String()
}
