package main

import (
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// The rows beside vips work, and compute the same pictures.
func TestFilters(t *testing.T) {
	dev, err := lathe.Open(t.Context())
	dev = testkit.Device(t, dev, err)
	b := &bench{ctx: t.Context(), dev: dev, dir: t.TempDir(), seed: 1}
	got, err := b.filtersAt(300, 200, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if vipsVersion() == "" {
		if len(got.Rows) != 0 || len(got.Notes) != 1 {
			t.Errorf("%+v", got)
		}
		testkit.NoTool(t, "needs the program vips; install the package libvips-tools")
	}
	if len(got.Rows) != len(vipsFilters) || !strings.Contains(got.Title, "300×200") {
		t.Errorf("%+v", got)
	}
	for i, f := range vipsFilters {
		if v := got.Values[f.name+"/mps"]; got.Rows[i][0] != f.name || v <= 0 {
			t.Errorf("%s: %v, %v MP/s", f.name, got.Rows[i], v)
		}
	}
	// A command that does something else is found.
	wrong := vipsFilters[1]
	wrong.args = []string{"3", "3", "8"}
	if err := b.near(wrong, testimg.Photo(90, 60, 1)); err == nil || !strings.Contains(err.Error(), "differ by") {
		t.Errorf("the largest of nine is taken for their median: %v", err)
	}
}
