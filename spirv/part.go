package spirv

import (
	"embed"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pack"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// The parts of kernels that are linked at run time are embedded apart from the kernels, one packed file a
// group. Only LinkFused refers to them.
var (
	//go:embed fused/*.pack
	fusedFiles embed.FS
	parts      atomic.Pointer[embed.FS]
	partPacks  sync.Map // path → func() (map[string]*spv.Module, error)
)

// LinkFused puts the parts of fused kernels into the program, for Part.
func LinkFused() { parts.Store(&fusedFiles) }

// Part returns a part of kernels, such as "math/exp.f32.function": a module whose function
// package spv links into others. No device launches it.
// Errors: ErrInvalidArgument for an unknown name, ErrABIMismatch for parts that are damaged, or not linked.
func Part(name string) (*spv.Module, error) {
	path := pack.Path(name)
	files := parts.Load()
	if files == nil {
		return nil, fmt.Errorf("spirv: part: %w: %s, of part %q, is not linked; install a matching release", errs.ErrABIMismatch, path, name)
	}
	load, ok := partPacks.Load(path)
	if !ok {
		load, _ = partPacks.LoadOrStore(path, sync.OnceValues(func() (map[string]*spv.Module, error) { return unpackParts(files, path) }))
	}
	all, err := load.(func() (map[string]*spv.Module, error))()
	if err != nil {
		return nil, err
	}
	if m := all[name]; m != nil && pack.IsPart(name) {
		return m, nil
	}
	return nil, fmt.Errorf("spirv: part: %w: no part is named %q", errs.ErrInvalidArgument, name)
}

// unpackParts returns the parts of a packed file. If there is no such file there are none.
func unpackParts(files fs.FS, path string) (map[string]*spv.Module, error) {
	data, err := fs.ReadFile(files, path)
	if err != nil {
		return nil, nil
	}
	list, err := pack.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("spirv: part: %w: %s: %w", errs.ErrABIMismatch, path, err)
	}
	all := make(map[string]*spv.Module, len(list))
	for _, m := range list {
		if all[m.Name], err = spv.Reflect(m.Name, m.Code); err != nil {
			return nil, fmt.Errorf("spirv: part: %w: %s: %w", errs.ErrABIMismatch, path, err)
		}
	}
	return all, nil
}
