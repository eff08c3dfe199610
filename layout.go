package lathe

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"unsafe"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/tensor"
)

// ImageLayout says how an image lies in a tensor. The zero value is a tensor [H,W,3] of F32
// in 0..1.
type ImageLayout struct {
	// DType is U8 for levels from 0 to 255, or F32, F16 or BF16 for colours from 0 to 1.
	// Zero means F32 in FromImage, and the dtype of the tensor in ToImage.
	DType tensor.DType
	// Channels is 1 for luma, 3 for red, green and blue, or 4 for these and alpha. Zero means
	// 3 in FromImage, and the channels of the tensor in ToImage.
	Channels int
	// Planar says that the tensor is [C,H,W], as most networks want it, and not [H,W,C].
	Planar bool
	// Mean and Std normalise floats: a colour v in 0..1 is (v − Mean) / Std in the tensor.
	// Each has one number for every channel, or one number for all. Nothing means a mean of 0
	// and a deviation of 1. A Std of 1.0/255 makes floats from 0 to 255.
	Mean, Std []float64
}

// FromImage makes a tensor of an image of any type, [H,W,C] or [C,H,W]. Colours are not
// premultiplied by alpha. Three channels leave alpha out. One channel is the luma that
// imageops.Grayscale computes. The arithmetic is that of f32, and a result of fewer bits is
// rounded once. The image may change when FromImage has returned.
// Errors: ErrInvalidArgument (the layout, an image that cannot be read), ErrOutOfMemory,
// *LimitError, ErrDeviceLost, ctx.Err().
func FromImage(ctx context.Context, dev *Device, img image.Image, layout ImageLayout) (*Tensor, error) {
	const op = "from image"
	if err := dev.open(op); err != nil {
		return nil, err
	}
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("lathe: %s: %w", op, err)
	}
	if err := pixels.Check(img); err != nil {
		return nil, fmt.Errorf("lathe: %s: %w: %w", op, errs.ErrInvalidArgument, err)
	}
	if layout.DType == tensor.Invalid {
		layout.DType = tensor.F32
	}
	if layout.Channels == 0 {
		layout.Channels = 3
	}
	if err := layout.check(op); err != nil {
		return nil, err
	}
	size := img.Bounds().Size()
	if size.X == 0 || size.Y == 0 {
		return dev.NewTensor(tensor.Contiguous(layout.DType, layout.shape(size)...))
	}
	data, err := bytesOf(op, img)
	if err != nil {
		return nil, err
	}
	if layout.Channels == 1 {
		gray, err := dev.Apply(ctx, &image.NRGBA{Pix: data, Stride: 4 * size.X, Rect: image.Rectangle{Max: size}}, imageops.Grayscale{})
		if err != nil {
			return nil, err
		}
		data = gray.Pix
	}
	t, err := dev.NewTensor(tensor.Contiguous(layout.DType, layout.shape(size)...))
	if err != nil {
		return nil, err
	}
	if err := dev.Write(ctx, t, layout.encode(data, size)); err != nil {
		return nil, errors.Join(err, dev.Free(t))
	}
	return t, nil
}

// ToImage waits for a tensor and returns it as an image. It undoes FromImage of the same
// layout. Levels are rounded to the nearest one, and numbers out of range become the nearest
// number in range; NaN becomes 0. One channel becomes grey, and without alpha the image is
// opaque. t may have a dimension of size 1 in front, as a batch of one image has. It may also
// be [H,W], which is one channel. It stays as it is.
// Errors: ErrInvalidArgument (the layout, a tensor of another layout), ErrInvalidHandle (no
// tensor, or one that was freed), ErrClosed (its device was closed), and those of Run and Read.
func ToImage(ctx context.Context, t *Tensor, layout ImageLayout) (*image.NRGBA, error) {
	const op = "to image"
	if err := t.live(op); err != nil {
		return nil, err
	}
	dev := t.dev
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("lathe: %s: %w", op, err)
	}
	t, layout, err := layout.of(t)
	if err != nil {
		return nil, err
	}
	h, w := t.Shape()[0], t.Shape()[1]
	if layout.Planar {
		h, w = t.Shape()[1], t.Shape()[2]
	}
	if h == 0 || w == 0 {
		return image.NewNRGBA(image.Rect(0, 0, w, h)), nil
	}
	var made []*Tensor
	next := func(f func(*Tensor) (*Tensor, error)) error {
		out, err := f(t)
		if err == nil {
			t, made = out, append(made, out)
		}
		return err
	}
	defer func() {
		for _, t := range made {
			_ = dev.Free(t) // no other code has this tensor, so only a closed device fails
		}
	}()
	if !t.memory.Desc.IsContiguous() {
		if err := next(dev.Copy); err != nil {
			return nil, err
		}
	}
	if layout.DType.Size() == 2 {
		if err := next(func(t *Tensor) (*Tensor, error) { return dev.Cast(t, tensor.F32) }); err != nil {
			return nil, err
		}
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	if layout.DType == tensor.U8 {
		elems := make([]byte, w*h*layout.Channels)
		if err := t.readInto(ctx, op, raw(elems)); err != nil {
			return nil, err
		}
		unpack(layout, img, elems, func(dst, src []byte, step, _ int) {
			for i, at := 0, 0; i < len(dst); i, at = i+4, at+step {
				dst[i] = src[at]
			}
		})
		return img, nil
	}
	elems := make([]float32, w*h*layout.Channels)
	if err := t.readInto(ctx, op, raw(elems)); err != nil {
		return nil, err
	}
	mean, std := layout.levels(layout.Mean, 0), layout.levels(layout.Std, 1)
	unpack(layout, img, elems, func(dst []byte, src []float32, step, c int) {
		mean, std := mean[c], std[c]
		for i, at := 0, 0; i < len(dst); i, at = i+4, at+step {
			dst[i] = level(float32(src[at]*std) + mean) // two roundings on every processor
		}
	})
	return img, nil
}

