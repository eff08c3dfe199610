package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/semaphore"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/batch"
	pictures "github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

type sheetCmd struct {
	Inputs     []string `arg:"" name:"input" complete:"@files" help:"Folders of pictures, pictures, and patterns such as \"photos/**/*.jpg\"."`
	Out        string   `short:"o" default:"sheet.png" placeholder:"FILE" complete:"@files" help:"The sheet: a file name that ends in .png, .jpg, .jpeg, .tif, .tiff, .gif, .webp or .avif. If there are several pages, they are sheet-1.png, sheet-2.png and so on. Default: ${default}."`
	Recursive  bool     `short:"r" help:"Look into folders inside folders."`
	Cell       string   `default:"240x240" placeholder:"WxH" help:"The size of a thumbnail in pixels, at most; one number is a square. Default: ${default}."`
	Columns    int      `default:"6" placeholder:"N" help:"Thumbnails in a row. Default: ${default}."`
	Rows       int      `default:"4" placeholder:"N" help:"Rows of a page; 0 puts all pictures on one page. Default: ${default}."`
	Gap        int      `default:"8" placeholder:"N" help:"Pixels between thumbnails, and around all of them. Default: ${default}."`
	Background string   `default:"white" placeholder:"COLOUR" complete:"white,black,transparent" help:"The background: #rgb, #rrggbb, #rrggbbaa, black, white or transparent. Default: ${default}."`
	Cover      bool     `help:"Let each picture fill its cell, and cut off what is beyond it. Without it thumbnails keep their shape, and small pictures their size."`
	Labels     bool     `help:"Write the name of each picture below it."`
	Quality    *int     `short:"q" placeholder:"N" help:"Quality of JPEG, WebP and AVIF, 1 to 100. Default: 90, and 60 for AVIF."`
	Force      bool     `help:"Replace pages that exist. Without it they are errors."`
	MaxPixels  int64    `default:"268435456" placeholder:"N" help:"Refuse larger pictures before reading them, because a small file can claim to be huge. Default: ${default}, which is 16384 x 16384."`
}

// Help is the long help.
func (sheetCmd) Help() string {
	return `The command makes contact sheets: thumbnails of pictures in a grid, from left to right and from top to bottom. Pictures of a folder come in order of their names. They are turned upright by their EXIF orientation, and the device resizes them. Transparent pixels show the background. The last page ends with its last row. A picture that cannot be read is reported, and its cell stays empty.

Pages of an earlier run, such as sheet.png and sheet-2.png, are no inputs if they lie in a folder of pictures.

Examples:
  lathe sheet holiday
  lathe sheet photos -r -o index.jpg --columns 8 --rows 10 --cell 160 --labels
  lathe sheet "scans/*.tif" -o all.png --rows 0 --cell 300x200 --cover --gap 2 --background black`
}

// sheetFileJSON is a picture in the JSON report.
type sheetFileJSON struct {
	Input  string `json:"input"`
	Page   int    `json:"page"`   // from 1
	Row    int    `json:"row"`    // from 1
	Column int    `json:"column"` // from 1
	Error  string `json:"error,omitempty"`
}

