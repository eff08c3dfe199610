package main

import (
	"image"
	"image/color"
	stddraw "image/draw"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// tile is a picture of the contact sheet and the line below it.
type tile struct {
	caption string
	picture image.Image
}

// band is a photograph and what the pipelines made of it.
type band struct {
	original tile
	results  []tile
}

// The sheet's measures in pixels. The original is as high as two results.
const (
	tileW, tileH = 270, 180
	columns      = 4 // results beside the original
	gap          = 8
	captionH     = 20
	margin       = 24
	titleH       = 56
)

var (
	paper = color.NRGBA{0x15, 0x17, 0x1c, 0xff}
	ink   = color.NRGBA{0xe6, 0xe6, 0xe0, 0xff}
	faint = color.NRGBA{0x8d, 0x93, 0x9e, 0xff}
)

// contactSheet lays the bands out one below the other: the original at the
// left, its results in rows of four beside it.
func contactSheet(title, subtitle string, bands []band) *image.NRGBA {
	cell := image.Pt(tileW+gap, tileH+captionH+gap)
	bigW, bigH := 2*tileW, 2*tileH+captionH+gap
	height := margin + titleH
	rows := make([]int, len(bands))
	for i, b := range bands {
		rows[i] = max(2, (len(b.results)+columns-1)/columns)
		height += rows[i]*cell.Y + margin
	}
	dst := image.NewNRGBA(image.Rect(0, 0, 2*margin+bigW+gap+columns*cell.X-gap, height))
	draw.Draw(dst, dst.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	write(dst, image.Pt(margin, margin), title, ink, 2)
	write(dst, image.Pt(margin, margin+30), subtitle, faint, 1)

	y := margin + titleH
	for i, b := range bands {
		place(dst, image.Rect(margin, y, margin+bigW, y+bigH), b.original)
		for k, r := range b.results {
			at := image.Pt(margin+bigW+gap+k%columns*cell.X, y+k/columns*cell.Y)
			place(dst, image.Rectangle{at, at.Add(image.Pt(tileW, tileH))}, r)
		}
		y += rows[i]*cell.Y + margin
	}
	return dst
}

// place draws t so that it fills r, cropped about its centre, and its caption
// below r.
func place(dst *image.NRGBA, r image.Rectangle, t tile) {
	src := t.picture.Bounds()
	if w := max(1, src.Dy()*r.Dx()/r.Dy()); w < src.Dx() {
		src.Min.X += (src.Dx() - w) / 2
		src.Max.X = src.Min.X + w
	} else if h := max(1, src.Dx()*r.Dy()/r.Dx()); h < src.Dy() {
		src.Min.Y += (src.Dy() - h) / 2
		src.Max.Y = src.Min.Y + h
	}
	draw.CatmullRom.Scale(dst, r, t.picture, src, draw.Over, nil)
	write(dst, image.Pt(r.Min.X, r.Max.Y+4), t.caption, ink, 1)
}

// write draws a line of text with its top left corner at p, enlarged.
func write(dst *image.NRGBA, p image.Point, text string, c color.Color, scale int) {
	face := basicfont.Face7x13
	line := image.NewNRGBA(image.Rect(0, 0, font.MeasureString(face, text).Ceil(), face.Height))
	d := font.Drawer{Dst: line, Src: image.NewUniform(c), Face: face, Dot: fixed.P(0, face.Ascent)}
	d.DrawString(text)
	to := image.Rectangle{p, p.Add(line.Rect.Size().Mul(scale))}
	draw.NearestNeighbor.Scale(dst, to, line, line.Rect, stddraw.Over, nil)
}
