package batch

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/imageio"
)

func TestFind(t *testing.T) {
	tree(t, map[string][]byte{
		"in/a.jpg": nil, "in/b.PNG": nil, "in/sub/c.webp": nil, "in/sub/deep/d.tif": nil, "in/sub/.git/e.jpg": nil,
		"in/out/old.jpg": nil, "a[1].jpg": nil, "empty/x.txt": nil, "in/x.txt": nil,
	})
	for _, c := range []struct {
		inputs []string
		o      FindOptions
		want   string
	}{
		{[]string{"in"}, FindOptions{}, "in/a.jpg=a.jpg in/b.PNG=b.PNG"},
		{[]string{"in"}, FindOptions{Recursive: true}, "in/a.jpg=a.jpg in/b.PNG=b.PNG in/out/old.jpg=out/old.jpg in/sub/c.webp=sub/c.webp in/sub/deep/d.tif=sub/deep/d.tif"},
		{[]string{"in"}, FindOptions{Recursive: true, Skip: "in/out"}, "in/a.jpg=a.jpg in/b.PNG=b.PNG in/sub/c.webp=sub/c.webp in/sub/deep/d.tif=sub/deep/d.tif"},
		{[]string{"in/sub/c.webp", "in/sub/../sub/c.webp"}, FindOptions{}, "in/sub/c.webp=c.webp"},
		{[]string{"in/**/*.{webp,tif}"}, FindOptions{}, "in/sub/c.webp=sub/c.webp in/sub/deep/d.tif=sub/deep/d.tif"},
		{[]string{"a[1].jpg"}, FindOptions{}, "a[1].jpg=a[1].jpg"},
		{[]string{"in/x.txt"}, FindOptions{}, "in/x.txt=x.txt"},
		{[]string{"empty"}, FindOptions{}, "empty!no picture matches in this folder (folders inside it are searched with -r)"},
		{[]string{"in/*.bmp"}, FindOptions{}, "in/*.bmp!no picture matches"},
		{[]string{"in/[.jpg"}, FindOptions{}, "in/[.jpg!invalid argument: a malformed pattern"},
		{[]string{"nope.jpg"}, FindOptions{}, "nope.jpg!no such file or directory"},
		{[]string{""}, FindOptions{}, "!invalid argument: an empty file name"},
	} {
		var got []string
		for _, f := range must(Find(t.Context(), c.inputs, c.o)) {
			s := f.Path + "=" + f.Rel
			if f.Err != nil {
				s = f.Path + "!" + f.Err.Error()
			}
			got = append(got, filepath.ToSlash(s))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.inputs, s, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, []string{"in"}, FindOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// Outputs that would have one name are told apart by the extensions of their
// inputs, the same in whatever order these come.
func TestPlanNames(t *testing.T) {
	for _, c := range []struct {
		rel    string
		format imageio.Format
		want   string // "!" is an error
	}{
		{"photo.bmp photo.png", "", "photo.bmp.png photo.png"},
		{"photo.bmp", "", "photo.png"},
		{"photo.gif photo.png", "", "photo.gif photo.png"},
		{"photo.gif photo.bmp", "webp", "photo.gif.webp photo.bmp.webp"},
		{"photo.bmp photo.png photo.bmp.png", "", "! photo.png photo.bmp.png"},
		{"photo.bmp photo.png photo.bmp.bmp", "", "photo.bmp.png photo.png photo.bmp.bmp.png"},
		{"Photo.PNG photo.bmp", "", "Photo.PNG photo.bmp.png"},
		{"a/p.bmp b/p.png", "", "a/p.png b/p.png"},
		{"a/p.bmp a/p.png b/p.bmp", "", "a/p.bmp.png a/p.png b/p.png"},
		{"p.jpg p.jpeg", "", "p.jpg p.jpeg"},
		{"p.jpg p.jpeg p", "png", "p.jpg.png p.jpeg.png p.png"},
		{"p p.png", "", "! p.png"},
		{"p.gif p.tif p.png", "tiff", "p.gif.tiff p.tif p.png.tiff"},
	} {
		rels, want := strings.Fields(c.rel), strings.Fields(c.want)
		for range len(rels) {
			rels, want = append(rels[1:], rels[0]), append(want[1:], want[0])
			var found []Found
			for _, r := range rels {
				found = append(found, Found{Path: "in/" + r, Rel: r})
			}
			for i, j := range must(Plan(found, Naming{Format: c.format})) {
				got := filepath.ToSlash(j.Output)
				if j.Err != nil {
					got = "!"
				}
				if got != want[i] {
					t.Errorf("%v: %s becomes %q, want %q", rels, rels[i], got, want[i])
				}
			}
		}
	}
}

func TestPlan(t *testing.T) {
	found := []Found{{Path: "x/a.JPG", Rel: "a.JPG"}, {Path: "y/a.JPG", Rel: "a.JPG"}, {Path: "a.bmp", Rel: "sub/a.bmp"}, {Path: "b", Rel: "b"}, {Path: "../../c.png", Rel: "../../c.png"}}
	jobs := must(Plan(found, Naming{Suffix: "-x"}))
	for i, want := range []string{"a-x.JPG", "a-x.JPG", "sub/a-x.png", "b-x.png", "../../c-x.png"} {
		if got := filepath.ToSlash(jobs[i].Output); got != want {
			t.Errorf("%s: output %q, want %q", found[i].Path, got, want)
		}
	}
	if jobs[0].Err != nil || jobs[1].Err == nil || !strings.Contains(jobs[1].Err.Error(), "a-x.JPG") || !strings.Contains(jobs[1].Err.Error(), "x/a.JPG") {
		t.Errorf("two inputs of one name: %v, %v", jobs[0].Err, jobs[1].Err)
	}
	if jobs[4].Err == nil {
		t.Error("an output outside the folder is planned")
	}
	if jobs := must(Plan(found[:1], Naming{Format: imageio.PNG})); jobs[0].Output != "a.png" {
		t.Errorf("another format: %q", jobs[0].Output)
	}
	if jobs := must(Plan(found[:1], Naming{Name: "q.png", Format: imageio.PNG})); jobs[0].Output != "q.png" {
		t.Errorf("a name: %q", jobs[0].Output)
	}
	for _, n := range []Naming{{Suffix: "/x"}, {Suffix: `..\x`}, {Name: "../q.png"}, {Name: "d/q.png"}, {Name: ".."}} {
		if _, err := Plan(found[:1], n); err == nil {
			t.Errorf("%+v is accepted", n)
		}
	}
	if _, err := Plan(found, Naming{Name: "q.png"}); err == nil {
		t.Error("one name for five inputs is accepted")
	}
}
