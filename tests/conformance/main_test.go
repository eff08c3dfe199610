package conformance_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain makes the garbage collector run a quarter as often as usual. The rows of a
// report live until the end, and scanning them again and again took a twentieth of the
// time.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
