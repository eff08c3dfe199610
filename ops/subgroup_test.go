package ops_test

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Rows are shared by way of subgroups where the device promises whole ones, and by
// way of workgroup memory elsewhere.
func TestSubgroups(t *testing.T) {
	whole := func(*gpu.Features) {}
	for _, c := range []struct {
		name   string
		change func(*gpu.Features)
		kind   gpu.Kind
		want   bool
	}{
		{"whole subgroups", whole, gpu.Discrete, true},
		{"a CPU driver", whole, gpu.CPU, false},
		{"subgroups of any size", func(f *gpu.Features) { f.FullSubgroups = false }, gpu.Discrete, false},
		{"no shuffles", func(f *gpu.Features) { f.Subgroups = false }, gpu.Discrete, false},
		{"larger than a workgroup", func(f *gpu.Features) { f.SubgroupSize = 128 }, gpu.Discrete, false},
		{"too small", func(f *gpu.Features) { f.SubgroupSize = 2 }, gpu.Discrete, false},
	} {
		info := null.DefaultInfo()
		info.Kind, info.Limits.MaxTexelBuffers = c.kind, 0
		c.change(&info.Features)
		target := exec.TargetOf(&info)
		in := tensor.Desc{DType: tensor.F32, Shape: []int{100, 1000}}
		for _, call := range []spec.Call{ops.Softmax{Dim: 1}, ops.ReduceSum{Dims: []int{1}}} {
			if k := planned(t, &target, call, in)[0].Name(); strings.HasSuffix(k, ".subgroup") != c.want {
				t.Errorf("%s: %s by %s (want subgroups: %t)", call.Spec().Name, c.name, k, c.want)
			}
		}
	}
}

// planned is the launches of a call.
func planned(t *testing.T, target *spec.Target, call spec.Call, in ...tensor.Desc) []spec.Step {
	t.Helper()
	out, err := call.Spec().Shape(call, in)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := call.Spec().Plan(call, target, in, out)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Steps
}
