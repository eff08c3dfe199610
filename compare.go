package lathe

import (
	"context"
	"fmt"
	"image"
	"math"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
)

// Difference says how far two pictures are apart. Differences are in levels of 8 bits, of which
// white has 255, whatever the depth of the pictures: one level of 16 bits is 1/257.
//
// All colours count, and alpha too if a picture has transparent pixels. Then colours are
// multiplied by their alpha first, so that the hidden colours of transparent pixels do not
// count.
type Difference struct {
	Max  float64 // the largest difference of a channel, 0 to 255; it is 0 if the pictures are equal
	Mean float64 // the mean absolute difference of all channels of all pixels
	RMSE float64 // the root of the mean squared difference
	PSNR float64 // the peak signal-to-noise ratio, 20·log10(255/RMSE) in dB; +Inf for equal pictures
	// SSIM is the structural similarity, 1 for equal pictures and less for others. It is that
	// of the luma, as imageops.Grayscale has it. If a picture has transparent pixels, it is
	// the mean of that and of the SSIM of alpha.
	//
	// Each window has 11×11 pixels, weighed by a Gaussian of σ = 1.5, and K1 = 0.01, K2 = 0.03.
	// SSIM is the mean over the windows that lie inside of the picture. Where a side is shorter
	// than a window, there is one for each of its pixels, and the pixels of the edge are
	// repeated.
	// See Z. Wang, A. C. Bovik, H. R. Sheikh, E. P. Simoncelli, Image quality assessment: from
	// error visibility to structural similarity, 2004.
	SSIM float64
}

// Compare measures how far two pictures of one size are apart. They may be images of any type
// and size. *image.NRGBA64, *image.RGBA64 and *image.Gray16 are compared with 16 bits a channel,
// and other types with 8. The figures are computed on the device in f32, by tiles of the
// pictures. The relative errors of Mean and RMSE are below 10⁻⁵, and the error of SSIM is below
// 10⁻⁴; for photographs it is below 10⁻⁵. Two pictures without pixels are equal.
// Errors: ErrInvalidArgument (another size, an image that cannot be read), ErrOutOfMemory,
// ErrDeviceLost, ctx.Err().
func (d *Device) Compare(ctx context.Context, a, b image.Image) (Difference, error) {
	const op = "compare"
	p, err := d.pair(ctx, op, a, b)
	if err != nil {
		return Difference{}, err
	}
	var sums tileSums
	for _, r := range p.tiles(d) {
		got, err := p.sums(ctx, d, r)
		if err != nil {
			return Difference{}, fmt.Errorf("lathe: %s: %w", op, err)
		}
		sums.max = max(sums.max, got.max)
		sums.abs += got.abs
		sums.square += got.square
		sums.loss += got.loss
	}
	return p.difference(sums), nil
}

// DifferenceImage makes a picture of the differences of two pictures of one size: of each colour
// the magnitude of its difference times gain, rounded to the nearest level and at most 255. The
// picture is opaque, has 8 bits a channel, and is black where the pictures are equal. Where alpha
// differs by more than a colour, the colour has the difference of alpha. What counts is that of
// Compare.
// Errors: ErrInvalidArgument (a gain that is not above 0 and finite), and as Compare.
func (d *Device) DifferenceImage(ctx context.Context, a, b image.Image, gain float64) (*image.NRGBA, error) {
	const op = "difference image"
	p, err := d.pair(ctx, op, a, b)
	if err != nil {
		return nil, err
	}
	if !(gain > 0 && gain <= math.MaxFloat32) {
		return nil, fmt.Errorf("lathe: %s: %w: gain (got %v, want a finite number above 0)", op, errs.ErrInvalidArgument, gain)
	}
	out := image.NewNRGBA(image.Rectangle{Max: p.size})
	for _, r := range p.tiles(d) {
		if err := p.draw(ctx, d, out, r, gain); err != nil {
			return nil, fmt.Errorf("lathe: %s: %w", op, err)
		}
	}
	return out, nil
}

// picturePair is two pictures that are compared.
type picturePair struct {
	size image.Point
	a, b samples
	// alpha says that a picture may have transparent pixels. Then alpha counts.
	alpha bool
}

// samples are the channels of a picture without gaps, RGBA and not premultiplied: bytes, or
// floats of 0 to 255 for pictures of more bits.
type samples struct {
	bytes  []byte
	floats []float32
}

// pair prepares two pictures.
func (d *Device) pair(ctx context.Context, op string, a, b image.Image) (*picturePair, error) {
	if err := d.open(op); err != nil {
		return nil, err
	}
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("lathe: %s: %w", op, err)
	}
	for _, m := range []image.Image{a, b} {
		if err := pixels.Check(m); err != nil {
			return nil, fmt.Errorf("lathe: %s: %w: %w", op, errs.ErrInvalidArgument, err)
		}
	}
	p := &picturePair{size: a.Bounds().Size()}
	if other := b.Bounds().Size(); other != p.size {
		return nil, fmt.Errorf("lathe: %s: %w: size of the second picture (got %d×%d, want %d×%d as the first)", op, errs.ErrInvalidArgument, other.X, other.Y, p.size.X, p.size.Y)
	}
	if p.size.X == 0 || p.size.Y == 0 {
		return p, nil
	}
	var opaqueA, opaqueB bool
	var err error
	if p.a, opaqueA, err = samplesOf(op, a); err != nil {
		return nil, err
	}
	if p.b, opaqueB, err = samplesOf(op, b); err != nil {
		return nil, err
	}
	p.alpha = !opaqueA || !opaqueB
	return p, nil
}

