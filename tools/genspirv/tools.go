package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/spv"
)

// The one set of flags every kernel is compiled with. glslc does not optimise:
// its -O may fuse multiplications and additions, and what spirv-opt does is
// chosen below.
var glslcFlags = []string{"--target-env=vulkan1.1", "-Werror", "-fshader-stage=compute"}

// Passes that make modules smaller and quicker to compile and leave every
// floating-point result alone: none of them reorders, contracts or otherwise
// rewrites arithmetic (simplify-instructions would).
var optFlags = []string{
	"--target-env=vulkan1.1", "--preserve-bindings", "--preserve-spec-constants",
	"--eliminate-dead-branches", "--merge-return", "--inline-entry-points-exhaustive", "--eliminate-dead-functions",
	"--private-to-local", "--eliminate-local-single-block", "--eliminate-local-single-store",
	"--scalar-replacement=100", "--convert-local-access-chains", "--ssa-rewrite", "--eliminate-dead-code-aggressive",
	"--ccp", "--loop-unroll", "--eliminate-dead-branches", "--scalar-replacement=100", "--convert-local-access-chains",
	"--ssa-rewrite", "--ccp", "--redundancy-elimination", "--eliminate-dead-code-aggressive", "--vector-dce",
	"--eliminate-dead-inserts", "--eliminate-dead-branches", "--merge-blocks", "--eliminate-dead-code-aggressive",
	"--eliminate-dead-const", "--compact-ids",
}

// tools identifies the compilers: kernels are the same byte for byte only when
// all of this is the same.
type tools struct {
	glslc, opt string // versions
	glslcFlags string
	optFlags   string
}

// lines are the header lines of spirv.sum.
func (t tools) lines() []string {
	return []string{"glslc " + t.glslc, "glslc-flags " + t.glslcFlags, "spirv-opt " + t.opt, "spirv-opt-flags " + t.optFlags}
}

// installed finds the compilers. ok is false if one is missing; err then says
// how to get it.
func installed(ctx context.Context) (t tools, err error) {
	for _, name := range []string{"glslc", "spirv-opt", "spirv-val"} {
		if _, err := exec.LookPath(name); err != nil {
			return tools{}, fmt.Errorf("genspirv: %s is not installed; compiling shaders needs it (Debian, Ubuntu: apt-get install glslc spirv-tools); using Lathe does not", name)
		}
	}
	version := func(name string) (string, error) {
		out, err := exec.CommandContext(ctx, name, "--version").Output()
		if err != nil {
			return "", fmt.Errorf("genspirv: %s --version: %w", name, err)
		}
		var parts []string
		for _, line := range strings.Split(string(out), "\n") {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "Target") {
				break
			}
			parts = append(parts, line)
		}
		return strings.Join(parts, "; "), nil
	}
	t = flagsOnly()
	if t.glslc, err = version("glslc"); err != nil {
		return tools{}, err
	}
	t.opt, err = version("spirv-opt")
	return t, err
}

// flagsOnly is a tools without versions.
func flagsOnly() tools {
	return tools{glslcFlags: strings.Join(glslcFlags, " "), optFlags: strings.Join(optFlags, " ")}
}

// compile makes the SPIR-V of a kernel.
func compile(ctx context.Context, root string, k kernel) ([]byte, error) {
	dir, err := os.MkdirTemp("", "genspirv")
	if err != nil {
		return nil, fmt.Errorf("genspirv: %w", err)
	}
	defer os.RemoveAll(dir)
	raw, opt := filepath.Join(dir, "raw.spv"), filepath.Join(dir, "opt.spv")
	args := append(slices.Clone(glslcFlags), "-I", "shaders")
	for _, d := range k.defines {
		args = append(args, "-D"+d)
	}
	if err := tool(ctx, root, k, "glslc", append(args, "-o", raw, filepath.FromSlash(k.source))...); err != nil {
		return nil, err
	}
	if err := edit(raw, mark); err != nil {
		return nil, err
	}
	if isPart(k.name) {
		if err := edit(raw, keep); err != nil {
			return nil, fmt.Errorf("%w (kernel %s)", err, k.name)
		}
	}
	if err := tool(ctx, root, k, "spirv-opt", append(slices.Clone(optFlags), raw, "-o", opt)...); err != nil {
		return nil, err
	}
	if err := edit(opt, unmark); err != nil {
		return nil, err
	}
	if isPart(k.name) {
		if err := edit(opt, release); err != nil {
			return nil, fmt.Errorf("%w (kernel %s)", err, k.name)
		}
	}
	if err := tool(ctx, root, k, "spirv-val", "--target-env", "vulkan1.1", opt); err != nil {
		return nil, err
	}
	code, err := os.ReadFile(opt)
	if err != nil {
		return nil, fmt.Errorf("genspirv: %w", err)
	}
	m, err := spv.Parse(k.name, code)
	if err == nil {
		// Parse folds sets; the modules that are embedded are read as they are.
		for _, b := range m.Bindings {
			if b.Set != 0 && err == nil {
				err = fmt.Errorf("%s: binding %d is in descriptor set %d, want set 0", k.name, b.Number, b.Set)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("genspirv: %s: %w", k.source, err)
	}
	return code, nil
}

// edit changes a file.
func edit(file string, f func([]byte) ([]byte, error)) error {
	code, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("genspirv: %w", err)
	}
	if code, err = f(code); err != nil {
		return err
	}
	if err := os.WriteFile(file, code, 0o666); err != nil {
		return fmt.Errorf("genspirv: %w", err)
	}
	return nil
}

// tool runs one program; what it prints becomes the error's text.
func tool(ctx context.Context, root string, k kernel, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("genspirv: %s (kernel %s): %s: %w\n%s", k.source, k.name, name, err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}
