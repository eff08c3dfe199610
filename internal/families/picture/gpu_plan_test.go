package picture

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// gpuTarget is that of a GPU.
func gpuTarget() *spec.Target {
	return &spec.Target{
		MaxBinding: 128 << 20, MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024, MaxSharedBytes: 48 << 10,
		MaxParamBytes: 128, MaxBindings: 8, OffsetAlign: 16, TexelAlign: 16, SubgroupSize: 32,
	}
}

// launches counts the launches of a plan by the kernels whose names have a prefix after "image/", and the
// workgroups of the least of them.
func launches(plan *spec.Plan, prefix string) (n int, least uint32) {
	for _, s := range plan.Steps {
		if g := s.Groups[0] * s.Groups[1] * s.Groups[2]; strings.HasPrefix(s.Name(), "image/"+prefix) {
			if n++; n == 1 || g < least {
				least = g
			}
		}
	}
	return n, least
}

// TestHistogramsFillGPUs checks that a GPU counts a picture, and all tiles of one, in one launch of
// many workgroups, and adds in one launch too.
func TestHistogramsFillGPUs(t *testing.T) {
	large, small := tensor.Contiguous(tensor.U8, 4000, 6000, 4), tensor.Contiguous(tensor.U8, 1080, 1920, 4)
	for _, c := range []struct {
		name  string
		in    tensor.Desc
		plan  func(t *spec.Target, in tensor.Desc) (*spec.Plan, error)
		least uint32
	}{
		{"stretch", large, func(t *spec.Target, in tensor.Desc) (*spec.Plan, error) { return PlanTone(t, in, in, Tone{}) }, 1500},
		{"stretch", small, func(t *spec.Target, in tensor.Desc) (*spec.Plan, error) { return PlanTone(t, in, in, Tone{}) }, 500},
		{"equalize each", large, func(t *spec.Target, in tensor.Desc) (*spec.Plan, error) {
			return PlanTone(t, in, in, Tone{Equalize: true, Each: true})
		}, 1500},
		{"tiles", large, func(t *spec.Target, in tensor.Desc) (*spec.Plan, error) {
			return PlanClahe(t, in, in, Local{TilesX: 8, TilesY: 8, Clip: 2})
		}, 1500},
		{"tiles", small, func(t *spec.Target, in tensor.Desc) (*spec.Plan, error) {
			return PlanClahe(t, in, in, Local{TilesX: 8, TilesY: 8, Clip: 2})
		}, 500},
	} {
		plan, err := c.plan(gpuTarget(), c.in)
		if err != nil {
			t.Fatal(err)
		}
		if n, least := launches(plan, "histogram_shared.u8"); n != 1 || least < c.least {
			t.Errorf("%s of %v: %d launches count, of %d workgroups, want one of %d", c.name, c.in, n, least, c.least)
		}
		if n, least := launches(plan, "histogram"); n != 2 || least < 256 {
			t.Errorf("%s of %v: %d launches count and add, the least of %d workgroups, want two of 256", c.name, c.in, n, least)
		}
		if n, _ := launches(plan, "tone_table.u8"); n > 0 {
			if n, _ = launches(plan, "tone_table.u8.scan"); n != 1 {
				t.Errorf("%s of %v: invocations of the table do not share sums", c.name, c.in)
			}
		}
	}
}

// TestAffineMapsAreOneLaunchOnGPUs checks that a GPU makes all blocks of an affine map in one launch.
func TestAffineMapsAreOneLaunchOnGPUs(t *testing.T) {
	in := tensor.Contiguous(tensor.U8, 4000, 6000, 4)
	back, err := Projection{1, 0.2, 0, 0, 1, 0, 0, 0, 1}.Inverse(4000, 6000)
	if err != nil {
		t.Fatal(err)
	}
	shape := warpShape{h: 4000, height: 4000, width: 6000, made: spec.RowRange{To: 4000}}
	for filter, kernel := range map[string]string{"nearest": "warp.u8.nearest.grid", "bilinear": "warp.u8.bilinear.wide.grid", "catmull-rom": "warp.u8.cubic.wide.grid"} {
		plan, err := planWarp(gpuTarget(), in, in, Warp{Back: back, Filter: filter}, shape)
		if err != nil {
			t.Fatal(err)
		}
		if n, least := launches(plan, kernel); len(plan.Steps) != 1 || n != 1 || least < 6000*4000/64 {
			t.Errorf("%s: %d launches, %d of %s", filter, len(plan.Steps), n, kernel)
		}
	}
}

// TestLongBordersHaveWorkgroups checks that no invocation of a GPU walks along a long border alone.
func TestLongBordersHaveWorkgroups(t *testing.T) {
	in := tensor.Contiguous(tensor.U8, 4000, 6000, 4)
	plan, err := PlanCanny(gpuTarget(), in, in, Canny{Sigma: 1.4, Low: 0.1, High: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.Steps {
		if p, ok := s.Params.(cannyJoinParams); ok && s.Name() == "image/canny_join.u32" && p.Size*(1+p.Below) >= leastWide {
			t.Errorf("an invocation joins a border of %d blocks", p.Size*(1+p.Below))
		}
	}
	if n, _ := launches(plan, "canny_join"); n > 28 {
		t.Errorf("%d launches join", n)
	}
}
