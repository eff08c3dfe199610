package cpu_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// endless are shaders that do not end: d is full of zeros.
var endless = map[string]string{
	"a loop":                 "while (d[i] == 0) d[i + 64] += 1;",
	"of one invocation":      "if (i == 3) while (d[i] == 0) d[i + 64] += 1;",
	"a loop with a barrier":  "while (d[0] == 0) { d[i + 64] += 1; barrier(); }",
	"loops inside":           "while (d[i] == 0) { for (uint k = 0; k < 3; k++) { if (d[k] == 1) break; d[i + 64] += k; } if (d[i] > 7) continue; d[i + 64]++; }",
	"a switch in a loop":     "for (;;) { switch (d[i]) { case 0: d[i + 64]++; continue; case 1: break; default: return; } if (d[i] == 9) break; }",
	"atomics":                "while (atomicAdd(d[i], 0) == 0) { }",
	"a function with a loop": "forever(i);",
}

// TestEndless checks that waiting for each of them ends with its deadline, and that Close
// stops them.
func TestEndless(t *testing.T) {
	for name, body := range endless {
		dev, err := cpu.Open(cpu.Options{NoCache: true, CloseTimeout: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		code := testkit.GLSL(t, `#version 450
layout(local_size_x = 8) in;
layout(binding = 0) buffer D { uint d[]; };
void forever(uint i) { do { d[i + 64]++; } while (d[i] < 3); }
void main() { uint i = gl_LocalInvocationID.x; `+body+` }`, "--target-env=vulkan1.1")
		h := testgpu.Load(t, dev, make([]byte, 1024))
		if err := gpu.DispatchCompute(t.Context(), dev, code, []gpu.Handle{h}, nil, [3]uint32{1000, 1000, 1}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		begin := time.Now()
		if err := dev.Sync(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: sync: %v", name, err)
		}
		cancel()
		if err := dev.Close(); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "it was stopped") {
			t.Errorf("%s: close: %v", name, err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

// TestPrivateMemory launches a shader that needs 32 MiB for each worker. That is part of what
// MaxMemory bounds.
func TestPrivateMemory(t *testing.T) {
	code := testkit.GLSL(t, `#version 450
layout(local_size_x = 1024) in;
layout(binding = 0) buffer D { uint d[]; };
void main() {
	uint i = gl_LocalInvocationID.x, t[8000];
	for (uint k = 0; k < 8000; k++) t[(k * 7 + i) % 8000] = k + i;
	d[i] = t[(7000 + i) % 8000];
}`, "--target-env=vulkan1.1")
	for _, memory := range []int64{16 << 20, 256 << 20} {
		dev, err := cpu.Open(cpu.Options{NoCache: true, MaxMemory: memory, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		h := testgpu.Load(t, dev, make([]byte, 4096))
		err = gpu.DispatchCompute(t.Context(), dev, code, []gpu.Handle{h}, nil, [3]uint32{2, 1, 1})
		got := make([]byte, 4096)
		if again := dev.Read(t.Context(), h, 0, got); again != nil {
			t.Errorf("%d bytes of memory: read: %v", memory, again)
		}
		if memory < 64<<20 {
			if !errors.Is(err, gpu.ErrOutOfMemory) {
				t.Errorf("%d bytes of memory: got %v, want ErrOutOfMemory", memory, err)
			}
		} else if err != nil || word(got, 0) != 1000 || word(got, 1023) != 1000+1023 {
			t.Errorf("%d bytes of memory: %v, %d and %d", memory, err, word(got, 0), word(got, 1023))
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}
