package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"text/tabwriter"

	"golang.org/x/sync/semaphore"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/batch"
	"github.com/lathe-gpu/lathe/internal/errs"
)

type compareCmd struct {
	A         string   `arg:"" complete:"@files" help:"A picture, or a folder of pictures."`
	B         string   `arg:"" complete:"@files" help:"Another picture, or another folder. Pictures of two folders belong together if they have the same name, or else the same name up to the extension."`
	Recursive bool     `short:"r" help:"Look into folders inside folders."`
	Max       *float64 `placeholder:"LEVELS" help:"Allow a largest difference of so many levels, 0 to 255. 0 allows equal pictures only."`
	PSNR      *float64 `name:"psnr" placeholder:"DB" help:"Want a PSNR of at least so many dB."`
	SSIM      *float64 `name:"ssim" placeholder:"N" help:"Want an SSIM of at least this, -1 to 1."`
	Diff      string   `placeholder:"PATH" complete:"@files" help:"Write a picture of the differences: a file for two pictures, such as diff.png. For two folders it is a folder, which gets a PNG for each pair that is not equal."`
	Amplify   float64  `default:"1" placeholder:"N" help:"Multiply the differences in that picture. Default: ${default}."`
	Force     bool     `help:"Replace pictures of differences that exist. Without it they are errors."`
	MaxPixels int64    `default:"268435456" placeholder:"N" help:"Refuse larger pictures before reading them, because a small file can claim to be huge. Default: ${default}, which is 16384 x 16384."`
}

// Help is the long help.
func (compareCmd) Help() string {
	return `The command reports how far pictures are apart: the largest difference of a channel, the mean absolute difference and the root of the mean squared difference (RMSE), all in levels from 0 to 255; the PSNR in dB, which is infinite for equal pictures; and the SSIM of the luma. Both pictures must have the same size. They are turned upright by their EXIF orientation first. If a picture has transparent pixels, alpha counts as a channel, and colours are multiplied by it.

With --max, --psnr or --ssim, the exit code is 1 if a pair does not keep them, or if a picture has no partner. Without them it is 0. It is 2 if a pair cannot be compared.

Examples:
  lathe compare before.png after.png
  lathe compare golden out -r --max 2 --diff differences --amplify 20
  lathe compare originals web --ssim 0.97 --json`
}

// comparedJSON is a pair in the JSON report.
type comparedJSON struct {
	Name    string   `json:"name"`
	A       string   `json:"a"`
	B       string   `json:"b"`
	Error   string   `json:"error,omitempty"`
	Width   int      `json:"width,omitempty"`
	Height  int      `json:"height,omitempty"`
	Equal   bool     `json:"equal"`
	Max     *float64 `json:"max,omitempty"` // this and the next ones are missing after an error
	Mean    *float64 `json:"mean,omitempty"`
	RMSE    *float64 `json:"rmse,omitempty"`
	PSNR    *float64 `json:"psnr_db"` // null for equal pictures, and after an error
	SSIM    *float64 `json:"ssim,omitempty"`
	Exceeds []string `json:"exceeds"` // the limits that the pair does not keep
	Diff    string   `json:"diff,omitempty"`

	err error
}

// compareJSON is the JSON report of lathe compare.
type compareJSON struct {
	Device deviceJSON     `json:"device"`
	Pairs  []comparedJSON `json:"pairs"`
	OnlyA  []string       `json:"only_in_a"`
	OnlyB  []string       `json:"only_in_b"`
	OK     bool           `json:"ok"` // as the exit code 0 says
}

// Run does it.
func (c *compareCmd) Run(a *app) error {
	err := c.run(a)
	var known coded
	if err != nil && !errors.As(err, &known) && !errors.Is(err, context.Canceled) && !errors.Is(err, errs.ErrNoDevice) {
		return coded{exitUsage, err} // 1 would mean that the pictures differ
	}
	return err
}

