package main

import (
	"bytes"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/disintegration/imaging"

	"github.com/lathe-gpu/lathe/imageops"
	measure "github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/spec"
)

// vipsFilter is an operation of Lathe, and the command of vips that does the same.
type vipsFilter struct {
	name string
	call spec.Call
	// args are those of vips. IN and OUT are the pictures; other words in capitals are files of
	// prepareVips.
	args string
	near float64 // how far results may be apart on average, in 1/255
}

// vipsFilters are the operations that are timed. The profile of Display P3 has matrix and curves.
func vipsFilters() ([]vipsFilter, error) {
	p3, err := imageops.ParseProfile(testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve()))
	if err != nil {
		return nil, err
	}
	return []vipsFilter{
		{"resize to half, Lanczos 3", imageops.Resize{Percent: 50}, "resize IN OUT 0.5 --kernel lanczos3", 0.6},
		// vips enlarges to places beside those of ImageMagick, with which Lathe agrees.
		{"resize to 150 %, Catmull-Rom", imageops.Resize{Percent: 150, Filter: "catmull-rom"}, "resize IN OUT 1.5 --kernel cubic", 3},
		{"rotate by 90°", imageops.Rotate{Degrees: 90}, "rot IN OUT d90", 0},
		{"flip", imageops.Flip{}, "flip IN OUT vertical", 0},
		{"invert", imageops.InvertColors{}, "invert IN OUT", 0},
		{"brightness", imageops.Brightness{Factor: 1.2}, "linear IN OUT 1.2 0 --uchar", 0.5},
		{"gamma", imageops.Gamma{Gamma: 2.2}, "gamma IN OUT --exponent 2.2", 0.6},
		{"colour matrix", imageops.ColorMatrix{Matrix: []float64{0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0, 0.3, 0.7}}, "recomb IN OUT MATRIX", 0.6},
		{"Display P3 to sRGB", imageops.ToSRGB{Profile: p3}, "icc_transform IN OUT srgb --input-profile P3", 1},
		{"equalize each colour", imageops.Equalize{Each: true}, "hist_equal IN OUT", 2},
		{"convolve 3×3", imageops.Convolve{Kernel: []float64{0, -1, 0, -1, 8, -1, 0, -1, 0}, Scale: 0.25}, "conv IN OUT KERNEL --precision integer", 1},
		{"Gaussian blur, σ = 1", imageops.GaussianBlur{Sigma: 1}, "gaussblur IN OUT 1 --min-ampl " + vipsTaps, 2},
		{"Gaussian blur, σ = 3", imageops.GaussianBlur{Sigma: 3}, "gaussblur IN OUT 3 --min-ampl " + vipsTaps, 1},
		{"Gaussian blur, σ = 6", imageops.GaussianBlur{Sigma: 6}, "gaussblur IN OUT 6 --min-ampl " + vipsTaps, 1},
		{"Gaussian blur, σ = 20", imageops.GaussianBlur{Sigma: 20}, "gaussblur IN OUT 20 --min-ampl " + vipsTaps, 1},
		// vips rounds down twice here, and would be exact by conv, which takes several times as long.
		{"box blur 11×11", imageops.BoxBlur{Radius: 5}, "convsep IN OUT ONES --precision integer", 2.5},
		{"median 3×3", imageops.Median{Radius: 1}, "rank IN OUT 3 3 4", 0.1},
		// vips 8.14 errs here. Lathe has the bytes of ImageMagick's -statistic Median 7x7.
		{"median 7×7", imageops.Median{Radius: 3}, "rank IN OUT 7 7 24", 2.5},
		{"dilate 5×5", imageops.Dilate{Radius: 2}, "rank IN OUT 5 5 24", 0.1},
	}, nil
}

// command is the command of vips for files in a folder that prepareVips has filled.
func (f vipsFilter) command(dir, in, out string) *exec.Cmd {
	args := strings.Fields(f.args)
	for i, a := range args {
		switch a {
		case "IN":
			args[i] = in
		case "OUT":
			args[i] = out
		case "ONES", "MATRIX", "KERNEL", "P3":
			args[i] = filepath.Join(dir, a)
		}
	}
	cmd := exec.Command("vips", args...)
	cmd.Dir = dir
	return cmd
}

