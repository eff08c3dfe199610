package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// kernel is one SPIR-V module to make.
type kernel struct {
	name    string   // group/op[_phase].dtype[.variant]
	source  string   // shaders/group/op.comp
	defines []string // NAME or NAME=VALUE
}

var (
	variantLine = regexp.MustCompile(`^//lathe:variant\s+(\S.*)$`)
	includeLine = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]`)
	suffixForm  = regexp.MustCompile(`^[a-z0-9_]+(\.[a-z0-9_]+)*$`)
	baseForm    = regexp.MustCompile(`^[a-z0-9_]+$`)
	defineForm  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(=\S+)?$`)
)

// kernels lists what the shader files declare, by name.
func kernels(root string) ([]kernel, error) {
	files, err := filepath.Glob(filepath.Join(root, "shaders", "*", "*.comp"))
	if err != nil {
		return nil, err
	}
	var all []kernel
	from := map[string]string{}
	for _, f := range files {
		rel, err := filepath.Rel(root, f)
		if err != nil {
			return nil, err
		}
		rel = filepath.ToSlash(rel)
		if strings.HasPrefix(rel, "shaders/lib/") {
			return nil, fmt.Errorf("genspirv: %s: shaders/lib is for inclusion only; name the file .glsl or move it to a group", rel)
		}
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("genspirv: %w", err)
		}
		list, err := variants(rel, string(text))
		if err == nil && len(list) == 1 && list[0].defines == nil && !strings.Contains(path.Base(list[0].name), ".") {
			list, err = included(root, rel, list)
		}
		if err != nil {
			return nil, err
		}
		for _, k := range list {
			if other, dup := from[k.name]; dup {
				return nil, fmt.Errorf("genspirv: %s: kernel %s is declared twice (also in %s)", rel, k.name, other)
			}
			from[k.name] = rel
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b kernel) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// variants reads the //lathe:variant lines at the top of a shader: those
// before the first line that is neither blank nor a comment nor #version.
func variants(source, text string) ([]kernel, error) {
	group, base := path.Base(path.Dir(source)), strings.TrimSuffix(path.Base(source), ".comp")
	if !baseForm.MatchString(group) || !baseForm.MatchString(base) {
		return nil, fmt.Errorf("genspirv: %s: names of groups and shaders are lower-case letters, digits and _", source)
	}
	var list []kernel
	top := true
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "//lathe:") {
			if line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "#version") {
				top = false
			}
			continue
		}
		m := variantLine.FindStringSubmatch(line)
		if m == nil || !top {
			return nil, fmt.Errorf("genspirv: %s:%d: want \"//lathe:variant suffix DEFINES...\" at the top of the file (got %q)", source, i+1, line)
		}
		words := strings.Fields(m[1])
		if !suffixForm.MatchString(words[0]) {
			return nil, fmt.Errorf("genspirv: %s:%d: variant suffix %q (want parts of lower-case letters, digits and _ joined by dots)", source, i+1, words[0])
		}
		for _, d := range words[1:] {
			if !defineForm.MatchString(d) {
				return nil, fmt.Errorf("genspirv: %s:%d: define %q (want NAME or NAME=VALUE)", source, i+1, d)
			}
		}
		list = append(list, kernel{group + "/" + base + "." + words[0], source, words[1:]})
	}
	if list == nil {
		list = []kernel{{name: group + "/" + base, source: source}}
	}
	return list, nil
}

// included returns the variants that the files a shader includes declare, for a
// shader that declares none: a family of kernels has its variants in one place.
// The first file that declares any decides; without one, the list is as it was.
func included(root, source string, list []kernel) ([]kernel, error) {
	files, err := sources(root, source)
	if err != nil {
		return nil, err
	}
	for _, m := range includeLine.FindAllStringSubmatch(string(files[source]), -1) {
		name := path.Join(path.Dir(source), m[1])
		if files[name] == nil {
			name = path.Join("shaders", m[1])
		}
		if !strings.Contains(string(files[name]), "//lathe:variant") {
			continue
		}
		// They are read as if they stood in the shader itself.
		return variants(source, string(files[name]))
	}
	return list, nil
}

// sources returns the shader file and all it includes, however deep, as paths
// below root with their contents. An include is looked for beside the file
// that names it and then below shaders/, as glslc does.
func sources(root, source string) (map[string][]byte, error) {
	files := map[string][]byte{}
	var visit func(rel, from string) error
	visit = func(rel, from string) error {
		if _, seen := files[rel]; seen {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
		if err != nil {
			return fmt.Errorf("genspirv: %s: %w", from, err)
		}
		files[rel] = text
		for _, m := range includeLine.FindAllStringSubmatch(string(text), -1) {
			next := path.Join(path.Dir(rel), m[1])
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(next))); err != nil {
				next = path.Join("shaders", m[1])
			}
			if err := visit(next, rel); err != nil {
				return err
			}
		}
		return nil
	}
	return files, visit(source, source)
}

// closure hashes everything the SPIR-V of a kernel depends on: tools, flags,
// defines, the source and all it includes.
func closure(root string, k kernel, t tools) ([sha256.Size]byte, error) {
	files, err := sources(root, k.source)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q\n%q\n%q\n", t.lines(), k.name, k.defines)
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(h, "%q %x\n", n, sha256.Sum256(files[n]))
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
