package units_test

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/internal/units"
)

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 launches", 1: "1 launch", 2: "2 launches"} {
		if got := units.Of(n, "launch"); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
	if got := units.Of(3, "call"); got != "3 calls" {
		t.Errorf("got %q", got)
	}
}

func TestUnits(t *testing.T) {
	for n, want := range map[int64][2]string{
		0:             {"0", "0 B"},
		999:           {"999", "999 B"},
		1000:          {"1.00 k", "0.98 KiB"},
		1536:          {"1.54 k", "1.50 KiB"},
		25690112:      {"25.7 M", "24.5 MiB"},
		999_600:       {"1.00 M", "976 KiB"},
		-5:            {"-5", "-5 B"},
		math.MaxInt64: {"9.22 E", "8.00 EiB"},
	} {
		if got := [2]string{units.Count(n), units.Bytes(n)}; got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
