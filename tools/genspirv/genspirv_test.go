package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
)

const shader = `// Adds a constant.
//lathe:variant u32 T=uint
//lathe:variant f32.fast T=float FAST
#version 450
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 64) in;
#include "lib/io.glsl"
layout(push_constant) uniform Params { uint n; } p;
void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < p.n) put(i, get(i) + T(1));
}
`

const library = `layout(std430, binding = 0) readonly buffer In { T a[]; };
layout(std430, binding = 1) writeonly buffer Out { T b[]; };
T get(uint i) { return a[i]; }
void put(uint i, T v) { b[i] = v; }
`

// repo makes a repository with the files given and a generator for it.
func repo(t *testing.T, files map[string]string) (*generator, *bytes.Buffer) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		f := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(f), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	return &generator{root: root, jobs: 2, out: &out}, &out
}

func needCompiler(t *testing.T) {
	t.Helper()
	for _, name := range []string{"glslc", "spirv-opt", "spirv-val"} {
		testkit.Tool(t, name)
	}
}

func TestVariants(t *testing.T) {
	got, err := variants("", "shaders/test/inc.comp", shader)
	want := []kernel{
		{"test/inc.u32", "shaders/test/inc.comp", []string{"T=uint"}},
		{"test/inc.f32.fast", "shaders/test/inc.comp", []string{"T=float", "FAST"}},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(kernel{})); err != nil || d != "" {
		t.Errorf("error %v (-want +got):\n%s", err, d)
	}
	for text, want := range map[string]string{
		"void main() {}\n//lathe:variant u8 U8\n":     "at the top",
		"//lathe:variant\n":                           "want \"//lathe:variant",
		"//lathe:varient u8\n":                        "want \"//lathe:variant",
		"//lathe:variant U8\n":                        "suffix",
		"//lathe:variant ../x\n":                      "suffix",
		"//lathe:variant {f32,}.rows\n":               "suffix",
		"//lathe:variant f32.*\n":                     "suffix",
		"//lathe:variant u8 -O\n":                     "define \"-O\"",
		"//lathe:dtypes f32 f32\n":                    "dtype \"f32\"",
		"//lathe:dtypes F32\n":                        "dtype \"F32\"",
		"//lathe:variant *.rows ROWS\n":               "no \"//lathe:dtypes\" line",
		"//lathe:dtypes f32\n//lathe:variant u8 U8\n": "no meaning",
		"//lathe:variant u8 FROM_*\n":                 "of one dtype",
		"//lathe:variant {u8} A*=1\n":                 "define",
	} {
		if _, err := variants("", "shaders/test/bad.comp", text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "shaders/test/bad.comp:") {
			t.Errorf("%q: error %v, want one with the line and %q", text, err, want)
		}
	}
}

