package lathe_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	_ "github.com/lathe-gpu/lathe/ops/all"
	"github.com/lathe-gpu/lathe/spec"
)

// TestSupportedOps lists the operations of devices, which have all of Lathe, and of a closed one.
func TestSupportedOps(t *testing.T) {
	for _, backend := range []string{"cpu", "vk"} {
		dev, err := lathe.Open(context.Background(), quiet, lathe.WithBackend(backend))
		if errors.Is(err, lathe.ErrNoDevice) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := dev.SupportedOps()
		for _, op := range spec.All() {
			if op.Offered() && !slices.Contains(got, op.Name) {
				t.Errorf("%s does not support %s", backend, op.Name)
			}
		}
		if !slices.IsSorted(got) {
			t.Errorf("not sorted: %q", got)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		if got := dev.SupportedOps(); got != nil {
			t.Errorf("a closed device: %q", got)
		}
	}
}
