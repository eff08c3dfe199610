// Package batch applies image operations to many pictures. It finds and reads the
// pictures, lets a device compute, and writes the results. It works on several pictures
// at once, so that reading, computing and writing overlap.
//
// Pictures are read as JPEG, PNG, TIFF, BMP, GIF, WebP and AVIF,
// turned upright as their EXIF orientation says, processed with 8 or 16 bits a channel,
// and written as JPEG, PNG, TIFF, GIF, WebP or AVIF, with their metadata. From GIF and WebP to GIF and WebP, all frames of
// an animation are processed. Values are processed as they are stored,
// unless Options.Convert converts colours.
//
// A bad picture does not stop the others. An output is written completely or not at all.
// Nothing is written outside the output folder.
package batch

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
)

// Processor computes pictures. A *lathe.Device is one. dst has the size of the result, and may
// be src.
type Processor interface {
	ApplyTo(ctx context.Context, dst draw.Image, src image.Image, calls ...spec.Call) error
}

// Existing says what happens to a picture whose output file exists.
type Existing int

const (
	// Refuse makes it an error.
	Refuse Existing = iota
	// Skip leaves the file and goes on.
	Skip
	// Replace writes the new file in its place.
	Replace
)

// Options are the settings of Run. The zero value is ready to use.
type Options struct {
	Folder  string // the output folder, created if it does not exist; "" means the current one
	Quality int    // quality of JPEG, lossy WebP and AVIF files, 1 to 100; 0 means that of imageio.EncodeOptions
	// Depth is the bits a channel of outputs, 8 or 16. 0 means 16 if the input has more than 8 and the
	// output's format can have them, and 8 otherwise. With 16 the Processor gets *image.NRGBA64.
	Depth int
	// Precise computes with 16 bits a channel, whatever the input and the output have, and rounds once,
	// after the last call. Animations are refused.
	Precise     bool
	Sampling    string   // how JPEG and AVIF files store colours, as imageio.EncodeOptions.Subsampling has it
	Progressive bool     // as imageio.EncodeOptions.Progressive
	WebP        string   // how WebP files store pixels, as imageio.EncodeOptions.WebP has it
	Level       int      // how much PNG and TIFF files are compressed, 1 to 9; 0 means 6
	First       bool     // take the first picture of an animation or of several pages
	Page        int      // take this one, from 1, as imageio.DecodeOptions.Page; 0 means all, which is an error where the output has one
	Strip       bool     // leave metadata out, all but the colour profile and the density
	Times       bool     // give outputs the modification time of their inputs, which must be files
	Existing    Existing // what to do with outputs that exist
	MaxPixels   int64    // pictures with more pixels are refused before they are decoded; 0 means DefaultMaxPixels
	Workers     int      // how many pictures are processed at once; 0 means one more than processors
	Computes    int      // how many of these may be in the Processor at once; 0 means 1
	// Memory is the most bytes that reading, holding and writing all pictures take at
	// once. A picture that needs more by itself is refused after its header is read,
	// and the error names the number of bytes. 0 means DefaultMemory, and then a picture
	// that needs more is processed alone.
	Memory int64
	// Computing is how many bytes of Memory the Processor takes for all pictures
	// together. 0 means that it has memory of its own. If ComputingShare is above 1, the
	// Processor takes Memory/ComputingShare in addition.
	Computing, ComputingShare int64
	// Size returns the size of the result of calls for a picture of a size, as imageops.Size
	// does. Nil means that results have the size of their source.
	Size func(size image.Point, calls ...spec.Call) (image.Point, error)
	// Union returns the crop of the smallest rectangle that has those of two calls of imageops.Crop. It is for
	// operations such as imageops.Trim on all frames of an animation.
	Union func(a, b spec.Call) (spec.Call, error)
	// Convert, if set, returns the call that makes sRGB of the colours of an ICC profile, or nil if they
	// are sRGB. It becomes the first call for a picture with such a profile, and the output has none.
	Convert func(profile []byte) (spec.Call, error)
	// Profile is the ICC profile that outputs have if Convert makes its colours instead of sRGB. Convert
	// then gets nil for pictures without a profile, and the outputs of all pictures have this one.
	Profile []byte
	// GreyProfile says that Profile is for grey.
	GreyProfile bool
	// ForGrey returns the calls for a picture of a grey file, as imageops.ForGrey does. Nil means
	// the calls as they are.
	ForGrey func(calls []spec.Call) []spec.Call
	// Shrink, if set, says how a picture may be decoded smaller than it is. Nil means that it may not.
	Shrink *Shrink
	// Keep are files that no output may replace, such as those that the calls have read.
	Keep []string
	// OnDone, if set, is called after each picture. Calls do not overlap.
	OnDone func(File)
	// Stage, if set, is called when the stage "decode", "compute" or "encode" of a
	// picture begins, and end when it is over. Stages of several pictures may overlap.
	Stage func(stage, input string) (end func(error))

	asked bool // for a quality
}

