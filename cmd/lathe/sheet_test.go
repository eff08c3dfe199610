package main

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// TestSheetPixels makes a sheet of pictures of one colour and looks at its pixels.
func TestSheetPixels(t *testing.T) {
	if !hasDevice() {
		testkit.NoDevice(t, "needs any device")
	}
	folder := t.TempDir()
	red, half, clear := color.NRGBA{200, 10, 20, 255}, color.NRGBA{0, 0, 255, 128}, color.NRGBA{0, 255, 0, 0}
	back := color.NRGBA{0x10, 0xf0, 0x30, 255}
	for _, x := range []struct {
		name string
		c    color.NRGBA
		w, h int
	}{{"1.png", red, 100, 50}, {"2.png", half, 30, 60}, {"3.png", clear, 50, 50}, {"4.png", red, 4, 2}} {
		m := image.NewNRGBA(image.Rect(0, 0, x.w, x.h))
		for i := range x.w * x.h {
			m.SetNRGBA(i%x.w, i/x.w, x.c)
		}
		data, err := testimg.Encode(m, ".png")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, x.name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(folder, "out", "sheet.png")
	command := exec.CommandContext(t.Context(), "lathe", "sheet", folder, "-o", out, "--columns", "3", "--cell", "20x30", "--gap", "5", "--background", "#10f030")
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Bounds().Size(); got != image.Pt(5+3*25, 5+2*35) {
		t.Fatalf("the sheet is %v", got)
	}
	mixed := color.NRGBA{7, 119, 151, 255} // half of blue over the background
	for _, x := range []struct {
		at   image.Point
		want color.NRGBA
	}{
		// The first one is 20×10 in the middle of a cell that begins at 5, 5.
		{image.Pt(5, 15), red}, {image.Pt(24, 24), red}, {image.Pt(5, 14), back}, {image.Pt(5, 25), back}, {image.Pt(4, 20), back}, {image.Pt(25, 20), back},
		// The second one is 15×30 in a cell that begins at 30, 5.
		{image.Pt(32, 5), mixed}, {image.Pt(46, 34), mixed}, {image.Pt(31, 20), back}, {image.Pt(47, 20), back}, {image.Pt(40, 35), back},
		{image.Pt(65, 20), back},
		// The last one is smaller than its cell, in the second row, and keeps its size.
		{image.Pt(13, 54), red}, {image.Pt(16, 55), red}, {image.Pt(12, 54), back}, {image.Pt(17, 55), back}, {image.Pt(14, 53), back}, {image.Pt(14, 56), back},
		{image.Pt(40, 55), back},
	} {
		if got := color.NRGBAModel.Convert(m.At(x.at.X, x.at.Y)).(color.NRGBA); testimg.Distance(got, x.want) > 1 {
			t.Errorf("pixel %v is %v, want %v", x.at, got, x.want)
		}
	}
}

// TestSheetLabels checks that labels stay below their thumbnails, can be read, and that long
// names are cut in the middle.
func TestSheetLabels(t *testing.T) {
	for _, back := range [][4]byte{{255, 255, 255, 255}, {0, 0, 0, 255}, {}, {255, 255, 0, 255}, {0, 0, 255, 255}} {
		s := &sheet{sheetCmd: &sheetCmd{Labels: true, Gap: 4}, cell: image.Pt(70, 20), columns: 2, background: back}
		for _, name := range []string{"a.png", "a name that is much longer than its cell.jpeg", "", "fünf–六.png"} {
			m := s.blank(3)
			if got, want := m.Rect.Size(), image.Pt(4+2*74, 4+2*40); got != want {
				t.Fatalf("the page is %v, want %v", got, want)
			}
			s.place(m, 1, nil, filepath.Join("folder", name))
			ink := 0
			own := image.Rect(78, 24, 148, 40)
			for i := 0; i < len(m.Pix); i += 4 {
				at := image.Pt(i/4%m.Rect.Dx(), i/4/m.Rect.Dx())
				if [4]byte(m.Pix[i:]) == back {
					continue
				}
				if ink++; !at.In(own) {
					t.Fatalf("%q has ink at %v", name, at)
				}
				if v := m.Pix[i]; m.Pix[i+3] != 255 || v != 0 && v != 255 || v == 255 && back[3] == 255 && back[1] == 255 {
					t.Fatalf("%q on %v has ink %v", name, back, m.Pix[i:i+4])
				}
			}
			if ink < 30 {
				t.Errorf("%q has %d pixels of ink", name, ink)
			}
		}
	}
}
