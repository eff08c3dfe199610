package testkit

import (
	"bytes"
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
)

// NoRace skips a test that cannot run under the race detector. why says what the
// detector changes.
func NoRace(t testing.TB, why string) {
	t.Helper()
	if Race {
		t.Skipf("runs without -race: the race detector %s", why)
	}
}

// Flat calls work for some rounds of n units each. It fails the test if the resident
// memory of the process grows in every round by more than most bytes a unit and slack
// bytes a round. A leak grows in every round; what the C library and the kernel keep of
// their pages does not. Flat skips the test where resident memory is not known.
func Flat(t testing.TB, rounds, n, most int, slack int64, work func()) {
	t.Helper()
	_, err := resident()
	System(t, "/proc, which tells the resident memory", err)
	var grown []int64
	for range rounds {
		debug.FreeOSMemory()
		before, _ := resident()
		work()
		debug.FreeOSMemory()
		after, _ := resident()
		grown = append(grown, after-before)
	}
	last, _ := resident()
	t.Logf("resident memory: %d MiB; change in each round of %d: %d bytes", last>>20, n, grown)
	if least := slices.Min(grown); least > int64(n*most)+slack {
		t.Errorf("resident memory grew by %d bytes or more in every round of %d, %d bytes a unit", least, n, least/int64(n))
	}
}

// resident is the resident memory of the process in bytes.
func resident() (int64, error) {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0, errors.New("/proc/self/statm has no second field")
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}