const (
	// DefaultMaxPixels is 16384 × 16384.
	DefaultMaxPixels = imageio.DefaultMaxPixels
	// DefaultMemory is 512 MiB.
	DefaultMemory = 512 << 20
)

// Status is the outcome of a picture.
type Status string

// The statuses of a picture.
const (
	OK          Status = "ok"
	Failed      Status = "failed"
	Skipped     Status = "skipped"     // the output existed, or the format is not read
	Interrupted Status = "interrupted" // the context ended first, and nothing was written
)

// File is the outcome of one picture.
type File struct {
	Input, Output string // Output is empty if there was none to write
	Status        Status
	Err           error // why it failed, nil unless Status is Failed or Interrupted
	Width, Height int   // size of the input in pixels; 0 if it was not read
	Frames        int   // of an animation; 0 if the output has one picture
	InBytes       int64 // size of the input file in bytes
	OutBytes      int64 // size of the output file in bytes
	// Notes say what of the input is not in the output although the picture is done, such as
	// metadata that are damaged.
	Notes []string
	// Wall-clock times of the three stages, without waiting.
	Decode, Compute, Encode time.Duration
}

// Report is the outcome of Run.
type Report struct {
	Files   []File // in the order of the jobs
	Pixels  int64  // of the pictures done
	Elapsed time.Duration
}

// Count returns how many files have the status.
func (r *Report) Count(s Status) int {
	n := 0
	if r == nil {
		return n
	}
	for i := range r.Files {
		if r.Files[i].Status == s {
			n++
		}
	}
	return n
}

// Rate is the throughput in millions of pixels a second.
func (r *Report) Rate() float64 {
	if r == nil || r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Pixels) / 1e6 / r.Elapsed.Seconds()
}

