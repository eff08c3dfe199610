// Package conformance_test runs the suite of package conformance on all devices, and tests that
// need any of them. The tests of the suite itself are beside it.
package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/lathe-gpu/lathe" // registers every operation
	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
	_ "github.com/lathe-gpu/lathe/wgpu" // a backend to try
)

// devices runs f on every device of every backend, or of the backend that LATHE_BACKEND
// names. It does so in parallel, because drivers compile on one processor at a time.
func devices(t *testing.T, f func(t *testing.T, dev gpu.Device)) {
	t.Helper()
	infos, err := drivers.List(t.Context(), "")
	testkit.Opened(t, err)
	validation := os.Getenv("LATHE_VALIDATION") == "1"
	var all sync.WaitGroup
	defer all.Wait()
	for i, info := range infos {
		if validation && info.Backend != "vk" {
			continue // The layer checks Vulkan. These tests do not check how the library of wgpu uses Vulkan.
		}
		all.Go(func() {
			t.Run(fmt.Sprintf("%s %d %s", info.Backend, i, info.Name), func(t *testing.T) { f(t, open(t, i, validation)) })
		})
	}
}

// open opens the device with an index in the list.
func open(t *testing.T, index int, validation bool) gpu.Device {
	t.Helper()
	dev, err := drivers.Open(t.Context(), drivers.Options{
		Device: strconv.Itoa(index), NoCache: true, Warn: func(string) {}, Validation: validation,
	})
	return testkit.Device(t, dev, err)
}

