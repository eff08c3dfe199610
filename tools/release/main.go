// Release builds the command lathe for several systems, and packs it as the files of a release:
//
//	go run ./tools/release -version v0.1.0 [-out bin/release] [-targets linux/arm64,darwin/arm64]
//
// The folder below -out gets an archive for each target, SHA256SUMS, and NOTES.md, which is the
// section of CHANGELOG.md about the version. An archive has the command, its manual page, the
// completions of shells, a README, the licenses and the notes. The same commit and the same
// tools make the same archives.
//
// It refuses a version that CHANGELOG.md has no section about, a tree with changes that are not
// committed, and a version whose tag is another commit.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "the version, such as v0.1.0")
	out := flag.String("out", "bin/release", "folder for the files; the release gets a folder of its own in it")
	targets := flag.String("targets", "", "systems, by commas, such as linux/arm64; empty = all")
	flag.Parse()
	if err := run(".", *version, *out, *targets, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes the release of the repository in the folder root.
func run(root, version, out, targets string, progress io.Writer) error {
	list, err := parseTargets(targets)
	if err != nil {
		return err
	}
	notes, when, err := check(root, version)
	if err != nil {
		return err
	}
	dir := filepath.Join(out, version)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	b := &builder{root: root, version: version, notes: notes, when: when, flags: []string{"-trimpath"}}
	if b.temp, err = os.MkdirTemp("", "lathe-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.temp)
	if err := b.describe(host); err != nil {
		return err
	}
	var sums strings.Builder
	for _, t := range list {
		name, err := b.archive(t, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name)
		fmt.Fprintf(progress, "%s: %.1f MB\n", filepath.Join(dir, name), float64(len(data))/1e6)
	}
	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "NOTES.md"), []byte(notes), 0o666)
}

// target is a system that the command is built for.
type target struct {
	goos, goarch string
	cgo          bool // with Vulkan and WebGPU, and not only with the device cpu
}

func (t target) String() string { return t.goos + "/" + t.goarch }

// all are the targets of a release. Vulkan and WebGPU need a C compiler for the target, which is
// at hand for linux/amd64 only.
var all = []target{
	{"linux", "amd64", true}, {"linux", "arm64", false},
	{"darwin", "arm64", false}, {"darwin", "amd64", false},
	{"windows", "amd64", false}, {"windows", "arm64", false},
	{"freebsd", "amd64", false},
}

func parseTargets(text string) ([]target, error) {
	if text == "" {
		return all, nil
	}
	var list []target
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(all, func(t target) bool { return t.String() == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("no target is named %q; there are %v", name, all)
		}
		list = append(list, all[i])
	}
	return list, nil
}

var versions = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

// check refuses what must not be released. It returns the notes of the version, and the time of
// the commit.
func check(root, version string) (notes string, when time.Time, err error) {
	if !versions.MatchString(version) {
		return "", when, fmt.Errorf("the version is %q; it must be as v1.2.3 (make release VERSION=v1.2.3)", version)
	}
	changes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return "", when, err
	}
	if notes, err = section(string(changes), version); err != nil {
		return "", when, err
	}
	status, err := git(root, "status", "--porcelain")
	if err != nil {
		return "", when, err
	}
	if status != "" {
		return "", when, fmt.Errorf("the tree has changes that are not committed:\n%s", status)
	}
	head, err := git(root, "rev-parse", "HEAD")
	if err != nil {
		return "", when, err
	}
	if tag, err := git(root, "rev-parse", "--quiet", "--verify", "refs/tags/"+version+"^{commit}"); err == nil && tag != head {
		return "", when, fmt.Errorf("the tag %s is the commit %s, and this is %s", version, tag, head)
	}
	date, err := git(root, "show", "--no-patch", "--format=%cI", "HEAD")
	if err != nil {
		return "", when, err
	}
	when, err = time.Parse(time.RFC3339, date)
	return notes, when.UTC(), err
}

// section returns the part of a changelog that is about a version.
func section(changes, version string) (string, error) {
	head := "## [" + strings.TrimPrefix(version, "v") + "]"
	var b strings.Builder
	inside := false
	for line := range strings.Lines(changes) {
		if strings.HasPrefix(line, "## ") {
			inside = strings.HasPrefix(line, head)
			continue
		}
		if inside {
			b.WriteString(line)
		}
	}
	text := strings.TrimSpace(b.String())
	if text == "" {
		return "", fmt.Errorf("CHANGELOG.md has no section %q with text: move what is under [Unreleased] there", head)
	}
	return "# Lathe " + version + "\n\n" + text + "\n", nil
}

func git(root string, args ...string) (string, error) {
	return output(root, nil, "git", args...)
}

// output runs a command in a folder and returns what it prints.
func output(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	text, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return strings.TrimRight(string(text), "\n"), err
}
