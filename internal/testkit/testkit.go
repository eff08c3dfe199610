// Package testkit is what the tests of many packages share: it opens devices, finds
// tools, compiles shaders and watches memory. Only tests import it.
//
// A test that lacks a device or a tool is skipped. The reason says what is missing and
// how to get it. Where RequireDevice or RequireTools is 1, as in CI, the test fails
// instead. Tests do not call Skip themselves: a test in internal/lint lists the few that
// do, with their reasons.
package testkit

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// The environment variables of this package. With the value 1, a test fails that lacks a
// device or a tool.
const (
	RequireDevice = "LATHE_REQUIRE_DEVICE"
	RequireTools  = "LATHE_REQUIRE_TOOLS"
)

// DeviceRequired reports whether a test without a device fails.
func DeviceRequired() bool { return os.Getenv(RequireDevice) == "1" }

// ToolsRequired reports whether a test without a tool fails.
func ToolsRequired() bool { return os.Getenv(RequireTools) == "1" }

// Device returns the device that was opened, or what was opened on one, and closes it at
// the end of the test. An error of Close fails the test. An error of opening ends it: see
// Opened.
//
//	dev, err := vk.Open(t.Context(), vk.Options{NoCache: true})
//	return testkit.Device(t, dev, err)
func Device[D io.Closer](t testing.TB, dev D, err error) D {
	t.Helper()
	Opened(t, err)
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return dev
}

// Opened ends a test for which opening or listing devices gave an error. If there is no
// device, the test is skipped unless one is required. Any other error fails it.
func Opened(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, errs.ErrNoDevice) && !DeviceRequired():
		t.Skipf("needs a device, as tools/setup/vulkan.sh installs one: %v", err)
	default:
		t.Fatal(err)
	}
}

// NoDevice ends a test for which there is no device of the kind that it needs. format
// says which kind. The test is skipped unless a device is required.
func NoDevice(t testing.TB, format string, args ...any) {
	t.Helper()
	missing(t, DeviceRequired(), format, args...)
}

// Built skips a test of a backend that this program was built without. built are the
// backends of this build.
func Built(t testing.TB, built []string, backend string) {
	t.Helper()
	if !slices.Contains(built, backend) {
		t.Skipf("needs a build with cgo and without the build tag no%s", backend)
	}
}

// Ability skips a test of what the device does not have. have says whether it has it;
// device is its name.
func Ability(t testing.TB, have bool, device, what string) {
	t.Helper()
	if !have {
		t.Skipf("needs %s, which %s does not have; LATHE_DEVICE chooses another device", what, device)
	}
}

// System ends a test for which the operating system lacks something. err says why it is
// not there. The test is skipped, unless this is Linux, where all that these tests use is
// there, and tools are required.
func System(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		missing(t, ToolsRequired() && onLinux, "needs a system with %s: %v", what, err)
	}
}

// missing skips the test, or fails it if what is missing is required.
func missing(t testing.TB, required bool, format string, args ...any) {
	t.Helper()
	if required {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
