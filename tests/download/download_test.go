// Package download_test tests what Go downloads for a program of a user. The library of WebGPU
// is large, so only a program that imports package wgpu may download it.
package download_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

const (
	module = "github.com/lathe-gpu/lathe"
	webgpu = "github.com/cogentcore/webgpu"
	avif   = "github.com/gen2brain/avif"
)

// goTool runs the go command in a folder. An error fails the test.
func goTool(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	text, err := tryGo(t.Context(), dir, env, args...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tryGo runs the go command in a folder.
func tryGo(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), env...), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String(), nil
}

// tree is the folder of this module.
func tree(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// public are the packages that a program can import, except those that download much: wgpu and imageio/avif.
func public(t *testing.T) (paths []string) {
	t.Helper()
	for line := range strings.Lines(goTool(t, tree(t), nil, "list", "-f", "{{.Name}} {{.ImportPath}}", "./...")) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		parts := strings.Split(path, "/")
		if name != "main" && path != module+"/wgpu" && path != module+"/imageio/avif" && !slices.ContainsFunc(parts, func(p string) bool { return p == "internal" || p == "tests" || p == "examples" }) {
			paths = append(paths, path)
		}
	}
	if len(paths) < 10 || !slices.Contains(paths, module) {
		t.Fatalf("found %q only", paths)
	}
	return paths
}

// TestImports looks at all packages that a user's program may import, at what they import,
// and at what the tests of all these import. "go mod tidy" of the program looks at the same.
func TestImports(t *testing.T) {
	var ours []string
	for path := range strings.Lines(goTool(t, tree(t), nil, append([]string{"list", "-deps"}, public(t)...)...)) {
		if path = strings.TrimSpace(path); path == module || strings.HasPrefix(path, module+"/") {
			ours = append(ours, path)
		}
	}
	deps := goTool(t, tree(t), nil, append([]string{"list", "-deps", "-test"}, ours...)...)
	if !strings.Contains(deps, "pgregory.net/rapid") {
		t.Error("the list has no package that only tests import")
	}
	for path := range strings.Lines(deps) {
		if path = strings.TrimSpace(path); strings.HasPrefix(path, webgpu) || path == module+"/wgpu" {
			t.Errorf("a user's program would download WebGPU, because some package or test imports %s", path)
		}
		if strings.HasPrefix(path, avif) {
			t.Errorf("a user's program would download the codec of AVIF, because some package or test imports %s", path)
		}
	}
}

