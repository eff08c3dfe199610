// Package batch applies image operations to many pictures. It finds and reads the
// pictures, lets a device compute, and writes the results. It works on several pictures
// at once, so that reading, computing and writing overlap.
//
// Pictures are read as JPEG, PNG, TIFF, BMP, GIF and WebP (their first frame),
// turned upright as their EXIF orientation says, rounded to 8 bits a channel,
// and written as JPEG, PNG or TIFF. EXIF and XMP data and colour profiles are not kept. Values
// are processed as they are stored.
//
// A bad picture does not stop the others. An output is written completely or not at all.
// Nothing is written outside the output folder.
package batch

import (
	"cmp"
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

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
)

// Processor computes pictures. A *lathe.Device is one. dst has the size of src, and may be
// src.
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
	Folder    string   // the output folder, created if it does not exist; "" means the current one
	Quality   int      // quality of JPEG files, 1 to 100; 0 means DefaultQuality
	Existing  Existing // what to do with outputs that exist
	MaxPixels int64    // pictures with more pixels are refused before they are decoded; 0 means DefaultMaxPixels
	Workers   int      // how many pictures are processed at once; 0 means one more than processors
	Computes  int      // how many of these may be in the Processor at once; 0 means 1
	// Memory is the most bytes that reading, holding and writing all pictures take at
	// once. A picture that needs more by itself is refused after its header is read,
	// and the error names the number of bytes. 0 means DefaultMemory, and then a picture
	// that needs more is processed alone.
	Memory int64
	// Computing is how many bytes of Memory the Processor takes for all pictures
	// together. 0 means that it has memory of its own.
	Computing int64
	// OnDone, if set, is called after each picture. Calls do not overlap.
	OnDone func(File)
	// Stage, if set, is called when the stage "decode", "compute" or "encode" of a
	// picture begins, and end when it is over. Stages of several pictures may overlap.
	Stage func(stage, input string) (end func(error))
}

const (
	// DefaultMaxPixels is 16384 × 16384.
	DefaultMaxPixels = 1 << 28
	// DefaultMemory is 512 MiB.
	DefaultMemory = 512 << 20
	// DefaultQuality is the JPEG quality.
	DefaultQuality = 90
)

// Status is the outcome of a picture.
type Status string

// The statuses of a picture.
const (
	OK          Status = "ok"
	Failed      Status = "failed"
	Skipped     Status = "skipped"     // the output existed
	Interrupted Status = "interrupted" // the context ended first, and nothing was written
)

// File is the outcome of one picture.
type File struct {
	Input, Output string // Output is empty if there was none to write
	Status        Status
	Err           error // why it failed, nil unless Status is Failed or Interrupted
	Width, Height int   // size of the output in pixels; 0 if its input was not read
	InBytes       int64 // size of the input file in bytes
	OutBytes      int64 // size of the output file in bytes
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
	if errs.Nil(proc) && len(calls) > 0 {
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
	room := max(o.Memory-o.Computing, 1)
	r := &runner{
		Options: o, ctx: ctx, proc: proc, calls: calls, root: root,
		memory: semaphore.NewWeighted(room), room: room,
		budget:  &budget{limit: o.Memory, room: room, hard: hard},
		compute: semaphore.NewWeighted(int64(o.Computes)),
		inputs:  inputPaths(jobs),
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
			rep.Pixels += int64(f.Width) * int64(f.Height)
		}
	}
	rep.Elapsed = time.Since(start)
	return rep, nil
}

// fill checks the options and puts in the defaults.
func (o *Options) fill() error {
	if o.Quality < 0 || o.Quality > 100 {
		return fmt.Errorf("batch: run: %w: JPEG quality (got %d, want 1 to 100)", errs.ErrInvalidArgument, o.Quality)
	}
	if o.MaxPixels < 0 || o.Workers < 0 || o.Computes < 0 || o.Memory < 0 || o.Computing < 0 {
		return fmt.Errorf("batch: run: %w: a negative limit", errs.ErrInvalidArgument)
	}
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&o.Quality, DefaultQuality)
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
	src, held, err := j.open(r.ctx)
	if err != nil {
		return err
	}
	defer src.Close()
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
	h, err := src.readHeader(r.MaxPixels)
	if err != nil {
		return err
	}
	f.Decode = time.Since(start)

	format := j.Format
	if own, ok := ParseFormat(h.format); format == "" && ok {
		format = own
	}
	format = cmp.Or(format, PNG)
	need := r.Computing + held + h.cost + encodeBytes(format, int64(h.width), int64(h.height))
	if err := r.budget.check(h, need); err != nil {
		return err
	}
	need -= r.Computing // these bytes are reserved already
	cost := min(need, r.room)
	if err := r.memory.Acquire(r.ctx, cost); err != nil {
		return err
	}
	defer r.memory.Release(cost)
	r.budget.reserve(need, 4*int64(h.width)*int64(h.height))

	start = time.Now()
	m := r.budget.pool.get(h.size())
	defer func() {
		r.budget.pool.put(m)
		r.budget.release(need, int64(cap(m.Pix)))
	}()
	end := r.Stage("decode", j.Input)
	err = src.decode(m, h, r.Workers)
	if end(err); err != nil {
		return err
	}
	f.Decode += time.Since(start)
	f.Width, f.Height = h.size()

	if len(r.calls) > 0 {
		if err := r.compute.Acquire(r.ctx, 1); err != nil {
			return err
		}
		start = time.Now()
		end := r.Stage("compute", j.Input)
		err := r.proc.ApplyTo(r.ctx, m, m, r.calls...)
		end(err)
		f.Compute = time.Since(start)
		r.compute.Release(1)
		if err != nil {
			return err
		}
	}
	start = time.Now()
	end = r.Stage("encode", j.Input)
	if j.To != nil {
		f.OutBytes, err = writeTo(r.ctx, j.To, m, format, r.Quality)
	} else {
		f.OutBytes, err = write(r.ctx, r.root, j.Output, m, format, r.Quality, r.Existing == Replace)
	}
	end(err)
	f.Encode = time.Since(start)
	return err
}

// clobbers returns an error if the output is the same file as one of the inputs, also
// under another name.
func (r *runner) clobbers(j *Job, src *source) error {
	var info os.FileInfo
	var err error
	switch out, isFile := j.To.(*os.File); {
	case j.To == nil:
		info, err = r.root.Stat(j.Output)
	case isFile:
		info, err = out.Stat()
	default:
		return nil
	}
	if err != nil {
		return nil // nothing there that could be an input
	}
	if src.info != nil && os.SameFile(src.info, info) {
		return errors.New("the output would replace the input itself: choose another output folder, or a --suffix")
	}
	if j.To != nil {
		return nil
	}
	if p, err := filepath.EvalSymlinks(filepath.Join(r.Folder, j.Output)); err == nil {
		if p, err = filepath.Abs(p); err == nil && r.inputs[p] != "" {
			return fmt.Errorf("the output would replace the input %s: choose another output folder, or a --suffix", r.inputs[p])
		}
	}
	return nil
}

// inputPaths resolves the names of all inputs that exist.
func inputPaths(jobs []Job) map[string]string {
	paths := make(map[string]string, len(jobs))
	for i := range jobs {
		if jobs[i].From != nil {
			continue
		}
		if p, err := filepath.EvalSymlinks(jobs[i].Input); err == nil {
			if p, err = filepath.Abs(p); err == nil {
				paths[p] = jobs[i].Input
			}
		}
	}
	return paths
}
