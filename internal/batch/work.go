package batch

import (
	"fmt"
	"image"
	"io"
	"time"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/spec"
)

// Shrink has what package imageops knows of pictures that are decoded smaller than they are.
type Shrink struct {
	// AtLeast says how large a picture of a size must be decoded for calls, as imageops.AtLeast does.
	AtLeast func(size image.Point, calls ...spec.Call) image.Point
	// Calls returns the calls for a picture that was decoded smaller, as imageops.ForShrunk does.
	Calls func(calls []spec.Call, full image.Point, orientation int) []spec.Call
}

// work is a picture of which the header has been read.
type work struct {
	job    *Job
	file   *File
	src    *input
	full   imageio.Info // of the file
	h      imageio.Info // of what dec decodes
	dec    *imageio.Decoder
	calls  []spec.Call
	size   image.Point    // that of the result
	deep   bool           // with 16 bits a channel
	format imageio.Format // of the output
	encode *imageio.EncodeOptions
	// rounded says that the result of 16 bits is written with 8.
	rounded bool
	bad     bool // it could not be decoded
}

// workSmaller does the work, and decodes the picture smaller than it is if the calls make it so much
// smaller. If that fails, the picture is decoded in full. So its memory is waited for again, and what is
// wrong with it is said as always.
func (r *runner) workSmaller(p *work) error {
	if r.Shrink == nil || len(p.calls) == 0 {
		return r.work(p)
	}
	small := *p
	want := r.Shrink.AtLeast(image.Pt(p.h.Width, p.h.Height), p.calls...)
	if small.dec = p.dec.AtLeast(want.X, want.Y); small.dec == p.dec {
		return r.work(p)
	}
	info := small.dec.Info()
	small.h.Width, small.h.Height, small.h.Memory = info.Width, info.Height, info.Memory
	small.calls = r.Shrink.Calls(p.calls, info.Full, info.Orientation)
	err := r.work(&small)
	if small.bad && r.ctx.Err() == nil {
		return r.work(p)
	}
	return err
}

// work decodes a picture, computes, and writes the result, when there is memory for that.
func (r *runner) work(p *work) (err error) {
	h, size, calls := p.h, p.size, p.calls
	need := r.Computing + h.Memory + encodeBytes(p.format, h, p.deep && !p.rounded, r.Progressive, int64(size.X), int64(size.Y)) + 3*metadataBytes(h.Metadata)
	pixel := int64(4)
	if p.deep {
		pixel = 8
		need += deepBytes(h)
		if len(calls) > 0 {
			need += floatBytes
		}
	}
	pix, same := pixel*int64(h.Width)*int64(h.Height), size == image.Pt(h.Width, h.Height)
	searching := searches(calls)
	if p.deep && len(calls) > 0 || searching {
		same = false // In strips, a picture of 16 bits cannot be its own result.
	}
	if !same { // the result is another picture
		need += pixel * int64(size.X) * int64(size.Y)
		pix += pixel * int64(size.X) * int64(size.Y)
	}
	if p.rounded {
		need += 4 * int64(size.X) * int64(size.Y)
	}
	if err := r.budget.check(p.full, need); err != nil {
		return err
	}
	need -= r.Computing // these bytes are reserved already
	cost := min(need, r.room)
	if err := r.memory.Acquire(r.ctx, cost); err != nil {
		return err
	}
	defer r.memory.Release(cost)
	r.budget.reserve(need, pix)

	start := time.Now()
	m := r.budget.pool.get(h.Width, h.Height, p.deep)
	result := m
	if !same && !searching {
		result = r.budget.pool.get(size.X, size.Y, p.deep)
	}
	defer func() {
		kept := int64(cap(bytesOf(m)))
		r.budget.pool.put(m)
		if result != m {
			kept += int64(cap(bytesOf(result)))
			r.budget.pool.put(result)
		}
		r.budget.release(need, kept)
	}()
	f := p.file
	end := r.Stage("decode", p.job.Input)
	err = p.dec.DecodeTo(r.ctx, m)
	f.Decode += time.Since(start)
	if end(err); err != nil {
		p.bad = true
		return own(err)
	}
	f.Width, f.Height = p.full.Width, p.full.Height

	if len(calls) > 0 {
		if err := r.compute.Acquire(r.ctx, 1); err != nil {
			return err
		}
		start = time.Now()
		end := r.Stage("compute", p.job.Input)
		if searching {
			if calls, size, err = r.search(m, h, size, pixel, need+r.Computing, calls); err == nil {
				err = sized(p.format, size)
			}
			if err == nil {
				result = r.budget.pool.get(size.X, size.Y, p.deep)
			}
		}
		if err == nil {
			err = r.proc.ApplyTo(r.ctx, result, m, calls...)
		}
		end(err)
		f.Compute = time.Since(start)
		r.compute.Release(1)
		if err != nil {
			return err
		}
	}
	if wide, ok := result.(*image.NRGBA64); ok && p.rounded {
		return r.writeResult(p, pixels.Rounded(wide))
	}
	return r.writeResult(p, result)
}

// writeResult encodes and writes the output.
func (r *runner) writeResult(p *work, result image.Image) (err error) {
	if r.Profile != nil && r.GreyProfile && !isGrey(result) {
		return fmt.Errorf("%w: the operations make colours, and --profile is for grey", errs.ErrInvalidArgument)
	}
	start, end := time.Now(), r.Stage("encode", p.job.Input)
	p.file.OutBytes, err = r.writeOutput(p.job, p.src, func(w io.Writer) error { return put(r.ctx, w, result, p.format, p.encode) })
	end(err)
	p.file.Encode = time.Since(start)
	return err
}

// writeOutput writes what put writes where the output of a job belongs.
func (r *runner) writeOutput(j *Job, src *input, put func(w io.Writer) error) (size int64, err error) {
	if j.To != nil {
		return writeBy(j.To, put)
	}
	var mtime time.Time
	if r.Times && src.info != nil {
		mtime = src.info.ModTime()
	}
	return write(r.ctx, r.root, j.Output, put, r.Existing == Replace, mtime)
}
