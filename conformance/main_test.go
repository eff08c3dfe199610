package conformance_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage a quarter as often as usual: the rows of a report live
// to the end, and to go through them over and over took a twentieth of all time.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
