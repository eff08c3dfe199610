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
	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/batch"
	"github.com/lathe-gpu/lathe/spec"
)

type imageCmd struct {
	Inputs       []string `arg:"" name:"input" complete:"@files" help:"Pictures, folders of pictures, and patterns such as \"photos/**/*.jpg\"; or - for one picture from standard input."`
	Op           []string `name:"op" sep:"none" placeholder:"OP" complete:"@calls" help:"Operation, such as \"blur sigma=3\". For several in a row, repeat the flag or separate them with |. \"lathe ops --group image\" lists them."`
	Out          *string  `short:"o" placeholder:"PATH" complete:"@files" help:"Output folder; for a single picture also a file name, with the extension of a format Lathe writes, or - for standard output. Default: the folder out; with input from standard input, standard output."`
	Recursive    bool     `short:"r" help:"Look into folders inside folders. Their structure is kept below the output folder."`
	Format       string   `short:"f" placeholder:"FMT" complete:"jpeg,png,tiff,gif,webp,avif" help:"Write jpeg, png, tiff, gif, webp or avif. Default: the format of the input, or png for a BMP file."`
	Quality      *int     `short:"q" placeholder:"N" help:"Quality of JPEG, of lossy WebP and of AVIF, 1 to 100. Default: 90, and 60 for AVIF, where the same number means smaller files."`
	Subsampling  string   `placeholder:"RATIO" complete:"4:4:4,4:2:2,4:4:0,4:2:0" help:"How JPEG and AVIF files store colours: 4:4:4 at full resolution, 4:2:2 at half of it across, 4:4:0 down, 4:2:0 in both directions. Default: that of a JPEG or AVIF input, or 4:2:0."`
	Progressive  bool     `help:"Write progressive JPEG files, which browsers show coarsely before all has arrived. The pixels are the same, and the files are a little smaller."`
	WebP         string   `name:"webp" placeholder:"KIND" complete:"lossless,lossy" help:"How WebP files store pixels: lossless, or lossy with --quality. Default: that of a WebP input, or lossy."`
	First        bool     `xor:"picture" help:"Of an animation, or of a TIFF file of several pages, take the first picture. Without it, all frames of GIF and WebP files are done if the output is GIF or WebP. Otherwise they are errors, because the other pictures would be lost."`
	Page         *int     `xor:"picture" placeholder:"N" help:"Take page N of TIFF files of several pages, or frame N of animated GIF and WebP files, from 1. A file that has fewer is an error, which says how many it has. Of a picture that an operation lays over others, the first one is taken."`
	Compression  int      `default:"6" placeholder:"N" help:"How much PNG and TIFF files are compressed, 1 (fast) to 9 (small). Default: ${default}. No pixel depends on it."`
	ShrinkOnLoad bool     `negatable:"" default:"true" help:"Decode JPEG files at a half, a quarter or an eighth of their size where the first operation is a resize that makes them smaller still. That is several times as fast, and on by default. --no-shrink-on-load decodes all pixels."`
	Depth        int      `default:"0" placeholder:"BITS" complete:"8,16" help:"Bits a channel of the outputs, 8 or 16. Default: 16 if the input has them and the output's format can have them, otherwise 8."`
	Precise      bool     `help:"Compute with floats from the first operation to the last, and round once, when the output is written. Without it a picture of 8 bits is rounded to 8 bits after each operation. It takes two to four times as long. Pictures of 16 bits are computed so anyway if the output has 16 bits."`
	Profile      string   `placeholder:"NAME" complete:"@files" help:"Convert colours before the operations: srgb makes sRGB of the colours of pictures that have another profile, and leaves the profile out. The name of an .icc file makes colours of that profile, and puts it into the outputs. Without it the profile is kept, and no colour changes."`
	Strip        bool     `help:"Leave out EXIF, XMP, IPTC and texts. The colour profile and the density stay, because the picture would look different without them."`
	Mtime        bool     `help:"Give outputs the modification time of their inputs."`
	Suffix       string   `placeholder:"TEXT" help:"Text before the extension of every output."`
	Force        bool     `xor:"existing" help:"Replace outputs that exist. Without it they are errors."`
	SkipExisting bool     `xor:"existing" help:"Leave outputs that exist, and so continue an interrupted run."`
	Jobs         int      `short:"j" default:"0" placeholder:"N" help:"Pictures to process at a time. Default: 0, which means one more than the number of processors."`
	Memory       *int     `placeholder:"MIB" help:"Limit for the memory of all pictures that are processed at a time, in MiB. A picture that needs more is refused. Default: 512, and a picture that needs more is processed alone."`
	MaxPixels    int64    `default:"268435456" placeholder:"N" help:"Refuse larger pictures before reading them, because a small file can claim to be huge. Default: ${default}, which is 16384 x 16384."`
}