// sheetPageJSON is a page in the JSON report.
type sheetPageJSON struct {
	Output string `json:"output"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// sheetJSON is the JSON report of lathe sheet.
type sheetJSON struct {
	Device deviceJSON      `json:"device"`
	Pages  []sheetPageJSON `json:"pages"`
	Files  []sheetFileJSON `json:"files"`
}

// sheet is what the flags ask for.
type sheet struct {
	*sheetCmd
	cell       image.Point
	background [4]byte
	format     imageio.Format
	quality    int
	found      []batch.Found
	columns    int // of the widest page
	perPage    int
	pages      []string // output files
}

// Run does it.
func (c *sheetCmd) Run(a *app) error {
	s, err := c.sheet(a)
	if err != nil {
		return err
	}
	dev, err := a.open()
	if err != nil {
		return err
	}
	defer dev.Close()
	debug.SetGCPercent(25) // almost all of the heap is pixels without pointers
	out := sheetJSON{Device: describe(dev.Info()), Pages: []sheetPageJSON{}}
	step, stop := a.progressBar(len(s.found))
	for i, name := range s.pages {
		m, files := s.page(a.ctx, dev, i, step)
		if err = a.ctx.Err(); err != nil {
			break
		}
		if err = batch.Save(a.ctx, name, m, s.format, s.quality, c.Force); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			break
		}
		out.Files = append(out.Files, files...)
		out.Pages = append(out.Pages, sheetPageJSON{name, m.Rect.Dx(), m.Rect.Dy()})
	}
	stop()
	if err != nil {
		if a.ctx.Err() != nil {
			return coded{exitInterrupted, errors.New("interrupted")}
		}
		return err
	}
	return c.report(a, &out, dev.Info())
}

// report prints what was done, and decides the exit code.
func (c *sheetCmd) report(a *app, out *sheetJSON, info *gpu.Info) error {
	if a.cli.JSON {
		if err := a.writeJSON(out); err != nil {
			return err
		}
	}
	failed := 0
	for _, f := range out.Files {
		if f.Error != "" {
			failed++
			a.fail("%s: %s", f.Input, f.Error)
		}
	}
	pages := out.Pages[0].Output
	if n := len(out.Pages); n > 1 {
		pages = fmt.Sprintf("%s to %s, %d pages", pages, out.Pages[n-1].Output, n)
	}
	text := ""
	if failed > 0 {
		text = fmt.Sprintf(", %d failed", failed)
	}
	a.note("%s on %s%s: %s", count(len(out.Files)-failed, "picture"), info.Name, text, pages)
	if failed > 0 {
		return coded{exitFailed, nil}
	}
	return nil
}

// sheet checks the flags, finds the pictures and names the pages.
func (c *sheetCmd) sheet(a *app) (*sheet, error) {
	s := &sheet{sheetCmd: c}
	var err error
	if s.cell, err = parseCell(c.Cell); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		name         string
		v, low, high int
	}{{"columns", c.Columns, 1, 1000}, {"rows", c.Rows, 0, 1000}, {"gap", c.Gap, 0, 1000}} {
		if x.v < x.low || x.v > x.high {
			return nil, usage("--%s is %d; it must be from %d to %d", x.name, x.v, x.low, x.high)
		}
	}
	if s.quality, err = parseQuality(c.Quality); err != nil {
		return nil, err
	}
	if c.MaxPixels < 1 {
		return nil, usage("--max-pixels must be above 0")
	}
	colour, err := pictures.Colour(c.Background)
	if err != nil {
		return nil, usage("--background is %q; it must be #rgb, #rrggbb, #rrggbbaa, black, white or transparent", c.Background)
	}
	for i, v := range colour {
		s.background[i] = byte(math.Round(255 * float64(v)))
	}
	if err := unwritten("--out", c.Out, extension(c.Out)); err != nil {
		return nil, err
	}
	var ok bool
	if s.format, ok = batch.ParseFormat(extension(c.Out)); !ok {
		return nil, usage("--out %s must end in .png, .jpg, .jpeg, .tif, .tiff, .gif, .webp or .avif", c.Out)
	}
	if err := unused([]imageio.Format{s.format}, formatFlag{"quality", a.given["quality"], []imageio.Format{imageio.JPEG, imageio.WebP, imageio.AVIF}, ""}); err != nil {
		return nil, err
	}
	if info, err := os.Stat(c.Out); err == nil && info.IsDir() {
		return nil, usage("--out %s is a folder: give the name of a picture", c.Out)
	}
	if err := s.find(a); err != nil {
		return nil, err
	}
	return s, s.paginate()
}

// parseCell reads a size such as 240x200 or 240.
func parseCell(text string) (image.Point, error) {
	w, h, two := strings.Cut(text, "x")
	if !two {
		h = w
	}
	x, errX := strconv.Atoi(w)
	y, errY := strconv.Atoi(h)
	if errX != nil || errY != nil || min(x, y) < 1 || max(x, y) > 10000 {
		return image.Point{}, usage("--cell is %q; it must be a size such as 240x200 or 240, at most 10000", text)
	}
	return image.Pt(x, y), nil
}

// find lists the pictures.
func (s *sheet) find(a *app) error {
	found, err := batch.Find(a.ctx, s.Inputs, batch.FindOptions{Recursive: s.Recursive})
	if err != nil {
		return err
	}
	s.found = slices.DeleteFunc(found, func(f batch.Found) bool { return a.foreign(f) })
	var names []string
	code := exitNothing
	for _, f := range s.found {
		if f.Err == nil {
			return nil
		}
		if names = append(names, fmt.Sprintf("%s: %v", f.Path, f.Err)); !errors.Is(f.Err, batch.ErrNoMatch) {
			code = exitFailed
		}
	}
	return coded{code, fmt.Errorf("nothing to do: %s", strings.Join(names, "; "))}
}

// paginate names the pages, and checks that they can be written.
func (s *sheet) paginate() error {
	s.columns = min(s.Columns, len(s.found))
	s.perPage = len(s.found)
	if s.Rows > 0 {
		s.perPage = s.Columns * s.Rows
	}
	n := (len(s.found) + s.perPage - 1) / s.perPage
	for i := range n {
		name := s.Out
		if n > 1 {
			ext := filepath.Ext(name)
			name = fmt.Sprintf("%s-%0*d%s", strings.TrimSuffix(name, ext), len(strconv.Itoa(n)), i+1, ext)
		}
		s.pages = append(s.pages, name)
	}
	size := s.size(min(s.perPage, len(s.found)))
	if int64(size.X)*int64(size.Y) > batch.DefaultMaxPixels {
		return usage("a page of %d×%d is too large: give smaller --cell, --columns or --rows", size.X, size.Y)
	}
	if err := s.format.CheckSize(size.X, size.Y); err != nil {
		return usage("%s, or give smaller --cell, --columns or --rows", plain(err))
	}
	for _, name := range s.pages {
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		for _, f := range s.found {
			if in, err := os.Stat(f.Path); err == nil && os.SameFile(in, info) {
				return usage("--out %s would replace the input %s: give the name of another folder", name, f.Path)
			}
		}
		if !s.Force {
			return coded{exitFailed, fmt.Errorf("%s: the output exists: use --force to replace it", name)}
		}
	}
	return nil
}

// page makes the page number i.
func (s *sheet) page(ctx context.Context, dev *lathe.Device, i int, step func()) (*image.NRGBA, []sheetFileJSON) {
	found := s.found[i*s.perPage : min((i+1)*s.perPage, len(s.found))]
	m := s.blank(len(found))
	files := make([]sheetFileJSON, len(found))
	memory := semaphore.NewWeighted(batch.DefaultMemory)
	each(ctx, len(found), func(k int) {
		files[k] = sheetFileJSON{Input: found[k].Path, Page: i + 1, Row: k/s.columns + 1, Column: k%s.columns + 1}
		thumb, err := s.thumbnail(ctx, dev, memory, found[k])
		if err != nil {
			files[k].Error = plain(err)
		}
		s.place(m, k, thumb, found[k].Path) // cells do not overlap
		step()
	})
	return m, files
}

// thumbnail reads a picture and resizes it on the device.
func (s *sheet) thumbnail(ctx context.Context, dev *lathe.Device, memory *semaphore.Weighted, f batch.Found) (*image.NRGBA, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	p, err := batch.OpenPicture(ctx, f.Path, s.MaxPixels)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	need := min(p.Info().Memory, batch.DefaultMemory) // a picture that needs more is alone
	if err := memory.Acquire(ctx, need); err != nil {
		return nil, err
	}
	defer memory.Release(need)
	call := imageops.Resize{Width: s.cell.X, Height: s.cell.Y, Fit: "inside", OnlyShrink: true}
	if s.Cover {
		call.Fit, call.OnlyShrink = "cover", false
	}
	calls := []spec.Call{spec.WithDefaults(call)}
	info := p.Info()
	m, info, err := p.DecodeAtLeast(ctx, 8, imageops.AtLeast(image.Pt(info.Width, info.Height), calls...))
	if err != nil {
		return nil, err
	}
	return dev.Apply(ctx, m, imageops.ForShrunk(calls, info.Full, info.Orientation)...)
}