// samplesOf returns the channels of a picture, and whether it is known to be opaque.
func samplesOf(op string, img image.Image) (s samples, opaque bool, err error) {
	if !deep(img) {
		if s.bytes, err = bytesOf(op, img); err != nil {
			return s, false, err
		}
		m := &image.NRGBA{Pix: s.bytes, Stride: 4 * img.Bounds().Dx(), Rect: image.Rectangle{Max: img.Bounds().Size()}}
		return s, pixels.Opaque(m), nil
	}
	err = usable(op, "the image cannot be read", func() {
		s.floats = make([]float32, 4*img.Bounds().Dx()*img.Bounds().Dy())
		row := 4 * img.Bounds().Dx()
		var clear atomic.Bool
		pixels.EachRow(2*row, img.Bounds().Dy(), func(y int) {
			to := s.floats[y*row : (y+1)*row]
			deepRow(to, img, y)
			for i := 3; i < len(to); i += 4 {
				if to[i] < 255 {
					clear.Store(true)
					break
				}
			}
		})
		opaque = !clear.Load()
	})
	return s, opaque, err
}

// deep reports whether a picture has 16 bits a channel.
func deep(img image.Image) bool {
	switch img.(type) {
	case *image.NRGBA64, *image.RGBA64, *image.Gray16:
		return true
	}
	return false
}

// deepRow writes row y of a picture of 16 bits as floats of 0 to 255.
func deepRow(dst []float32, img image.Image, y int) {
	const level = 257 // levels of 16 bits in one of 8
	r := img.Bounds()
	at := func(b []byte) float32 { return float32(uint16(b[0])<<8 | uint16(b[1])) }
	switch m := img.(type) {
	case *image.NRGBA64:
		src := m.Pix[m.PixOffset(r.Min.X, r.Min.Y+y):]
		for i := range dst {
			dst[i] = at(src[2*i:]) / level
		}
	case *image.RGBA64:
		src := m.Pix[m.PixOffset(r.Min.X, r.Min.Y+y):]
		for i := 0; i < len(dst); i += 4 {
			px, alpha := src[2*i:], at(src[2*i+6:])
			dst[i+3] = alpha / level
			for c := range 3 {
				if dst[i+c] = 0; alpha > 0 {
					dst[i+c] = min(at(px[2*c:])/alpha, 1) * 255
				}
			}
		}
	case *image.Gray16:
		src := m.Pix[m.PixOffset(r.Min.X, r.Min.Y+y):]
		for i := 0; i < len(dst); i += 4 {
			v := at(src[i/2:]) / level
			dst[i], dst[i+1], dst[i+2], dst[i+3] = v, v, v, 255
		}
	}
}

// tiles divides the pictures into tiles, whose tensors are small enough for any device.
func (p *picturePair) tiles(d *Device) (list []image.Rectangle) {
	const side = 4096
	area := int64(1 << 18) // stays in the caches of a processor
	if d.Info().Kind != gpu.CPU {
		area = 1 << 20
	}
	// A pixel takes four bytes of each picture, and some forty floats between.
	area = max(min(area, d.strip/64), 1)
	w, h := p.size.X, p.size.Y
	if w == 0 || h == 0 {
		return nil
	}
	columns := min(w, side)
	columns = (w + ceil(w, columns) - 1) / ceil(w, columns)
	rows := min(max(int(area)/columns, 1), h)
	rows = (h + ceil(h, rows) - 1) / ceil(h, rows)
	for y := 0; y < h; y += rows {
		for x := 0; x < w; x += columns {
			list = append(list, image.Rect(x, y, min(x+columns, w), min(y+rows, h)))
		}
	}
	return list
}

// ceil is a / b, rounded up.
func ceil(a, b int) int { return (a + b - 1) / b }

// difference makes the figures of the sums over all tiles.
func (p *picturePair) difference(s tileSums) Difference {
	out := Difference{Max: s.max, PSNR: math.Inf(1), SSIM: 1}
	channels := 3
	if p.alpha {
		channels = 4
	}
	n := float64(channels) * float64(p.size.X) * float64(p.size.Y)
	if n == 0 {
		return out
	}
	out.Mean, out.RMSE = s.abs/n, math.Sqrt(s.square/n)
	if out.RMSE > 0 {
		out.PSNR = 20 * math.Log10(255/out.RMSE)
	}
	inner := windowCentres(p.size)
	out.SSIM = 1 - s.loss/(float64(inner.Dx())*float64(inner.Dy()))
	if p.alpha {
		out.SSIM = 1 - s.loss/(2*float64(inner.Dx())*float64(inner.Dy()))
	}
	return out
}
