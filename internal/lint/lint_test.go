package lint

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	_ "github.com/lathe-gpu/lathe/imageops" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
)

func opNames(t *testing.T) []string {
	var names []string
	for _, op := range spec.All() {
		names = append(append(names, op.Name), op.Aliases...)
	}
	if !slices.Contains(names, "gaussian_blur") {
		t.Fatalf("operations %q: the registry is empty", names)
	}
	return names
}

// TestTree is the linter: it checks the tree this package is part of.
func TestTree(t *testing.T) {
	root := os.DirFS("../..")
	if _, err := root.Open("go.mod"); err != nil {
		t.Fatal(err)
	}
	found, err := Check(root, opNames(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// Each rule finds what is planted for it, and nothing else.
func TestPlanted(t *testing.T) {
	const doc = "// Package p is good.\npackage p\n"
	lines := func(n int) string { return strings.Repeat("// more\n", n) }
	imp := func(p string) string { return doc + "import _ \"" + p + "\"\n" }
	own := func(p string) string { return imp(path.Join(module, p)) }
	program := func(p string) string { return strings.Replace(own(p), "package p", "package main", 1) }
	methods := func(n int) string {
		return doc + "// I is large.\ntype I interface {\n" + strings.Repeat("M()\n", n) + "}\n"
	}
	for _, c := range []struct {
		name, file, text string
		want             string // in the only finding; "" for none
	}{
		{"backend imports operations", "vk/a.go", own("imageops"), "a backend knows no operation"},
		{"backend imports its contract", "vk/a.go", own("gpu"), ""},
		{"operation imports device", "imageops/a.go", own("gpu"), "never see gpu"},
		{"operation imports backend", "imageops/a.go", own("vk"), "never see gpu"},
		{"tensor imports device", "tensor/a.go", own("gpu"), "without any device"},
		{"new public package", "tests/foreign/launch/a.go", doc, "any program may import tests/foreign/launch"},
		{"new internal package", "tests/foreign/internal/launch/a.go", doc, ""},
		{"command that imports", "tests/foreign/launch/a.go", "// Command p is.\npackage main\n", ""},
		{"library imports command", "internal/exec/a.go", own("cmd/lathe"), "internal/exec must not import cmd/lathe"},
		{"library imports front door", "internal/batch/a.go", own(""), "batch must not import the root package"},
		{"front door imports backend", "a.go", own("vk"), "the root package must not import"},
		{"front door chooses one", "a.go", own("internal/drivers"), ""},
		{"front door imports suite", "a.go", own("conformance"), "the root package must not import"},
		{"suite imports operations", "conformance/a.go", own("ops"), "conformance must not import ops"},
		{"example imports front door", "examples/x/a.go", program(""), ""},
		{"example imports internals", "examples/x/a.go", program("internal/errs"), "public packages only"},
		{"command imports all", "cmd/lathe/a.go", program("internal/errs"), ""},
		{"a test stands outside", "vk/a_test.go", own("imageops"), ""},
		{"a test imports WebGPU", "ops/a_test.go", own("wgpu"), "not even in a test"},
		{"a suite imports WebGPU", "tests/spv/a_test.go", own("wgpu"), ""},
		{"new folder", "fresh/a.go", doc, "has no row in internal/lint's layers"},
		{"wrapper folder", "internal/gpu/fresh/a.go", own("gpu"), ""},
		{"library in its place", "vk/a.go", imp("github.com/vulkan-go/vulkan"), ""},
		{"library out of place", "internal/exec/a.go", imp("github.com/vulkan-go/vulkan"), "Vulkan stays behind gpu.Device"},
		{"part of a library", "internal/batch/a.go", imp("golang.org/x/image/tiff"), ""},
		{"new library", "internal/exec/a.go", imp("example.com/x"), "a new dependency needs a reason"},
		{"standard library", "internal/exec/a.go", imp("net/http"), ""},

		{"long file", "vk/a.go", doc + lines(maxGoLines), "502 lines, at most 500"},
		{"full file", "vk/a.go", doc + lines(maxGoLines-2), ""},
		{"long test", "vk/a_test.go", doc + lines(maxTestLines), "802 lines"},
		{"long shader", "shaders/a/b.comp", lines(maxShaderLines + 1), "151 lines"},
		{"long include", "shaders/lib/b.glsl", lines(maxShaderLines + 1), "151 lines"},
		{"large interface", "vk/a.go", methods(maxMethods + 1), "11 methods"},
		{"full interface", "vk/a.go", methods(maxMethods), ""},

		{"left to do", "vk/a.go", doc + "// TO" + "DO: more\n", "nothing half-made ships"},
		{"not done", "shaders/a/b.comp", "// this is not imple" + "mented\n", "nothing half-made ships"},
		{"a list of things to do", "vk/a.go", doc + "var to" + "do []int\n", ""},
		{"in any case", "vk/a.go", doc + "// Stu" + "b of it.\n", "nothing half-made ships"},
		{"part of a word", "vk/a.go", doc + "// the stu" + "bborn case\n", ""},
		{"left to do in a test", "vk/a_test.go", doc + "// TO" + "DO: more\n", ""},
		{"a merge left open", "docs/a.md", "a\n" + strings.Repeat("<", 7) + " HEAD\n", "a mark of a merge"},
		{"arrows", "docs/a.md", "a <<<<<<< b\n", ""},
		{"machine path", "docs/a.md", "see /ho" + "me/me/notes\n", "exists on one machine only"},
		{"machine path in a script", "tools/a.sh", "cp x /tm" + "p/x\n", "exists on one machine only"},
		{"path in a URL", "docs/a.md", "see https://example.com/ho" + "me/me\n", ""},
		{"system path", "vk/a.go", doc + "// /usr/share/vulkan/icd.d\n", ""},

		{"no package comment", "vk/a.go", "package p\n", "no package comment"},
		{"undocumented function", "vk/a.go", doc + "func F() {}\n", "exported function F"},
		{"undocumented method", "vk/a.go", doc + "// T is.\ntype T struct{}\nfunc (*T) M() {}\n", "exported method T.M"},
		{"undocumented method of a generic", "vk/a.go", doc + "// T is.\ntype T[X any] struct{}\nfunc (*T[X]) M() {}\n", "exported method T.M"},
		{"obvious method", "vk/a.go", doc + "// T is.\ntype T struct{}\nfunc (*T) String() string { return \"\" }\n", ""},
		{"method of a private type", "vk/a.go", doc + "type t struct{}\nfunc (*t) M() {}\n", ""},
		{"undocumented type", "vk/a.go", doc + "type T int\n", "exported type T"},
		{"undocumented constant", "vk/a.go", doc + "const C = 1\n", "exported const C"},
		{"undocumented variable", "vk/a.go", doc + "var V = 1\n", "exported var V"},
		{"documented group", "vk/a.go", doc + "// Two things.\nconst (\n\tA = 1\n\tB = 2\n)\n", ""},
		{"comment at the line's end", "vk/a.go", doc + "const (\n\tA = 1 // the first\n)\n", ""},
		{"command", "cmd/x/a.go", "// Command x.\npackage main\nfunc F() {}\n", ""},

		{"switch by operation", "internal/exec/a.go", doc + "func f(s string) {\n\tswitch s {\n\tcase \"gaussian_blur\":\n\t}\n}\n", "a choice by the operation name"},
		{"comparison with an alias", "internal/exec/a.go", doc + "func f(s string) bool { return s == \"blur\" }\n", "a choice by the operation name"},
		{"switch by other words", "internal/exec/a.go", doc + "func f(s string) {\n\tswitch s {\n\tcase \"jpeg\":\n\t}\n}\n", ""},
		{"where it is declared", "imageops/a.go", doc + "func f(s string) bool { return s == \"blur\" }\n", ""},
		{"old name of a type", "internal/families/reduction/a.go", doc + "type folder struct{}\n", "say reducer or accumulator"},
		{"a folder of files", "internal/batch/a.go", doc + "type folder struct{}\n", ""},
		{"old name of a field", "spec/a.go", doc + "type t struct{ along int }\n", "say axis op"},
		{"old name of a variable", "internal/exec/a.go", doc + "var skew int\n", "say misalignment"},
		{"old name of a local", "internal/exec/tune/a.go", doc + "func f() {\n\tfor _, contest := range []int{} {\n\t\t_ = contest\n\t}\n}\n", "say candidate or benchmark"},
		{"old name in a test", "ops/a_test.go", doc + "func f() { way := 1; _ = way }\n", "say strategy"},
		{"old name in capitals", "internal/exec/a.go", doc + "// Mover is.\ntype Mover int\n", "say strided copier"},
		{"old name of a reducer's values", "internal/families/reduction/a.go", doc + "var state int\n", "say accumulator"},
		{"the same name elsewhere", "internal/exec/a.go", doc + "var state int\n", ""},
		{"old name of element strides", "tensor/a.go", doc + "func f() { steps := 1; g(steps) }\n", "say element strides"},
		{"old name used once more", "internal/exec/a.go", doc + "func f() { g(skew) }\n", ""},
		{"old name as a part", "spec/a.go", doc + "var normalized, wayward int\n", ""},
		{"vague method", "vk/a.go", doc + "type t int\nfunc (t) take() {}\n", "method take says nothing"},
		{"function of that name", "vk/a.go", doc + "func take() {}\n", ""},
		{"old phrase", "docs/a.md", "the fault " + "words\n", "say status words"},
		{"old phrase in a shader", "shaders/a/b.comp", "// Fault " + "words.\n", "say status words"},
		{"old word in a shader", "shaders/a/b.comp", "// Fol" + "ds a row.\n", "say reduce"},
		{"old name in a shader", "shaders/lib/b.glsl", "uint pie" + "ce;\n", "say chunk"},
		{"new words in a shader", "shaders/a/b.comp", "// Reduces a region; unfolded.\n", ""},
		{"a word of shaders elsewhere", "docs/a.md", "folds a letter\n", ""},
		{"old phrase in history", "CHANGELOG.md", "the fault " + "words\n", ""},
		{"old phrase in a decision", "docs/adr/a.md", "the tuning " + "book\n", ""},
		{"ordinary words", "docs/a.md", "in some ways; half the work; a piece of text; a normal number\n", ""},
		{"a test that skips itself", "vk/a_test.go", "package p\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Skip(1) }\n", "it may never run"},
		{"a helper that skips", "vk/a.go", imp("testing") + "func f(t testing.TB) {\n\tif t.Name() != \"\" {\n\t\tt.Skipf(\"no\")\n\t}\n}\n", "it may never run"},
		{"an example that skips", "vk/a_test.go", "package p\nvar f = func(t tb) { t.SkipNow() }\n", "it may never run"},
		{"skips for others", "internal/testkit/a.go", imp("testing") + "func f(t testing.TB) { t.Skip(1) }\n", ""},
		{"skips with a reason", "tests/conformance/one_test.go", "package p\nfunc TestOps(t tb) { t.Skip(1) }\n", ""},
		{"skips without one beside it", "tests/conformance/one_test.go", "package p\nfunc TestMore(t tb) { t.Skip(1) }\n", "it may never run"},
		{"skips no test", "internal/drivers/a.go", doc + "func f(s source) { s.Skip(1) }\n", ""},
		{"passed over", ".git/a.go", "package p\n", ""},
		{"binary", "docs/a", "\xff\xfe/ho" + "me/x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := Check(fstest.MapFS{c.file: {Data: []byte(c.text)}}, []string{"gaussian_blur", "blur"})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.want == "" && len(found) > 0:
				t.Errorf("false alarm: %v", found)
			case c.want != "" && (len(found) != 1 || !strings.Contains(found[0].Text, c.want) || !strings.HasPrefix(found[0].Pos, c.file)):
				t.Errorf("got %v, want one finding of %q in %s", found, c.want, c.file)
			}
		})
	}
}

// A module of its own inside the tree has its own libraries.
func TestNestedModule(t *testing.T) {
	found, err := Check(fstest.MapFS{
		"tests/peers/go.mod":     {Data: []byte("module x\n")},
		"tests/peers/bench/a.go": {Data: []byte("// Package p is.\npackage p\nimport _ \"example.com/peer\"\n")},
	}, nil)
	if err != nil || len(found) != 0 {
		t.Errorf("got %v, %v; want nothing", found, err)
	}
}

// Source that does not parse is an error, not a clean bill.
func TestBrokenSource(t *testing.T) {
	if _, err := Check(fstest.MapFS{"vk/a.go": {Data: []byte("package\n")}}, nil); err == nil {
		t.Error("broken source passed")
	}
}

// docs/architecture.md counts the public packages, and says of each for whom it is.
func TestPublicPackages(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "### Public packages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if want := fmt.Sprintf("A program may import %d packages", len(public)); !strings.Contains(section, want) {
		t.Errorf("docs/architecture.md lacks %q", want)
	}
	var have, want []string
	for line := range strings.Lines(section) {
		if cell, ok := strings.CutPrefix(line, "| "); ok && cell != "packages | for whom |\n" {
			cell, _, _ = strings.Cut(cell, " | ")
			for _, name := range strings.Split(cell, ", ") {
				have = append(have, strings.Trim(name, "`"))
			}
		}
	}
	for _, p := range public {
		want = append(want, folder(p.dir))
		if p.user == "" {
			t.Errorf("nobody needs %s", folder(p.dir))
		}
		if files, _ := filepath.Glob(filepath.Join("../..", p.dir, "*.go")); len(files) == 0 {
			t.Errorf("public has a row for %s, which has no files", p.dir)
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("docs/architecture.md lists %q, internal/lint %q", have, want)
	}
}

// A reader of the documentation of a public package finds a program there.
func TestPublicPackagesHaveExamples(t *testing.T) {
	for _, p := range public {
		files, _ := filepath.Glob(filepath.Join("../..", p.dir, "*_test.go"))
		found := false
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "\nfunc Example")
		}
		if !found {
			t.Errorf("%s has no Example: write a short one in example_test.go, with // Output if it is the same on every device", folder(p.dir))
		}
	}
}

