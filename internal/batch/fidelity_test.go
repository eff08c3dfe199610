package batch

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"os"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// What is not kept is noted, and the picture is done.
func TestNotes(t *testing.T) {
	j := encoded(testimg.Quarters(8, 8), ".jpg")
	bad := testimg.WithSegments(j, "Exif\x00\x00no such data")
	tree(t, map[string][]byte{"bad.jpg": bad, "good.jpg": testimg.Photograph(j, 1, testimg.ICC("RGB ", 300))})
	rep := run(t, t.Context(), &negative{}, []string{"bad.jpg", "good.jpg"}, FindOptions{}, Naming{}, Options{Folder: "out"})
	want := "metadata left out: EXIF: it does not begin as EXIF data do"
	if f := rep.Files; rep.Count(OK) != 2 || len(f[0].Notes) != 1 || f[0].Notes[0] != want || len(f[1].Notes) != 0 {
		t.Errorf("%+v", rep.Files)
	}
	// What was to be left out is not missed.
	rep = run(t, t.Context(), &negative{}, []string{"bad.jpg", "good.jpg"}, FindOptions{}, Naming{}, Options{Folder: "bare", Strip: true})
	if f := rep.Files; rep.Count(OK) != 2 || len(f[0].Notes) != 0 || f[1].OutBytes >= f[1].InBytes {
		t.Errorf("%+v", rep.Files)
	}
}

// Grey stays grey, and a palette a palette, unless an operation makes other colours.
func TestKinds(t *testing.T) {
	r := image.Rect(0, 0, 16, 16)
	grey, table := image.NewGray(r), image.NewPaletted(r, color.Palette{color.Black, color.NRGBA{200, 9, 9, 255}})
	draw.Draw(grey, r, testimg.Photo(16, 16, 1), image.Point{}, draw.Src)
	draw.Draw(table, r, testimg.Photo(16, 16, 1), image.Point{}, draw.Src)
	tree(t, map[string][]byte{"grey.png": encoded(grey, ".png"), "grey.jpg": encoded(grey, ".jpg"), "table.png": encoded(table, ".png"), "table.gif": encoded(table, ".gif")})
	rep := run(t, t.Context(), &negative{}, []string{"grey.png", "grey.jpg", "table.png", "table.gif"}, FindOptions{}, Naming{}, Options{Folder: "out"})
	for i, want := range []string{"*image.Gray", "*image.Gray", "*image.Paletted", "*image.Paletted"} {
		if rep.Files[i].Err != nil {
			t.Fatal(rep.Files[i].Err)
		}
		m, _, err := image.Decode(bytes.NewReader(must(os.ReadFile(rep.Files[i].Output))))
		if got := fmt.Sprintf("%T", m); got != want || err != nil {
			t.Errorf("%s is %s, want %s, %v", rep.Files[i].Output, got, want, err)
		}
	}
}

// A picture of 16 bits is processed with 16 bits, if its output can have them and nobody says otherwise.
func TestDepth(t *testing.T) {
	deep, grey := image.NewNRGBA64(image.Rect(0, 0, 16, 16)), image.NewGray16(image.Rect(0, 0, 16, 16))
	testimg.Fill(1, deep.Pix, grey.Pix)
	tree(t, map[string][]byte{"deep.png": encoded(deep, ".png"), "deep.tiff": encoded(deep, ".tiff"), "grey.png": encoded(grey, ".png"), "flat.png": encoded(testimg.Photo(16, 16, 1), ".png")})
	for _, c := range []struct {
		depth  int
		format imageio.Format
		want   string // bits of the outputs
	}{
		{0, "", "16 16 16 8"}, {0, imageio.TIFF, "16 16 16 8"}, {0, imageio.JPEG, "8 8 8 8"}, {8, "", "8 8 8 8"}, {16, "", "16 16 16 16"}, {16, imageio.TIFF, "16 16 16 16"}, {16, imageio.JPEG, "none none none none"},
	} {
		for _, proc := range []*negative{nil, {}} {
			var text []string
			jobs := must(Plan([]Found{{Path: "deep.png", Rel: "a.png"}, {Path: "deep.tiff", Rel: "b.tiff"}, {Path: "grey.png", Rel: "c.png"}, {Path: "flat.png", Rel: "d.png"}}, Naming{Format: c.format}))
			o := Options{Folder: "out", Existing: Replace, Depth: c.depth}
			var rep *Report
			if proc == nil {
				rep = must(Run(t.Context(), nil, nil, jobs, o))
			} else {
				rep = must(Run(t.Context(), proc, calls, jobs, o))
			}
			for _, f := range rep.Files {
				if f.Err != nil {
					if !strings.Contains(f.Err.Error(), "JPEG has 8 bits") {
						t.Fatal(f.Err)
					}
					text = append(text, "none")
					continue
				}
				info, err := imageio.DecodeConfig(t.Context(), bytes.NewReader(must(os.ReadFile(f.Output))), nil)
				if err != nil {
					t.Fatal(err)
				}
				text = append(text, fmt.Sprint(info.Depth))
				if grey := strings.HasPrefix(f.Input, "grey"); info.Grey != grey {
					t.Errorf("%s: grey is %v", f.Output, info.Grey)
				}
			}
			if got := strings.Join(text, " "); got != c.want {
				t.Errorf("depth %d to %q: %s, want %s", c.depth, c.format, got, c.want)
			}
		}
	}
	if _, err := Run(t.Context(), nil, nil, nil, Options{Folder: "out", Depth: 10}); err == nil {
		t.Error("depth 10")
	}
}