// A family says its grid once, in the file that its shaders include. A shader names its
// dtypes where they are not those of the family.
func TestGrids(t *testing.T) {
	const family = "//lathe:dtypes f32 f16\n//lathe:variant *.rows ROWS\n//lathe:variant {f32,i32}.merge MERGE SIDE=4\n//lathe:variant f64 F64\n"
	for _, c := range []struct {
		name, text string
		files      map[string]string
		want       []string // without the file's name
	}{
		{"no variants", "#version 450\nvoid main() {}\n", nil, []string{""}},
		{"of a family", "#include \"lib/io.glsl\"\n", map[string]string{"shaders/lib/io.glsl": family},
			[]string{".f16.rows F16 ROWS", ".f32.merge F32 MERGE SIDE=4", ".f32.rows F32 ROWS", ".f64 F64"}},
		{"dtypes of its own", "//lathe:dtypes i32 f32\n#include \"lib/io.glsl\"\n", map[string]string{"shaders/lib/io.glsl": family},
			[]string{".f32.merge F32 MERGE SIDE=4", ".f32.rows F32 ROWS", ".f64 F64", ".i32.merge I32 MERGE SIDE=4", ".i32.rows I32 ROWS"}},
		{"variants of its own", "//lathe:variant u8 U8\n#include \"lib/io.glsl\"\n", map[string]string{"shaders/lib/io.glsl": family}, []string{".u8 U8"}},
		{"the first of two families", "#include \"lib/none.glsl\"\n#include \"lib/io.glsl\"\n#include \"lib/other.glsl\"\n",
			map[string]string{"shaders/lib/none.glsl": "", "shaders/lib/io.glsl": family, "shaders/lib/other.glsl": "//lathe:variant u8 U8\n"},
			[]string{".f16.rows F16 ROWS", ".f32.merge F32 MERGE SIDE=4", ".f32.rows F32 ROWS", ".f64 F64"}},
		{"of a family's own family", "#include \"lib/io.glsl\"\n",
			map[string]string{"shaders/lib/io.glsl": "#include \"lib/all.glsl\"\n", "shaders/lib/all.glsl": "//lathe:variant u8 U8\n#include \"lib/io.glsl\"\n"}, []string{".u8 U8"}},
		{"dtypes alone", "//lathe:dtypes f32 bf16\n", nil, []string{".bf16 BF16", ".f32 F32"}},
		{"a pattern", "//lathe:dtypes f32 f16\n//lathe:variant {f16}.f32 FROM_* TO_F32\n//lathe:variant *.u8 FROM_* TO_U8\n", nil,
			[]string{".f16.f32 FROM_F16 TO_F32", ".f16.u8 FROM_F16 TO_U8", ".f32.u8 FROM_F32 TO_U8"}},
		{"braces alone", "//lathe:variant {f32,u8}.texel TEXEL\n", nil, []string{".f32.texel F32 TEXEL", ".u8.texel U8 TEXEL"}},
	} {
		files := map[string]string{"shaders/test/k.comp": c.text}
		for name, text := range c.files {
			files[name] = text
		}
		g, _ := repo(t, files)
		list, err := kernels(g.root)
		var got []string
		for _, k := range list {
			got = append(got, strings.TrimSpace(strings.TrimPrefix(k.name, "test/k")+" "+strings.Join(k.defines, " ")))
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, error %v; want %q", c.name, got, err, c.want)
		}
	}
	// A change of the family's grid changes the sums of its kernels.
	sum := func(family string) [32]byte {
		g, _ := repo(t, map[string]string{"shaders/test/k.comp": "#include \"lib/io.glsl\"\n", "shaders/lib/io.glsl": family})
		list, err := kernels(g.root)
		if err != nil {
			t.Fatal(err)
		}
		h, err := closure(g.root, list[0], tools{})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if sum(family) == sum(family+"//lathe:variant u8 U8\n") {
		t.Error("another grid has the same sum")
	}
}

func TestKernelsRefuses(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"declared twice":      {"shaders/test/a.comp": "//lathe:variant u8\n//lathe:variant u8\n"},
		"inclusion only":      {"shaders/lib/a.comp": ""},
		"lower-case letters":  {"shaders/test/A.comp": ""},
		"no such file or dir": {"shaders/test/a.comp": "#include \"lib/none.glsl\"\n"},
	} {
		g, _ := repo(t, files)
		list, err := kernels(g.root)
		if err == nil {
			_, err = closure(g.root, list[0], tools{})
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestClosure(t *testing.T) {
	files := func() map[string]string {
		return map[string]string{
			"shaders/test/inc.comp": shader, "shaders/lib/io.glsl": "#include \"deep.glsl\"\n" + library,
			"shaders/lib/deep.glsl": "// deep\n", "shaders/lib/unused.glsl": "// unused\n",
		}
	}
	base := tools{glslc: "1", opt: "2", glslcFlags: "3", optFlags: "4"}
	sum := func(f map[string]string, t2 tools, defines ...string) [32]byte {
		g, _ := repo(t, f)
		h, err := closure(g.root, kernel{"test/inc.u32", "shaders/test/inc.comp", defines}, t2)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	want := sum(files(), base, "T=uint")
	if sum(files(), base, "T=uint") != want {
		t.Error("the same sources in another folder have another sum")
	}
	f := files()
	f["shaders/lib/unused.glsl"] += "// more\n"
	if sum(f, base, "T=uint") != want {
		t.Error("a file that is not included changes the sum")
	}
	for _, name := range []string{"shaders/test/inc.comp", "shaders/lib/io.glsl", "shaders/lib/deep.glsl"} {
		f := files()
		f[name] += "// more\n"
		if sum(f, base, "T=uint") == want {
			t.Errorf("a change of %s does not change the sum", name)
		}
	}
	if sum(files(), base, "T=int") == want || sum(files(), base, "T=uint", "FAST") == want {
		t.Error("a change of the defines does not change the sum")
	}
	for i, other := range []tools{{"x", "2", "3", "4"}, {"1", "x", "3", "4"}, {"1", "2", "x", "4"}, {"1", "2", "3", "x"}} {
		if sum(files(), other, "T=uint") == want {
			t.Errorf("a change of tool %d does not change the sum", i)
		}
	}
}

func TestSums(t *testing.T) {
	s := sums{tools: tools{"shaderc 1; x", "tools 2", "-a -b", "--c"}, kernels: map[string]sum{"b/k.f32": {spv: [32]byte{1}}, "a/k": {src: [32]byte{31: 9}}}}
	got, err := parseSums(s.text())
	if d := cmp.Diff(s, got, cmp.AllowUnexported(sums{}, tools{}, sum{})); err != nil || d != "" {
		t.Errorf("error %v (-want +got):\n%s", err, d)
	}
	lines := strings.Split(s.text(), "\n")
	for _, bad := range []string{"a/k", "a/k spv:00 src:00", strings.Replace(lines[5], "spv", "svp", 1), lines[5] + "\n" + lines[5]} {
		if _, err := parseSums(bad); err == nil || !strings.Contains(err.Error(), "spirv.sum:") {
			t.Errorf("%q: error %v, want one with the line", bad, err)
		}
	}
}

func TestClaims(t *testing.T) {
	list := []kernel{{name: "nn/add.f32"}, {name: "nn/lost.f32"}, {name: "test/free.u32"}, {name: "nn/both.f32"}}
	k := func(names ...string) (out []spec.Kernel) {
		for _, n := range names {
			out = append(out, spec.Kernel{Name: n})
		}
		return out
	}
	ops := []*spec.Op{{Name: "add", Kernels: k("nn/add.f32", "nn/both.f32")}, {Name: "sub", Kernels: k("nn/both.f32", "nn/none.f32")}}
	var got []string
	for _, err := range claims(list, ops) {
		got = append(got, err.Error())
	}
	for i, want := range []string{"no operation claims the kernel nn/lost.f32", "operation sub claims the kernel nn/none.f32"} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Errorf("finding %d of %q: want %q", i, got, want)
		}
	}
	if len(got) != 2 { // several operations may claim a kernel
		t.Errorf("findings %q: want 2", got)
	}
}

// compileAll runs the part of build that needs no registered operation: the
// repository of a test has none of the kernels the operations claim, so abi.txt
// cannot be written, and build must say why.
func compileAll(t *testing.T, g *generator, only ...string) {
	t.Helper()
	err := g.build(context.Background(), only)
	if err == nil || !strings.Contains(err.Error(), "no such file") && !strings.Contains(err.Error(), "cannot find") {
		t.Fatalf("build: error %v, want only that a claimed kernel is missing", err)
	}
}

func TestBuild(t *testing.T) {
	needCompiler(t)
	g, out := repo(t, map[string]string{
		"shaders/test/inc.comp": shader, "shaders/lib/io.glsl": library,
		"shaders/test/other.comp": strings.Replace(shader, "T(1)", "T(2)", 1),
		"spirv/old/gone.f32.spv":  "orphan", "internal/extra/test/inc.u32.spv": "not a module",
	})
	compileAll(t, g)
	names, err := g.files(".spv")
	want := []string{"internal/extra/test/inc.f32.fast.spv", "internal/extra/test/inc.u32.spv", "internal/extra/test/other.f32.fast.spv", "internal/extra/test/other.u32.spv"}
	if err != nil || !slices.Equal(names, want) {
		t.Fatalf("modules %q, error %v; want %q", names, err, want)
	}
	m, err := g.module("test/inc.u32")
	if err != nil || len(m.Bindings) != 2 || len(m.Params) != 1 || m.Params[0].Name != "n" || m.Bindings[0].Name == "" {
		t.Fatalf("module %+v, error %v: want two named bindings and the parameter n", m, err)
	}
	s, err := g.sums()
	if err != nil || len(s.kernels) != 4 || !g.intact("test/inc.u32", s.kernels["test/inc.u32"]) {
		t.Fatalf("sums %v, error %v: want four kernels that are intact", s, err)
	}

	step := func(what, want string, only ...string) {
		t.Helper()
		out.Reset()
		compileAll(t, g, only...)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: %q, want %q", what, out, want)
		}
	}
	step("nothing changed", "4 kernels, 0 compiled, 0 written, 0 orphans")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(g.root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("shaders/test/inc.comp", shader+"// a comment\n")
	step("a comment", "2 compiled, 0 written")
	write("internal/extra/test/inc.u32.spv", "damaged")
	step("a damaged module", "1 compiled, 1 written")
	write("shaders/lib/io.glsl", strings.Replace(library, "b[i] = v", "b[i] = v + v", 1))
	step("one shader of two", "2 compiled, 2 written", "shaders/test/other.comp")
	step("the rest", "2 compiled, 2 written")
	if err := os.Remove(filepath.Join(g.root, "shaders/test/other.comp")); err != nil {
		t.Fatal(err)
	}
	step("a shader deleted", "2 kernels, 0 compiled, 0 written, 2 orphans removed")
	if temp, _ := filepath.Glob(filepath.Join(g.root, "internal", "extra", "*", ".genspirv-*")); len(temp) > 0 {
		t.Errorf("temporary files left: %q", temp)
	}
}

func TestBuildErrors(t *testing.T) {
	needCompiler(t)
	for _, c := range []struct{ name, old, new, want string }{
		{"syntax", "put(i,", "put(i;", "glslc"},
		{"warning", "#version 450\n", "#version 450\n#extension GL_NOT_THERE : enable\n", "GL_NOT_THERE"},
		{"own validator", "layout(push_constant)", "layout(set = 0, binding = 9) buffer X { uint x[]; } xs[2];\nlayout(push_constant)", "spv: parse test/inc.u32"},
		{"descriptor set", "layout(push_constant)", "layout(set = 1, binding = 0) buffer X { uint x[]; };\nlayout(push_constant)", "descriptor set 1"},
	} {
		g, _ := repo(t, map[string]string{"shaders/test/inc.comp": strings.Replace(shader, c.old, c.new, 1), "shaders/lib/io.glsl": library})
		err := g.build(context.Background(), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "shaders/test/inc.comp") {
			t.Errorf("%s: error %v, want one naming the file and %q", c.name, err, c.want)
		}
		if names, _ := g.files(".spv"); len(names) > 0 {
			t.Errorf("%s: wrote %q", c.name, names)
		}
	}
	g, _ := repo(t, map[string]string{"shaders/test/inc.comp": shader, "shaders/lib/io.glsl": library})
	if err := g.build(context.Background(), []string{"shaders/test/none.comp"}); err == nil || !strings.Contains(err.Error(), "is not a shader") {
		t.Errorf("unknown argument: error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := g.build(ctx, nil); err == nil {
		t.Error("cancelled: no error")
	}
}

func TestWithoutCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	g, _ := repo(t, map[string]string{"shaders/test/inc.comp": shader, "shaders/lib/io.glsl": library})
	err := g.build(context.Background(), nil)
	if err == nil || !strings.Contains(err.Error(), "apt-get install glslc spirv-tools") {
		t.Errorf("error %v, want one that names the packages", err)
	}
}

// The repository itself must be fresh: sources, modules, sums and ABI text.
func TestCheckRepository(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // hashes only; make check also compiles
	var out bytes.Buffer
	g := &generator{root: "../..", jobs: 2, out: &out}
	if err := g.check(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "hashes match; not recompiled: no shader compiler here") {
		t.Errorf("output %q", &out)
	}
}

// The parts of a check are all kernels, each once.
func TestOfPart(t *testing.T) {
	list, err := kernels("../..")
	if err != nil || len(list) < 100 {
		t.Fatalf("%d kernels, %v", len(list), err)
	}
	seen := map[string]int{}
	for part := range 4 {
		g := &generator{part: part + 1, parts: 4}
		for _, k := range g.ofPart(list) {
			seen[k.name]++
		}
	}
	for _, k := range list {
		if seen[k.name] != 1 {
			t.Errorf("%s is in %d parts, want one", k.name, seen[k.name])
		}
	}
	if got := len((&generator{}).ofPart(list)); got != len(list) {
		t.Errorf("without parts %d of %d kernels are compiled", got, len(list))
	}
}

// Each way of being stale is found and named.
func TestCheckFinds(t *testing.T) {
	testlevel.Turn(t, 5)
	t.Setenv("PATH", t.TempDir())
	for i, c := range []struct {
		name   string
		change func(t *testing.T, root string)
		want   string
	}{
		{"source changed", func(t *testing.T, root string) { appendTo(t, root, "shaders/image/sharpen.comp", "// x\n") }, "changed since it was compiled"},
		{"include changed", func(t *testing.T, root string) { appendTo(t, root, "shaders/lib/pixels.glsl", "// x\n") }, "a file it includes changed"},
		{"module changed", func(t *testing.T, root string) { appendTo(t, root, "spirv/image/sharpen.u8.spv", "x") }, "is not the module spirv.sum records"},
		{"module missing", func(t *testing.T, root string) { remove(t, root, "spirv/image/sharpen.u8.spv") }, "spirv/image/sharpen.u8.spv is missing"},
		{"shader missing", func(t *testing.T, root string) { remove(t, root, "shaders/image/sharpen.comp") }, "is an orphan"},
		{"orphan", func(t *testing.T, root string) { appendTo(t, root, "spirv/image/extra.spv", "x") }, "spirv/image/extra.spv is an orphan"},
		{"packed file of another shader", func(t *testing.T, root string) {
			copyOver(t, root, "spirv/image/sharpen.pack", "spirv/image/pointwise.pack")
		}, "spirv/image/sharpen.pack does not hold the modules of its shader"},
		{"packed file missing", func(t *testing.T, root string) { remove(t, root, "spirv/image/sharpen.pack") }, "spirv/image/sharpen.pack does not hold the modules of its shader"},
		{"packed orphan", func(t *testing.T, root string) { appendTo(t, root, "spirv/image/extra.pack", "x") }, "spirv/image/extra.pack is an orphan"},
		{"sums missing", func(t *testing.T, root string) { remove(t, root, "spirv/spirv.sum") }, "is not in spirv.sum"},
		{"sums broken", func(t *testing.T, root string) { appendTo(t, root, "spirv/spirv.sum", "x\n") }, "not a line of sums"},
		{"abi text changed", func(t *testing.T, root string) { appendTo(t, root, "spirv/abi.txt", "x\n") }, "spirv/abi.txt is not what"},
		{"packed abi text changed", func(t *testing.T, root string) { appendTo(t, root, "spirv/abi.pack", "x") }, "spirv/abi.pack does not hold"},
		{"packed abi text missing", func(t *testing.T, root string) { remove(t, root, "spirv/abi.pack") }, "spirv/abi.pack does not hold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !testlevel.Sampled(i, 3) { // a copy of all shaders each
				testlevel.Need(t, testlevel.Full)
			}
			root := t.TempDir()
			for _, dir := range []string{"shaders", "spirv", "internal/extra"} {
				if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join("../..", dir))); err != nil {
					t.Fatal(err)
				}
			}
			c.change(t, root)
			g := &generator{root: root, jobs: 2, out: &bytes.Buffer{}}
			err := g.check(context.Background())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "make shaders") {
				t.Errorf("error %v, want one with %q and what to do", err, c.want)
			}
		})
	}
}

func appendTo(t *testing.T, root, name, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(root, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, root, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(root, name)); err != nil {
		t.Fatal(err)
	}
}

func copyOver(t *testing.T, root, to, from string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, from))
	if err == nil {
		err = os.WriteFile(filepath.Join(root, to), data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
