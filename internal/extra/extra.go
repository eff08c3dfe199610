// Package extra holds the compiled kernels that belong to no operation. They are for the
// suite of devices and the measurement of ceilings (test/), and for demonstrations
// (demo/). They are built like those of package spirv. The command embeds them for its
// benchmarks. A program that uses Lathe does not.
package extra

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

//go:embed */*.spv
var files embed.FS

// modules has all kernels by name.
var modules = sync.OnceValues(func() (map[string]*spv.Module, error) {
	all := map[string]*spv.Module{}
	groups, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		list, err := files.ReadDir(g.Name())
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			code, err := files.ReadFile(g.Name() + "/" + f.Name())
			if err != nil {
				return nil, err
			}
			name := g.Name() + "/" + strings.TrimSuffix(f.Name(), ".spv")
			if all[name], err = spv.Reflect(name, code); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
})

// Module returns the kernel with a name such as "demo/saxpy.f32". All callers share it.
// Errors: ErrInvalidArgument for an unknown name.
func Module(name string) (*spv.Module, error) {
	all, err := modules()
	if err != nil {
		return nil, fmt.Errorf("extra: module: %w", err)
	}
	m := all[name]
	if m == nil {
		return nil, fmt.Errorf("extra: module: %w: no kernel is named %q", errs.ErrInvalidArgument, name)
	}
	return m, nil
}

// Names returns the names of all kernels, sorted.
func Names() []string {
	all, _ := modules()
	names := make([]string, 0, len(all))
	for n := range all {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