func (c *compareCmd) run(a *app) error {
	if err := c.check(a); err != nil {
		return err
	}
	list, err := c.pair(a)
	if err != nil {
		return err
	}
	info, err := os.Stat(c.A)
	if err != nil {
		return err
	}
	folders := info.IsDir()
	if err := c.outputs(folders, &list); err != nil {
		return err
	}
	dev, err := a.open()
	if err != nil {
		return err
	}
	defer dev.Close()
	debug.SetGCPercent(25) // almost all of the heap is pixels without pointers
	step, stop := a.progressBar(len(list.pairs))
	rows := c.compareAll(a.ctx, dev, list.pairs, folders, step)
	stop()
	if err := a.ctx.Err(); err != nil {
		return coded{exitInterrupted, errors.New("interrupted")}
	}
	return c.report(a, dev.Info(), rows, &list)
}

// check checks the flags without looking at files.
func (c *compareCmd) check(a *app) error {
	for _, x := range []struct {
		name      string
		v         *float64
		low, high float64
	}{{"max", c.Max, 0, 255}, {"psnr", c.PSNR, 0, math.Inf(1)}, {"ssim", c.SSIM, -1, 1}} {
		if x.v != nil && !(*x.v >= x.low && *x.v <= x.high) {
			return usage("--%s is %v; it must be from %v to %v", x.name, *x.v, x.low, x.high)
		}
	}
	if !(c.Amplify > 0 && c.Amplify <= 1e6) {
		return usage("--amplify is %v; it must be above 0 and up to 1000000", c.Amplify)
	}
	if c.MaxPixels < 1 {
		return usage("--max-pixels must be above 0")
	}
	for _, flag := range []string{"amplify", "force"} {
		if c.Diff == "" && a.given[flag] {
			return usage("--%s is about pictures of the differences, and without --diff there are none: leave it out, or add --diff", flag)
		}
	}
	return nil
}

// compareAll compares the pairs, several at a time, so that reading and computing overlap.
func (c *compareCmd) compareAll(ctx context.Context, dev *lathe.Device, pairs []comparedPair, folders bool, step func()) []comparedJSON {
	rows := make([]comparedJSON, len(pairs))
	memory := semaphore.NewWeighted(batch.DefaultMemory)
	each(ctx, len(pairs), func(i int) {
		rows[i] = c.compareOne(ctx, dev, memory, &pairs[i], folders)
		step()
	})
	return rows
}

// compareOne compares a pair.
func (c *compareCmd) compareOne(ctx context.Context, dev *lathe.Device, memory *semaphore.Weighted, p *comparedPair, folders bool) comparedJSON {
	row := comparedJSON{Name: p.name, A: p.a, B: p.b, Exceeds: []string{}, err: p.err}
	if row.err == nil {
		row.err = c.figures(ctx, dev, memory, p, &row, folders)
	}
	if row.err != nil {
		row.Error = plain(row.err)
	}
	return row
}

// figures computes the figures of a row.
func (c *compareCmd) figures(ctx context.Context, dev *lathe.Device, memory *semaphore.Weighted, p *comparedPair, row *comparedJSON, folders bool) error {
	named := func(file string, err error) error { return fmt.Errorf("%s: %s", file, plain(err)) }
	x, err := batch.OpenPicture(ctx, p.a, c.MaxPixels)
	if err != nil {
		return named(p.a, err)
	}
	defer x.Close()
	y, err := batch.OpenPicture(ctx, p.b, c.MaxPixels)
	if err != nil {
		return named(p.b, err)
	}
	defer y.Close()
	ix, iy := x.Info(), y.Info()
	if row.Width, row.Height = ix.Width, ix.Height; ix.Width != iy.Width || ix.Height != iy.Height {
		return fmt.Errorf("%s is %d×%d and %s is %d×%d: only pictures of the same size can be compared", p.a, ix.Width, ix.Height, p.b, iy.Width, iy.Height)
	}
	if p.diff != "" {
		if err := p.form.CheckSize(ix.Width, ix.Height); err != nil {
			return named(p.diff, err)
		}
	}
	if err := x.Single(); err != nil {
		return named(p.a, err)
	}
	if err := y.Single(); err != nil {
		return named(p.b, err)
	}
	need := min(x.Memory(16)+y.Memory(16), batch.DefaultMemory) // a pair that needs more is alone
	if err := memory.Acquire(ctx, need); err != nil {
		return err
	}
	defer memory.Release(need)
	mx, err := x.Decode(ctx, 16)
	if err != nil {
		return named(p.a, err)
	}
	my, err := y.Decode(ctx, 16)
	if err != nil {
		return named(p.b, err)
	}
	d, err := dev.Compare(ctx, mx, my)
	if err != nil {
		return err
	}
	row.Equal, row.Max, row.Mean, row.RMSE, row.SSIM = d.Max == 0, &d.Max, &d.Mean, &d.RMSE, &d.SSIM
	if !math.IsInf(d.PSNR, 1) {
		row.PSNR = &d.PSNR
	}
	const slack = 1e-4 // products with alpha are rounded to f32
	for _, limit := range []struct {
		name string
		over bool
	}{{"max", c.Max != nil && d.Max > *c.Max+slack}, {"psnr", c.PSNR != nil && d.PSNR < *c.PSNR}, {"ssim", c.SSIM != nil && d.SSIM < *c.SSIM}} {
		if limit.over {
			row.Exceeds = append(row.Exceeds, limit.name)
		}
	}
	if p.diff == "" || folders && row.Equal {
		return nil
	}
	m, err := dev.DifferenceImage(ctx, mx, my, c.Amplify)
	if err == nil {
		err = batch.Save(ctx, p.diff, m, p.form, 0, c.Force)
	}
	if err != nil {
		return named(p.diff, err)
	}
	row.Diff = p.diff
	return nil
}

