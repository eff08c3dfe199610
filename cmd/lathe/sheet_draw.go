package main

import (
	"image"
	"image/color"
	"image/draw"
	"path/filepath"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// labelHeight is how many pixels a label takes below its thumbnail.
const labelHeight = 16

// pitch is how far cells are apart.
func (s *sheet) pitch() image.Point {
	p := s.cell.Add(image.Pt(s.Gap, s.Gap))
	if s.Labels {
		p.Y += labelHeight
	}
	return p
}

// size is the size of a page of n pictures.
func (s *sheet) size(n int) image.Point {
	rows, pitch := (n+s.columns-1)/s.columns, s.pitch()
	return image.Pt(s.Gap+s.columns*pitch.X, s.Gap+rows*pitch.Y)
}

// blank is a page without pictures.
func (s *sheet) blank(n int) *image.NRGBA {
	m := image.NewNRGBA(image.Rectangle{Max: s.size(n)})
	row := m.Pix[:m.Stride]
	for i := range row {
		row[i] = s.background[i%4]
	}
	for y := range m.Rect.Dy() {
		copy(m.Pix[y*m.Stride:], row)
	}
	return m
}

// place draws a thumbnail in the middle of cell k, and its label. The thumbnail may be missing.
func (s *sheet) place(m *image.NRGBA, k int, thumb *image.NRGBA, path string) {
	pitch := s.pitch()
	at := image.Pt(s.Gap+k%s.columns*pitch.X, s.Gap+k/s.columns*pitch.Y)
	if thumb != nil {
		size := thumb.Rect.Size()
		from := at.Add(image.Pt((s.cell.X-size.X)/2, (s.cell.Y-size.Y)/2))
		draw.Draw(m, image.Rectangle{Min: from, Max: from.Add(size)}, thumb, image.Point{}, draw.Over)
	}
	if s.Labels {
		s.label(m, image.Rect(at.X, at.Y+s.cell.Y, at.X+s.cell.X, at.Y+s.cell.Y+labelHeight), filepath.Base(path))
	}
}

// label writes a name into r. The middle of a name that is too long becomes dots.
func (s *sheet) label(m *image.NRGBA, r image.Rectangle, name string) {
	face := basicfont.Face7x13
	if most := r.Dx() / face.Advance; len([]rune(name)) > most {
		runes := []rune(name)
		head, tail := max(most-2, 0)/2, max(most-2, 0)-max(most-2, 0)/2
		name = string(runes[:head]) + ".." + string(runes[len(runes)-tail:])
	}
	ink := color.NRGBA{A: 255}
	if b := s.background; int(b[3]) > 127 && 299*int(b[0])+587*int(b[1])+114*int(b[2]) < 127500 {
		ink = color.NRGBA{255, 255, 255, 255}
	}
	width := font.MeasureString(face, name).Ceil()
	d := font.Drawer{Dst: m.SubImage(r).(draw.Image), Src: image.NewUniform(ink), Face: face,
		Dot: fixed.P(r.Min.X+max((r.Dx()-width)/2, 0), r.Min.Y+face.Ascent+1)}
	d.DrawString(name)
}