func expectations(t *testing.T) *conformance.Expectations {
	t.Helper()
	e, err := conformance.Known()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// inShard lists the operations that this run tries.
func inShard() (ops []*spec.Op) {
	for _, op := range spec.All() {
		if testlevel.InShard(op.Name) {
			ops = append(ops, op)
		}
	}
	return ops
}

// shared lists the operations that a run of the quick level tries on a device. The devices share
// them, so that the suite takes minutes with any number of operations: each runs on one device,
// and with the next seed on another one. The device of package cpu has twice the share of another
// one, because drivers take long to compile kernels. Under the validation layer, a device runs all.
func shared(t *testing.T, dev gpu.Device, ops []*spec.Op) []*spec.Op {
	if testlevel.IsFull() || os.Getenv("LATHE_VALIDATION") == "1" {
		return ops
	}
	infos, err := drivers.List(t.Context(), "")
	testkit.Opened(t, err)
	own := slices.IndexFunc(infos, func(i gpu.Info) bool { return i.Backend == dev.Info().Backend && i.Name == dev.Info().Name })
	turns := len(infos)
	twice := slices.ContainsFunc(infos, func(i gpu.Info) bool { return i.Backend == drivers.CPU })
	if twice {
		turns++
	}
	var list []*spec.Op
	for i, op := range ops {
		if own < 0 || testlevel.Sampled(i+own, turns) || twice && dev.Info().Backend == drivers.CPU && testlevel.Sampled(i+turns-1, turns) {
			list = append(list, op)
		}
	}
	return list
}

// aThird returns, at the quick level, one of three operations. The seed chooses by another digit than that by
// which devices share the operations, so that each operation runs on each device with some seed.
func aThird(seed uint64, ops []*spec.Op) (some []*spec.Op) {
	for _, op := range ops {
		h := fnv.New64a()
		fmt.Fprint(h, op.Name, " ", seed)
		if testlevel.IsFull() || h.Sum64()%3 == 0 {
			some = append(some, op)
		}
	}
	return some
}

// TestDevices is the suite. It checks every operation and element type, at the full level on every
// device. It chooses cases by pairs. At the quick level the devices share the operations, and run a
// part of the element types and kernels, because a CPU driver needs a quarter of a second to compile one; under the
// validation layer a device runs all of them. At the full level the cases are larger and more, and at the soak level all
// cases run in every variant. Below the soak level, WebGPU runs the cases of the quick level
// only, because Vulkan has already run the same kernels. It runs them with the device's own
// limits at the quick level, and with the least limits of WebGPU at the full level. The
// device of package cpu runs the cases of the quick level too, with its own limits at the
// quick level and in all variants at the full level. It must support all of them. Under the
// race detector, two variants run at the same time, and each case runs once.
func TestDevices(t *testing.T) {
	if len(spec.All()) < 8 {
		t.Fatalf("%d operations are registered, want the eight image operations at least", len(spec.All()))
	}
	var mu sync.Mutex
	var reports []*conformance.Report
	devices(t, func(t *testing.T, dev gpu.Device) {
		start := time.Now()
		full := testlevel.IsFull()
		opts := conformance.Options{Ops: shared(t, dev, inShard()), Expect: expectations(t), Quick: !full, Pairs: !testlevel.IsSoak(), Seed: testlevel.Seed(t)}
		if !full && os.Getenv("LATHE_VALIDATION") != "1" { // The layer looks at every kernel.
			opts.Kernels = 28
			if dev.Info().Backend == "wgpu" { // The other backend draws more of the same kernels.
				opts.Kernels = 56
			}
		}
		if dev.Info().Backend == "wgpu" && !testlevel.IsSoak() {
			opts.Quick, opts.Variants = true, conformance.Variants(dev.Info())[:1]
			if full {
				opts.Variants = conformance.Variants(dev.Info())[1:2]
			}
		}
		if dev.Info().Backend == drivers.CPU && !testlevel.IsSoak() {
			opts.Quick = true
			if !full {
				opts.Kernels, opts.Variants = 18, conformance.Variants(dev.Info())[:1]
			}
		}
		if raceDetector && !full {
			opts.Once, opts.Pairs, opts.Variants = true, false, conformance.Variants(dev.Info())[:2]
		}
		rep, err := conformance.Run(t.Context(), dev, opts)
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, rep)
		t.Logf("%v, longest %s\n%s", time.Since(start).Round(time.Millisecond), rep.Slowest(8), rep)
		if !rep.OK() {
			t.Errorf("%d cases failed, %d rows of expect.txt are stale", rep.Count(conformance.Fail), len(rep.Stale))
		}
		for _, op := range opts.Ops {
			for _, d := range required(op, opts.Kernels) {
				if !slices.ContainsFunc(rep.Rows, func(r conformance.Row) bool {
					return r.Op == op.Name && r.DType == d.String() && (r.Status == conformance.Pass || r.Status == conformance.Unsupported)
				}) {
					t.Errorf("%s %v: no case has run", op.Name, d)
				}
			}
		}
		// Contiguous operands at the device's alignment are no special case. Every device
		// must support them for the declared dtypes F32 and U8.
		for _, r := range rep.Rows {
			// A cast may need f64.
			lacking := !dev.Info().Features.F64 && strings.Contains(r.Message, "no double precision")
			if r.Status != conformance.Pass && dev.Info().Backend == drivers.CPU {
				t.Errorf("%s %s %s: %v: %s", r.Op, r.DType, r.Case, r.Status, r.Message)
			}
			if r.Status == conformance.Unsupported && (r.DType == "f32" || r.DType == "u8") && conformance.PlainMode(r) && !lacking {
				t.Errorf("%s %s %s: unsupported: %s", r.Op, r.DType, r.Case, r.Message)
			}
		}
	})
	if file := os.Getenv("LATHE_TABLE"); file != "" {
		previous, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(conformance.Table(reports, when(), string(previous))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// required lists the element types of an operation of which a case must run.
func required(op *spec.Op, kernels int) []tensor.DType {
	if kernels > 1 {
		return op.Cases.DTypes[:1] // The seed draws the other ones.
	}
	return op.Cases.DTypes
}

// when returns the date and the commit of the run, for the page.
func when() string {
	commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return fmt.Sprintf("made on %s at commit %s, level %v", time.Now().Format(time.DateOnly), strings.TrimSpace(string(commit)), testlevel.Of())
}

// TestBackendsAgree runs every case on both backends if they use the same hardware. Each
// case must pass, and the results must agree. TestDevices tries all else.
func TestBackendsAgree(t *testing.T) {
	testlevel.Need(t, testlevel.Full)
	if os.Getenv("LATHE_VALIDATION") == "1" {
		t.Skip("runs without LATHE_VALIDATION=1: the layer watches one backend")
	}
	infos, err := drivers.List(t.Context(), drivers.Auto)
	if err != nil && !errors.Is(err, gpu.ErrNoDevice) {
		t.Fatal(err)
	}
	tried := false
	for i, j := range drivers.Same(infos) {
		if i == j {
			continue
		}
		tried = true
		t.Run(infos[i].Name, func(t *testing.T) {
			t.Setenv(drivers.Env, drivers.Auto)
			a, b := open(t, j, false), open(t, i, false)
			rep, err := conformance.Run(t.Context(), a, conformance.Options{Ops: inShard(), Expect: expectations(t), Quick: true, Once: true,
				Variants: []conformance.Variant{{Name: a.Info().Backend}, {Name: b.Info().Backend, Device: b}}})
			if err != nil {
				t.Fatal(err)
			}
			agreed := 0
			for _, r := range rep.Rows {
				if strings.Contains(r.Case, "/agrees/") && r.Status == conformance.Pass {
					agreed++
				}
			}
			t.Logf("%d results agree, longest %s", agreed, rep.Slowest(5))
			if !rep.OK() || agreed < 9*len(inShard()) {
				t.Errorf("%d results agree, %d cases failed\n%s", agreed, rep.Count(conformance.Fail), rep)
			}
		})
	}
	if !tried {
		testkit.Built(t, drivers.Built(), "vk")
		testkit.Built(t, drivers.Built(), "wgpu")
		testkit.NoDevice(t, "needs a device that both backends reach; there are %d devices", len(infos))
	}
}

// TestCancelled checks that a cancelled run stops with the error of the context.
func TestCancelled(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		ctx, cancel := context.WithCancel(t.Context())
		done := 0
		_, err := conformance.Run(ctx, dev, conformance.Options{Quick: true, Progress: func(n, total int, op string) {
			if done = n; n == 3 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) || done > 4 {
			t.Errorf("error %v after %d groups, want %v after 3", err, done, context.Canceled)
		}
		cancel()
		if err := dev.Sync(t.Context()); err != nil {
			t.Errorf("the device is not usable afterwards: %v", err)
		}
	})
}

// TestKernels compares the operations' declarations with the shaders.
func TestKernels(t *testing.T) {
	if err := conformance.CheckKernels(spec.All(), spirv.Names(), spirv.Module); err != nil {
		t.Error(err)
	}
}

// TestDeclarations checks that every declaration is complete. Code that reads
// declarations relies on it.
func TestDeclarations(t *testing.T) {
	for _, op := range spec.All() {
		switch {
		case op.Doc == "" || op.Group == "" || len(op.Out) == 0 || op.Defaults == nil:
			t.Errorf("%s lacks a doc, group, output or defaults", op.Name)
		case op.Shape == nil || op.Plan == nil || op.Reference == nil || op.Tolerance == nil || op.Cost == nil:
			t.Errorf("%s lacks a function", op.Name)
		case len(op.Cases.DTypes) == 0 || len(op.Cases.Calls) == 0 || len(op.In) > 0 && len(op.Cases.Dims) == 0 || op.Cases.Inputs == nil:
			t.Errorf("%s has no cases", op.Name)
		case op.Defaults.Spec() != op:
			t.Errorf("%s: Defaults is a call of %s", op.Name, op.Defaults.Spec().Name)
		}
		if !op.Internal {
			written(t, op)
		}
		for _, d := range op.Cases.DTypes {
			if tol := op.Tolerance(op.Defaults, d, op.TypicalInputs(d)); tol.Why == "" {
				t.Errorf("%s %v: tolerance %+v has no reason", op.Name, d, tol)
			}
		}
		if spec.Lookup(op.Name) != op {
			t.Errorf("%s is not found by its name", op.Name)
		}
	}
}

// written checks that calls of an operation can be written as text and read again. NaN
// and infinities are legal in a program, but text cannot have them.
func written(t *testing.T, op *spec.Op) {
	if !op.Written() {
		t.Errorf("%s has an exported attribute without an attr tag, and is not internal", op.Name)
		return
	}
	for _, a := range op.Attrs() {
		if a.Doc == "" {
			t.Errorf("%s: attribute %s has no doc tag", op.Name, a.Name)
		}
	}
	for _, c := range op.Cases.Calls {
		text := spec.FormatCall(c)
		back, err := spec.ParseCall(text)
		if strings.Contains(text, "=NaN") || strings.Contains(text, "Inf") {
			if err == nil {
				t.Errorf("%s: the call %q was read", op.Name, text)
			}
			continue
		}
		if err != nil || spec.FormatCall(back) != text {
			t.Errorf("%s: the call %q came back as %v, error %v", op.Name, text, back, err)
		}
	}
}