// Help is the long help.
func (imageCmd) Help() string {
	return `The command reads JPEG, PNG, TIFF, BMP, GIF, WebP and AVIF, and writes all of them but BMP. Of animated GIF and WebP files, each frame is done. Pictures are turned upright by their EXIF orientation. EXIF, XMP, IPTC and the colour profile are kept; --strip leaves them out, but for the profile. For JPEG, transparent pixels are laid over white. Without --op pictures are only turned and converted, which needs no device.

In a folder the command takes the files that have the extension of a picture and are not hidden. A bad picture is reported, and the others are done. An output is written completely or not at all, and never replaces an input. An output has the name of its input, with the extension of its format. If another output has that name, the old extension stays too: photo.bmp beside photo.png becomes photo.bmp.png.

Examples:
  lathe image holiday.jpg --op "blur sigma=3" -o soft.jpg
  lathe image photos -r -o grey --op grayscale --op "contrast 1.2"
  lathe image "photos/**/*.tif" -o web --op sharpen --format webp --quality 80
  lathe image photos -o marked --op "watermark logo.png gravity=bottom-right opacity=0.5"
  cat a.jpg | lathe image - --op "blur sigma=3" --out - > b.jpg`
}

func (c *imageCmd) deviceless() string {
	if len(c.Op) == 0 && c.Profile == "" {
		return "without --op"
	}
	return ""
}

// computingShare says which part of --memory the device takes: one of so many.
const computingShare = 4

// recordedChains is how many chains of operations are recorded, for pictures of one size and kind each, or two where two pictures are computed at once.
const recordedChains = 16

