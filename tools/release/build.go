package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"debug/elf"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// host is this system.
var host = target{runtime.GOOS, runtime.GOARCH, build.Default.CgoEnabled}

// builder builds the command and packs it.
type builder struct {
	root, version, notes, temp string
	when                       time.Time // of all files in the archives
	flags                      []string  // of go build
	pages                      []file    // the manual page and the completions
}

// file is a file of an archive.
type file struct {
	name string
	data []byte
	mode fs.FileMode
}

// compile builds the command and returns its file.
func (b *builder) compile(t target) (string, error) {
	name := filepath.Join(b.temp, t.goos+"-"+t.goarch, command(t))
	args := append([]string{"build", "-tags", "nodynamic"}, b.flags...) // the codec of AVIF, see package imageio/avif
	args = append(args, "-ldflags", "-s -w -X main.version="+b.version, "-o", name, "./cmd/lathe")
	_, err := output(b.root, t.env(), "go", args...)
	return name, err
}

func (t target) env() []string {
	env := []string{"GOOS=" + t.goos, "GOARCH=" + t.goarch, "CGO_ENABLED=0", "GOFLAGS="}
	if t.cgo {
		env[2] = "CGO_ENABLED=1"
	}
	return env
}

func command(t target) string {
	if t.goos == "windows" {
		return "lathe.exe"
	}
	return "lathe"
}

// describe lets a command for this system print the pages that all archives have, and its
// version.
func (b *builder) describe(here target) error {
	lathe, err := b.compile(here)
	if err != nil {
		return err
	}
	says, err := output(b.root, nil, lathe, "version")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(says, "lathe "+b.version+" ") {
		return fmt.Errorf("lathe version says %q, and not %s", says, b.version)
	}
	b.pages = nil
	for _, p := range []struct {
		name string
		args []string
	}{
		{"lathe.1", []string{"man"}},
		{"completions/lathe.bash", []string{"completion", "bash"}},
		{"completions/_lathe", []string{"completion", "zsh"}},
		{"completions/lathe.fish", []string{"completion", "fish"}},
	} {
		text, err := output(b.root, nil, lathe, p.args...)
		if err != nil {
			return err
		}
		b.pages = append(b.pages, file{p.name, []byte(text + "\n"), 0o644})
	}
	return nil
}

// archive builds the command for a target and packs it into a file in dir. It returns the name
// of the file.
func (b *builder) archive(t target, dir string) (string, error) {
	path, err := b.compile(t)
	if err != nil {
		return "", err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	license, err := os.ReadFile(filepath.Join(b.root, "LICENSE"))
	if err != nil {
		return "", err
	}
	others, err := licenses(b.root, path, t)
	if err != nil {
		return "", err
	}
	files := append([]file{
		{command(t), program, 0o755},
		{"README.txt", []byte(readme(b.version, t, glibc(path))), 0o644},
		{"NOTES.md", []byte(b.notes), 0o644},
		{"LICENSE", license, 0o644},
		{thirdParty, others, 0o644},
	}, b.pages...)
	top := fmt.Sprintf("lathe_%s_%s_%s", b.version, t.goos, t.goarch)
	name, pack := top+".tar.gz", packTar
	if t.goos == "windows" {
		name, pack = top+".zip", packZip
	}
	data, err := pack(top, files, b.when)
	if err != nil {
		return "", err
	}
	return name, os.WriteFile(filepath.Join(dir, name), data, 0o666)
}

// readme is the first thing to read in an archive.
func readme(version string, t target, libc string) string {
	what := "It has the device cpu only, which runs shaders on the processor and needs no driver. To use a\n" +
		"GPU by Vulkan or WebGPU, build it on your system, with a C compiler:\n\n" +
		"    go install github.com/lathe-gpu/lathe/cmd/lathe@" + version
	if t.cgo {
		what = "It has Vulkan, WebGPU, and the device cpu, which needs no driver."
		if libc != "" {
			what += "\nIt needs glibc " + libc + " or newer."
		}
	}
	return fmt.Sprintf(`Lathe %s for %s.

%s

%-21s the command: put it into a folder of the search path
lathe.1               its manual page: man -l lathe.1
completions           for bash, zsh and fish: lathe completion --help says where they go
NOTES.md              what has changed
LICENSE               the license of Lathe
THIRD_PARTY_LICENSES  the licenses of what is linked into the command

lathe doctor says what works on this machine, and lathe help lists the commands. More is at
https://github.com/lathe-gpu/lathe/tree/main/docs.
`, version, t, what, command(t))
}

// glibc is the version of the C library that a program needs, or "".
func glibc(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	symbols, _ := f.ImportedSymbols() // a static program has none
	var newest []int
	for _, s := range symbols {
		var v [3]int
		if n, _ := fmt.Sscanf(s.Version, "GLIBC_%d.%d.%d", &v[0], &v[1], &v[2]); n >= 2 && slices.Compare(v[:2], newest) > 0 {
			newest = v[:2]
		}
	}
	if newest == nil {
		return ""
	}
	return fmt.Sprintf("%d.%d", newest[0], newest[1])
}

// packTar makes a .tar.gz file. All files lie in the folder top.
func packTar(top string, files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: top + "/" + f.name, Size: int64(len(f.data)), Mode: int64(f.mode), ModTime: when, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(w.Close(), z.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// packZip makes a .zip file. All files lie in the folder top.
func packZip(top string, files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: top + "/" + f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(f.mode)
		e, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := e.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
