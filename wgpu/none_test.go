//go:build nowgpu || !cgo

package wgpu

import (
	"context"
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
)

// TestBuiltWithout checks what a build without WebGPU says of itself.
func TestBuiltWithout(t *testing.T) {
	_, open := Open(context.Background(), Options{})
	_, list := List(context.Background())
	r := Probe(context.Background())
	for _, err := range []error{open, list, r.Error} {
		if !errors.Is(err, gpu.ErrNoDevice) {
			t.Errorf("got %v, want ErrNoDevice", err)
		}
	}
	if r.Built || len(r.Devices) > 0 {
		t.Errorf("probe: %+v", r)
	}
}
