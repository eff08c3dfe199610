package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/pack"
)

// packPath is the packed file that holds a kernel: one for each shader file, and one for the parts
// of each group.
func packPath(name string) string {
	return "spirv/" + pack.Path(name)
}

// packs are the modules that belong into each packed file, by path, in the order of
// their names. Kernels of no operation are not packed: no user's program has them.
func (g *generator) packs(list []kernel) (map[string][]pack.Module, error) {
	all := map[string][]pack.Module{}
	for _, k := range list {
		if freeStanding(k.name) {
			continue
		}
		code, err := os.ReadFile(g.spv(k.name))
		if err != nil {
			return nil, fmt.Errorf("genspirv: kernel %s: %w; %s", k.name, err, advice)
		}
		path := packPath(k.name)
		all[path] = append(all[path], pack.Module{Name: k.name, Code: code})
	}
	for _, ms := range all {
		slices.SortFunc(ms, func(a, b pack.Module) int { return strings.Compare(a.Name, b.Name) })
	}
	return all, nil
}

// packed reports whether a packed file holds these modules and no others. It compares
// what the file unpacks to, so that another release of the compressor does not make
// files stale.
func (g *generator) packed(path string, want []pack.Module) bool {
	data, err := os.ReadFile(filepath.Join(g.root, path))
	if err != nil {
		return false
	}
	have, err := pack.Decode(data)
	return err == nil && slices.EqualFunc(have, want, func(a, b pack.Module) bool {
		return a.Name == b.Name && bytes.Equal(a.Code, b.Code)
	})
}

// stalePacks names the packed files that are not what the modules beside them give.
func (g *generator) stalePacks(list []kernel) ([]error, error) {
	all, err := g.packs(list)
	if err != nil {
		return nil, err
	}
	var found []error
	for path, want := range all {
		if !g.packed(path, want) {
			found = append(found, fmt.Errorf("genspirv: check: %s does not hold the modules of its shader; %s", path, advice))
		}
	}
	files, err := g.files(".pack")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if all[f] == nil {
			found = append(found, fmt.Errorf("genspirv: check: %s is an orphan: no shader gives it; %s", f, advice))
		}
	}
	slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return found, nil
}

// writePacks writes the packed files that are stale and deletes those that no shader
// gives.
func (g *generator) writePacks(list []kernel) error {
	all, err := g.packs(list)
	if err != nil {
		return err
	}
	for path, modules := range all {
		if g.packed(path, modules) {
			continue
		}
		data, err := pack.Encode(modules)
		if err != nil {
			return fmt.Errorf("genspirv: %s: %w", path, err)
		}
		if _, err := writeFile(filepath.Join(g.root, path), data); err != nil {
			return err
		}
	}
	files, err := g.files(".pack")
	if err != nil {
		return err
	}
	for _, f := range files {
		if all[f] == nil {
			if err := os.Remove(filepath.Join(g.root, filepath.FromSlash(f))); err != nil {
				return fmt.Errorf("genspirv: %w", err)
			}
		}
	}
	return nil
}
