package conformance_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPlansEnd plans every operation for devices with limits so small that many plans are impossible: each ends, with a plan or with an error.
func TestPlansEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(testlevel.Seed(t), 4))
	for _, op := range spec.All() {
		if op.Internal || op.Cases.Inputs == nil {
			continue
		}
		for _, bytes := range []int64{1 << 10, 1 << 12, 1 << 14} {
			target := &spec.Target{
				MaxBinding: bytes, MaxTexels: bytes / 16, OffsetAlign: 16, TexelAlign: 16, MaxGroups: [3]uint32{64, 64, 64}, MaxInvocations: 128,
				MaxSharedBytes: 16384, MaxParamBytes: 128, MaxBindings: 8, F16: true, F64: true, I64: true, CPU: bytes%2 == 0, TexelBuffers: rng.IntN(2) == 0,
			}
			for _, call := range op.Cases.Calls[:min(3, len(op.Cases.Calls))] {
				in := drawCase(rng, op, call, tensor.F32)
				out, err := op.Shape(call, in)
				if err != nil {
					continue
				}
				done := make(chan bool)
				go func() {
					defer close(done)
					_, _ = op.Plan(call, target, in, out)
				}()
				select {
				case <-done:
				case <-time.After(20 * time.Second):
					t.Fatalf("%s of %v for bindings of %d bytes takes more than 20 s", spec.FormatCall(call), in, bytes)
				}
			}
		}
	}
}
