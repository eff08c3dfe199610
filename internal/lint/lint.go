package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Finding is one breach of a rule.
type Finding struct {
	Pos  string // file, or file:line
	Text string // what is wrong, why it matters, what to do instead
}

// String is "file:line: text".
func (f Finding) String() string { return f.Pos + ": " + f.Text }

// linter collects findings about one tree.
type linter struct {
	fsys     fs.FS
	ops      map[string]bool
	fset     *token.FileSet
	packages map[string]*pkg // by folder
	found    []Finding
}

// pkg is what is seen of a package besides its files.
type pkg struct {
	documented bool
	file       string // its first file that is no test
}

// Check reads the tree of a module and reports every breach of the rules, in
// order of file. ops are the names and aliases of the operations. Folders that
// begin with a dot or are called testdata, out or bin are passed over.
func Check(fsys fs.FS, ops []string) ([]Finding, error) {
	l := &linter{fsys: fsys, ops: map[string]bool{}, fset: token.NewFileSet(), packages: map[string]*pkg{}}
	for _, op := range ops {
		l.ops[op] = true
	}
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && (strings.HasPrefix(e.Name(), ".") || slices.Contains([]string{"testdata", "out", "bin"}, e.Name())):
			return fs.SkipDir
		case e.IsDir() || !e.Type().IsRegular():
			return nil
		}
		return l.file(name)
	})
	if err != nil {
		return nil, err
	}
	for dir, p := range l.packages {
		if !p.documented && p.file != "" {
			l.report(p.file, "package %s has no package comment: say in a sentence what it is for, in one of its files", path.Join(module, dir))
		}
	}
	slices.SortFunc(l.found, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
	return l.found, nil
}

func (l *linter) report(pos, format string, args ...any) {
	l.found = append(l.found, Finding{pos, fmt.Sprintf(format, args...)})
}

// at is the position of a node as file:line.
func (l *linter) at(n ast.Node) string {
	p := l.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// textKinds are the files that are read; anything else may be binary.
var textKinds = []string{".go", ".comp", ".glsl", ".md", ".sh", ".txt", ".txtar", ".c", ".h", ".yml", ".json", ""}

func (l *linter) file(name string) error {
	ext := path.Ext(name)
	if !slices.Contains(textKinds, ext) {
		return nil
	}
	text, err := fs.ReadFile(l.fsys, name)
	if err != nil {
		return err
	}
	if !utf8.Valid(text) {
		return nil // a binary without an extension
	}
	test := strings.HasSuffix(name, "_test.go")
	shader := ext == ".comp" || ext == ".glsl"
	switch {
	case test:
		l.size(name, text, maxTestLines)
	case ext == ".go" && !bytes.HasPrefix(text, []byte("// Code generated ")):
		l.size(name, text, maxGoLines)
	case shader:
		l.size(name, text, maxShaderLines)
	}
	if ext == ".go" && !test || shader {
		l.words(name, text)
	}
	l.merges(name, text)
	l.phrases(name, text)
	l.machinePaths(name, text, test)
	if ext == ".go" {
		return l.goFile(name, text, test)
	}
	return nil
}

// lineOf is the position of an offset in a file as file:line.
func lineOf(name string, text []byte, offset int) string {
	return fmt.Sprintf("%s:%d", name, 1+bytes.Count(text[:offset], []byte("\n")))
}

func (l *linter) size(name string, text []byte, most int) {
	if o, ok := oversize[name]; ok {
		most = o.lines
	}
	if n := bytes.Count(text, []byte("\n")); n > most {
		l.report(name, "%d lines, at most %d: a file that long usually holds two ideas; part them, or give it a row in internal/lint's oversize with the reason", n, most)
	}
}

// wholeWords matches the forbidden words on their own.
var wholeWords = regexp.MustCompile(`\b(` + strings.Join(marks, "|") + `|(?i:` + strings.Join(words, "|") + `))\b`)

func (l *linter) words(name string, text []byte) {
	for _, m := range wholeWords.FindAllIndex(text, -1) {
		l.report(lineOf(name, text, m[0]), "%q: nothing half-made ships; finish it, or return a clear error and open an issue", text[m[0]:m[1]])
	}
}

// mergeMark begins a line that git leaves where two changes meet.
var mergeMark = regexp.MustCompile(`(?m)^(<{7}|>{7}) `)

func (l *linter) merges(name string, text []byte) {
	for _, m := range mergeMark.FindAllIndex(text, -1) {
		l.report(lineOf(name, text, m[0]), "a mark of a merge: choose one side, or make one text of both")
	}
}

// pathStart is a machine path at the start of a word: after a quote, a space or
// the like, and not inside a longer path or a URL.
var pathStart = regexp.MustCompile("(?m:^|[\\s\"'`=(:,])(" + strings.Join(quoted(machinePaths), "|") + ")")

func quoted(ss []string) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = regexp.QuoteMeta(s)
	}
	return out
}

