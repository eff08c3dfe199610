package conformance_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain makes the garbage collector run a quarter as often as usual. The rows of a
// report live until the end, and scanning them again and again took a twentieth of the
// time. Above 3 GB it runs as often as usual, because drivers need memory too.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(3 << 30)
	}
	os.Exit(m.Run())
}
