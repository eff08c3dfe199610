package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// generator works on one repository.
type generator struct {
	root string
	jobs int
	out  io.Writer
	// A check recompiles the kernels of this part, from 1 on, out of so many; all of
	// them if parts is 0.
	part, parts int
}

// spv is where the module of a kernel lies.
func (g *generator) spv(name string) string {
	return filepath.Join(g.root, filepath.FromSlash(spvPath(name)))
}

// spvPath is the same in the repository. The kernels of no operation lie in a folder of
// their own, so that only programs that want them embed them.
func spvPath(name string) string {
	if freeStanding(name) {
		return "internal/extra/" + name + ".spv"
	}
	return "spirv/" + name + ".spv"
}

// sums reads spirv.sum; a missing file is empty sums.
func (g *generator) sums() (sums, error) {
	b, err := os.ReadFile(filepath.Join(g.root, "spirv", "spirv.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sums{}, fmt.Errorf("genspirv: %w", err)
	}
	return parseSums(string(b))
}

// build compiles the kernels whose sources, tools or modules changed. With
// only, it compiles no others; their sums stay.
func (g *generator) build(ctx context.Context, only []string) error {
	list, err := kernels(g.root)
	if err != nil {
		return err
	}
	if err := known(list, only); err != nil {
		return err
	}
	old, err := g.sums()
	if err != nil {
		return fmt.Errorf("%w; delete the file and run again", err)
	}
	t, err := installed(ctx)
	if err != nil {
		return err
	}
	if old.tools != t {
		only = nil // sums of one file speak of one set of tools
	}
	next := sums{tools: t, kernels: map[string]sum{}}
	var stale []kernel
	for _, k := range list {
		src, err := closure(g.root, k, t)
		if err != nil {
			return err
		}
		was, ok := old.kernels[k.name]
		if ok && (was.src == src && g.intact(k.name, was) || len(only) > 0 && !picked(k, only)) {
			next.kernels[k.name] = was
			continue
		}
		if len(only) == 0 || picked(k, only) {
			next.kernels[k.name] = sum{src: src}
			stale = append(stale, k)
		}
	}
	var mu sync.Mutex
	written := 0
	err = g.each(ctx, stale, func(k kernel) error {
		code, err := compile(ctx, g.root, k)
		if err != nil {
			return err
		}
		changed, err := writeFile(g.spv(k.name), code)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		next.kernels[k.name] = sum{spv: sha256.Sum256(code), src: next.kernels[k.name].src}
		if changed {
			written++
		}
		return nil
	})
	// What did compile is recorded even if something else did not.
	for _, k := range stale {
		if next.kernels[k.name].spv == [sha256.Size]byte{} {
			delete(next.kernels, k.name)
		}
	}
	removed := 0
	if err == nil {
		removed, err = g.removeOrphans(list)
	}
	if _, werr := writeFile(filepath.Join(g.root, "spirv", "spirv.sum"), []byte(next.text())); err == nil {
		err = werr
	}
	if err != nil {
		return err
	}
	if err := g.writePacks(list); err != nil {
		return err
	}
	fmt.Fprintf(g.out, "genspirv: %d kernels, %d compiled, %d written, %d orphans removed\n", len(list), len(stale), written, removed)
	return g.writeABI(list)
}

// each runs f on every kernel, jobs at a time, and joins the errors in order
// of the kernels' names.
func (g *generator) each(ctx context.Context, list []kernel, f func(kernel) error) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	slots := make(chan struct{}, g.jobs)
	for i, k := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = f(k)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// known reports an argument that is no shader file.
func known(list []kernel, only []string) error {
	for i, o := range only {
		o = filepath.ToSlash(filepath.Clean(o))
		only[i] = o
		if !slices.ContainsFunc(list, func(k kernel) bool { return k.source == o }) {
			return fmt.Errorf("genspirv: %s is not a shader (want a path such as shaders/image/grayscale.comp)", o)
		}
	}
	return nil
}

func picked(k kernel, only []string) bool { return slices.Contains(only, k.source) }

// intact reports whether the committed module has the recorded hash.
func (g *generator) intact(name string, s sum) bool {
	b, err := os.ReadFile(g.spv(name))
	return err == nil && sha256.Sum256(b) == s.spv
}

// files lists the paths of the modules or packed files that there are, such as
// "spirv/image/sharpen.u8.spv".
func (g *generator) files(ext string) ([]string, error) {
	var list []string
	for _, pattern := range []string{"spirv/*/*" + ext, "internal/extra/*/*" + ext} {
		found, err := fs.Glob(os.DirFS(g.root), pattern)
		if err != nil {
			return nil, fmt.Errorf("genspirv: %w", err)
		}
		list = append(list, found...)
	}
	return list, nil
}

// orphans lists the modules that no shader declares.
func (g *generator) orphans(list []kernel) ([]string, error) {
	declared := map[string]bool{}
	for _, k := range list {
		declared[spvPath(k.name)] = true
	}
	files, err := g.files(".spv")
	return slices.DeleteFunc(files, func(f string) bool { return declared[f] }), err
}

// removeOrphans deletes the modules no shader declares.
func (g *generator) removeOrphans(list []kernel) (int, error) {
	files, err := g.orphans(list)
	if err != nil {
		return 0, err
	}
	for i, f := range files {
		if err := os.Remove(filepath.Join(g.root, f)); err != nil {
			return i, fmt.Errorf("genspirv: %w", err)
		}
	}
	return len(files), nil
}

// writeFile replaces the file in one step, and only if its content changes.
func writeFile(name string, data []byte) (changed bool, err error) {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return false, fmt.Errorf("genspirv: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".genspirv-*")
	if err != nil {
		return false, fmt.Errorf("genspirv: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
		return false, fmt.Errorf("genspirv: %w", err)
	}
	return true, nil
}
