package spv_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testgpu/committed"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// TestReflectIsParse wants the same of both for every kernel there is.
func TestReflectIsParse(t *testing.T) {
	testlevel.Turn(t, 5)
	for i, m := range committed.Kernels(t) {
		if !testlevel.Sampled(i, 8) {
			continue
		}
		name := m.Name
		want, err := spv.Parse(name, m.Code)
		if err != nil {
			t.Errorf("an embedded kernel does not validate: %v", err)
			continue
		}
		if !want.Foreign {
			t.Errorf("%s: Parse does not say that the module is foreign", name)
		}
		// Only foreign modules have these values.
		want.Foreign, want.PrivateBytes, want.Iterations = false, 0, 0
		want.Registers, want.ValueScalars, want.Instructions = 0, 0, 0
		got, err := spv.Reflect(name, m.Code)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-Parse +Reflect):\n%s", name, d)
		}
	}
}

// TestReflectSurvives gives it modules it was not made for.
func TestReflectSurvives(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := committed.Kernels(t)
	for range 3000 {
		m := all[rng.IntN(len(all))]
		what, code := spv.Mutate(rng, m.Code)
		if got, err := spv.Reflect("mutant", code); (got == nil) == (err == nil) {
			t.Fatalf("%s: module %v, error %v", what, got, err)
		}
	}
	for _, code := range [][]byte{nil, {1}, make([]byte, 20), make([]byte, 64)} {
		if m, err := spv.Reflect("", code); err == nil {
			t.Errorf("%d bytes: got %v, want an error", len(code), m)
		}
	}
}
