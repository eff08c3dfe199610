// Package newop shows what it takes to add an operation: a shader and a Go file. Its test
// adds some to a copy of the tree, builds that, and computes them on a device.
package newop

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// added are the operations, each of two files by their paths.
var added = map[string]map[string]string{
	"cube": {
		"shaders/math/cube.comp": `// The third power.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/unary.glsl"

REAL apply(REAL x) { return x * x * x; }
`,
		"ops/cube.go": `package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/spec"
)

// Cube is the third power of each element.
type Cube struct{}

// Spec returns the declaration.
func (Cube) Spec() *spec.Op { return cubeOp }

var cubeOp = elementwise.DefineUnary[Cube](elementwise.Unary{
	Name: "cube", Shader: "math/cube",
	Doc:  "The third power of each element.",
	F:    func(x float64) float64 { return x * x * x },
	Ulps: 2,
	Why:  "two products are rounded", Low: -4, High: 4, Flops: 2,
})
`,
	},
}

// TestTwoFiles adds operations to a copy of the tree. The tool that compiles shaders and
// the command must find them with no further change, and lathe verify must compute them
// and find them right.
func TestTwoFiles(t *testing.T) {
	if !testlevel.IsFull() {
		t.Skip("it builds a copy of the tree, which takes a minute; LATHE_TEST=full runs it")
	}
	for _, tool := range []string{"glslc", "spirv-opt"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("LATHE_REQUIRE_TOOLS") == "1" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	root := t.TempDir()
	if err := copyTree(root, filepath.Join("..", "..")); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, files := range added {
		if len(files) != 2 {
			t.Errorf("%s is %d files", name, len(files))
		}
		names = append(names, name)
		for path, text := range files {
			if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.Sort(names)
	run := func(args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		var stdout, stderr bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = root, &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("go %v: %v\n%s%s", args, err, &stdout, &stderr)
		}
		return stdout.Bytes()
	}
	// With trimpath the directory is no part of what Go's build cache goes by.
	run("run", "-trimpath", "-tags", "nowgpu", "./tools/genspirv")
	for _, name := range names {
		text := run("run", "-trimpath", "-tags", "nowgpu", "./cmd/lathe", "verify", "--no-cache", "--backend", "vk", "--op", name, "--json")
		var report struct {
			Rows []struct{ Op, Status string }
		}
		if err := json.Unmarshal(text, &report); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		passed := 0
		for _, r := range report.Rows {
			if r.Op == name && r.Status == "pass" {
				passed++
			}
		}
		if passed < 10 {
			t.Errorf("%s: %d cases passed\n%s", name, passed, text)
		}
	}
}

// copyTree copies the files of the module, without those of version control.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case d.IsDir() && slices.Contains([]string{".git", "out", "bin"}, name):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o777)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o666)
	})
}
