package desktop

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// mingw is a C compiler that makes programs for Windows.
const mingw = "x86_64-w64-mingw32-gcc"

// wine runs a program for Windows. Wine's Vulkan needs the display.
func wine(t *testing.T, d *display, env []string, exe string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "wine", append([]string{exe}, args...)...)
	cmd.Env = append(append(os.Environ(), "DISPLAY="+d.name, "WINEDEBUG=-all", "LATHE_BACKEND=", "LATHE_DEVICE="), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("wine %s %q: %v\n%s", filepath.Base(exe), args, err, out)
	}
	return string(out)
}

// needWine ends a test if there is no Wine or no compiler.
func needWine(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"wine", mingw} {
		if _, err := exec.LookPath(tool); err != nil {
			testkit.NoTool(t, "needs %s; tools/setup/wine.sh installs it, and `make wine` calls that", tool)
		}
	}
	if os.Getenv("WINEPREFIX") == "" {
		testkit.NoTool(t, "needs the variable WINEPREFIX with the folder that tools/setup/wine.sh has made; `make wine` sets it")
	}
}

// buildWindows makes a program for Windows of a package in a folder.
func buildWindows(t *testing.T, exe, cgo, folder, pkg string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-C", folder, "-ldflags=-s -w", "-o", exe, pkg)
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED="+cgo, "CC="+mingw)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the program has %.1f MB", float64(info.Size())/1e6)
}

// TestWindows builds the command line for Windows, with cgo and without, and runs it on Wine. By
// the device cpu its pictures have the bits that they have here, and the hashes of its results are
// those that are published. Vulkan and WebGPU reach the drivers of this machine through Wine.
func TestWindows(t *testing.T) {
	needWine(t)
	depend(t, filepath.Join("..", "..", "cmd", "lathe", "*.go"))
	d := newDisplay(t)
	dir := t.TempDir()
	photo := testimg.Photo(320, 200, 7)
	var b bytes.Buffer
	if err := png.Encode(&b, photo); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, "in.png")
	if err := os.WriteFile(in, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	dev, err := lathe.Open(t.Context(), lathe.WithBackend("cpu"))
	dev = testkit.Device(t, dev, err)
	want, err := dev.Apply(t.Context(), photo, imageops.GaussianBlur{Sigma: 3}, imageops.Contrast{Factor: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, cgo, backends string
	}{
		{"cgo", "1", "vk,wgpu,cpu"},
		{"nocgo", "0", "cpu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			exe := filepath.Join(dir, c.name+".exe")
			buildWindows(t, exe, c.cgo, filepath.Join("..", ".."), "./cmd/lathe")
			if got := wine(t, d, nil, exe, "--version"); !strings.Contains(got, " windows/amd64 ") || !strings.HasSuffix(strings.TrimSpace(got), "backends "+c.backends) {
				t.Errorf("the version is %q, want the backends %s", got, c.backends)
			}
			for _, backend := range strings.Split(c.backends, ",") {
				t.Run(backend, func(t *testing.T) {
					tol := 0
					if backend != "cpu" {
						has(t, "vk")
						tol = 2 // a level of the blur is up to 1.5 levels after the contrast
					}
					file := filepath.Join(dir, c.name+backend+".png")
					// WebGPU by Direct3D would reach what Wine makes of it.
					wine(t, d, []string{"LATHE_WGPU_API=vulkan"}, exe, "image", "--backend", backend, in, "--op", "blur sigma=3", "--op", "contrast 1.5", "-o", file)
					if wrong := testimg.Differ(read(t, file), want, tol); wrong != "" {
						t.Error(wrong)
					}
				})
			}
			part := "1/64"
			if testlevel.IsFull() {
				part = "1/8"
			}
			wine(t, d, nil, exe, "verify", "--hash", "--no-cache", "--compare", "published", "--device", "cpu", "--backend", "cpu", "--part", part)
		})
	}
}

// TestWindowsEbiten tries the window of examples/ebiten, built for Windows, on Wine.
func TestWindowsEbiten(t *testing.T) {
	needWine(t)
	d := newDisplay(t)
	exe := filepath.Join(t.TempDir(), "ebiten.exe")
	buildWindows(t, exe, "1", filepath.Join("..", "..", "examples", "ebiten"), ".")
	for _, backend := range backends {
		t.Run(backend, func(t *testing.T) {
			has(t, backend)
			d.t = t
			d.tryEbiten(d.start(backend, "wine", exe))
		})
	}
}

// read reads a picture.
func read(t *testing.T, file string) *image.NRGBA {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	m := image.NewNRGBA(image.Rectangle{Max: src.Bounds().Size()})
	draw.Draw(m, m.Rect, src, src.Bounds().Min, draw.Src)
	return m
}
