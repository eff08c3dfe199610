package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/batch"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

type imageCmd struct {
	Inputs       []string `arg:"" name:"input" complete:"@files" help:"Pictures, folders of pictures, and patterns such as \"photos/**/*.jpg\"; or - for one picture from standard input."`
	Op           []string `name:"op" sep:"none" placeholder:"OP" complete:"@calls" help:"Operation, such as \"blur sigma=3\". For several in a row, repeat the flag or separate them with |. \"lathe ops --group image\" lists them."`
	Out          *string  `short:"o" placeholder:"PATH" complete:"@files" help:"Output folder; for a single picture also a file name, with the extension of a format Lathe writes, or - for standard output. Default: the folder out; with input from standard input, standard output."`
	Recursive    bool     `short:"r" help:"Look into folders inside folders. Their structure is kept below the output folder."`
	Format       string   `short:"f" placeholder:"FMT" complete:"jpeg,png,tiff" help:"Write jpeg, png or tiff. Default: the format of the input, or png if Lathe does not write it."`
	Quality      int      `short:"q" default:"90" placeholder:"N" help:"JPEG quality, 1 to 100. Default: ${default}."`
	Suffix       string   `placeholder:"TEXT" help:"Text before the extension of every output."`
	Force        bool     `xor:"existing" help:"Replace outputs that exist. Without it they are errors."`
	SkipExisting bool     `xor:"existing" help:"Leave outputs that exist, and so continue an interrupted run."`
	Jobs         int      `short:"j" default:"0" placeholder:"N" help:"Pictures in work at a time. Default: 0, which means one more than the number of processors."`
	Memory       *int     `placeholder:"MIB" help:"Limit for the memory of all pictures in work, in MiB. A picture that needs more is refused. Default: 512, and a picture that needs more is in work alone."`
	MaxPixels    int64    `default:"268435456" placeholder:"N" help:"Refuse larger pictures before reading them, because a small file can claim to be huge. Default: ${default}, which is 16384 x 16384."`
}

// Help is the long help.
func (imageCmd) Help() string {
	return `The command reads JPEG, PNG, TIFF, BMP, GIF and WebP (first frame), and writes JPEG, PNG and TIFF. Pictures are turned upright by their EXIF orientation and rounded to 8 bits. Metadata and colour profiles are not kept. For JPEG, transparent pixels are laid over white. Without --op pictures are only turned and converted, which needs no device.

In a folder the command takes the files that have the extension of a picture and are not hidden. A bad picture is reported, and the others are done. An output is written completely or not at all, and never replaces an input. An output has the name of its input, with the extension of its format. If another output has that name, the old extension stays too: photo.gif beside photo.png becomes photo.gif.png.

Examples:
  lathe image holiday.jpg --op "blur sigma=3" -o soft.jpg
  lathe image photos -r -o grey --op grayscale --op "contrast 1.2"
  lathe image "photos/**/*.tif" -o web --op sharpen --format jpeg
  cat a.jpg | lathe image - --op "blur sigma=3" --out - > b.jpg`
}

// Run does it.
func (c *imageCmd) Run(a *app) error {
	var calls []spec.Call
	for _, text := range c.Op {
		more, err := spec.ParseCalls(text, "image")
		if err != nil {
			return coded{exitUsage, err}
		}
		for _, call := range more {
			if err := checkCall(call); err != nil {
				return coded{exitUsage, err}
			}
		}
		calls = append(calls, more...)
	}
	if c.Quality < 1 || c.Quality > 100 {
		return usage("--quality is %d; it must be from 1 to 100", c.Quality)
	}
	if c.Jobs < 0 {
		return usage("--jobs is %d; it must be 0 or more; 0 chooses by the number of processors", c.Jobs)
	}
	if c.Memory != nil && *c.Memory < 1 || c.MaxPixels < 1 {
		return usage("--memory and --max-pixels must be above 0")
	}
	var naming batch.Naming
	if c.Format != "" {
		f, ok := batch.ParseFormat(c.Format)
		if !ok {
			return usage("--format is %q; it must be jpeg, png or tiff", c.Format)
		}
		naming.Format = f
	}
	naming.Suffix = c.Suffix
	folder, jobs, err := c.plan(a, naming)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if j.To == nil && a.trace.is(filepath.Join(folder, j.Output)) {
			return usage("--trace %s is the output of %s too", a.cli.Trace, j.Input)
		}
	}
	var memory, computing int64
	var strip []lathe.Option
	if c.Memory != nil {
		memory = int64(*c.Memory) << 20
		strip, computing = []lathe.Option{lathe.WithStrip(memory / 16)}, memory/4 // for the source, the result and the pictures between
		debug.SetMemoryLimit(memory + programMemory)
	}
	var proc batch.Processor
	var info *gpu.Info
	var stage func(stage, input string) func(error)
	if len(calls) > 0 {
		dev, err := a.open(strip...)
		if err != nil {
			return err
		}
		defer dev.Close()
		proc, info = dev, dev.Info()
		stage = func(stage, input string) func(error) { return dev.Span(stage, map[string]string{"file": input}) }
	}
	opts := batch.Options{
		Folder: folder, Quality: c.Quality, Workers: c.Jobs, MaxPixels: c.MaxPixels, Memory: memory,
		Stage: stage,
	}
	if info != nil {
		opts.Computing = computing
	}
	if info != nil && info.Kind != gpu.CPU {
		opts.Computes = 2 // one uploads or reads back while the other computes
	}
	switch {
	case c.Force:
		opts.Existing = batch.Replace
	case c.SkipExisting:
		opts.Existing = batch.Skip
	}
	// Almost all of the heap is pixels without pointers: collecting is cheap,
	// and waiting for the heap to double is not.
	debug.SetGCPercent(25)
	stop := a.pictureProgress(len(jobs), &opts)
	rep, err := batch.Run(a.ctx, proc, calls, jobs, opts)
	stop()
	if err != nil {
		return err
	}
	return c.report(a, rep, info, calls)
}

