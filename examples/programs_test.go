// Package examples has programs that show how Lathe is used. README.md lists them.
package examples

import (
	"bytes"
	"encoding/json"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/lathe-gpu/lathe" // a change of it makes other programs: see depend
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/wgpu" // likewise
)

// The programs run as their comments say, on the device that the environment names, and print
// what they should. Each is built with one more file, which adds WebGPU to it.
func TestPrograms(t *testing.T) {
	testlevel.Need(t, testlevel.Full) // links all of them
	depend(t)
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-overlay", withWebGPU(t), "-o", bin+string(filepath.Separator), "./...").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, testimg.Photo(120, 80, 1), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string // a regular expression of the output
	}{
		{[]string{"blur"}, ""},
		{[]string{"dispatch"}, `^\[12 24 36 48\]\n$`},
		{[]string{"tensors"}, `\[\[2\.240 2\.176 0\.180 0\.245\] \[0\.165 1\.781 1\.734 0\.117\]\]\n$`},
		{[]string{"ownop"}, `^\[3 0 2 0\]\n\{245 245 245 255\} \{255 255 255 255\}\n$`},
		{[]string{"scene", "-out", t.TempDir(), "-size", "96x54"}, `rendered 96×54`},
		{[]string{"digits", "-steps", "20"}, `20 steps in`},
		{[]string{"digits", "-conv", "-steps", "2"}, `2 steps in`},
		{[]string{"decode", "-letters", "40"}, `^[a-z ]{40}\n40 letters: \d+ a second call by call, \d+ by replays\n$`},
		{[]string{"earlyclose"}, `^\d+ frames\n$`},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), filepath.Join(bin, c.args[0]), c.args[1:]...)
			cmd.Stdin = bytes.NewReader(photo.Bytes())
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, errs.String())
			}
			if c.args[0] == "blur" {
				if m, err := jpeg.Decode(bytes.NewReader(out.Bytes())); err != nil || m.Bounds().Dx() != 120 || m.Bounds().Dy() != 80 {
					t.Errorf("the output is no picture of this size: %v", err)
				}
				return
			}
			if !regexp.MustCompile(c.want).MatchString(out.String()) {
				t.Errorf("got %q, want a match of %s", out.String(), c.want)
			}
		})
	}
}

// withWebGPU writes the file for the flag -overlay of go build.
func withWebGPU(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "webgpu.go"), filepath.Join(dir, "overlay.json")
	programs, err := filepath.Glob("*/main.go")
	if err != nil || len(programs) < 8 {
		t.Fatalf("found %d programs: %v", len(programs), err)
	}
	var o struct{ Replace map[string]string }
	o.Replace = map[string]string{}
	for _, p := range programs {
		if p, err = filepath.Abs(p); err != nil {
			t.Fatal(err)
		}
		o.Replace[filepath.Join(filepath.Dir(p), "webgpu.go")] = file
	}
	text, err := json.Marshal(o)
	if err == nil {
		err = os.WriteFile(overlay, text, 0o666)
	}
	if err == nil {
		err = os.WriteFile(file, []byte("package main\n\nimport _ \"github.com/lathe-gpu/lathe/wgpu\"\n"), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return overlay
}

// depend reads what the programs are made of and what they read, because go test takes a result
// from its cache unless a file or a variable has changed that the test itself has read.
func depend(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("*/*")
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d files of examples: %v", len(files), err)
	}
	for _, f := range files {
		if _, err := os.ReadFile(f); err != nil && filepath.Ext(f) != "" {
			t.Fatal(err)
		}
	}
	t.Logf("LATHE_BACKEND=%q LATHE_DEVICE=%q", os.Getenv("LATHE_BACKEND"), os.Getenv("LATHE_DEVICE"))
}

// README.md lists every program.
func TestEveryExampleIsListed(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range dirs {
		if d.IsDir() {
			n++
			if !strings.Contains(string(page), "]("+d.Name()+"/") {
				t.Errorf("README.md has no link to a file of %s", d.Name())
			}
		}
	}
	if n < 8 {
		t.Errorf("found %d examples: the test saw too little", n)
	}
}
