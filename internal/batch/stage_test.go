package batch

import (
	"slices"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
)

// TestStages wants every stage of every picture told, and the error of the one
// that failed.
func TestStages(t *testing.T) {
	p := encoded(testimg.Quarters(40, 30), ".png")
	corrupt := append([]byte(nil), p...)
	corrupt[len(corrupt)-20] ^= 0x55
	tree(t, map[string][]byte{"a.png": p, "b.png": corrupt})
	var mu sync.Mutex
	var got []string
	opts := Options{Folder: "out", Stage: func(stage, input string) func(error) {
		return func(err error) {
			mu.Lock()
			defer mu.Unlock()
			text := input + " " + stage
			if err != nil {
				text += " failed"
			}
			got = append(got, text)
		}
	}}
	run(t, t.Context(), &negative{}, []string{"a.png", "b.png"}, FindOptions{}, Naming{}, opts)
	slices.Sort(got)
	if want := []string{"a.png compute", "a.png decode", "a.png encode", "b.png decode failed"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
