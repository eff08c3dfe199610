//go:build !nowgpu && cgo

package wgpu

import "testing"

// A panic in what runs without the lock, such as a compilation, reaches the caller, and
// leaves a device that works and can be closed.
func TestPanicWithoutLock(t *testing.T) {
	d := openTest(t, Options{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		err := d.life.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer d.life.End(&err)
		_ = d.life.Unlocked(func() error { panic("a bug") })
	}()
	if err := work(t, d); err != nil {
		t.Error(err)
	}
}
