//go:build cgo

package spv_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testspv/generate"
)

// Every driver sees the same memory through all variables of a binding.
func TestAliasedBlocksRun(t *testing.T) {
	for _, drv := range launch.Drivers(t) {
		t.Run(drv.Name, func(t *testing.T) {
			w := launch.New(t, drv)
			rng := rand.New(rand.NewPCG(7, 2))
			for range 6 {
				text, at := generate.Aliased(rng, 4, 3, false)
				j := launch.Job{Code: assemble(t, text), Groups: [3]uint32{1, 1, 1}}
				for range at {
					j.Buffers = append(j.Buffers, make([]byte, 4*8))
				}
				r, err := w.Run(t.Context(), j, 20*time.Second)
				if err != nil || r.Err != "" {
					t.Errorf("%v: %v %s", at, err, r.Err)
					continue
				}
				for slot, list := range at {
					want := make([]uint32, 8)
					for k := range list {
						want[1+k] = uint32(k) + 1
					}
					if got := fmt.Sprint(r.Buffers[slot]); got != fmt.Sprint(testkit.Words(want...)) {
						t.Errorf("%v: binding %d is %v, want %v", at, slot, got, want)
					}
				}
			}
		})
	}
}
