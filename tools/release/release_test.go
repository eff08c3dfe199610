package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

const changelog = `# Changelog

## [Unreleased]

- Not yet.

## [0.2.0] - 2026-01-02

### Added

- A thing.

## [0.1.0-rc.1]

## [0.1.0]

- The first.
`

func TestSection(t *testing.T) {
	for version, want := range map[string]string{
		"v0.2.0": "# Lathe v0.2.0\n\n### Added\n\n- A thing.\n",
		"v0.1.0": "# Lathe v0.1.0\n\n- The first.\n",
	} {
		if got, err := section(changelog, version); err != nil || got != want {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
	for _, version := range []string{"v0.3.0", "v0.2", "v0.1.0-rc.1", "vUnreleased2"} {
		if got, err := section(changelog, version); err == nil {
			t.Errorf("%s: %q", version, got)
		}
	}
}

// repository makes a repository of one commit.
func repository(t *testing.T) (root string, git func(args ...string)) {
	t.Helper()
	testkit.Tool(t, "git")
	root = t.TempDir()
	git = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Dir = root
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, text)
		}
	}
	git("init", "-q")
	write(t, filepath.Join(root, "CHANGELOG.md"), changelog)
	git("add", ".")
	git("commit", "-q", "-m", "first")
	return root, git
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	root, git := repository(t)
	refused := func(version, want string) {
		t.Helper()
		if _, _, err := check(root, version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", version, err, want)
		}
	}
	for _, version := range []string{"", "0.2.0", "v0.2", "v0.2.0 ", "v01.2.0", "Unreleased", "v0.2.0/../x"} {
		refused(version, "it must be as v1.2.3")
	}
	refused("v9.9.9", `no section "## [9.9.9]"`)
	notes, when, err := check(root, "v0.2.0")
	if err != nil || !strings.Contains(notes, "A thing") || time.Since(when) > time.Hour || when.Location() != time.UTC {
		t.Errorf("%q, %v, %v", notes, when, err)
	}
	git("tag", "v0.2.0")
	if _, _, err := check(root, "v0.2.0"); err != nil {
		t.Errorf("with its own tag: %v", err)
	}
	write(t, filepath.Join(root, "new.go"), "package x\n")
	refused("v0.2.0", "new.go")
	git("add", ".")
	refused("v0.2.0", "changes that are not committed")
	git("commit", "-q", "-m", "second")
	refused("v0.2.0", "the tag v0.2.0 is the commit")
	if _, _, err := check(root, "v0.1.0"); err != nil {
		t.Errorf("another version: %v", err)
	}
	out := filepath.Join(root, "..", "out")
	if err := run(root, "v9.9.9", out, "", io.Discard); err == nil {
		t.Error("run did not check")
	}
	if err := run(root, "v0.1.0", out, "plan9/amd64", io.Discard); err == nil || !strings.Contains(err.Error(), "linux/arm64") {
		t.Errorf("a target that is none: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a folder was made for nothing")
	}
}

// unpack returns the files of an archive.
func unpack(t *testing.T, name string) map[string]file {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]file{}
	if strings.HasSuffix(name, ".zip") {
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			e, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(e)
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name] = file{f.Name, text, f.Mode()}
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = file{h.Name, text, h.FileInfo().Mode()}
	}
}

func TestPack(t *testing.T) {
	in := []file{{"lathe", []byte("program"), 0o755}, {"a/b.txt", []byte("text"), 0o644}}
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, pack := range map[string]func(string, []file, time.Time) ([]byte, error){"x.tar.gz": packTar, "x.zip": packZip} {
		one, err := pack("top", in, when)
		if err != nil {
			t.Fatal(err)
		}
		if two, _ := pack("top", in, when); !bytes.Equal(one, two) {
			t.Errorf("%s differs from itself", name)
		}
		name = filepath.Join(t.TempDir(), name)
		write(t, name, string(one))
		got := unpack(t, name)
		for _, f := range in {
			if g := got["top/"+f.name]; !bytes.Equal(g.data, f.data) || g.mode != f.mode {
				t.Errorf("%s: %s is %v", name, f.name, g)
			}
		}
		if len(got) != len(in) {
			t.Errorf("%s has %d files", name, len(got))
		}
	}
}

func TestReadme(t *testing.T) {
	for _, target := range all {
		text := readme("v0.1.0", target, "2.34")
		if only := strings.Contains(text, "device cpu only"); only == target.cgo {
			t.Errorf("%s: it says that it has the device cpu only: %v", target, only)
		}
		if strings.Contains(text, "glibc 2.34") != target.cgo || !strings.Contains(text, "\n"+command(target)+" ") {
			t.Errorf("%s:\n%s", target, text)
		}
	}
}

