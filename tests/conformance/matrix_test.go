package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestMatrices compares the products and convolutions by cooperative matrices with the reference, on
// devices that have such matrices. No driver of Debian 12 has them. "make newest-mesa"
// installs one that does.
func TestMatrices(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		target := exec.TargetOf(dev.Info())
		testkit.Ability(t, target.Matrix[0] > 0, dev.Info().Name, "cooperative matrices of f16 (make newest-mesa brings a CPU driver that has them)")
		target.CPU, target.Strategy = false, "matrix"
		call := ops.MatMul{}
		in := []tensor.Desc{{DType: tensor.F16, Shape: []int{100, 70}}, {DType: tensor.F16, Shape: []int{70, 90}}}
		out, err := call.Spec().Shape(call, in)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := call.Spec().Plan(call, &target, in, out)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(plan.Steps, func(s spec.Step) bool { return strings.HasPrefix(s.Name(), "blas/matmul_coop.") }) {
			t.Fatalf("matrices of %v by subgroups of %d: the plan has no kernel for them: %+v", target.Matrix, target.SubgroupSize, plan.Steps)
		}
		conv := spec.WithDefaults(ops.Conv{Pads: []int{1, 1, 1, 1}})
		plan, err = conv.Spec().Plan(conv, &target, []tensor.Desc{tensor.Contiguous(tensor.F16, 1, 40, 9, 9), tensor.Contiguous(tensor.F16, 40, 40, 3, 3)}, []tensor.Desc{tensor.Contiguous(tensor.F16, 1, 40, 9, 9)})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(plan.Steps, func(s spec.Step) bool { return strings.HasPrefix(s.Name(), "nn/conv_coop.") }) {
			t.Fatalf("a convolution with matrices of %v: the plan has no kernel for them: %+v", target.Matrix, plan.Steps)
		}
		gpuProfile := []conformance.Variant{{Name: "gpu-profile", Guard: true, Target: func(t *spec.Target) { t.CPU, t.Strategy = false, "matrix" }}}
		convolutions := []*spec.Op{ops.Conv{}.Spec(), ops.ConvTranspose{}.Spec(), ops.ConvInputGrad{}.Spec(), ops.ConvFilterGrad{}.Spec()}
		for _, opts := range []conformance.Options{
			{Ops: []*spec.Op{call.Spec(), ops.Attention{}.Spec()}},
			{Ops: convolutions, Pairs: true, Quick: !testlevel.IsFull(), Seed: testlevel.Seed(t)},
		} {
			opts.Expect, opts.Variants = expectations(t), gpuProfile
			rep, err := conformance.Run(t.Context(), dev, opts)
			if err != nil {
				t.Fatal(err)
			}
			if n := rep.Count(conformance.Fail); n > 0 || rep.Count(conformance.Pass) == 0 {
				t.Errorf("%d cases failed\n%s", n, rep)
			}
		}
	})
}
