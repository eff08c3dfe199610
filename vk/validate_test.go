//go:build !novk && cgo

package vk

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/gputest"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// recorder collects warnings.
type recorder struct {
	mu   sync.Mutex
	text []string
}

func (r *recorder) warn(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, s)
}

// validation returns what the validation layer said.
func (r *recorder) validation() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for _, s := range r.text {
		if strings.Contains(s, "validation") {
			found = append(found, s)
		}
	}
	return found
}

// openValidated is openTest with the validation layer, or a skip without it.
func openValidated(t testing.TB, warn func(string)) *Device {
	t.Helper()
	d, err := Open(context.Background(), Options{Validation: true, NoCache: true, Warn: warn})
	if errors.Is(err, gpu.ErrUnsupported) {
		if !strings.Contains(err.Error(), "vulkan-validationlayers") {
			t.Fatalf("the error does not name the package to install: %v", err)
		}
		testkit.NoTool(t, "needs the validation layer: %v", err)
	}
	if err != nil {
		openTest(t, Options{}) // skips or fails where there is no device at all
		t.Fatal(err)
	}
	return d
}

// TestValidated runs the whole device suite under the validation layer, with
// mapped buffers and with staging, and wants no message of it, up to and
// including the destruction of device and instance.
func TestValidated(t *testing.T) {
	_, err := List(t.Context()) // without a device the loader's own message is one too many
	testkit.Opened(t, err)
	for i, staging := range []string{"0", "1"} {
		t.Run("staging="+staging, func(t *testing.T) {
			if !testlevel.Sampled(i, 2) {
				testlevel.Need(t, testlevel.Full)
			}
			t.Setenv("LATHE_VK_STAGING", staging)
			var r recorder
			gputest.Run(t, func(t testing.TB) gpu.Device {
				d := openValidated(t, r.warn)
				t.Cleanup(func() {
					if err := d.Close(); err != nil {
						t.Errorf("close: %v", err)
					}
				})
				return d
			})
			if found := r.validation(); len(found) > 0 {
				t.Errorf("%d messages, the first: %s", len(found), found[0])
			}
		})
	}
}

// TestValidationReports breaks a rule on purpose: a buffer of size 0, which the
// layer must see, and which must come back from Sync and reach Warn.
func TestValidationReports(t *testing.T) {
	var r recorder
	d := openValidated(t, r.warn)
	buf, err := newBuffer(d.dev, 0)
	if err == nil {
		destroyBuffer(d.dev, buf)
	}
	if err := d.Sync(context.Background()); !errors.Is(err, errValidation) {
		t.Errorf("sync: got %v, want a validation error", err)
	}
	if err := d.Sync(context.Background()); err != nil {
		t.Errorf("sync again: %v", err)
	}
	if len(r.validation()) == 0 {
		t.Error("Warn was not told")
	}
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// TestValidationReportsLeaks leaves an object behind, which Close must report.
func TestValidationReportsLeaks(t *testing.T) {
	var r recorder
	d := openValidated(t, r.warn)
	if _, err := newBuffer(d.dev, 64); err != nil {
		t.Fatal(err)
	}
	objects.buffers.Add(-1) // so that later tests may count
	if err := d.Close(); !errors.Is(err, errValidation) {
		t.Errorf("close: got %v, want a validation error for the buffer left", err)
	}
}
