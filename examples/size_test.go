package examples

import (
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
	const most = 9_650_000 // bytes
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