// Run does it.
func (c *imageCmd) Run(a *app) error {
	quality, err := parseQuality(c.Quality)
	if err != nil {
		return err
	}
	if c.Subsampling != "" && !slices.Contains([]string{"4:4:4", "4:2:2", "4:4:0", "4:2:0"}, c.Subsampling) {
		return usage("--subsampling is %q; it must be 4:4:4, 4:2:2, 4:4:0 or 4:2:0", c.Subsampling)
	}
	if c.WebP != "" && c.WebP != "lossless" && c.WebP != "lossy" {
		return usage("--webp is %q; it must be lossless or lossy", c.WebP)
	}
	if c.Compression < 1 || c.Compression > 9 {
		return usage("--compression is %d; it must be from 1 to 9", c.Compression)
	}
	if c.Depth != 0 && c.Depth != 8 && c.Depth != 16 {
		return usage("--depth is %d; it must be 8 or 16", c.Depth)
	}
	if c.Page != nil && *c.Page < 1 {
		return usage("--page is %d; it must be 1 or more", *c.Page)
	}
	if c.Jobs < 0 {
		return usage("--jobs is %d; it must be 0 or more; 0 chooses by the number of processors", c.Jobs)
	}
	if c.Memory != nil && *c.Memory < 1 || c.MaxPixels < 1 {
		return usage("--memory and --max-pixels must be above 0")
	}
	profile, err := c.target()
	if err != nil {
		return err
	}
	calls, own, err := c.parseCalls(a)
	if err != nil {
		return err
	}
	var naming batch.Naming
	if c.Format != "" {
		if err := unwritten("--format", c.Format, c.Format); err != nil {
			return err
		}
		f, ok := batch.ParseFormat(c.Format)
		if !ok {
			return usage("--format is %q; it must be jpeg, png, tiff, gif, webp or avif", c.Format)
		}
		if naming.Format = f; c.Depth == 16 && f != imageio.PNG && f != imageio.TIFF {
			return usage("--depth 16 does not go with --format %s, which has 8 bits a channel", f)
		}
	}
	naming.Suffix = c.Suffix
	folder, jobs, err := c.plan(a, naming)
	if err != nil {
		return err
	}
	if err := c.checkFormats(a, jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.To == nil && a.trace.is(filepath.Join(folder, j.Output)) {
			return usage("--trace %s is the output of %s too", a.cli.Trace, j.Input)
		}
	}
	var memory int64
	options := []lathe.Option{lathe.WithReplay(recordedChains)}
	if c.Memory != nil {
		memory = int64(*c.Memory) << 20
		buffers := int64(4 + 4) // for the source, the result and the pictures between, and what WithReplay keeps
		if len(own.read) > 0 {
			buffers++
		}
		options = append(options, lathe.WithStrip(memory/computingShare/buffers))
		debug.SetMemoryLimit(memory + programMemory)
	}
	var proc batch.Processor
	var info *gpu.Info
	var stage func(stage, input string) func(error)
	if len(calls) > 0 || c.Profile != "" {
		dev, err := a.open(options...)
		if err != nil {
			return err
		}
		defer dev.Close()
		proc, info = dev, dev.Info()
		stage = func(stage, input string) func(error) { return dev.Span(stage, map[string]string{"file": input}) }
	}
	opts := batch.Options{
		Size: imageops.Size, ForGrey: imageops.ForGrey, Union: unionCrop,
		Strip: c.Strip, Times: c.Mtime, Depth: c.Depth, Precise: c.Precise, First: c.First, Page: c.page(), Level: c.Compression, Sampling: c.Subsampling, Progressive: c.Progressive, WebP: c.WebP,
		Folder: folder, Quality: quality, Workers: c.Jobs, MaxPixels: c.MaxPixels, Memory: memory,
		Stage: stage, Keep: own.names(),
	}
	profile.apply(&opts)
	if c.ShrinkOnLoad {
		opts.Shrink = &batch.Shrink{AtLeast: imageops.AtLeast, Calls: imageops.ForShrunk}
	}
	if info != nil {
		opts.Computing = own.bytes
		if c.Memory != nil {
			opts.ComputingShare = computingShare
		}
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

// page is --page, or 0.
func (c *imageCmd) page() int {
	if c.Page == nil {
		return 0
	}
	return *c.Page
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
	if !slices.ContainsFunc(found, func(f batch.Found) bool {
		return !errors.Is(f.Err, batch.ErrNoMatch) && !errors.Is(f.Err, batch.ErrForeign)
	}) {
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
	if err := unwritten("--out", path, ext); err != nil {
		return "", err
	}
	info, statErr := os.Stat(path)
	exists := statErr == nil
	folderName := exists && info.IsDir() || os.IsPathSeparator(path[len(path)-1])
	// For several pictures --out is a folder, unless it has the extension of a picture.
	if !folderName && !isFormat && ext != "" && (single || batch.IsPicture(path)) {
		return "", usage("--out %s: Lathe does not write %s; it writes .jpg, .jpeg, .png, .tif, .tiff, .gif, .webp and .avif (for a folder of that name, end it in %c)", path, ext, os.PathSeparator)
	}
	if name := filepath.Base(path); single && !folderName && strings.HasSuffix(name, ".") && strings.Trim(name, ".") != "" {
		return "", usage("--out %s ends in a dot, where an extension should say the format: .jpg, .jpeg, .png, .tif, .tiff, .gif, .webp or .avif (for a folder of that name, end it in %c)", path, os.PathSeparator)
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
func (c *imageCmd) named(path string, format imageio.Format, n *batch.Naming) (folder string, err error) {
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
	Notes     []string     `json:"notes,omitempty"` // what is not kept
	Width     int          `json:"width,omitempty"`
	Height    int          `json:"height,omitempty"`
	Frames    int          `json:"frames,omitempty"` // of an animation
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
			d := a.inUse(info)
			j.Device = &d
		}
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		for _, f := range rep.Files {
			row := fileJSON{Input: f.Input, Output: f.Output, Status: f.Status, Notes: f.Notes, Width: f.Width, Height: f.Height, Frames: f.Frames,
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
		if !a.quiet {
			for _, note := range f.Notes {
				if f.Status == batch.Skipped {
					a.say("%s: skipped: %s", c.title(f.Input), note)
				} else {
					a.say("%s: note: %s", c.title(f.Input), note)
				}
			}
		}
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
