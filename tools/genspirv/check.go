package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/internal/pack"
	"github.com/lathe-gpu/lathe/internal/spv"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
)

// advice ends every finding of a check.
const advice = `run "make shaders" and commit what it writes`

// check proves that what is committed is what the sources give. It needs no
// compiler; where the very one of spirv.sum is installed it also compiles
// everything again and compares byte for byte.
func (g *generator) check(ctx context.Context) error {
	list, err := kernels(g.root)
	if err != nil {
		return err
	}
	s, err := g.sums()
	if err != nil {
		return fmt.Errorf("%w; %s", err, advice)
	}
	var found []error
	report := func(format string, args ...any) {
		found = append(found, fmt.Errorf("genspirv: check: "+format, args...))
	}
	if want := flagsOnly(); s.tools.glslcFlags != want.glslcFlags || s.tools.optFlags != want.optFlags {
		report("spirv.sum was made with other compiler flags; %s", advice)
	}
	declared := map[string]bool{}
	for _, k := range list {
		declared[k.name] = true
		src, err := closure(g.root, k, s.tools)
		if err != nil {
			return err
		}
		was, ok := s.kernels[k.name]
		switch {
		case !ok:
			report("kernel %s (%s) is not in spirv.sum; %s", k.name, k.source, advice)
		case was.src != src:
			report("kernel %s: %s or a file it includes changed since it was compiled; %s", k.name, k.source, advice)
		}
		code, err := os.ReadFile(g.spv(k.name))
		switch {
		case err != nil:
			report("kernel %s: %s is missing; %s", k.name, spvPath(k.name), advice)
		case ok && sha256.Sum256(code) != was.spv:
			report("kernel %s: %s is not the module spirv.sum records; %s", k.name, spvPath(k.name), advice)
		}
	}
	for name := range s.kernels {
		if !declared[name] {
			report("spirv.sum has the kernel %s, which no shader declares; %s", name, advice)
		}
	}
	orphans, err := g.orphans(list)
	if err != nil {
		return err
	}
	for _, f := range orphans {
		report("%s is an orphan: no shader declares it; %s", f, advice)
	}
	slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if len(found) == 0 {
		stale, err := g.stalePacks(list)
		if err != nil {
			return err
		}
		found = append(append(found, stale...), claims(list, spec.All())...)
	}
	if len(found) == 0 {
		found = append(found, g.checkABI())
	}
	if err := errors.Join(found...); err != nil {
		return err
	}
	return g.recompile(ctx, list, s.tools)
}

// recompile compiles the part of the kernels that g names into memory and compares, if
// it can.
func (g *generator) recompile(ctx context.Context, list []kernel, pinned tools) error {
	have, err := installed(ctx)
	if err != nil {
		fmt.Fprintf(g.out, "genspirv: check: %d kernels, hashes match; not recompiled: no shader compiler here\n", len(list))
		return nil
	}
	if have != pinned {
		fmt.Fprintf(g.out, "genspirv: check: %d kernels, hashes match; not recompiled: the compiler here is %s with %s (spirv.sum: %s with %s)\n",
			len(list), have.glslc, have.opt, pinned.glslc, pinned.opt)
		return nil
	}
	all := len(list)
	list = g.ofPart(list)
	err = g.each(ctx, list, func(k kernel) error {
		code, err := compile(ctx, g.root, k)
		if err != nil {
			return err
		}
		old, err := os.ReadFile(g.spv(k.name))
		if err != nil || !bytes.Equal(code, old) {
			return fmt.Errorf("genspirv: check: kernel %s: %s is not what %s compiles to; %s", k.name, spvPath(k.name), k.source, advice)
		}
		return nil
	})
	if err == nil {
		fmt.Fprintf(g.out, "genspirv: check: %d kernels, hashes match, %d recompiled byte for byte\n", all, len(list))
	}
	return err
}

// ofPart returns the kernels of the part that g names. Neighbours in the list are in
// different parts, because kernels of one file take equally long.
func (g *generator) ofPart(list []kernel) []kernel {
	if g.parts < 2 {
		return list
	}
	var part []kernel
	for i := g.part - 1; i < len(list); i += g.parts {
		part = append(part, list[i])
	}
	return part
}

