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
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// added are the operations. The files of each are in testdata, in a folder of its name,
// and go to the same paths in the tree.
var added = []string{"cube", "reduce_square_total", "box"}

// TestTwoFiles adds a function of one element, a reduction and a filter of three by three
// pixels to a copy of the tree, each by two files. The tools must find them with no
// further change. Lathe verify must compute them and find them right, and a program must
// be able to call the methods that are generated.
func TestTwoFiles(t *testing.T) {
	testlevel.Need(t, testlevel.Full) // builds much of the tree anew
	testkit.Tool(t, "glslc")
	testkit.Tool(t, "spirv-opt")
	root := t.TempDir()
	copyTree(t, root, filepath.Join("..", ".."))
	var shaders []string
	for _, name := range added {
		files := copyTree(t, root, filepath.Join("testdata", name))
		if len(files) != 2 {
			t.Errorf("%s is %d files, not two: %v", name, len(files), files)
		}
		for _, f := range files {
			if strings.HasSuffix(f, ".comp") {
				shaders = append(shaders, filepath.ToSlash(f))
			}
		}
	}
	copyTree(t, filepath.Join(root, "cmd", "newop"), filepath.Join("testdata", "program"))
	runWith := func(env []string, args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		var stdout, stderr bytes.Buffer
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, root, &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, &stdout, &stderr)
		}
		return stdout.Bytes()
	}
	run := func(args ...string) []byte {
		t.Helper()
		return runWith(nil, args...)
	}
	// build builds commands. With trimpath the directory is no part of what Go's build
	// cache goes by. Bin is not in the copy, so it is free.
	build := func(commands ...string) {
		t.Helper()
		run(append([]string{"go", "build", "-trimpath", "-tags", "nowgpu", "-o", "bin/"}, commands...)...)
	}
	bin := func(name string) string { return filepath.Join(root, "bin", name) }
	run("go", "run", "./tools/genall")
	build("./tools/genspirv", "./tools/genapi", "./tools/opsdoc")
	run(append([]string{bin("genspirv")}, shaders...)...)
	run(bin("genapi"))
	run(bin("opsdoc"))
	// Each kernel must be claimed by an operation. Where it finds no compiler, this check
	// does not compile everything again.
	runWith([]string{"PATH="}, bin("genspirv"), "-check")

	build("./cmd/lathe", "./cmd/newop")
	args := []string{bin("lathe"), "verify", "--no-cache", "--backend", "vk", "--json"}
	for _, name := range added {
		args = append(args, "--op", name)
	}
	text := run(args...)
	var report struct {
		Rows []struct{ Op, Status string }
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	passed := map[string]int{}
	for _, r := range report.Rows {
		if r.Status == "pass" {
			passed[r.Op]++
		}
	}
	for _, name := range added {
		if passed[name] < 10 {
			t.Errorf("%s: %d cases passed\n%s", name, passed[name], text)
		}
	}
	if got, want := string(run(bin("newop"))), "[1 -27 8] [794]\n"; got != want {
		t.Errorf("the program that calls the generated methods prints %q, want %q", got, want)
	}
}

// copyTree copies the files below a folder, without those of version control and what the
// Makefile builds, and returns their paths in it.
func copyTree(t *testing.T, to, from string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
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
		files = append(files, name)
		return os.WriteFile(target, data, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