// plan decides what is read and where the results go.
func (c *imageCmd) plan(a *app, naming batch.Naming) (folder string, jobs []batch.Job, err error) {
	out := defaultOut
	if c.Out != nil {
		out = *c.Out
	}
	if slices.Contains(c.Inputs, standard) {
		return c.planStream(a, naming)
	}
	if out == standard {
		if err := c.checkToOutput(a); err != nil {
			return "", nil, err
		}
	}
	found, err := batch.Find(a.ctx, c.Inputs, batch.FindOptions{Recursive: c.Recursive, Skip: out})
	if err != nil {
		return "", nil, err
	}
	if !slices.ContainsFunc(found, func(f batch.Found) bool { return !errors.Is(f.Err, batch.ErrNoMatch) }) {
		var names []string
		for _, f := range found {
			names = append(names, fmt.Sprintf("%s: %v", f.Path, f.Err))
		}
		return "", nil, coded{exitNothing, fmt.Errorf("nothing to do: %s", strings.Join(names, "; "))}
	}
	if folder, err = c.output(out, found, &naming); err != nil {
		return "", nil, err
	}
	if jobs, err = batch.Plan(found, naming); err != nil {
		return "", nil, coded{exitUsage, err}
	}
	if out == standard { // output has seen to it that there is one picture
		jobs[0].Output, jobs[0].To = standard, os.Stdout
	}
	return folder, jobs, nil
}

// programMemory is the most bytes that the program itself takes.
const programMemory = 64 << 20

// checkCall finds wrong attributes before any picture is read.
func checkCall(c spec.Call) error {
	_, err := c.Spec().Shape(c, []tensor.Desc{tensor.Contiguous(tensor.U8, 1, 1, 4)})
	return err
}

// output splits --out into the output folder and the name of the output. The name is empty,
// unless --out names a single picture.
func (c *imageCmd) output(path string, found []batch.Found, n *batch.Naming) (folder string, err error) {
	// single is whether the input is the name of one picture, and not of a folder that has one.
	single := len(c.Inputs) == 1 && len(found) == 1 && (found[0].Err != nil || filepath.Clean(c.Inputs[0]) == filepath.Clean(found[0].Path))
	switch path {
	case "":
		return "", usage("--out is empty; give a folder or a file name")
	case standard:
		if !single {
			return "", usage("--out - is for one picture, but the input is not one picture: give a folder (./- is a folder named -)")
		}
		return "", nil
	}
	ext := extension(path)
	format, isFormat := batch.ParseFormat(ext)
	info, statErr := os.Stat(path)
	exists := statErr == nil
	folderName := exists && info.IsDir() || os.IsPathSeparator(path[len(path)-1])
	// For several pictures --out is a folder, unless it has the extension of a picture.
	if !folderName && !isFormat && ext != "" && (single || batch.IsPicture(path)) {
		return "", usage("--out %s: Lathe does not write %s; it writes .jpg, .jpeg, .png, .tif and .tiff (for a folder of that name, end it in %c)", path, ext, os.PathSeparator)
	}
	if name := filepath.Base(path); single && !folderName && strings.HasSuffix(name, ".") && strings.Trim(name, ".") != "" {
		return "", usage("--out %s ends in a dot, where an extension should say the format: .jpg, .jpeg, .png, .tif or .tiff (for a folder of that name, end it in %c)", path, os.PathSeparator)
	}
	if folderName || !isFormat {
		if exists && !info.IsDir() {
			return "", usage("--out %s is a file, not a folder", path)
		}
		return path, nil
	}
	if len(found) == 1 && found[0].Err != nil {
		// The picture will fail for a reason of its own, which is the better message.
		return filepath.Dir(path), nil
	}
	if !single {
		return "", usage("--out %s is the name of one picture, but the input is not: give a folder", path)
	}
	return c.named(path, format, n)
}