// prepareVips writes the picture into a folder as in.v, the format in which vips has pixels in memory,
// and the files that commands name.
func prepareVips(dir string, m *image.NRGBA) error {
	var ppm bytes.Buffer
	fmt.Fprintf(&ppm, "P6\n%d %d\n255\n", m.Rect.Dx(), m.Rect.Dy())
	for i := 0; i < len(m.Pix); i += 4 {
		ppm.Write(m.Pix[i : i+3])
	}
	if err := os.WriteFile(filepath.Join(dir, "in.ppm"), ppm.Bytes(), 0o666); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"ONES":   "11 1 11\n" + strings.Repeat("1 ", 11) + "\n",
		"MATRIX": "3 3\n0.8 0.1 0.1\n0.2 0.7 0.1\n0 0.3 0.7\n",
		"KERNEL": "3 3 4 0\n0 -1 0\n-1 8 -1\n0 -1 0\n",
		"P3":     string(testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve())),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return quietly(exec.Command("vips", "copy", filepath.Join(dir, "in.ppm"), filepath.Join(dir, "in.v")))
}

// quietly runs a command, and returns what it says as an error if it fails.
func quietly(cmd *exec.Cmd) error {
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, said)
	}
	return nil
}

// near makes sure that Lathe and vips compute the same picture.
func (b *bench) near(f vipsFilter, src *image.NRGBA) error {
	dir, err := os.MkdirTemp(b.dir, "near")
	if err != nil {
		return err
	}
	if err := prepareVips(dir, src); err != nil {
		return err
	}
	if err := quietly(f.command(dir, "in.v", "out.png")); err != nil {
		return err
	}
	want, err := imaging.Open(filepath.Join(dir, "out.png"))
	if err != nil {
		return err
	}
	got, err := b.dev.Apply(b.ctx, src, f.call)
	if err != nil {
		return err
	}
	if d := distance(got, imaging.Clone(want)); d > f.near {
		return fmt.Errorf("the results of Lathe and vips differ by %.2f/255 on average", d)
	}
	return nil
}

// filters times operations on a photograph of 24 megapixels beside those of libvips.
func (b *bench) filters() (*table, error) {
	w, h, budget := 6000, 4000, 20*time.Second
	if b.quick {
		w, h, budget = 1500, 1000, 3*time.Second
	}
	return b.filtersAt(w, h, budget)
}

func (b *bench) filtersAt(w, h int, budget time.Duration) (*table, error) {
	version := vipsVersion()
	list, err := vipsFilters()
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f vipsFilter) bool { return !strings.Contains(f.name, b.match) })
	return b.filtersOf(list, version, w, h, budget)
}

// filtersOf makes the table of a list of operations. One that fails has a row that says so.
func (b *bench) filtersOf(list []vipsFilter, version string, w, h int, budget time.Duration) (*table, error) {
	t := &table{
		Title:  fmt.Sprintf("Operations beside those of libvips, %d×%d", w, h),
		Header: []string{"operation", "Lathe ApplyTo", "MP/s", "vips", "vips / Lathe"},
	}
	if version == "" {
		t.note("vips is not installed (on Debian: libvips-tools).")
		return t, nil
	}
	t.note("MP/s count pixels of the source. Lathe's time has upload and read-back; it works on four channels. vips %s works on three, reads and writes files of its own format "+
		"without compression, and takes as many threads as there are processors. The time that it needs to start is subtracted: that of `vips --version`.", version)
	if len(list) == 0 {
		return t, nil
	}
	dir, err := os.MkdirTemp(b.dir, "filters")
	if err != nil {
		return nil, err
	}
	src := testimg.Photo(w, h, b.seed)
	if err := prepareVips(dir, src); err != nil {
		return nil, err
	}
	for _, f := range list {
		err := b.filter(t, f, dir, src, budget)
		if ended := b.ctx.Err(); ended != nil {
			return nil, ended
		}
		if err != nil {
			t.failed(f.name, err)
		}
	}
	return t, nil
}

// filter makes sure that a row's results are right, and adds its times to the table.
func (b *bench) filter(t *table, f vipsFilter, dir string, src *image.NRGBA, budget time.Duration) error {
	if err := b.near(f, testimg.Photo(320, 200, b.seed)); err != nil {
		return err
	}
	size, err := imageops.Size(src.Rect.Size(), f.call)
	if err != nil {
		return err
	}
	dst := image.NewNRGBA(image.Rectangle{Max: size})
	s, err := measure.Interleave(budget, 15,
		func() error { return b.dev.ApplyTo(b.ctx, dst, src, f.call) },
		func() error { return quietly(f.command(dir, "in.v", "out.v")) },
		func() error { return quietly(exec.Command("vips", "--version")) },
	)
	if err != nil {
		return err
	}
	own, vips := s[0].Median(), s[1].Median()-s[2].Median()
	rate := float64(src.Rect.Dx()*src.Rect.Dy()) / 1e6 / own.Seconds()
	times := vips.Seconds() / own.Seconds()
	t.row(f.name, s[0], fmt.Sprintf("%.0f", rate), s[1], fmt.Sprintf("**%.2f**", times))
	t.value(f.name+"/vips", times)
	t.value(f.name+"/mps", rate)
	return nil
}
