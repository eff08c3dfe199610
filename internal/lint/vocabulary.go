package lint

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// oldWord is a word that the code no longer uses, because the field has another one.
type oldWord struct {
	names string // identifiers in Go, without regard to case, separated by single spaces
	say   string // what to say instead
	in    string // folders as in layer.path, by single spaces; "" for the whole tree
}

// oldWords are the names that were left behind. A name that is right elsewhere, such
// as the folder of a file system, is forbidden only where it meant something else.
var oldWords = []oldWord{
	{"folder foldstate", "reducer or accumulator", families},
	{"applier appliers", "row map", ""},
	{"along", "axis op, or the name of the dimension", families},
	{"slope slopes", "unary gradient", families},
	{"box boxes cutbox cutboxes", "region, or split for the verb", families},
	{"piece pieces", "chunk", families},
	{"normal normview normalview", "axis view", families},
	{"way ways eachway", "strategy", families + " internal/exec internal/exec/tune conformance cmd/..."},
	{"works", "bench cases", "spec internal/bench " + families},
	{"mover movers", "strided copier", ""},
	{"faultword faultwords", "status words", ""},
	{"fault faults", "device check", "internal/planner"},
	{"skew skews skewed", "misalignment", ""},
	{"book books tuningbook", "database", ""},
	{"trial trials contest contests", "candidate or benchmark", "internal/exec internal/exec/tune spec"},
	{"state", "accumulator", families},
	{"cut cuts", "region, or split for the verb", families},
	{"work", "accumulator type", families},
	{"steps", "element strides", "tensor conformance ."},
	{"application applications", "image job", "."},
	{"lane lanes", "device (as a variant uses it) or thread", "conformance internal/gpu/chrome"},
}

// families are the folders that declare and plan operations.
const families = "spec ops imageops internal/planner internal/families/..."

// vagueMethods are names of methods that say nothing of what the method does.
var vagueMethods = []string{"one", "take", "give", "more", "ask", "all", "by"}

// oldPhrases are phrases of comments and pages that were left behind. A single word of
// prose is not among them unless it can mean nothing else in this project.
var oldPhrases = []struct {
	phrase *regexp.Regexp
	say    string
}{
	{phrase("fault words?"), "status words"},
	{phrase("tuning books?"), "tuning database"},
	{phrase("appliers?"), "row map"},
	{phrase("normal view|norm view"), "axis view"},
	{phrase("slope families|slope family|slope kernels?"), "unary gradient"},
	{phrase("a box (out )?of a tensor|index boxes"), "region"},
	{phrase("tune\\.Book"), "tune.Database"},
	{phrase("Desc\\.Steps|Steps\\(\\) of a Desc"), "element strides (Desc.ElementStrides)"},
	{phrase("shared\\.go"), "zero copy (zerocopy.go)"},
	{phrase("fold states?"), "accumulator"},
	{phrase("list\\.go of vk|vk/list\\.go|hot\\.c"), "vk/enumerate.go and vk/batch.c"},
}

func phrase(s string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(` + s + `)\b`)
}

// oldShaderWords are words that shaders no longer use, neither in code nor in comments.
var oldShaderWords = []struct {
	word *regexp.Regexp
	say  string
}{
	{phrase("fold|folds|folded|folding"), "reduce"},
	{phrase("slopes?"), "derivative or unary gradient"},
	{phrase("box|boxes"), "region"},
	{phrase("pieces?"), "chunk"},
	{phrase("appliers?|movers?|skews?"), "the term of docs/glossary.md"},
	{phrase("the states?"), "accumulator"},
}

// phrases reports the old phrases in a text of any kind.
func (l *linter) phrases(name string, text []byte) {
	if name == "CHANGELOG.md" || name == "LICENSE" || fits("docs/adr/...", path.Dir(name)) || fits("spirv/...", path.Dir(name)) || fits("internal/lint", path.Dir(name)) {
		return // history keeps its words, and this package has to name them
	}
	for _, p := range oldPhrases {
		for _, m := range p.phrase.FindAllIndex(text, -1) {
			l.report(lineOf(name, text, m[0]), "%q was left behind: say %s, as docs/glossary.md does", text[m[0]:m[1]], p.say)
		}
	}
	if !fits("shaders/...", path.Dir(name)) {
		return
	}
	for _, w := range oldShaderWords {
		for _, m := range w.word.FindAllIndex(text, -1) {
			l.report(lineOf(name, text, m[0]), "%q was left behind: say %s, as docs/glossary.md does", text[m[0]:m[1]], w.say)
		}
	}
}

// vocabulary reports declarations by a name that was left behind, and methods whose
// name says nothing.
func (l *linter) vocabulary(dir string, f *ast.File) {
	declared := func(id *ast.Ident) {
		if id == nil {
			return
		}
		for _, w := range oldWords {
			if slices.Contains(strings.Fields(w.names), strings.ToLower(id.Name)) && w.covers(dir) {
				l.report(l.at(id), "the name %s was left behind: say %s, as docs/glossary.md does", id.Name, w.say)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			declared(n.Name)
			if n.Recv != nil && slices.Contains(vagueMethods, n.Name.Name) {
				l.report(l.at(n), "the name of method %s says nothing: say what it does, such as allocate, borrow or release", n.Name.Name)
			}
		case *ast.TypeSpec:
			declared(n.Name)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				declared(id)
			}
		case *ast.Field:
			for _, id := range n.Names {
				declared(id)
			}
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok.String() == ":=" {
					declared(id)
				}
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if id, ok := x.(*ast.Ident); ok {
					declared(id)
				}
			}
		}
		return true
	})
}

// covers reports whether the word is forbidden in a folder.
func (w *oldWord) covers(dir string) bool {
	return w.in == "" || slices.ContainsFunc(strings.Fields(w.in), func(p string) bool { return fits(p, dir) })
}
