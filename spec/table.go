package spec

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Modules returns the shader with a name, or an error if there is none.
type Modules = func(name string) (*spv.Module, error)

// Table describes the operations and the kernels of a shader bundle for the ABI
// fingerprint. The method Text of the result writes it as text. The push-constant layouts
// are those of the Go params structs. So the fingerprint of a running program covers its
// own declarations. Kernels that no operation lists have the layouts of their shaders.
// Operations without Kernels belong to other programs and are not part of the table.
// Errors: those of module, which say that a program's own operation must have no Kernels,
// and ErrInvalidArgument for a params struct that cannot be push constants.
func Table(ops []*Op, kernels []string, module Modules) (abi.Table, error) {
	return table(ops, kernels, module, func(k Kernel, _ *spv.Module) ([]spv.Member, error) { return Layout(k.Params) })
}

// ShaderTable is Table with the push-constant layouts that the shaders declare. The build
// uses it, and Table is compared with it.
func ShaderTable(ops []*Op, kernels []string, module Modules) (abi.Table, error) {
	return table(ops, kernels, module, func(_ Kernel, m *spv.Module) ([]spv.Member, error) { return m.Params, nil })
}

// table is Table with the push-constant layouts that params returns.
func table(ops []*Op, kernels []string, module Modules, params func(Kernel, *spv.Module) ([]spv.Member, error)) (abi.Table, error) {
	var t abi.Table
	if module == nil {
		return t, noCall("no modules to describe")
	}
	for _, d := range tensor.DTypes() {
		t.DTypes = append(t.DTypes, abi.TableDType{Name: d.String(), Code: uint8(d), Size: d.Size()})
	}
	seen := map[string]bool{}
	for _, op := range ops {
		if op == nil {
			return abi.Table{}, noCall("no operation to describe")
		}
		if len(op.Kernels) == 0 {
			continue
		}
		row := abi.TableOp{Name: op.Name}
		for _, a := range op.In {
			row.In = append(row.In, a.Name)
		}
		for _, a := range op.Out {
			row.Out = append(row.Out, a.Name)
		}
		for _, k := range op.Kernels {
			m, err := module(k.Name)
			if err != nil {
				return abi.Table{}, fmt.Errorf("spec: operation %s: Kernels: %w; leave Kernels empty in an operation of your own and give its steps modules of gpu.ParseModule, or run \"make shaders\" for one of Lathe", op.Name, err)
			}
			entry := abi.NewTableKernel(m)
			if entry.Params, err = params(k, m); err != nil {
				return abi.Table{}, fmt.Errorf("spec: operation %s: kernel %s: %w", op.Name, k.Name, err)
			}
			row.Kernels = append(row.Kernels, k.Name)
			if !seen[k.Name] { // Several operations may launch the same kernel.
				t.Kernels = append(t.Kernels, entry)
				seen[k.Name] = true
			}
		}
		t.Ops = append(t.Ops, row)
	}
	for _, name := range kernels {
		if seen[name] {
			continue
		}
		m, err := module(name)
		if err != nil {
			return abi.Table{}, fmt.Errorf("spec: %w", err)
		}
		t.Kernels = append(t.Kernels, abi.NewTableKernel(m))
	}
	return t, nil
}

// VerifyABI compares an operation with the shader bundle. built is the part of the bundle's ABI
// text that describes the operation: the element types, its arguments, its kernels. It was written
// when the bundle was built. The same text is written now, from the declaration in Go and with
// the modules of the bundle. An operation without Kernels belongs to the program, and agrees.
// Errors: ErrABIMismatch, which says what to do; ErrInvalidArgument without an operation.
func VerifyABI(op *Op, built string, module Modules) error {
	if op == nil {
		return noCall("no operation to verify")
	}
	if len(op.Kernels) == 0 {
		return nil
	}
	t, err := Table([]*Op{op}, nil, module)
	if err != nil {
		return fmt.Errorf("%w: %w", errs.ErrABIMismatch, err)
	}
	if have := t.Text(); have != built {
		return fmt.Errorf("spec: operation %s: %w: the Go declaration gives %016x, the shader bundle was built for %016x; run \"make shaders\" and rebuild, or install a matching release; an operation of your own must have no Kernels", op.Name, errs.ErrABIMismatch, abi.Fingerprint(have), abi.Fingerprint(built))
	}
	return nil
}