// bytesOf returns the RGBA bytes of an image without gaps between rows, not premultiplied.
func bytesOf(op string, img image.Image) (data []byte, err error) {
	size := img.Bounds().Size()
	row := 4 * size.X
	err = usable(op, "the image cannot be read", func() {
		switch m := img.(type) {
		case *image.NRGBA:
			if m.Stride == row {
				data = m.Pix[:row*size.Y]
			}
		case *image.RGBA:
			if m.Stride == row && pixels.Opaque(m) { // an opaque picture has the same bytes either way
				data = m.Pix[:row*size.Y]
			}
		}
		if data == nil {
			data = make([]byte, row*size.Y)
			rows := pixels.Rows(img)
			pixels.EachRow(row, size.Y, func(y int) { rows(data[y*row:(y+1)*row], y) })
		}
	})
	return data, err
}

// check returns an error unless the layout, in which nothing is zero, is one that there is.
func (l ImageLayout) check(op string) error {
	invalid := func(format string, args ...any) error {
		return fmt.Errorf("lathe: %s: %w: %s", op, errs.ErrInvalidArgument, fmt.Sprintf(format, args...))
	}
	switch l.DType {
	case tensor.U8:
		if len(l.Mean) > 0 || len(l.Std) > 0 {
			return invalid("Mean and Std of a layout of u8 (want a floating dtype, or neither of them)")
		}
	case tensor.F32, tensor.F16, tensor.BF16:
	default:
		return invalid("DType of the layout (got %v, want u8, f32, f16 or bf16, and Device.Cast for others)", l.DType)
	}
	if l.Channels != 1 && l.Channels != 3 && l.Channels != 4 {
		return invalid("Channels of the layout (got %d, want 1, 3 or 4)", l.Channels)
	}
	for i, list := range [][]float64{l.Mean, l.Std} {
		name := []string{"Mean", "Std"}[i]
		if n := len(list); n > 1 && n != l.Channels {
			return invalid("%s of the layout (got %d numbers, want 1 or %d, one for each channel)", name, n, l.Channels)
		}
		for _, v := range list {
			if f := math.Abs(float64(float32(255 * v))); math.IsNaN(f) || math.IsInf(f, 0) || name == "Std" && f == 0 {
				return invalid("%s of the layout (got %v, want finite numbers, and no Std of 0)", name, list)
			}
		}
	}
	return nil
}

// shape is that of a tensor of the layout for an image of such a size.
func (l ImageLayout) shape(size image.Point) []int {
	if l.Planar {
		return []int{l.Channels, size.Y, size.X}
	}
	return []int{size.Y, size.X, l.Channels}
}

// of returns t as a tensor of three dimensions, and the layout with what t says of it.
func (l ImageLayout) of(t *Tensor) (*Tensor, ImageLayout, error) {
	desc := t.memory.Desc
	shape, strides := desc.Shape, desc.ElementStrides()
	want, at := "[H,W,C]", 2
	if l.Planar {
		want, at = "[C,H,W]", 0
	}
	switch {
	case len(shape) == 4 && shape[0] == 1:
		t = t.strided(slices.Clone(shape[1:]), slices.Clone(strides[1:]))
	case len(shape) == 2 && l.Planar:
		t = t.strided([]int{1, shape[0], shape[1]}, []int{1, strides[0], strides[1]})
	case len(shape) == 2:
		t = t.strided([]int{shape[0], shape[1], 1}, []int{strides[0], strides[1], 1})
	case len(shape) == 4:
		return nil, l, fmt.Errorf("lathe: to image: %w: a batch of %d images (got %v, want one: Tensor.Narrow makes it)", errs.ErrInvalidArgument, shape[0], t)
	case len(shape) != 3:
		return nil, l, fmt.Errorf("lathe: to image: %w: dimensions (got %v, want %s)", errs.ErrInvalidArgument, t, want)
	}
	channels := t.Shape()[at]
	if l.Channels == 0 {
		l.Channels = channels
	}
	if l.DType == tensor.Invalid {
		l.DType = desc.DType
	}
	if l.Channels != channels || channels != 1 && channels != 3 && channels != 4 {
		return nil, l, fmt.Errorf("lathe: to image: %w: channels of %v as %s (got %d, want %s; Planar is for [C,H,W])", errs.ErrInvalidArgument, t, want, channels, channelsWanted(l.Channels))
	}
	if l.DType != desc.DType {
		return nil, l, fmt.Errorf("lathe: to image: %w: dtype of %v (want %v, the DType of the layout)", errs.ErrInvalidArgument, t, l.DType)
	}
	return t, l, l.check("to image")
}