// report prints the table or the JSON, and decides the exit code.
func (c *compareCmd) report(a *app, info *gpu.Info, rows []comparedJSON, list *comparedPairs) error {
	limits := c.Max != nil || c.PSNR != nil || c.SSIM != nil
	var equal, over, failed int
	for _, r := range rows {
		switch {
		case r.err != nil:
			failed++
		case r.Equal:
			equal++
		}
		if len(r.Exceeds) > 0 {
			over++
		}
	}
	alone := len(list.onlyA) + len(list.onlyB)
	code := exitOK
	switch {
	case failed > 0:
		code = exitUsage
	case over > 0, limits && alone > 0:
		code = exitFailed
	}
	if a.cli.JSON {
		out := compareJSON{Device: describe(info), Pairs: append([]comparedJSON{}, rows...), OnlyA: append([]string{}, list.onlyA...), OnlyB: append([]string{}, list.onlyB...), OK: code == exitOK}
		if err := a.writeJSON(out); err != nil {
			return err
		}
	} else if err := c.table(a, rows, list, limits); err != nil {
		return err
	}
	for _, r := range rows {
		if r.err != nil {
			a.fail("%s", r.Error)
		}
	}
	if !a.quiet {
		text := fmt.Sprintf("%s compared on %s, %d equal", count(len(rows)-failed, "pair"), info.Name, equal)
		if limits {
			text += fmt.Sprintf(", %d beyond the limits", over)
		}
		if failed > 0 {
			text += fmt.Sprintf(", %d failed", failed)
		}
		if alone > 0 {
			text += fmt.Sprintf(", %s without a partner", count(alone, "picture"))
		}
		a.say("%s", text)
	}
	if code == exitOK {
		return nil
	}
	return coded{code, nil}
}

// table prints the figures, and the pictures without a partner.
func (c *compareCmd) table(a *app, rows []comparedJSON, list *comparedPairs, limits bool) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	head := "MAX\tMEAN\tRMSE\tPSNR dB\tSSIM\t"
	if limits {
		head += "BEYOND\t"
	}
	fmt.Fprintln(w, head+"PICTURE")
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
	for _, r := range rows {
		if r.Max == nil {
			continue
		}
		psnr := "inf"
		if r.PSNR != nil {
			psnr = fmt.Sprintf("%.2f", *r.PSNR)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.5f\t", short(*r.Max), short(*r.Mean), short(*r.RMSE), psnr, *r.SSIM)
		if limits {
			beyond := "-"
			if len(r.Exceeds) > 0 {
				beyond = strings.Join(r.Exceeds, ",")
			}
			fmt.Fprintf(w, "%s\t", beyond)
		}
		fmt.Fprintln(w, r.Name)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, x := range []struct {
		folder string
		names  []string
	}{{c.A, list.onlyA}, {c.B, list.onlyB}} {
		for _, name := range x.names {
			fmt.Fprintf(a.out, "only in %s: %s\n", x.folder, name)
		}
	}
	return nil
}
