package spv

// image checks reads and writes of texel buffers. Other images are refused as
// bindings; their instructions need the types only roughly right.
func (c *call) image(op opcode) bool {
	switch op {
	case 86: // SampledImage
		c.want(c.t.is(opTypeSampledImage) && c.t.elem == c.arg(0) && c.arg(1).is(opTypeSampler), "combines %v and %v", c.arg(0), c.arg(1))
	case 87, 88, 89, 90, 96, 97: // sampling and gathering
		c.want(c.arg(0).is(opTypeSampledImage) && c.arg(0).elem.dim != dimBuffer, "samples %v", c.arg(0))
		c.want(c.arg(1).isFloat(), "coordinate is %v", c.arg(1))
	case 95: // ImageFetch
		img := c.arg(0)
		if !c.want(img.is(opTypeImage) && img.sampled == sampledUniform, "fetches from %v", img) {
			return true
		}
		c.want(c.t.is(opTypeVector) && c.t.n == 4 && c.t.elem == img.elem, "fetches %v from an image of %v", c.t, img.elem)
		c.coordinate(img)
		c.operandsOf(img, 2)
	case 98: // ImageRead
		img := c.arg(0)
		if !c.want(img.is(opTypeImage) && img.sampled == sampledStorage, "reads from %v", img) {
			return true
		}
		c.want(c.t.is(opTypeVector) && c.t.n == 4 && c.t.elem == img.elem, "reads %v from an image of %v", c.t, img.elem)
		c.coordinate(img)
		c.operandsOf(img, 2)
	case 99: // ImageWrite
		img, texel := c.arg(0), c.arg(2)
		if !c.want(img.is(opTypeImage) && img.sampled == sampledStorage, "writes to %v", img) {
			return true
		}
		c.want(texel.is(opTypeVector) && texel.n == 4 && texel.elem == img.elem, "writes %v to an image of %v", texel, img.elem)
		c.coordinate(img)
		c.operandsOf(img, 3)
	case 100: // Image
		c.want(c.t.is(opTypeImage) && c.arg(0).is(opTypeSampledImage) && c.arg(0).elem == c.t, "takes %v from %v", c.t, c.arg(0))
	case 103: // ImageQuerySizeLod
		c.want(c.t.isInt() && c.arg(0).is(opTypeImage) && c.arg(0).dim != dimBuffer && c.integer(1), "size of %v", c.arg(0))
	case 104: // ImageQuerySize
		img := c.arg(0)
		if c.want(img.is(opTypeImage) && c.t.isInt(), "size of %v", img) && img.dim == dimBuffer {
			c.want(c.t.dims() == 1, "size of a texel buffer is %v", c.t)
		}
	case 106, 107: // ImageQueryLevels ImageQuerySamples
		c.want(c.t.is(opTypeInt) && c.arg(0).is(opTypeImage) && c.arg(0).dim != dimBuffer, "asks %v", c.arg(0))
	default:
		return false
	}
	return true
}

// operandsOf checks the image operands from k on: a texel buffer has no levels,
// samples or offsets.
func (c *call) operandsOf(img *typ, k int) {
	const levels = 0xff // Bias, Lod, Grad, offsets, Sample, MinLod
	if len(c.a) > k && img.dim == dimBuffer {
		c.want(c.a[k]&levels == 0, "image operands %#x of a texel buffer", c.a[k])
	}
}

func (c *call) coordinate(img *typ) {
	x := c.arg(1)
	c.want(x.isInt(), "coordinate is %v", x)
	if img.dim == dimBuffer {
		c.want(x.dims() == 1, "coordinate is %v (want one integer)", x)
	}
}
