package rawptr

import (
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// Conv2DOptions are what most convolutions leave out. The zero value is a convolution without
// dilation, groups and bias.
type Conv2DOptions struct {
	// Dilation is the steps from tap to tap, of rows and of columns. 0 means 1.
	Dilation [2]int
	// Groups divides the channels. 0 means 1.
	Groups int
	// Bias is K numbers of F32, one for each channel of the output. 0 means none. Only the forward
	// pass may have it: the gradient of a bias is Reduce of the gradient of the output.
	Bias Ptr
}

// geometry is how the pixels of a convolution lie, as package ops wants it.
type geometry struct {
	strides, pads, dilations []int
	groups                   int
}

// geometry checks the numbers that the shape rules do not see.
func (c *call) geometry(stride, padding [2]int, o Conv2DOptions) geometry {
	g := geometry{groups: o.Groups}
	if o.Groups == 0 {
		g.groups = 1
	}
	for i, name := range []string{"rows", "columns"} {
		dilation := o.Dilation[i]
		if dilation == 0 {
			dilation = 1
		}
		switch {
		case stride[i] < 1:
			c.invalid("stride of %s (got %d, want 1 or more)", name, stride[i])
		case padding[i] < 0:
			c.invalid("padding of %s (got %d, want 0 or more)", name, padding[i])
		case dilation < 1:
			c.invalid("dilation of %s (got %d, want 1 or more, or 0 for 1)", name, dilation)
		case g.groups < 1:
			c.invalid("groups (got %d, want 1 or more, or 0 for 1)", g.groups)
		}
		g.strides, g.dilations = append(g.strides, stride[i]), append(g.dilations, dilation)
	}
	g.pads = []int{padding[0], padding[1], padding[0], padding[1]}
	return g
}

// image returns a row-major tensor of F32 with four dimensions.
func (c *call) image(name string, p Ptr, shape [4]int) session.Tensor {
	for _, n := range shape {
		if n < 0 {
			c.invalid("%s: shape %v (want no negative number)", name, shape)
		}
	}
	return c.operand(name, p, tensor.Contiguous(tensor.F32, shape[:]...))
}

// Conv2DForward is the convolution of networks, a cross-correlation with zeros around the input:
//
//	output[n,k,y,x] = bias[k] + Σ input[n, c, y·stride[0] + r·dilation[0] − padding[0], …]·filter[k,c,r,s]
//
// over the taps r, s and the channels c of the group of k. input is [N,C,H,W], filter is
// [K, C/Groups, Fh, Fw] and output is [N,K,Oh,Ow], all row-major and of F32, with
// Oh = (H + 2·padding[0] − dilation[0]·(Fh−1) − 1)/stride[0] + 1, rounded down, and Ow the same of
// columns. Each spatial size is 1 or more. Without images or output channels it is a no-op.
// Errors: ErrInvalidArgument (shapes, stride, padding, options, range, overlap), *LimitError,
// ErrNotInitialized, ErrClosed.
func (d *Device) Conv2DForward(input Ptr, inputShape [4]int, filter Ptr, filterShape [4]int, output Ptr, outputShape [4]int, stride, padding [2]int, o Conv2DOptions) error {
	c := d.begin("conv2d forward")
	defer c.end()
	g := c.geometry(stride, padding, o)
	in := []session.Tensor{c.image("input", input, inputShape), c.image("filter", filter, filterShape)}
	if o.Bias != 0 {
		in = append(in, c.operand("bias", o.Bias, tensor.Contiguous(tensor.F32, max(filterShape[0], 0))))
	}
	y := c.image("output", output, outputShape)
	return c.run(ops.Conv{Strides: g.strides, Pads: g.pads, Dilations: g.dilations, Group: g.groups, AutoPad: "NOTSET"}, y, in...)
}

// noBias refuses a bias in a backward pass.
func (c *call) noBias(o Conv2DOptions) {
	if o.Bias != 0 {
		c.invalid("a bias (want none: its gradient is a reduction of that of the output)")
	}
}

// Conv2DBackwardData is the gradient of Conv2DForward with respect to its input. gradOutput has the
// shape of the output, gradInput that of the input, which it overwrites.
// Errors: as Conv2DForward, and ErrInvalidArgument for a bias.
func (d *Device) Conv2DBackwardData(gradOutput Ptr, outputShape [4]int, filter Ptr, filterShape [4]int, gradInput Ptr, inputShape [4]int, stride, padding [2]int, o Conv2DOptions) error {
	c := d.begin("conv2d backward data")
	defer c.end()
	g := c.geometry(stride, padding, o)
	c.noBias(o)
	dy, w, dx := c.image("gradOutput", gradOutput, outputShape), c.image("filter", filter, filterShape), c.image("gradInput", gradInput, inputShape)
	return c.run(ops.ConvInputGrad{Size: inputShape[2:], Strides: g.strides, Pads: g.pads, Dilations: g.dilations, Group: g.groups}, dx, dy, w)
}

// Conv2DBackwardFilter is the gradient of Conv2DForward with respect to its filter. gradOutput has the
// shape of the output, gradFilter that of the filter, which it overwrites.
// Errors: as Conv2DForward, and ErrInvalidArgument for a bias.
func (d *Device) Conv2DBackwardFilter(input Ptr, inputShape [4]int, gradOutput Ptr, outputShape [4]int, gradFilter Ptr, filterShape [4]int, stride, padding [2]int, o Conv2DOptions) error {
	c := d.begin("conv2d backward filter")
	defer c.end()
	g := c.geometry(stride, padding, o)
	c.noBias(o)
	x, dy, dw := c.image("input", input, inputShape), c.image("gradOutput", gradOutput, outputShape), c.image("gradFilter", gradFilter, filterShape)
	return c.run(ops.ConvFilterGrad{KernelShape: filterShape[2:], Strides: g.strides, Pads: g.pads, Dilations: g.dilations, Group: g.groups}, dw, x, dy)
}
