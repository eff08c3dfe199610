package reduction

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// TestChunksCoverRows plans reductions of columns for random sizes and limits. The loops
// of each launch must reach every row that the launch is given.
func TestChunksCoverRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := &spec.Target{
			CPU: rapid.Bool().Draw(t, "cpu"), TexelBuffers: rapid.Bool().Draw(t, "texels"), F64: true, I64: true,
			MaxBinding:  rapid.SampledFrom([]int64{1 << 16, 1 << 19, 1 << 20, 4 << 20, 128 << 20}).Draw(t, "binding"),
			MaxTexels:   rapid.SampledFrom([]int64{1 << 12, 1 << 14, 1 << 16, 1 << 27}).Draw(t, "max texels"),
			OffsetAlign: 32, TexelAlign: 32, MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024,
		}
		d := rapid.SampledFrom(planner.Floats).Draw(t, "dtype")
		v := planner.AxisView{
			Outer: rapid.IntRange(1, 6).Draw(t, "outer"), N: rapid.IntRange(1, 40).Draw(t, "n"),
			Inner: rapid.OneOf(rapid.IntRange(2, 300), rapid.IntRange(1000, 200_000)).Draw(t, "inner"),
		}
		plan := &spec.Plan{}
		r := Reducer{Shader: "reduce/reduce_max", Values: rapid.IntRange(1, 3).Draw(t, "reals")}
		if _, err := Add(plan, target, r, d, v, spec.Ref{}, spec.In(0)); err != nil {
			if errors.Is(err, errs.ErrLimit) {
				t.Skip("another case: a row exceeds a binding")
			}
			t.Fatal(err)
		}
		for i, s := range plan.Steps {
			p := s.Params.(Params)
			if strings.Contains(s.Name(), ".cols") || strings.Contains(s.Name(), ".odd") {
				if p.Chunks*p.Chunk*4 < p.N {
					t.Fatalf("step %d, %s of %s%v: %d chunks of %d steps reach %d rows of %d", i, s.Name(), d, v, p.Chunks, p.Chunk, p.Chunks*p.Chunk*4, p.N)
				}
			}
		}
	})
}
