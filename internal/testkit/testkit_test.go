package testkit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// recorder is a testing.TB that remembers how a test ended, and why.
type recorder struct {
	testing.TB
	ended   string // skip, fatal or ""
	failed  bool   // by Errorf
	text    string
	cleanup []func()
}

func (r *recorder) Helper()             {}
func (r *recorder) Cleanup(f func())    { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Log(...any)          {}
func (r *recorder) Logf(string, ...any) {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed, r.text = true, fmt.Sprintf(format, args...)
}

func (r *recorder) end(how, text string) {
	r.ended, r.text = how, text
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any)  { r.end("skip", fmt.Sprintf(format, args...)) }
func (r *recorder) Fatalf(format string, args ...any) { r.end("fatal", fmt.Sprintf(format, args...)) }
func (r *recorder) Fatal(args ...any)                 { r.end("fatal", fmt.Sprint(args...)) }

// try runs a test that may end itself, and what it has left for its end.
func try(t *testing.T, test func(testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(r)
	}()
	<-done
	for _, f := range r.cleanup {
		f()
	}
	return r
}

type closer struct{ err error }

func (c closer) Close() error { return c.err }

var errOther = errors.New("other")

// What is missing skips a test, and fails it where it is required. The text says what
// there should be.
func TestMissing(t *testing.T) {
	none := fmt.Errorf("vk: %w: no driver", errs.ErrNoDevice)
	skip := "skip"
	if onLinux {
		skip = "fatal"
	}
	for name, c := range map[string]struct {
		test            func(testing.TB)
		plain, required string // how it ends
		text            string
	}{
		"device":          {func(t testing.TB) { Device(t, closer{}, nil) }, "", "", ""},
		"no device":       {func(t testing.TB) { Device(t, closer{}, none) }, "skip", "fatal", "no driver"},
		"another error":   {func(t testing.TB) { Device(t, closer{}, errOther) }, "fatal", "fatal", "other"},
		"listed":          {func(t testing.TB) { Opened(t, nil) }, "", "", ""},
		"none listed":     {func(t testing.TB) { Opened(t, none) }, "skip", "fatal", "no driver"},
		"no such device":  {func(t testing.TB) { NoDevice(t, "needs %d", 2) }, "skip", "fatal", "needs 2"},
		"built":           {func(t testing.TB) { Built(t, []string{"vk"}, "vk") }, "", "", ""},
		"not built":       {func(t testing.TB) { Built(t, []string{"vk"}, "wgpu") }, "skip", "skip", "nowgpu"},
		"ability":         {func(t testing.TB) { Ability(t, true, "dev", "texels") }, "", "", ""},
		"no ability":      {func(t testing.TB) { Ability(t, false, "dev", "texels") }, "skip", "skip", "needs texels, which dev"},
		"system":          {func(t testing.TB) { System(t, "links", nil) }, "", "", ""},
		"other system":    {func(t testing.TB) { System(t, "links", errOther) }, "skip", skip, "needs a system with links: other"},
		"tool":            {func(t testing.TB) { Tool(t, "glslc") }, "skip", "fatal", "install the package glslc"},
		"compiler":        {func(t testing.TB) { GLSL(t, "") }, "skip", "fatal", "install the package glslc"},
		"assembler":       {func(t testing.TB) { Assembly(t, "") }, "skip", "fatal", "install the package spirv-tools"},
		"can do without":  {func(t testing.TB) { ToolIfAny(t, "spirv-val") }, "", "fatal", "install the package spirv-tools"},
		"unknown program": {func(t testing.TB) { Tool(t, "who") }, "fatal", "fatal", "no package"},
		"pictures":        {func(t testing.TB) { Samples(t) }, "skip", "fatal", "go mod download"},
	} {
		for value, want := range map[string]string{"": c.plain, "0": c.plain, "1": c.required} {
			t.Run(name+" "+value, func(t *testing.T) {
				t.Setenv(RequireDevice, value)
				t.Setenv(RequireTools, value)
				t.Setenv("PATH", t.TempDir())
				if r := try(t, c.test); r.ended != want || r.failed || want != "" && !strings.Contains(r.text, c.text) {
					t.Errorf("ended by %q, failed %v, with %q; want %q with %q", r.ended, r.failed, r.text, want, c.text)
				}
			})
		}
	}
}

// A device is closed at the end of the test, and its error is the test's.
func TestDeviceCloses(t *testing.T) {
	if r := try(t, func(t testing.TB) { Device(t, closer{errOther}, nil) }); !r.failed || !strings.Contains(r.text, "other") {
		t.Errorf("failed %v with %q, want the error of Close", r.failed, r.text)
	}
}

// Every tool is one that CI installs.
func TestPackages(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "tools", "setup", "ci.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range packages {
		if !strings.Contains(string(script), " "+p+`"`) {
			t.Errorf("tools/setup/ci.sh does not install %s, which has %s", p, name)
		}
	}
}

func TestNoRace(t *testing.T) {
	want := ""
	if Race {
		want = "skip"
	}
	if r := try(t, func(t testing.TB) { NoRace(t, "allocates") }); r.ended != want {
		t.Errorf("ended by %q, want %q", r.ended, want)
	}
}

// A leak in every round fails the test, and one in a single round does not.
func TestFlat(t *testing.T) {
	const size = 32 << 20
	var held [][]byte
	grow := func() {
		b := make([]byte, size)
		for i := 0; i < size; i += 4096 {
			b[i] = 1 // has the system give the page
		}
		held = append(held, b)
	}
	if r := try(t, func(t testing.TB) { Flat(t, 3, 1, size/2, 0, grow) }); r.ended == "" && !r.failed {
		t.Error("a leak in every round was not found")
	}
	once := true
	if r := try(t, func(t testing.TB) {
		Flat(t, 3, 1, size/2, 0, func() {
			if once {
				grow()
			}
			once = false
		})
	}); r.failed {
		t.Errorf("growth in one round is no leak: %s", r.text)
	}
	runtime.KeepAlive(held)
}
