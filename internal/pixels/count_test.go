package pixels

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 pixels", 1: "1 pixel", 10: "10 pixels", 9999: "9999 pixels", 60000: "0.06 MP", 1 << 28: "268.4 MP", 3.6e9: "3600 MP",
	} {
		if got := Count(n); got != want {
			t.Errorf("%v: got %q, want %q", n, got, want)
		}
	}
}
