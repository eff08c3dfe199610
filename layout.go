package lathe

import (
	"context"
	"fmt"
	"image"
	"math"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
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
	if err := dev.ready(op); err != nil {
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
	whole, err := dev.NewTensor(tensor.Contiguous(tensor.U8, size.Y, size.X, 4))
	if err != nil {
		return nil, err
	}
	c := chain{dev: dev, t: whole, owned: true}
	c.try(dev.Write(ctx, whole, data))
	if layout.Channels == 1 {
		c.inPlace(ctx, imageops.Grayscale{})
	}
	c.view(func(t *Tensor) (*Tensor, error) { return t.Narrow(2, 0, layout.Channels) })
	if layout.Planar {
		c.view(func(t *Tensor) (*Tensor, error) { return t.Transpose(2, 0, 1) })
	}
	if layout.DType == tensor.U8 {
		if layout.Planar || layout.Channels != 4 {
			c.next(dev.Copy)
		}
		return c.end()
	}
	c.cast(tensor.F32)
	if mean := layout.levels(layout.Mean, 0); mean != nil {
		c.inPlace(ctx, ops.Sub{}, layout.operand(mean))
	}
	c.inPlace(ctx, ops.Div{}, layout.operand(layout.levels(layout.Std, 1)))
	c.cast(layout.DType)
	return c.end()
}

// ToImage waits for a tensor and returns it as an image. It undoes FromImage of the same
// layout. Levels are rounded to the nearest one, and numbers out of range become the nearest
// number in range; NaN becomes 0. One channel becomes grey, and without alpha the image is
// opaque. t may have a dimension of size 1 in front, as a batch of one image has. It may also
// be [H,W], which is one channel. It stays as it is.
// Errors: ErrInvalidArgument (the layout, a tensor of another layout), and those of Run and
// Read.
func ToImage(ctx context.Context, dev *Device, t *Tensor, layout ImageLayout) (*image.NRGBA, error) {
	const op = "to image"
	if err := dev.ready(op); err != nil {
		return nil, err
	}
	if err := dev.session.Check(op, t.inSession()); err != nil {
		return nil, err
	}
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
	c := chain{dev: dev, t: t}
	if layout.DType != tensor.U8 {
		c.cast(tensor.F32)
		if std := layout.operand(layout.levels(layout.Std, 1)); c.owned {
			c.inPlace(ctx, ops.Mul{}, std)
		} else {
			c.with(std, dev.Mul)
		}
		if mean := layout.levels(layout.Mean, 0); mean != nil {
			c.inPlace(ctx, ops.Add{}, layout.operand(mean))
		}
		c.inPlace(ctx, ops.Round{})
		c.cast(tensor.U8)
	}
	if layout.Planar {
		c.view(func(t *Tensor) (*Tensor, error) { return t.Transpose(1, 2, 0) })
	}
	if layout.Channels == 1 {
		c.view(func(t *Tensor) (*Tensor, error) { return t.Expand(h, w, 3) })
	}
	if layout.Channels != 4 {
		opaque := func(dev *Device) (*Tensor, error) { return dev.Fill(255, tensor.U8, h, w, 1) }
		c.with(opaque, func(t, alpha *Tensor) (*Tensor, error) { return dev.Concat(2, t, alpha) })
	} else if c.err == nil && !c.t.memory.Desc.IsContiguous() {
		c.next(dev.Copy)
	}
	defer c.free()
	if c.err != nil {
		return nil, c.err
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	if err := ReadInto(ctx, dev, c.t, img.Pix); err != nil {
		return nil, err
	}
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
		t = t.view(0, append([]int(nil), shape[1:]...), append([]int(nil), strides[1:]...))
	case len(shape) == 2 && l.Planar:
		t = t.view(0, []int{1, shape[0], shape[1]}, []int{1, strides[0], strides[1]})
	case len(shape) == 2:
		t = t.view(0, []int{shape[0], shape[1], 1}, []int{strides[0], strides[1], 1})
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

// levels returns a mean or deviation in levels, of which there are 255 from black to white. It
// is nil if the numbers are 0.
func (l ImageLayout) levels(list []float64, missing float64) []float64 {
	if len(list) == 0 {
		list = []float64{missing}
	}
	out, zero := make([]float64, len(list)), true
	for i, v := range list {
		out[i], zero = 255*v, zero && v == 0
	}
	if zero {
		return nil
	}
	return out
}

// operand makes a tensor of numbers, one for each channel or one for all, that is broadcast
// to an image of the layout.
func (l ImageLayout) operand(values []float64) func(*Device) (*Tensor, error) {
	shape := []int{len(values)}
	if l.Planar {
		shape = []int{len(values), 1, 1}
	}
	return func(dev *Device) (*Tensor, error) { return FromFloats(dev, tensor.F32, values, shape...) }
}

// chain is a tensor on which operations run one after the other. It frees the tensors between
// them at once, and does nothing more after an error.
type chain struct {
	dev   *Device
	t     *Tensor
	owned bool // The chain has made t.
	err   error
}

// try notes the first error.
func (c *chain) try(err error) {
	if c.err == nil {
		c.err = err
	}
}

// free frees the tensor of the chain unless it is the caller's.
func (c *chain) free() {
	if c.owned {
		c.try(c.dev.Free(c.t))
	}
	c.owned = false
}

// end returns the tensor, or the error and frees it.
func (c *chain) end() (*Tensor, error) {
	if c.err != nil {
		c.free()
		return nil, c.err
	}
	return c.t, nil
}

// view goes on with a view of the tensor.
func (c *chain) view(f func(*Tensor) (*Tensor, error)) {
	if c.err != nil {
		return
	}
	if v, err := f(c.t); err != nil {
		c.err = err
	} else {
		c.t = v
	}
}

// next goes on with a new tensor.
func (c *chain) next(f func(*Tensor) (*Tensor, error)) {
	if c.err != nil {
		return
	}
	out, err := f(c.t)
	if err != nil {
		c.err = err
		return
	}
	c.free()
	c.t, c.owned = out, true
}

// cast goes on with elements of another dtype.
func (c *chain) cast(to tensor.DType) {
	if c.err == nil && c.t.DType() != to {
		c.next(func(t *Tensor) (*Tensor, error) { return c.dev.Cast(t, to) })
	}
}

// with goes on with a new tensor, made of this one and of another one that lives no longer.
func (c *chain) with(other func(*Device) (*Tensor, error), f func(t, other *Tensor) (*Tensor, error)) {
	if c.err != nil {
		return
	}
	o, err := other(c.dev)
	if err != nil {
		c.err = err
		return
	}
	c.next(func(t *Tensor) (*Tensor, error) { return f(t, o) })
	c.try(c.dev.Free(o))
}

// inPlace runs an operation in place. Its other operands live no longer.
func (c *chain) inPlace(ctx context.Context, call spec.Call, others ...func(*Device) (*Tensor, error)) {
	in := []*Tensor{c.t}
	for _, other := range others {
		if c.err != nil {
			return
		}
		o, err := other(c.dev)
		if err != nil {
			c.err = err
			return
		}
		in = append(in, o)
		defer func() { c.try(c.dev.Free(o)) }()
	}
	if c.err == nil {
		c.err = c.dev.Run(ctx, call, in, []*Tensor{c.t})
	}
}
