package lathe

import (
	"context"
	"encoding/binary"
	"image"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/tensor"
)

// deepBand is about how many bytes of floats are on the host at a time.
const deepBand = 4 << 20

// deepJob is one call of ApplyTo for a result of 16 bits a channel. The device computes with
// floats.
type deepJob struct {
	*imageJob
	to   *image.NRGBA64
	from func(dst []byte, y int) // writes row y of the source as an *image.NRGBA64 has it
}

// applyDeep runs a chain of floats.
func (d *Device) applyDeep(ctx context.Context, dst *image.NRGBA64, src image.Image, chain *imageChain) error {
	j, err := newDeepJob(d, dst, src, chain)
	if err != nil {
		return err
	}
	if j.bytes(j.last(), j.pictures[j.last()].Shape[0]) == 0 {
		return ctx.Err()
	}
	strips := j.strips(d.strip)
	if len(strips) > 1 && sharesPixels(src, dst) {
		// A strip of the result could overwrite source pixels that a later strip needs.
		own := image.NewNRGBA64(image.Rectangle{Max: src.Bounds().Size()})
		if err := readable(func() {
			pixels.EachRow(own.Stride, own.Rect.Dy(), func(y int) { j.from(own.Pix[y*own.Stride:(y+1)*own.Stride], y) })
		}); err != nil {
			return err
		}
		j.from = pixels.Rows16(own)
	}
	for _, s := range strips {
		if err := j.strip(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// newDeepJob prepares a chain of floats for a picture.
// Errors: ErrInvalidArgument for a picture that cannot be read.
func newDeepJob(d *Device, dst *image.NRGBA64, src image.Image, chain *imageChain) (*deepJob, error) {
	j := &deepJob{imageJob: &imageJob{imageChain: chain, dev: d}, to: dst}
	j.from = pixels.Rows16(src)
	return j, j.separateFrom(func(m image.Image) bool { return sharesPixels(m, dst) })
}

// sharesPixels reports whether two images share memory.
func sharesPixels(src image.Image, dst *image.NRGBA64) bool {
	for _, p := range planes(src) {
		if sharesMemory(p, dst.Pix) {
			return true
		}
	}
	return false
}

// strip computes the rows of the result that s wants.
func (j *deepJob) strip(ctx context.Context, s imageStrip) error {
	made, release, err := j.compute(ctx, s, false)
	if err != nil {
		return err
	}
	defer release()
	last := j.last()
	return j.bands(last, s.want.From, s.want.To, func(from, to int, floats []byte) error {
		row, w, m := int(j.bytes(last, 1)), j.pictures[last].Shape[1], j.to
		if err := j.dev.GPU().Read(ctx, made, int64(from-s.rows[last].From)*int64(row), floats); err != nil {
			return applyError(err)
		}
		pixels.EachRow(row, to-from, func(y int) {
			o := m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y+from+y)
			fromFloats(m.Pix[o:o+8*w], floats[y*row:])
		})
		return nil
	})
}

// compute is that of imageJob.
func (j *deepJob) compute(ctx context.Context, s imageStrip, _ bool) (made gpu.Handle, release func(), err error) {
	return j.computed(ctx, s, func(src gpu.Handle) error { return j.upload(ctx, s, src) })
}

// upload sends what a strip needs of the source.
func (j *deepJob) upload(ctx context.Context, s imageStrip, src gpu.Handle) error {
	wide := make([]byte, 0)
	return j.bands(0, s.rows[0].From, s.rows[0].To, func(from, to int, floats []byte) error {
		row, w := int(j.bytes(0, 1)), j.pictures[0].Shape[1]
		if len(wide) < 8*w*(to-from) {
			wide = make([]byte, 8*w*(to-from))
		}
		if err := readable(func() {
			pixels.EachRow(row, to-from, func(y int) {
				line := wide[8*w*y : 8*w*(y+1)]
				j.from(line, from+y)
				toFloats(floats[y*row:y*row+16*w], line)
			})
		}); err != nil {
			return err
		}
		return applyError(j.dev.GPU().Write(ctx, src, int64(from-s.rows[0].From)*int64(row), floats))
	})
}

// bands calls f for rows [from, to) of picture i, some at a time, with memory for their floats.
func (j *deepJob) bands(i, from, to int, f func(from, to int, floats []byte) error) error {
	row := int(j.bytes(i, 1))
	n := max(1, min(deepBand/row, to-from))
	floats := make([]byte, n*row)
	for y := from; y < to; y += n {
		end := min(y+n, to)
		if err := f(y, end, floats[:(end-y)*row]); err != nil {
			return err
		}
	}
	return nil
}

// toFloats converts samples of 16 bits to floats in 0..1.
func toFloats(dst, src []byte) {
	for i := range len(src) / 2 {
		v := float32(binary.BigEndian.Uint16(src[2*i:])) / 0xffff
		binary.NativeEndian.PutUint32(dst[4*i:], math.Float32bits(v))
	}
}

// fromFloats converts floats to samples of 16 bits. What is outside of 0..1 becomes the nearest
// sample, and what is no number 0.
func fromFloats(dst, src []byte) {
	for i := range len(dst) / 2 {
		v := math.Float32frombits(binary.NativeEndian.Uint32(src[4*i:]))
		if !(v > 0) {
			v = 0
		}
		binary.BigEndian.PutUint16(dst[2*i:], uint16(min(v, 1)*0xffff+0.5))
	}
}

// deep returns the chain for pictures of floats.
func (c *imageChain) deep() *imageChain {
	deep := *c
	deep.dtype, deep.padded, deep.pictures = tensor.F32, false, slices.Clone(c.pictures)
	deep.lay()
	return &deep
}