// named puts the output file path into the naming. It returns its folder.
func (c *imageCmd) named(path string, format batch.Format, n *batch.Naming) (folder string, err error) {
	if n.Format != "" && n.Format != format {
		return "", usage("--out %s does not fit --format %s", path, c.Format)
	}
	if n.Suffix != "" {
		return "", usage("--suffix makes names for an output folder; --out %s is a name already", path)
	}
	n.Format, n.Name = format, filepath.Base(path)
	return filepath.Dir(path), nil
}

// extension is the extension of a file name, with its dot. It has letters and digits, and
// begins with a letter. The names v1.2, .cache and "Mr. Smith" have none.
func extension(path string) string {
	name := filepath.Base(path)
	ext := filepath.Ext(name)
	for i, r := range strings.TrimPrefix(ext, ".") {
		if !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return ""
		}
	}
	if len(ext) < 2 || ext == name {
		return ""
	}
	return ext
}

// progress shows a bar on a terminal and nothing elsewhere.
func (a *app) pictureProgress(n int, o *batch.Options) (stop func()) {
	step, stop := a.progressBar(n)
	o.OnDone = func(batch.File) { step() }
	return stop
}

// fileJSON is a file in the JSON report.
type fileJSON struct {
	Input     string       `json:"input"`
	Output    string       `json:"output,omitempty"`
	Status    batch.Status `json:"status"`
	Error     string       `json:"error,omitempty"`
	Width     int          `json:"width,omitempty"`
	Height    int          `json:"height,omitempty"`
	InBytes   int64        `json:"in_bytes"`
	OutBytes  int64        `json:"out_bytes"`
	DecodeMS  float64      `json:"decode_ms"`
	ComputeMS float64      `json:"compute_ms"`
	EncodeMS  float64      `json:"encode_ms"`
}

// imageJSON is the JSON report of lathe image.
type imageJSON struct {
	Device *deviceJSON `json:"device"` // null without operations
	Ops    []string    `json:"ops"`
	Files  []fileJSON  `json:"files"`
	Totals struct {
		Files       int     `json:"files"`
		OK          int     `json:"ok"`
		Failed      int     `json:"failed"`
		Skipped     int     `json:"skipped"`
		Interrupted int     `json:"interrupted"`
		Pixels      int64   `json:"pixels"`
		Seconds     float64 `json:"seconds"`
		Rate        float64 `json:"megapixels_per_second"`
	} `json:"totals"`
}

func (c *imageCmd) report(a *app, rep *batch.Report, info *gpu.Info, calls []spec.Call) error {
	ok, failed := rep.Count(batch.OK), rep.Count(batch.Failed)
	skipped, cut := rep.Count(batch.Skipped), rep.Count(batch.Interrupted)
	if a.cli.JSON {
		j := imageJSON{Ops: []string{}, Files: []fileJSON{}}
		for _, call := range calls {
			j.Ops = append(j.Ops, spec.FormatCall(call))
		}
		if info != nil {
			d := describe(info)
			j.Device = &d
		}
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		for _, f := range rep.Files {
			row := fileJSON{Input: f.Input, Output: f.Output, Status: f.Status, Width: f.Width, Height: f.Height,
				InBytes: f.InBytes, OutBytes: f.OutBytes, DecodeMS: ms(f.Decode), ComputeMS: ms(f.Compute), EncodeMS: ms(f.Encode)}
			if f.Err != nil {
				row.Error = f.Err.Error()
			}
			j.Files = append(j.Files, row)
		}
		t := &j.Totals
		t.Files, t.OK, t.Failed, t.Skipped, t.Interrupted = len(rep.Files), ok, failed, skipped, cut
		t.Pixels, t.Seconds, t.Rate = rep.Pixels, rep.Elapsed.Seconds(), rep.Rate()
		if err := a.writeJSON(j); err != nil {
			return err
		}
	}
	for _, f := range rep.Files {
		if f.Status == batch.Failed {
			if f.Output == standard && closedPipe(f.Err) {
				return coded{exitFailed, nil} // the reader has closed the pipe itself
			}
			a.fail("%s: %s", c.title(f.Input), plain(f.Err))
		}
	}
	if !a.quiet {
		where := ""
		if info != nil {
			where = " on " + info.Name
		}
		text := fmt.Sprintf("%s done%s", count(ok, "picture"), where)
		for _, x := range []struct {
			n    int
			what string
		}{{failed, "failed"}, {skipped, "skipped"}, {cut, "not begun or undone"}} {
			if x.n > 0 {
				text += fmt.Sprintf(", %d %s", x.n, x.what)
			}
		}
		a.say("%s; %.1f MP in %.2f s, %.1f MP/s", text, float64(rep.Pixels)/1e6, rep.Elapsed.Seconds(), rep.Rate())
	}
	switch {
	case cut > 0:
		return coded{exitInterrupted, errors.New("interrupted; what is listed as done is complete, the rest was not written")}
	case failed > 0:
		return coded{exitFailed, nil}
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// writeJSON puts v on standard output.
func (a *app) writeJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
