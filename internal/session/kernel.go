package session

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Kernel is a compute shader of any origin, checked for the device of a Session. It does not
// change, so that any goroutine may use it.
type Kernel struct {
	session *Session
	module  *gpu.Module
	pushes  sync.Map // reflect.Type of a params struct → *push
}

// LoadKernel checks a compute shader for the device.
// Errors: ErrInvalidShader, ErrUnsupported, *LimitError, ErrClosed.
func (s *Session) LoadKernel(spirv []byte) (*Kernel, error) {
	m, err := gpu.ParseModule("", spirv)
	if err != nil {
		return nil, fmt.Errorf("%s: load kernel: %w%s", s.surface, err, SourceHint(spirv))
	}
	if err := gpu.CheckModule(s.Info(), m); err != nil {
		return nil, fmt.Errorf("%s: load kernel: %w", s.surface, err)
	}
	if err := s.gpu.Submit(nil); err != nil { // which a closed device refuses
		return nil, fmt.Errorf("%s: load kernel: %w", s.surface, err)
	}
	return &Kernel{session: s, module: m}, nil
}

// SourceHint says in an error what to do with a shader that is text, and not SPIR-V. It is empty
// for other shaders.
func SourceHint(code []byte) string {
	text := string(code[:min(len(code), 4096)])
	switch {
	case strings.Contains(text, "#version"):
		return "; this is GLSL: compile it with glslc file.comp -o file.spv"
	case strings.Contains(text, "@compute"):
		return "; this is WGSL: compile it to SPIR-V first"
	}
	return ""
}

// Run runs the shader for so many invocations in x, y and z. params are the push constants: nil,
// or a struct or a pointer to one. tensors[i] is the tensor at binding i, and no tensor at a
// number that the shader skips.
// Errors: ErrInvalidArgument, ErrInvalidHandle, *LimitError, ctx.Err(), and those of the device.
func (k *Kernel) Run(ctx context.Context, size []int, params any, tensors []Tensor) error {
	if err := errs.Context(ctx); err != nil {
		return fmt.Errorf("%s: run kernel: %w", k.session.surface, err)
	}
	groups, err := k.groups(size)
	if err != nil {
		return err
	}
	push, err := k.push("run kernel", params)
	if err != nil {
		return err
	}
	if err := k.check(tensors); err != nil {
		return err
	}
	ranges := make([]gpu.Binding, len(tensors))
	for i, t := range tensors {
		if t.Buffer == nil {
			continue
		}
		if ranges[i], err = k.session.bindingOf("run kernel", i, t); err != nil {
			return err
		}
	}
	if err := k.session.WaitForRoom(ctx); err != nil {
		return fmt.Errorf("%s: run kernel: %w", k.session.surface, err)
	}
	err = k.session.gpu.Submit([]gpu.Dispatch{{Module: k.module, Bindings: ranges, Params: push, Groups: groups}})
	runtime.KeepAlive(tensors)
	if err != nil {
		return fmt.Errorf("%s: run kernel: %w", k.session.surface, err)
	}
	k.session.holder.launched()
	return nil
}

// groups is the number of workgroups for so many invocations.
func (k *Kernel) groups(size []int) (groups [3]uint32, err error) {
	if len(size) > 3 {
		return groups, fmt.Errorf("%s: run kernel: %w: dimensions of the size (got %d, want 3 at most)", k.session.surface, errs.ErrInvalidArgument, len(size))
	}
	groups = [3]uint32{1, 1, 1}
	for i, n := range size {
		if n < 0 {
			return groups, fmt.Errorf("%s: run kernel: %w: size[%d] is %d (want 0 or more)", k.session.surface, errs.ErrInvalidArgument, i, n)
		}
		local := int64(k.module.LocalSize[i])
		many := int64(n) / local
		if int64(n)%local > 0 {
			many++
		}
		if most := int64(k.session.Info().Limits.MaxGroups[i]); many > min(most, math.MaxUint32) {
			return groups, fmt.Errorf("%s: run kernel: size[%d] is %d: %w", k.session.surface, i, n, &errs.LimitError{Name: fmt.Sprintf("MaxGroups[%d]", i), Want: many, Have: most})
		}
		groups[i] = uint32(many)
	}
	return groups, nil
}

// check compares tensors with the bindings of the shader.
func (k *Kernel) check(tensors []Tensor) error {
	if want := k.module.Slots(); len(tensors) != want {
		return fmt.Errorf("%s: run kernel: %w: tensors (got %d, want %d): the shader has %s", k.session.surface, errs.ErrInvalidArgument, len(tensors), want, k.bindings())
	}
	for i := range k.module.Bindings {
		b := &k.module.Bindings[i]
		t := tensors[b.Slot]
		if t.Buffer == nil {
			return fmt.Errorf("%s: run kernel: %s: %w: no tensor", k.session.surface, where(b), errs.ErrInvalidHandle)
		}
		desc := t.Desc
		if !desc.IsContiguous() {
			return fmt.Errorf("%s: run kernel: %s: %w: %v is a view with gaps or in another order, and the shader sees memory as it lies; use Device.Copy", k.session.surface, where(b), errs.ErrInvalidArgument, desc)
		}
		if want, ok := elements(b); ok && !reads(want, desc.DType) {
			return fmt.Errorf("%s: run kernel: %s: %w: elements (got %v, want %s)", k.session.surface, where(b), errs.ErrInvalidArgument, desc.DType, want)
		}
	}
	return nil
}

// where names a binding and its variable in error texts.
func where(b *spv.Binding) string {
	if b.Name == "" {
		return b.Where()
	}
	return b.Where() + " (" + b.Name + ")"
}

// elements returns the type of the numbers in the array of a binding, such as "f32". It
// reports false for a block that is no plain array, and for variables of several types.
func elements(b *spv.Binding) (string, bool) {
	plain := b.Kind == spv.UniformTexel || b.Kind == spv.StorageTexel || b.Kind == spv.StorageBuffer && b.ArrayStride != 0 && b.ArrayOffset == 0
	kind := numberOf(b.Type)
	_, number := numberBytes[kind]
	return kind, plain && number && !b.Mixed
}

// reads reports whether a shader may read elements of a dtype as numbers of a type.
func reads(kind string, d tensor.DType) bool {
	want, ok := tensor.ParseDType(kind)
	// No shader has numbers of bf16, and many have none of f16: they compute with the bits of both.
	if !ok || d == tensor.Bool || d == tensor.BF16 || d == tensor.F16 && numberBytes[kind] == 2 && kind[0] != 'f' {
		return kind[0] == 'u' || kind[0] == 'i' && numberBytes[kind] == d.Size()
	}
	return want == d || kind[0] == 'u' && want.Size() != d.Size()
}

// LocalSize is the number of invocations of a workgroup in x, y and z.
func (k *Kernel) LocalSize() [3]int {
	l := k.module.LocalSize
	return [3]int{int(l[0]), int(l[1]), int(l[2])}
}

// String describes what the shader expects.
func (k *Kernel) String() string {
	l := k.module.LocalSize
	text := fmt.Sprintf("local size %d,%d,%d; %s", l[0], l[1], l[2], k.bindings())
	if len(k.module.Params) > 0 {
		text += "; params: " + paramList(k.module)
	}
	return text
}

// bindings lists the bindings of the shader.
func (k *Kernel) bindings() string {
	var list []string
	for i := range k.module.Bindings {
		b := &k.module.Bindings[i]
		list = append(list, fmt.Sprintf("%s: %s, %v", where(b), b.Type, b.Access))
	}
	if list == nil {
		return "no bindings"
	}
	return strings.Join(list, "; ")
}
