package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// thirdParty is the file of an archive that has the licenses of others.
const thirdParty = "THIRD_PARTY_LICENSES"

// webgpu is the module that brings a library of Rust code, wgpu-native.
const webgpu = "github.com/cogentcore/webgpu"

// licenses are the licenses of all that is linked into a program: Go, the modules that the
// program names itself, and wgpu-native. root is the folder of the module of the program, and t is
// what it was built for.
func licenses(root, program string, t target) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	goroot, err := output(root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := licensesOf(&out, "Go "+info.GoVersion, goroot); err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		dir, err := output(root, nil, "go", "list", "-m", "-f", "{{.Dir}}", m.Path+"@"+m.Version)
		if err != nil {
			return nil, err
		}
		name := m.Path + " " + m.Version
		if dir == "" {
			return nil, fmt.Errorf("%s is not in the module cache: go mod download", name)
		}
		if err := licensesOf(&out, name, dir); err != nil {
			return nil, err
		}
		if m.Path == "github.com/gen2brain/avif" { // what is compiled into its modules
			if err := licensesOf(&out, name, filepath.Join(dir, "lib")); err != nil {
				return nil, err
			}
		}
		if m.Path == webgpu {
			if err := rust(&out, name, filepath.Join(dir, "wgpu", "lib", t.goos, t.goarch)); err != nil {
				return nil, err
			}
		}
	}
	return out.Bytes(), nil
}

// licensesOf writes the licenses and notices in a folder.
func licensesOf(out *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		upper := strings.ToUpper(e.Name())
		if e.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "UNLICENSE", "COPYING", "NOTICE", "PATENTS"}, func(p string) bool { return strings.HasPrefix(upper, p) }) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "==== %s: %s\n\n%s\n\n", name, e.Name(), bytes.TrimSpace(data))
		found = found || !strings.HasPrefix(upper, "PATENTS")
	}
	if !found {
		return fmt.Errorf("%s has no license in %s", name, dir)
	}
	return nil
}

// crate is the source of a Rust crate in the text of a panic: its name and version.
var crate = regexp.MustCompile(`registry/src/[^/\x00]+/([a-z0-9_-]+-[0-9][0-9A-Za-z.+-]*)/`)

// rust writes what is in the library of wgpu-native. The module has no licenses of it, so this
// says where they are.
func rust(out *bytes.Buffer, module, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*wgpu_native*"))
	if err != nil {
		return err
	}
	var crates []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		for _, m := range crate.FindAllSubmatch(data, -1) {
			crates = append(crates, string(m[1]))
		}
	}
	if len(crates) == 0 {
		return fmt.Errorf("%s has no library with the names of Rust crates in %s", module, dir)
	}
	slices.Sort(crates)
	fmt.Fprintf(out, `==== wgpu-native, a library in %s

The library is by the gfx-rs developers, under the MIT License or the Apache License 2.0, whose text
is in LICENSE: https://github.com/gfx-rs/wgpu-native. The header webgpu.h is by the WebGPU-Native
developers, under BSD-3-Clause. The library contains the standard library of Rust, under the same two
licenses as itself, and crates, of which it names these. The page https://crates.io/crates/NAME says
the license of each.

%s

`, module, strings.Join(slices.Compact(crates), "\n"))
	return nil
}
