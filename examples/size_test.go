package examples

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// A program that blurs a picture does not grow unnoticed. docs/performance.md has its size.
// If it must grow, raise the bound and correct the page.
func TestSizeOfBlur(t *testing.T) {
	testlevel.Need(t, testlevel.Full) // links it
	depend(t)
	const most = 9_950_000 // bytes
	program := filepath.Join(t.TempDir(), "blur")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./blur")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0") // without Vulkan, so it is smaller
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most || info.Size() < most/4 {
		t.Errorf("examples/blur is %d bytes, stripped (want at most %d): go tool nm -size -sort size says what is in it", info.Size(), most)
	}
}

// A program that takes no gradients does not have those of the operations that it calls, nor what these call. One that does has them.
func TestGradientsAreLinkedOnUse(t *testing.T) {
	testlevel.Need(t, testlevel.Full) // links two programs
	depend(t)
	for name, want := range map[string]bool{"tensors": false, "digits": true} {
		program := filepath.Join(t.TempDir(), name)
		if out, err := exec.Command("go", "build", "-o", program, "./"+name).CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		symbols, err := exec.Command("go", "tool", "nm", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(symbols, []byte("/ops.productGradients")); got != want {
			t.Errorf("examples/%s has the gradients of products: %v, want %v", name, got, want)
		}
	}
}
