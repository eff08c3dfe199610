package device

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// TestWarner writes each text once to slog.Default, also from many goroutines. A function of
// the caller gets all of them.
func TestWarner(t *testing.T) {
	var out bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(old)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			Warner(nil)("TestWarner one")
			Warner(nil)("TestWarner two")
		})
	}
	wg.Wait()
	for _, text := range []string{"one", "two"} {
		if n := strings.Count(out.String(), `level=WARN msg="TestWarner `+text); n != 1 {
			t.Errorf("%q is written %d times, want once: %s", text, n, out.String())
		}
	}
	n := 0
	warn := Warner(func(string) { n++ })
	warn("again")
	warn("again")
	if n != 2 {
		t.Errorf("the function of the caller is called %d times, want 2", n)
	}
}