// sources returns the first program of the README, a file that imports every public package
// but wgpu and imageio/avif, and one that imports wgpu.
func sources(t *testing.T) (program, all, wgpu string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(tree(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(strings.ReplaceAll(string(readme), "\r\n", "\n"), "```go\npackage main\n")
	program, _, closed := strings.Cut(rest, "\n```")
	if !found || !closed {
		t.Fatal("the README has no program")
	}
	all = "package main\n\nimport (\n"
	for _, path := range public(t) {
		all += "\t_ \"" + path + "\"\n"
	}
	return "package main\n" + program + "\n", all + ")\n", "package main\n\nimport _ \"" + module + "/wgpu\"\n"
}

// user is a module of a user, with a module cache that is empty at first.
type user struct {
	dir, cache string
	proxies    string // where the modules come from that this machine has not downloaded before
	env        []string
}

// newUser makes a module that takes Lathe from this tree, and all else from the modules that
// this machine has downloaded before. Only what is missing there comes from elsewhere.
func newUser(t *testing.T) *user {
	t.Helper()
	home := t.TempDir()
	u := &user{dir: filepath.Join(home, "program"), cache: filepath.Join(home, "modules")}
	if err := os.Mkdir(u.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var known struct{ GOMODCACHE, GOPROXY string }
	if err := json.Unmarshal([]byte(goTool(t, tree(t), nil, "env", "-json", "GOMODCACHE", "GOPROXY")), &known); err != nil {
		t.Fatal(err)
	}
	u.proxies = known.GOPROXY
	downloads := &url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(filepath.Join(known.GOMODCACHE, "cache", "download")), "/")}
	u.env = []string{
		"GOENV=off", // what the developer has set there does not count
		"GOMODCACHE=" + u.cache, "GOPROXY=" + downloads.String() + "," + u.proxies, "GOVCS=",
		"GOPRIVATE=", "GONOPROXY=", "GONOSUMDB=", "GOSUMDB=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-modcacherw",
	}
	u.write(t, "go.mod", "module example.com/blur\n\ngo "+strings.TrimSpace(goTool(t, tree(t), nil, "list", "-m", "-f", "{{.GoVersion}}"))+"\n\nreplace "+module+" => "+tree(t)+"\n")
	return u
}

func (u *user) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// tool runs the go command in the module. If that fails, and no module can be downloaded, the
// test is skipped, or fails where tools are required.
func (u *user) tool(t *testing.T, args ...string) string {
	t.Helper()
	text, err := tryGo(t.Context(), u.dir, u.env, args...)
	if err == nil {
		return text
	}
	if why := unreachable(t.Context(), u.proxies); why != nil && fetches(args) {
		testkit.NoTool(t, "needs modules that are not in the module cache, and no module proxy: %v\n%v", why, err)
	}
	t.Fatal(err)
	return ""
}

// fetches reports whether a go command may download modules.
func fetches(args []string) bool { return slices.Contains([]string{"get", "mod", "list"}, args[0]) }

// unreachable says why none of the module proxies of a list, as GOPROXY has it, answers. It is nil
// if one does. Without a proxy, modules come from their authors, which is not tried.
func unreachable(ctx context.Context, proxies string) error {
	why := fmt.Errorf("GOPROXY=%s names none", proxies)
	for proxy := range strings.FieldsFuncSeq(proxies, func(r rune) bool { return r == ',' || r == '|' }) {
		if !strings.HasPrefix(proxy, "http") {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(proxy, "/")+"/golang.org/x/sync/@v/v0.1.0.mod", nil)
		if err == nil {
			var answer *http.Response
			if answer, err = http.DefaultClient.Do(request); err == nil {
				answer.Body.Close()
				return nil // an error of the proxy is one of the test
			}
		}
		why = err
	}
	return why
}

// has reports whether the source of a module is in the cache, packed or unpacked.
func (u *user) has(t *testing.T, path string) (there bool) {
	t.Helper()
	if err := filepath.WalkDir(u.cache, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(strings.TrimPrefix(name, u.cache))
		if e.IsDir() && strings.HasPrefix(name, "/"+path+"@") || strings.HasPrefix(name, "/cache/download/"+path+"/") && strings.HasSuffix(name, ".zip") {
			there = true
			return fs.SkipAll
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return there
}

// TestUnreachable tells a network that is not there from a proxy that answers.
func TestUnreachable(t *testing.T) {
	there := httptest.NewServer(http.NotFoundHandler())
	defer there.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for proxies, want := range map[string]bool{
		there.URL: false, gone.URL + "," + there.URL: false, gone.URL + "|" + there.URL + "/,direct": false,
		gone.URL: true, gone.URL + ",direct": true, "off": true, "direct": true, "": true,
	} {
		if err := unreachable(t.Context(), proxies); (err != nil) != want {
			t.Errorf("%q: got %v", proxies, err)
		}
	}
	if !fetches([]string{"mod", "tidy"}) || fetches([]string{"build", "."}) {
		t.Error("a failed build must not be taken for a missing module")
	}
}

// TestUserIgnoresTheDeveloper tests that settings of the developer change nothing of what a
// user's module downloads.
func TestUserIgnoresTheDeveloper(t *testing.T) {
	settings := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(settings, []byte("GOPRIVATE=github.com/*\nGONOSUMDB=x.example\nGOFLAGS=-trimpath\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOENV", settings)
	t.Setenv("GONOPROXY", "*")
	t.Setenv("GOPROXY", "https://one.example,direct")
	u := newUser(t)
	var got map[string]string
	if err := json.Unmarshal([]byte(u.tool(t, "env", "-json", "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOPROXY", "GOFLAGS", "GOMODCACHE")), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"GOPRIVATE": "", "GONOPROXY": "", "GONOSUMDB": "", "GOFLAGS": "-modcacherw", "GOMODCACHE": u.cache} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if list := strings.Split(got["GOPROXY"], ","); len(list) != 3 || !strings.HasPrefix(list[0], "file:///") || list[1] != "https://one.example" {
		t.Errorf("GOPROXY is %q", got["GOPROXY"])
	}
}

// TestDownload makes the first program of the README into a module of its own, as a user
// does. Nothing of WebGPU may be downloaded for it.
func TestDownload(t *testing.T) {
	testlevel.Need(t, testlevel.Full) // unpacks modules, builds some of them, and downloads what only tests use
	program, all, wgpu := sources(t)
	u := newUser(t)
	u.write(t, "main.go", program)
	u.tool(t, "get", module)
	u.tool(t, "mod", "tidy")
	u.tool(t, "build", "-trimpath", "-o", "blur.exe", ".") // so Go finds what it has built before
	u.run(t)
	u.write(t, "all.go", all)
	u.tool(t, "mod", "tidy")
	u.tool(t, "mod", "download")
	u.tool(t, "mod", "vendor")
	u.tool(t, "list", "-mod=mod", "-deps", "-test", ".")
	if u.has(t, webgpu) {
		t.Errorf("%s was downloaded for a program that does not import package wgpu", webgpu)
	}
	if !u.has(t, "github.com/vulkan-go/vulkan") {
		t.Error("the library of Vulkan was not downloaded: this test looks for modules in the wrong place")
	}
	u.write(t, "wgpu.go", wgpu)
	u.tool(t, "mod", "tidy")
	if !u.has(t, webgpu) {
		t.Errorf("%s was not downloaded for a program that imports package wgpu", webgpu)
	}
	if deps := u.tool(t, "list", "-mod=mod", "-deps", "."); strings.TrimSpace(u.tool(t, "env", "CGO_ENABLED")) == "1" && !strings.Contains(deps, webgpu) {
		t.Errorf("a program that imports package wgpu is built without %s", webgpu)
	}
}

// run blurs a picture with the program, and asks it for the backend that it does not have.
func (u *user) run(t *testing.T) {
	t.Helper()
	photo, err := testimg.JPEG(40, 30, 1, 90)
	if err != nil {
		t.Fatal(err)
	}
	blur := func(backend string) (stdout, stderr bytes.Buffer, err error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(u.dir, "blur.exe"))
		cmd.Env = append(os.Environ(), "LATHE_DEVICE=", "LATHE_BACKEND="+backend)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(photo), &stdout, &stderr
		err = cmd.Run()
		return stdout, stderr, err
	}
	stdout, stderr, err := blur("cpu")
	if err != nil {
		t.Fatalf("cpu: %v\n%s", err, &stderr)
	}
	if got, err := jpeg.Decode(&stdout); err != nil || got.Bounds().Dx() != 40 || got.Bounds().Dy() != 30 {
		t.Errorf("cpu: the result is no picture of 40x30: %v", err)
	}
	want := `import _ "` + module + `/wgpu"`
	if _, stderr, err := blur("wgpu"); err == nil || !strings.Contains(stderr.String(), want) {
		t.Errorf("wgpu: got %v and %s; want an error that names %s", err, &stderr, want)
	}
}
