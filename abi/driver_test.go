//go:build cgo

package abi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/abi"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/vk"
)

// driverChild is set in the processes TestDriverSurvives starts.
const driverChild = "LATHE_TEST_DRIVER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(driverChild) != "" {
		if err := launch(); err != nil {
			fmt.Println("refused:", err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// launch runs the module on standard input once. Errors are fine; crashes are
// what the parent looks for.
func launch() error {
	code, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	m, err := abi.Parse("", code)
	if err != nil {
		return err
	}
	ctx := context.Background()
	dev, err := vk.Open(ctx, vk.Options{NoCache: true, Warn: func(string) {}})
	if err != nil {
		return err
	}
	defer dev.Close()
	d := gpu.Dispatch{Module: m, Params: make([]byte, m.ParamSize), Groups: [3]uint32{2, 1, 1}}
	for i := 0; i < len(d.Params); i += 4 {
		d.Params[i] = 3
	}
	for slot := uint32(0); len(m.Bindings) > 0 && slot <= m.Bindings[len(m.Bindings)-1].Slot; slot++ {
		h, err := dev.Alloc(1 << 16)
		if err != nil {
			return err
		}
		d.Bindings = append(d.Bindings, gpu.Binding{Buffer: h})
	}
	if err := dev.Submit([]gpu.Dispatch{d}); err != nil {
		return err
	}
	return dev.Sync(ctx)
}

// What Parse accepts must not crash a driver. Each mutant runs in a process of
// its own, because a crash inside a driver takes its process along. On lavapipe
// 22.3.6, 400 mutants ran without one. A mutant may run for ever, as any shader
// may; that is no crash.
func TestDriverSurvives(t *testing.T) {
	const n = 25
	if testing.Short() {
		t.Skip("long: not with -short")
	}
	if _, err := vk.List(t.Context()); err != nil {
		if os.Getenv("LATHE_REQUIRE_DEVICE") == "1" {
			t.Fatal(err)
		}
		t.Skipf("no Vulkan device: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(42, 1))
	names := spirv.Names()
	endless := 0
	for ran := 0; ran < n; {
		m, err := spirv.Module(names[rng.IntN(len(names))])
		if err != nil {
			t.Fatal(err)
		}
		what, code := abi.Mutate(rng, m.Code)
		if _, err := abi.Parse("", code); err != nil || len(code) > 20<<10 {
			continue
		}
		ran++
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		child := exec.CommandContext(ctx, self)
		child.Env = append(os.Environ(), driverChild+"=1")
		child.Stdin = bytes.NewReader(code)
		out, err := child.CombinedOutput()
		switch {
		case ctx.Err() != nil:
			endless++
		case err != nil:
			t.Errorf("%s: %s: %v\n%.2000s", m.Name, what, err, out)
		}
		cancel()
	}
	t.Logf("%d mutants run, %d stopped after 10 s", n, endless)
	if endless > n/5 {
		t.Errorf("%d of %d mutants did not end: the device does not work here", endless, n)
	}
}
