package compile

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testgpu/committed"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spirv"
)

func init() { checked = true }

func runtimeOf(t testing.TB) (context.Context, wazero.Runtime) {
	ctx := experimental.WithCompilationWorkers(context.Background(), 2)
	config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesThreads)
	r := wazero.NewRuntimeWithConfig(ctx, config)
	t.Cleanup(func() { r.Close(ctx) })
	return ctx, r
}

// TestKernels compiles kernels, and has wazero check and compile what comes out.
func TestKernels(t *testing.T) {
	ctx, r := runtimeOf(t)
	var ours, theirs time.Duration
	n, bytes := 0, 0
	for i, m := range committed.Kernels(t) {
		if !testlevel.Sampled(i, 16) {
			continue
		}
		start := time.Now()
		k, err := Compile(m)
		ours += time.Since(start)
		if cooperative := strings.Contains(m.Name, "_coop.") || strings.HasPrefix(m.Name, "test/roofline_matrix."); cooperative {
			if !errors.Is(err, errs.ErrUnsupported) {
				t.Errorf("%s has cooperative matrices, and Compile returns %v", m.Name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		start = time.Now()
		c, err := r.CompileModule(ctx, k.Wasm)
		theirs += time.Since(start)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		c.Close(ctx)
		n, bytes = n+1, bytes+len(k.Wasm)
	}
	t.Logf("%d kernels: %v for each here, %v in wazero, %d bytes", n, ours/time.Duration(max(n, 1)), theirs/time.Duration(max(n, 1)), bytes/max(n, 1))
}

// TestLoops wants Compile to tell shaders with loops from others.
func TestLoops(t *testing.T) {
	for name, want := range map[string]bool{"image/pointwise_byte.invert.word": false, "image/sobel_edges.u8": false, "image/gaussian_blur.u8.first": true} {
		k, err := Compile(spirv.Kernel(name))
		if err != nil {
			t.Fatal(err)
		}
		if k.Loops != want {
			t.Errorf("%s has loops: %v, want %v", name, k.Loops, want)
		}
	}
}
