//go:build cgo

package spv_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/child"
	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testgpu/committed"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

func TestMain(m *testing.M) {
	launch.Main(nil)
	os.Exit(m.Run())
}

// job launches a module with buffers for all its bindings.
func job(m *spv.Module) launch.Job {
	j := launch.Job{Code: m.Code, Push: make([]byte, (m.ParamSize+3)&^3), Groups: [3]uint32{2, 1, 1}}
	for i := 0; i < len(j.Push); i += 4 {
		j.Push[i] = 3
	}
	for slot := uint32(0); len(m.Bindings) > 0 && slot <= m.Bindings[len(m.Bindings)-1].Slot; slot++ {
		j.Buffers = append(j.Buffers, make([]byte, 1<<16))
	}
	return j
}

// A module that Parse accepts must not crash a driver. Each mutant runs in a child
// process, because a crash inside a driver ends the process. On lavapipe 22.3.6, 400
// mutants ran without a crash. A mutant may run for ever, as any shader may. That is not a
// crash.
func TestDriverSurvives(t *testing.T) {
	const n = 25
	testlevel.Need(t, testlevel.Full)
	w := launch.New(t, launch.Lavapipe(t))
	rng := rand.New(rand.NewPCG(42, 1))
	all := committed.Kernels(t)
	endless := 0
	for ran := 0; ran < n; {
		m := all[rng.IntN(len(all))]
		what, code := spv.Mutate(rng, m.Code)
		mutant, err := spv.Parse("", code)
		if err != nil || len(code) > 20<<10 {
			continue
		}
		ran++
		var hang *child.Hang
		if _, err := w.Run(t.Context(), job(mutant), 10*time.Second); errors.As(err, &hang) {
			endless++
		} else if err != nil {
			t.Errorf("%s: %s: %v", m.Name, what, err)
		}
	}
	t.Logf("%d mutants run, %d stopped after 10 s", n, endless)
	if endless > n/5 {
		t.Errorf("%d of %d mutants did not end: the device does not work here", endless, n)
	}
}