// Run does the jobs and reports on each. A picture that fails is in the report and does
// not stop the others. Without calls, pictures are only turned upright and converted, and
// proc may be nil.
//
// When ctx is done, Run finishes no further picture and removes unfinished outputs. The
// report says Interrupted for the pictures that are left.
// Errors: ErrInvalidArgument (options), and the error of creating or opening the output
// folder. After an error the report is nil.
func Run(ctx context.Context, proc Processor, calls []spec.Call, jobs []Job, o Options) (*Report, error) {
	if ctx == nil {
		return nil, fmt.Errorf("batch: run: %w", errs.Context(ctx))
	}
	hard := o.Memory > 0
	if err := o.fill(); err != nil {
		return nil, err
	}
	if errs.Nil(proc) && (len(calls) > 0 || o.Convert != nil) {
		return nil, fmt.Errorf("batch: run: %w: no device for %d operations", errs.ErrInvalidArgument, len(calls))
	}
	start := time.Now()
	rep := &Report{Files: make([]File, len(jobs))}
	var root *os.Root
	if len(jobs) == 0 || slices.ContainsFunc(jobs, func(j Job) bool { return j.To == nil }) {
		if err := os.MkdirAll(o.Folder, 0o777); err != nil {
			return nil, fmt.Errorf("output folder %s: %w", o.Folder, bare(err))
		}
		var err error
		if root, err = os.OpenRoot(o.Folder); err != nil {
			return nil, fmt.Errorf("output folder %s: %w", o.Folder, bare(err))
		}
		defer root.Close()
	}
	if o.ComputingShare > 1 {
		o.Computing += o.Memory / o.ComputingShare
	}
	room := max(o.Memory-o.Computing, 1)
	r := &runner{
		Options: o, ctx: ctx, proc: proc, calls: calls, root: root,
		memory: semaphore.NewWeighted(room), room: room,
		budget:  &budget{limit: o.Memory, share: o.ComputingShare, room: room, hard: hard},
		compute: semaphore.NewWeighted(int64(o.Computes)),
		inputs:  inputPaths(jobs, o.Keep),
	}
	var (
		next atomic.Int64
		done sync.Mutex // one OnDone at a time
		wg   sync.WaitGroup
	)
	for range min(o.Workers, len(jobs)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				f := r.runJob(&jobs[i])
				rep.Files[i] = f
				if o.OnDone != nil {
					done.Lock()
					o.OnDone(f)
					done.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for i := range rep.Files {
		if f := &rep.Files[i]; f.Status == OK {
			rep.Pixels += int64(f.Width) * int64(f.Height) * int64(max(f.Frames, 1))
		}
	}
	rep.Elapsed = time.Since(start)
	return rep, nil
}

// fill checks the options and puts in the defaults.
func (o *Options) fill() error {
	if o.Quality < 0 || o.Quality > 100 {
		return fmt.Errorf("batch: run: %w: quality (got %d, want 1 to 100)", errs.ErrInvalidArgument, o.Quality)
	}
	if o.Level < 0 || o.Level > 9 {
		return fmt.Errorf("batch: run: %w: compression (got %d, want 1 to 9)", errs.ErrInvalidArgument, o.Level)
	}
	if o.Depth != 0 && o.Depth != 8 && o.Depth != 16 {
		return fmt.Errorf("batch: run: %w: depth (got %d, want 8 or 16)", errs.ErrInvalidArgument, o.Depth)
	}
	if o.MaxPixels < 0 || o.Workers < 0 || o.Computes < 0 || o.Memory < 0 || o.Computing < 0 || o.ComputingShare < 0 {
		return fmt.Errorf("batch: run: %w: a negative limit", errs.ErrInvalidArgument)
	}
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	o.asked = o.Quality > 0
	set(&o.Workers, runtime.GOMAXPROCS(0)+1)
	set(&o.Computes, 1)
	if o.Stage == nil {
		o.Stage = func(string, string) func(error) { return func(error) {} }
	}
	if o.MaxPixels == 0 {
		o.MaxPixels = DefaultMaxPixels
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Folder == "" {
		o.Folder = "."
	}
	return nil
}

// runner is what the workers of one Run share.
type runner struct {
	Options
	ctx     context.Context
	proc    Processor
	calls   []spec.Call
	root    *os.Root
	memory  *semaphore.Weighted // counts bytes of pixels
	room    int64               // the most bytes that memory hands out
	budget  *budget
	compute *semaphore.Weighted
	inputs  map[string]string // resolved path of every input → as the user named it
}

// runJob carries out one job.
func (r *runner) runJob(j *Job) File {
	f := File{Input: j.Input, Status: OK}
	err := j.Err
	if err == nil {
		if f.Output = j.Output; j.To == nil {
			f.Output = filepath.Join(r.Folder, j.Output)
		}
		err = r.process(j, &f)
	}
	switch {
	case err == nil:
	case errors.Is(err, errExists) && r.Existing == Skip:
		f.Status = Skipped
	case errors.Is(err, ErrForeign):
		f.Status = Skipped
		f.note(err)
	case r.ctx.Err() != nil && errors.Is(err, r.ctx.Err()):
		f.Status, f.Err = Interrupted, err
	default:
		f.Status, f.Err = Failed, err
	}
	return f
}

func (r *runner) process(j *Job, f *File) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	src, err := j.open()
	if err != nil {
		return err
	}
	defer src.close()
	f.InBytes = src.size
	// This is checked before the work, and again before the rename.
	if err := r.clobbers(j, src); err != nil {
		return err
	}
	if j.To == nil {
		if err := vacant(r.root, j.Output, r.Existing == Replace); err != nil {
			return err
		}
	}
	start := time.Now()
	h, err := src.header(r.ctx, r.MaxPixels, r.Page)
	if err != nil {
		return err
	}
	f.Decode = time.Since(start)

	format := j.written(h.Format)
	if h.Frames > 1 && !r.First && r.Page == 0 {
		if h.Format.CanAnimate() && format.CanAnimate() {
			return r.animate(j, f, src, h, format)
		}
		return severalError(h)
	}
	calls, err := r.callsFor(&h, format)
	if err != nil {
		return err
	}
	p := &work{job: j, file: f, src: src, full: h, h: h, dec: src.dec, calls: calls, size: image.Pt(h.Width, h.Height), format: format}
	if r.Size != nil {
		if p.size, err = r.Size(p.size, calls...); err != nil {
			return err
		}
		if err := checkPixels("the result", p.size, r.MaxPixels, ""); err != nil {
			return err
		}
	}
	if !searches(calls) {
		if err := sized(format, p.size); err != nil {
			return err
		}
	}
	if p.deep, err = r.deep(h, format); err != nil {
		return err
	}
	if r.Precise && !p.deep && len(calls) > 0 {
		p.deep, p.rounded = true, true
	}
	p.encode = r.encodeOptions(f, h, format)
	return r.workSmaller(p)
}
