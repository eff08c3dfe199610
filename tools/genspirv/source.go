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
	includeLine = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]`)
	suffixForm  = regexp.MustCompile(`^(\*|\{[a-z0-9]+(,[a-z0-9]+)*\}|[a-z0-9_]+)(\.[a-z0-9_]+)*$`)
	dtypeForm   = regexp.MustCompile(`^[a-z0-9]+$`)
	baseForm    = regexp.MustCompile(`^[a-z0-9_]+$`)
	defineForm  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\*|=[^\s*]+)?$`)
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
		list, err := variants(root, rel, string(text))
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

// grid is what the //lathe: lines of a file say.
type grid struct {
	dtypes []string // of //lathe:dtypes
	rows   []row    // of //lathe:variant, one each
}

// row is a //lathe:variant line: one variant, or one for each of several dtypes.
type row struct {
	file    string
	line    int
	suffix  string // begins with a dtype, "*" for all of them or "{a,b}" for some
	defines []string
}

// parseGrid reads the //lathe: lines at the top of a file: those before the first line
// that is neither blank nor a comment nor #version.
func parseGrid(file, text string) (grid, error) {
	var g grid
	top := true
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		directive, found := strings.CutPrefix(line, "//lathe:")
		if !found {
			if line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "#version") {
				top = false
			}
			continue
		}
		words := strings.Fields(directive)
		switch {
		case !top || len(words) < 2 || words[0] != "variant" && words[0] != "dtypes":
			return g, fmt.Errorf("genspirv: %s:%d: want \"//lathe:variant suffix DEFINES...\" or \"//lathe:dtypes dtypes...\" at the top of the file (got %q)", file, i+1, line)
		case words[0] == "dtypes":
			for _, d := range words[1:] {
				if !dtypeForm.MatchString(d) || slices.Contains(g.dtypes, d) {
					return g, fmt.Errorf("genspirv: %s:%d: dtype %q (want lower-case letters and digits, each dtype once)", file, i+1, d)
				}
				g.dtypes = append(g.dtypes, d)
			}
			continue
		case !suffixForm.MatchString(words[1]):
			return g, fmt.Errorf("genspirv: %s:%d: variant suffix %q (want parts of lower-case letters, digits and _ joined by dots; the first may be * or {dtype,dtype})", file, i+1, words[1])
		}
		for _, d := range words[2:] {
			if !defineForm.MatchString(d) {
				return g, fmt.Errorf("genspirv: %s:%d: define %q (want NAME, NAME=VALUE or NAME*)", file, i+1, d)
			}
		}
		g.rows = append(g.rows, row{file, i + 1, words[1], words[2:]})
	}
	return g, nil
}

// variants returns the kernels of a shader. A shader without variants has those of the
// first file it includes, however deep, that declares some: a family of kernels says its
// grid in one place. The dtypes that the shader declares come before those of that file. A shader
// that declares dtypes, and has no variants from anywhere, has one for each dtype.
func variants(root, source, text string) ([]kernel, error) {
	group, base := path.Base(path.Dir(source)), strings.TrimSuffix(path.Base(source), ".comp")
	if !baseForm.MatchString(group) || !baseForm.MatchString(base) {
		return nil, fmt.Errorf("genspirv: %s: names of groups and shaders are lower-case letters, digits and _", source)
	}
	name := group + "/" + base
	g, err := parseGrid(source, text)
	if err != nil {
		return nil, err
	}
	if len(g.rows) == 0 {
		family, err := familyGrid(root, source)
		if err != nil {
			return nil, err
		}
		g.rows = family.rows
		if len(g.dtypes) == 0 {
			g.dtypes = family.dtypes
		}
		if len(g.rows) == 0 && len(g.dtypes) == 0 {
			return []kernel{{name: name, source: source}}, nil
		}
		if len(g.rows) == 0 {
			g.rows = []row{{file: source, line: 1, suffix: "*"}}
		}
	}
	var list []kernel
	used := len(g.dtypes) == 0 // whether the dtypes mean anything
	for _, r := range g.rows {
		first, rest, _ := strings.Cut(r.suffix, ".")
		if rest != "" {
			rest = "." + rest
		}
		var dtypes []string
		switch {
		case first == "*":
			if len(g.dtypes) == 0 {
				return nil, fmt.Errorf("genspirv: %s:%d: variant %s is of all dtypes, and no \"//lathe:dtypes\" line says which", r.file, r.line, r.suffix)
			}
			dtypes = g.dtypes
		case first[0] == '{':
			for _, d := range strings.Split(first[1:len(first)-1], ",") {
				if len(g.dtypes) == 0 || slices.Contains(g.dtypes, d) {
					dtypes = append(dtypes, d)
				}
			}
		default:
			if slices.ContainsFunc(r.defines, isPattern) {
				return nil, fmt.Errorf("genspirv: %s:%d: variant %s is of one dtype: write its macros out", r.file, r.line, r.suffix)
			}
			list = append(list, kernel{name + "." + r.suffix, source, r.defines})
			continue
		}
		used = true
		for _, d := range dtypes {
			list = append(list, kernel{name + "." + d + rest, source, macros(r.defines, strings.ToUpper(d))})
		}
	}
	if !used {
		return nil, fmt.Errorf("genspirv: %s: the dtypes %v have no meaning, because each variant names its own", source, g.dtypes)
	}
	return list, nil
}

// isPattern reports whether a macro ends in the name of the dtype, as FROM_*.
func isPattern(define string) bool { return strings.HasSuffix(define, "*") }

// macros are the macros of a variant for a dtype, given in capitals. The dtype is a macro
// by itself, unless a pattern says where it goes.
func macros(defines []string, dtype string) []string {
	list := slices.Clone(defines)
	for i, d := range list {
		if isPattern(d) {
			list[i] = strings.TrimSuffix(d, "*") + dtype
		}
	}
	if slices.ContainsFunc(defines, isPattern) {
		return list
	}
	return append([]string{dtype}, list...)
}

// familyGrid is the grid of the first file that declares variants, of those that a shader
// includes and those that they include in turn.
func familyGrid(root, source string) (grid, error) {
	files, err := sources(root, source)
	if err != nil {
		return grid{}, err
	}
	seen := map[string]bool{}
	var find func(from string) (grid, error)
	find = func(from string) (grid, error) {
		seen[from] = true
		for _, m := range includeLine.FindAllStringSubmatch(string(files[from]), -1) {
			name := path.Join(path.Dir(from), m[1])
			if files[name] == nil {
				name = path.Join("shaders", m[1])
			}
			if seen[name] {
				continue
			}
			g, err := parseGrid(name, string(files[name]))
			if err == nil && len(g.rows) == 0 {
				g, err = find(name)
			}
			if err != nil || len(g.rows) > 0 {
				return g, err
			}
		}
		return grid{}, nil
	}
	return find(source)
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