// claims checks that each kernel belongs to an operation, at least one, and that every
// kernel an operation names exists.
func claims(list []kernel, ops []*spec.Op) []error {
	by := map[string][]string{}
	for _, op := range ops {
		for _, k := range op.Kernels {
			by[k.Name] = append(by[k.Name], op.Name)
		}
	}
	var found []error
	for _, k := range list {
		if len(by[k.name]) == 0 && !freeStanding(k.name) && !isPart(k.name) {
			found = append(found, fmt.Errorf("genspirv: check: no operation claims the kernel %s (%s); add it to the Kernels of its op or delete the shader", k.name, k.source))
		}
		delete(by, k.name)
	}
	for name, owners := range by {
		found = append(found, fmt.Errorf("genspirv: check: operation %s claims the kernel %s, which no shader declares; add shaders/%s.comp with this variant", owners[0], name, strings.Split(name, ".")[0]))
	}
	slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return found
}

// freeStanding reports whether a kernel may belong to no operation: those of the
// demo and of the device suite are launched by their own programs.
func freeStanding(name string) bool {
	return strings.HasPrefix(name, "demo/") || strings.HasPrefix(name, "test/")
}

// module reads a committed module.
func (g *generator) module(name string) (*spv.Module, error) {
	code, err := os.ReadFile(g.spv(name))
	if err != nil {
		return nil, fmt.Errorf("genspirv: kernel %s: %w; %s", name, err, advice)
	}
	return spv.Parse(name, code)
}

// abiText is the content of abi.txt: the fingerprint and the text.
func (g *generator) abiText() (string, error) {
	var names []string
	modules := map[string]*spv.Module{}
	for _, op := range spec.All() {
		for _, k := range op.Kernels {
			names = append(names, k.Name)
			m := modules[k.Name]
			if m == nil {
				var err error
				if m, err = g.module(k.Name); err != nil {
					return "", err
				}
			}
			if err := spec.CheckParams(m, k.Params); err != nil {
				return "", err
			}
			modules[k.Name] = m
		}
	}
	t, err := spec.ShaderTable(spec.All(), names, func(name string) (*spv.Module, error) { return modules[name], nil })
	if err != nil {
		return "", err
	}
	text := t.Text()
	return fmt.Sprintf("fingerprint %016x\n%s", abi.Fingerprint(text), text), nil
}

// writeABI writes abi.txt, packs it for programs, and says what check would object to.
func (g *generator) writeABI(list []kernel) error {
	text, err := g.abiText()
	if err != nil {
		return err
	}
	if _, err := writeFile(filepath.Join(g.root, "spirv", "abi.txt"), []byte(text)); err != nil {
		return err
	}
	if !g.packedABI(text) {
		data, err := pack.EncodeText([]byte(text))
		if err != nil {
			return fmt.Errorf("genspirv: spirv/abi.pack: %w", err)
		}
		if _, err := writeFile(filepath.Join(g.root, "spirv", "abi.pack"), data); err != nil {
			return err
		}
	}
	for _, note := range claims(list, spec.All()) {
		fmt.Fprintln(g.out, note)
	}
	return nil
}

// packedABI reports whether abi.pack holds the text. It compares what the file unpacks to,
// as packed does.
func (g *generator) packedABI(text string) bool {
	data, err := os.ReadFile(filepath.Join(g.root, "spirv", "abi.pack"))
	if err != nil {
		return false
	}
	have, err := pack.DecodeText(data)
	return err == nil && string(have) == text
}

// checkABI compares abi.txt and abi.pack with what the declarations give.
func (g *generator) checkABI() error {
	text, err := g.abiText()
	if err != nil {
		return err
	}
	old, err := os.ReadFile(filepath.Join(g.root, "spirv", "abi.txt"))
	if err != nil || string(old) != text {
		return fmt.Errorf("genspirv: check: spirv/abi.txt is not what shaders and operations give; %s", advice)
	}
	if !g.packedABI(text) {
		return fmt.Errorf("genspirv: check: spirv/abi.pack does not hold spirv/abi.txt; %s", advice)
	}
	return nil
}
