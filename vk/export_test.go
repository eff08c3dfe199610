//go:build !novk && cgo

package vk

import "testing"

// Inject makes the call of Vulkan with that number fail, until Mend is called: for want of memory, or because the device is lost. It
// returns how many calls there have been.
func Inject(t testing.TB, at int, lost bool) (calls func() int) {
	code := outOfDeviceMemory
	if lost {
		code = deviceLost
	}
	return inject(t, func(n int) result {
		if n == at {
			return code
		}
		return success
	})
}

// Mend ends Inject.
func Mend() { fault.Store(nil) }

// Left counts the objects of Vulkan that exist, by type.
func Left() map[string]int64 { return counts() }

// Known reports whether an error is of a kind that callers can tell.
func Known(err error) bool { return sentinel(err) }