func (l *linter) machinePaths(name string, text []byte, test bool) {
	if test {
		return // a test may make up any path; what it opens comes from t.TempDir
	}
	for _, m := range pathStart.FindAllSubmatchIndex(text, -1) {
		l.report(lineOf(name, text, m[2]), "a path under %s exists on one machine only; take it from an argument, a variable or os.TempDir", text[m[2]:m[3]])
	}
}

func (l *linter) goFile(name string, text []byte, test bool) error {
	f, err := parser.ParseFile(l.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	if dir == "." {
		dir = ""
	}
	l.vocabulary(dir, f)
	l.skipping(name, f)
	l.webgpu(dir, f)
	if test {
		return nil
	}
	p := l.packages[dir]
	if p == nil {
		p = &pkg{}
		l.packages[dir] = p
	}
	if p.file == "" {
		p.file = name
	}
	p.documented = p.documented || f.Doc != nil
	l.imports(dir, f)
	l.exported(f)
	l.declarations(dir, f)
	return nil
}

// fits reports whether dir is the folder pattern names, or below it for one
// that ends in "/...".
func fits(pattern, dir string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}

func (l *linter) imports(dir string, f *ast.File) {
	row := slices.IndexFunc(layers, func(r layer) bool { return fits(r.path, dir) })
	if row < 0 {
		l.report(l.at(f.Name), "folder %s has no row in internal/lint's layers: add one that says what it may import and why", dir)
		return
	}
	if importable(dir, f) && !l.nested(dir) && !slices.ContainsFunc(public, func(p struct{ dir, user string }) bool { return p.dir == dir }) {
		l.report(l.at(f.Name), "any program may import %s, so that changing it breaks programs: move it below internal/; or, if a user must import it, say who in internal/lint's public and in docs/architecture.md", folder(dir))
	}
	r := layers[row]
	for _, spec := range f.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		ours, isOurs := strings.CutPrefix(target, module+"/")
		if target == module {
			ours, isOurs = "", true
		}
		switch first, _, _ := strings.Cut(target, "/"); {
		case isOurs:
			if r.may != "*" && !slices.ContainsFunc(strings.Split(r.may, " "), func(p string) bool { return fits(p, ours) }) {
				l.report(l.at(spec), "%s must not import %s: %s", folder(dir), folder(ours), r.why)
			}
		case strings.Contains(first, "."):
			l.library(dir, target, spec)
		}
	}
}

// webgpu reports imports of package wgpu, also those of tests, in folders that have no row in
// mayWebGPU.
func (l *linter) webgpu(dir string, f *ast.File) {
	if l.nested(dir) || slices.ContainsFunc(mayWebGPU, func(p string) bool { return fits(p, dir) }) {
		return
	}
	for _, spec := range f.Imports {
		if spec.Path.Value == strconv.Quote(module+"/wgpu") {
			l.report(l.at(spec), "%s must not import wgpu, not even in a test: \"go mod tidy\" looks at the tests of all packages that a user's program imports, and would fetch WebGPU's library of 115 MB; put the test below tests/", folder(dir))
		}
	}
}

func folder(dir string) string {
	if dir == "" {
		return "the root package"
	}
	return dir
}

// importable reports whether a program of another module can import the package of a file.
func importable(dir string, f *ast.File) bool {
	return f.Name.Name != "main" && !slices.Contains(strings.Split(dir, "/"), "internal")
}

// nested reports whether a folder belongs to a module of its own inside the tree.
func (l *linter) nested(dir string) bool {
	for parent := dir; parent != "." && parent != ""; parent = path.Dir(parent) {
		if _, err := fs.Stat(l.fsys, path.Join(parent, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

func (l *linter) library(dir, target string, spec ast.Node) {
	if l.nested(dir) {
		return // it has its own requirements
	}
	for _, lib := range libraries {
		if !fits(lib.path+"/...", target) {
			continue
		}
		if !slices.ContainsFunc(strings.Fields(lib.may), func(p string) bool { return fits(p, dir) }) {
			l.report(l.at(spec), "%s must not import %s: %s", folder(dir), target, lib.why)
		}
		return
	}
	l.report(l.at(spec), "%s has no row in internal/lint's libraries: a new dependency needs a reason", target)
}
