package conformance_test

import (
	"crypto/sha256"
	"slices"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/internal/testspv/loose"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// looseDevice runs modules as another driver may.
type looseDevice struct {
	gpu.Device
	rules loose.Rules
	mu    sync.Mutex
	made  map[*gpu.Module]*gpu.Module
	// changed counts modules that are not as they were.
	changed int
}

// Submit runs the rewritten modules.
func (d *looseDevice) Submit(list []gpu.Dispatch) error {
	list = slices.Clone(list)
	for i := range list {
		m, err := d.of(list[i].Module)
		if err != nil {
			return err
		}
		list[i].Module = m
	}
	return d.Device.Submit(list)
}

func (d *looseDevice) of(m *gpu.Module) (*gpu.Module, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if made := d.made[m]; made != nil || m == nil {
		return made, nil
	}
	code, err := loose.Rewrite(m.Code, d.rules)
	if err != nil {
		return nil, err
	}
	if _, err := gpu.ParseModule(m.Name, code); err != nil {
		return nil, err
	}
	made := *m
	made.Code, made.Hash = code, sha256.Sum256(code)
	if made.Hash != m.Hash {
		d.changed++
	}
	d.made[m] = &made
	return &made, nil
}

// TestLoose runs operations on floats with the plans of a GPU, and with modules that a GPU's driver may run in place
// of Lathe's: minima of NaN and a number are the number, and sums are computed in another order. LATHE_OPS chooses
// operations, as for TestOps. Otherwise the quick level runs a part of the kernels of a 24th of the operations.
func TestLoose(t *testing.T) {
	ops := named(t)
	if ops == nil {
		for i, op := range inShard() {
			if testlevel.Sampled(i, 24) {
				ops = append(ops, op)
			}
		}
	}
	ops = slices.DeleteFunc(ops, func(op *spec.Op) bool {
		return !slices.ContainsFunc(op.Cases.DTypes, func(d tensor.DType) bool { return d == tensor.F32 || d == tensor.F64 })
	})
	devices(t, func(t *testing.T, dev gpu.Device) {
		// WebGPU writes its modules anew, and a GPU does what it does.
		testkit.Ability(t, dev.Info().Backend == "vk" && dev.Info().Kind == gpu.CPU, dev.Info().Name, "a CPU driver of Vulkan")
		if len(ops) == 0 {
			return
		}
		loose := &looseDevice{Device: dev, rules: loose.NaN | loose.Order, made: map[*gpu.Module]*gpu.Module{}}
		opts := conformance.Options{Ops: ops, Expect: expectations(t), Quick: true, Pairs: true, Seed: testlevel.Seed(t),
			Variants: []conformance.Variant{{Name: "gpu-profile", Target: func(t *spec.Target) { t.CPU = false }}}}
		if !testlevel.IsFull() {
			opts.Kernels = 10
		}
		rep, err := conformance.Run(t.Context(), loose, opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d modules, of which %d are other ones\n%s", len(loose.made), loose.changed, rep)
		if n := rep.Count(conformance.Fail); n > 0 {
			t.Errorf("%d cases failed", n)
		}
	})
}