// TestRelease makes the archive of this system from this tree, and runs what is in it.
func TestRelease(t *testing.T) {
	testlevel.Turn(t, 5)
	here := host
	b := &builder{root: "../..", version: "v0.0.0-test", notes: "# Notes\n", temp: t.TempDir(), when: time.Unix(1e9, 0).UTC()}
	if err := b.describe(here); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name, err := b.archive(here, dir)
	if err != nil {
		t.Fatal(err)
	}
	top := "lathe_v0.0.0-test_" + here.goos + "_" + here.goarch + "/"
	got := unpack(t, filepath.Join(dir, name))
	var names []string
	for n, f := range got {
		names = append(names, strings.TrimPrefix(n, top))
		if len(f.data) == 0 {
			t.Errorf("%s is empty", n)
		}
	}
	slices.Sort(names)
	want := []string{"LICENSE", "NOTES.md", "README.txt", thirdParty, "completions/_lathe", "completions/lathe.bash", "completions/lathe.fish", command(here), "lathe.1"}
	if !slices.Equal(names, want) {
		t.Errorf("the archive has %q, want %q", names, want)
	}
	for n, text := range map[string]string{
		"lathe.1": `.TH LATHE 1 "" "lathe v0.0.0\-test"`, "completions/lathe.bash": "complete ", "NOTES.md": "# Notes",
		"README.txt": "Lathe v0.0.0-test for " + here.String(), thirdParty: "==== github.com/alecthomas/kong v1",
	} {
		if !strings.Contains(string(got[top+n].data), text) {
			t.Errorf("%s has no %q", n, text)
		}
	}
	program := filepath.Join(t.TempDir(), command(here))
	if err := os.WriteFile(program, got[top+command(here)].data, 0o777); err != nil {
		t.Fatal(err)
	}
	checkLicenses(t, program, string(got[top+thirdParty].data))
	says, err := exec.Command(program, "version").Output()
	if err != nil || !strings.HasPrefix(string(says), "lathe v0.0.0-test go") {
		t.Errorf("lathe version says %q, %v", says, err)
	}
}

// checkLicenses compares the licenses with what "go version -m" says is linked into a program.
func checkLicenses(t *testing.T, program, text string) {
	t.Helper()
	linked, err := exec.Command("go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(linked)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != "dep" {
			continue
		}
		n++
		_, rest, found := strings.Cut(text, "==== "+f[1]+" "+f[2]+": ")
		license, _, _ := strings.Cut(rest, "\n====")
		if !found || len(license) < 500 {
			t.Errorf("%s %s is linked, and its license is missing: %q", f[1], f[2], license)
		}
		if f[1] == webgpu && (!strings.Contains(text, "==== wgpu-native, a library in "+webgpu) || !strings.Contains(text, "\nparking_lot-")) {
			t.Error("wgpu-native is linked, and what is in it is not listed")
		}
	}
	if n == 0 {
		t.Errorf("go version -m names no module:\n%s", linked)
	}
	modules := map[string]bool{}
	for line := range strings.Lines(text) {
		if name, _, has := strings.Cut(line, ": "); has && strings.HasPrefix(name, "==== ") {
			modules[name] = true
		}
	}
	if len(modules) != n+1 { // and Go
		t.Errorf("there are licenses of %d modules, and %d and Go are linked", len(modules), n)
	}
}

// A program has the licenses of what is linked into it, and a program that cannot say what that
// is has none.
func TestLicenses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := licenses("../..", self, host)
	if err != nil || !strings.HasPrefix(string(text), "==== Go go1.") || strings.Contains(string(text), webgpu) || strings.Contains(string(text), "kong") {
		t.Errorf("got %v and %.2000s", err, text)
	}
	junk := filepath.Join(t.TempDir(), "junk")
	write(t, junk, "no program")
	if _, err := licenses("../..", junk, host); err == nil {
		t.Error("a file that is no program")
	}
	var out bytes.Buffer
	if err := licensesOf(&out, "mine v1", filepath.Dir(junk)); err == nil || !strings.Contains(err.Error(), "mine v1 has no license") {
		t.Errorf("no license: got %v", err)
	}
	write(t, filepath.Join(filepath.Dir(junk), "Licence.md"), "  Do what you want.\n\n")
	write(t, filepath.Join(filepath.Dir(junk), "NOTICE"), "By me.")
	if err := licensesOf(&out, "mine v1", filepath.Dir(junk)); err != nil || out.String() != "==== mine v1: Licence.md\n\nDo what you want.\n\n==== mine v1: NOTICE\n\nBy me.\n\n" {
		t.Errorf("got %v and %q", err, out.String())
	}
	if err := rust(&out, "x", filepath.Dir(junk)); err == nil {
		t.Error("no library of Rust")
	}
}
