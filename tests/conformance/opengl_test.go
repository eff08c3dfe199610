package conformance_test

import (
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
)

// TestOpenGL runs some operations by WebGPU over OpenGL, where kernels become GLSL. The
// library has a compiler of its own for each API that is not Vulkan, and this is the only
// one that a machine without a GPU can test.
func TestOpenGL(t *testing.T) {
	testkit.Built(t, drivers.Built(), "wgpu")
	t.Setenv("LATHE_WGPU_API", "gl")
	dev, err := drivers.Open(t.Context(), drivers.Options{Backend: "wgpu", Device: "0", NoCache: true, Warn: func(string) {}})
	if errors.Is(err, gpu.ErrNoDevice) {
		testkit.NoTool(t, "needs OpenGL without a window: install the packages libegl1 and libgl1-mesa-dri (%v)", err)
	}
	dev = testkit.Device(t, dev, err)
	names := []string{"copy", "transpose", "add", "reduce_sum", "arg_max", "softmax", "matmul", "attention", "gaussian_blur", "cast"}
	if !testlevel.IsFull() {
		names = []string{"copy", "add", "reduce_sum", "matmul", "gaussian_blur"}
	}
	var ops []*spec.Op
	for _, name := range names {
		op := spec.Lookup(name)
		if op == nil {
			t.Fatalf("no operation is named %s", name)
		}
		ops = append(ops, op)
	}
	opts := conformance.Options{Ops: ops, Expect: expectations(t), Quick: true}
	if !testlevel.IsFull() {
		opts.Once, opts.Kernels = true, 4
	}
	rep, err := conformance.Run(t.Context(), dev, opts)
	if err != nil {
		t.Fatal(err)
	}
	if n := rep.Count(conformance.Fail); n > 0 || rep.Count(conformance.Pass) < 50 {
		t.Errorf("%d cases failed\n%s", n, rep)
	}
}
