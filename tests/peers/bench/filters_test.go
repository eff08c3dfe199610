package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
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

// TestFailedRows checks that a row that fails is told, and that the rows behind it are measured.
func TestFailedRows(t *testing.T) {
	if vipsVersion() == "" {
		testkit.NoTool(t, "needs the program vips; install the package libvips-tools")
	}
	dev, err := lathe.Open(t.Context())
	dev = testkit.Device(t, dev, err)
	b := &bench{ctx: t.Context(), dev: dev, dir: t.TempDir(), seed: 1}
	list := []vipsFilter{
		{"no command", imageops.Flip{}, "no_such_command IN OUT", 0},
		{"another picture", imageops.Flip{}, "flip IN OUT horizontal", 0},
		{"no such size", imageops.Crop{Width: 5000, Height: 1, Gravity: "center"}, "flip IN OUT vertical", 0},
		{"flip", imageops.Flip{}, "flip IN OUT vertical", 0},
	}
	got, err := b.filtersOf(list, "8", 300, 200, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != len(list) || len(got.Failed) != 3 || got.Values["flip/mps"] <= 0 {
		t.Fatalf("%+v", got)
	}
	for i, f := range list[:3] {
		if got.Rows[i][0] != f.name || got.Rows[i][1] != "failed" || !strings.HasPrefix(got.Failed[i], f.name+": ") {
			t.Errorf("%s: %q, %q", f.name, got.Rows[i], got.Failed[i])
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	b.ctx = ctx
	if _, err := b.filtersOf(list, "8", 300, 200, time.Millisecond); !errors.Is(err, context.Canceled) {
		t.Errorf("a bench that was cancelled: %v", err)
	}
}