// channelsWanted is n as errors have it, or all that there are.
func channelsWanted(n int) string {
	if n == 1 || n == 3 || n == 4 {
		return fmt.Sprint(n)
	}
	return "1, 3 or 4"
}

// levels returns the means or deviations of four channels in levels, of which there are 255 from
// black to white.
func (l ImageLayout) levels(list []float64, missing float64) (out [4]float32) {
	for c := range out {
		v := missing
		switch len(list) {
		case 0:
		case 1:
			v = list[0]
		default:
			v = list[min(c, len(list)-1)]
		}
		out[c] = float32(255 * v)
	}
	return out
}

// encode makes the elements of a tensor, as bytes, of RGBA pixels without gaps. There are only
// 256 of them for each channel.
func (l ImageLayout) encode(rgba []byte, size image.Point) []byte {
	mean, std := l.levels(l.Mean, 0), l.levels(l.Std, 1)
	value := func(c, v int) float32 { return (float32(v) - mean[c]) / std[c] }
	switch l.DType {
	case tensor.U8:
		return pack(l, rgba, size, func(_, v int) uint8 { return uint8(v) })
	case tensor.F16:
		return pack(l, rgba, size, func(c, v int) uint16 { return tensor.F16FromFloat64(float64(value(c, v))) })
	case tensor.BF16:
		return pack(l, rgba, size, func(c, v int) uint16 { return tensor.BF16FromFloat64(float64(value(c, v))) })
	}
	return pack(l, rgba, size, value)
}

// pack is encode for elements of type T, of which element returns one for a channel and a level.
func pack[T uint8 | uint16 | float32](l ImageLayout, rgba []byte, size image.Point, element func(c, v int) T) []byte {
	if l.DType == tensor.U8 && l.Channels == 4 && !l.Planar {
		return rgba
	}
	var table [4][256]T
	for c := range l.Channels {
		for v := range table[c] {
			table[c][v] = element(c, v)
		}
	}
	w := size.X
	out := make([]T, w*size.Y*l.Channels)
	pixels.EachRow(4*w, size.Y, func(y int) {
		for c := range l.Channels {
			of, step := &table[c], l.step()
			dst, src := out[l.offset(size, c, y):], rgba[4*w*y+c:4*w*(y+1)]
			for i, at := 0, 0; i < len(src); i, at = i+4, at+step {
				dst[at] = of[src[i]]
			}
		}
	})
	b := unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), len(out)*int(unsafe.Sizeof(out[0])))
	swap(b, int(unsafe.Sizeof(out[0])))
	return b
}

// unpack writes an image of the elements of a tensor. line writes one channel of a row: every
// fourth byte of dst, of elements that are step apart in src.
func unpack[T uint8 | float32](l ImageLayout, img *image.NRGBA, elems []T, line func(dst []byte, src []T, step, c int)) {
	size := img.Rect.Size()
	pixels.EachRow(img.Stride, size.Y, func(y int) {
		row := img.Pix[img.Stride*y : img.Stride*(y+1)]
		for c := range l.Channels {
			line(row[c:], elems[l.offset(size, c, y):], l.step(), c)
		}
		for i := 0; i < len(row) && l.Channels < 4; i += 4 {
			if row[i+3] = 255; l.Channels == 1 {
				row[i+1], row[i+2] = row[i], row[i]
			}
		}
	})
}

// level is the level next to v, and the even one of two. It is 0 for NaN.
func level(v float32) byte {
	switch {
	case !(v > 0):
		return 0
	case v >= 255:
		return 255
	}
	return byte(math.Float32bits(v + 1<<23)) // a number from 2²³ to 2²⁴ has no digits behind the point
}

// offset is where a channel of a row begins in a tensor of the layout.
func (l ImageLayout) offset(size image.Point, channel, y int) int {
	if l.Planar {
		return (channel*size.Y + y) * size.X
	}
	return y*size.X*l.Channels + channel
}

// step is how far the elements of a channel of neighbouring pixels are apart.
func (l ImageLayout) step() int {
	if l.Planar {
		return 1
	}
	return l.Channels
}