// Every row of the graph and every exception is about something that is there.
func TestRulesAreAlive(t *testing.T) {
	for _, r := range layers {
		dir := strings.TrimSuffix(r.path, "/...")
		if _, err := os.Stat(path.Join("../..", dir)); err != nil {
			t.Errorf("layers has a row for %s: %v", r.path, err)
		}
		if r.why == "" {
			t.Errorf("the row for %s gives no reason", r.path)
		}
	}
	for _, w := range oldWords {
		if w.say == "" {
			t.Errorf("the words %s have no other", w.names)
		}
		for _, dir := range strings.Fields(w.in) {
			if _, err := os.Stat(path.Join("../..", strings.TrimSuffix(dir, "/..."))); err != nil {
				t.Errorf("oldWords has a row for %s: %v", dir, err)
			}
		}
	}
	for row, why := range skips {
		if why == "" {
			t.Errorf("the row for %s gives no reason", row)
		}
		file, name, one := strings.Cut(row, " ")
		if !one {
			if _, err := os.Stat(path.Join("../..", file)); err != nil {
				t.Errorf("skips has a row for %s: %v", row, err)
			}
			continue
		}
		text, err := os.ReadFile(path.Join("../..", file))
		_, body, found := strings.Cut(string(text), "\nfunc "+name+"(")
		body, _, _ = strings.Cut(body, "\n}\n")
		if err != nil || !found || !strings.Contains(body, ".Skip") {
			t.Errorf("skips has a row for %s, which does not skip (%v): remove it", row, err)
		}
	}
	for name := range oversize {
		if _, err := os.Stat(path.Join("../..", name)); err != nil {
			t.Errorf("oversize: %v", err)
		}
	}
}
