package testkit

import (
	"bytes"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

const onLinux = runtime.GOOS == "linux"

// packages are the Debian packages of the tools that tests use. tools/setup/ci.sh
// installs all of them.
var packages = map[string]string{
	"glslc": "glslc", "spirv-as": "spirv-tools", "spirv-opt": "spirv-tools", "spirv-val": "spirv-tools",
	"gm": "graphicsmagick", "tiffcp": "libtiff-tools", "tiffinfo": "libtiff-tools", "tiff2rgba": "libtiff-tools", "cwebp": "webp", "dwebp": "webp", "gif2webp": "webp", "webpmux": "webp",
	"avifdec": "libavif-bin", "avifenc": "libavif-bin",
	"cjpeg": "libjpeg-turbo-progs", "djpeg": "libjpeg-turbo-progs",
	"vips": "libvips-tools", "git": "git", "convert": "imagemagick", "identify": "imagemagick", "exiftool": "libimage-exiftool-perl",
	"g++": "g++", "rsvg-convert": "librsvg2-bin",
}

// Tool returns the path of a program. Without it the test is skipped, or fails if tools
// are required.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path := lookup(t, name)
	if path == "" {
		NoTool(t, "needs %s; install the package %s", name, packages[name])
	}
	return path
}

// ToolIfAny returns the path of a program, for a test that can do without it. It returns
// "" and logs that if the program is missing. If tools are required, the test fails.
func ToolIfAny(t testing.TB, name string) string {
	t.Helper()
	path := lookup(t, name)
	switch {
	case path != "":
	case ToolsRequired():
		t.Fatalf("needs %s; install the package %s", name, packages[name])
	default:
		t.Logf("runs without %s and checks less; install the package %s", name, packages[name])
	}
	return path
}

// NoTool ends a test that lacks a tool, a library or files. format says which, and how to
// get them. The test is skipped unless tools are required.
func NoTool(t testing.TB, format string, args ...any) {
	t.Helper()
	missing(t, ToolsRequired(), format, args...)
}

func lookup(t testing.TB, name string) string {
	t.Helper()
	if packages[name] == "" {
		t.Fatalf("testkit: no package is known to have %s", name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}

// GLSL returns the SPIR-V that glslc makes of a compute shader with the flags, for Vulkan
// 1.1 if there are none. An error of the compiler fails the test.
func GLSL(t testing.TB, source string, flags ...string) []byte {
	t.Helper()
	if len(flags) == 0 {
		flags = []string{"--target-env=vulkan1.1"}
	}
	return output(t, source, append([]string{Tool(t, "glslc"), "-fshader-stage=compute"}, flags...)...)
}

// Assembly returns the SPIR-V that spirv-as makes of a text with the flags. An error of
// the assembler fails the test.
func Assembly(t testing.TB, text string, flags ...string) []byte {
	t.Helper()
	return output(t, text, append([]string{Tool(t, "spirv-as")}, flags...)...)
}

// output runs a compiler that reads its standard input and writes its standard output.
func output(t testing.TB, source string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], append(args[1:], "-o", "-", "-")...)
	cmd.Stdin = strings.NewReader(source)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	code, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s\n%s", args[0], err, &stderr, source)
	}
	return code
}

// Validate returns what the program spirv-val says of a module, and an error if it
// refuses the module. val is its path, as Tool returns it. env is vulkan1.1, vulkan1.3 …
func Validate(t testing.TB, val, env string, code []byte) (text string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), val, "--target-env", env, "-")
	cmd.Stdin = bytes.NewReader(code)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Samples returns the folder of the test pictures of golang.org/x/image, in the module
// cache.
func Samples(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/image").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		NoTool(t, "needs the command go and the module golang.org/x/image, whose test pictures it reads; run go mod download: %v", err)
	}
	return dir + "/testdata"
}
