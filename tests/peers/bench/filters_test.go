package main

import (
	"slices"
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
	b := &bench{ctx: t.Context(), dev: dev, dir: t.TempDir(), seed: 1, match: "median"}
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
	list, err := vipsFilters()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if err := b.near(f, testimg.Photo(160, 100, 2)); err != nil {
			t.Error(err)
		}
	}
	list = slices.DeleteFunc(list, func(f vipsFilter) bool { return !strings.HasPrefix(f.name, "median ") })
	if len(got.Rows) != len(list) || !strings.Contains(got.Title, "300×200") {
		t.Errorf("%+v", got)
	}
	for i, f := range list {
		if v := got.Values[f.name+"/mps"]; got.Rows[i][0] != f.name || v <= 0 {
			t.Errorf("%s: %v, %v MP/s", f.name, got.Rows[i], v)
		}
	}
	// A command that does something else is found.
	wrong := list[slices.IndexFunc(list, func(f vipsFilter) bool { return f.name == "median 3×3" })]
	wrong.args = "rank IN OUT 3 3 8"
	if err := b.near(wrong, testimg.Photo(90, 60, 1)); err == nil || !strings.Contains(err.Error(), "differ by") {
		t.Errorf("the largest of nine is taken for their median: %v", err)
	}
}
