package lathe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/tensor"
)

// layouts are all that there are, and each of the floats with three ways to normalise.
func layouts() (all []lathe.ImageLayout) {
	for _, dtype := range []tensor.DType{tensor.U8, tensor.F32, tensor.F16, tensor.BF16} {
		for _, channels := range []int{1, 3, 4} {
			for _, planar := range []bool{false, true} {
				l := lathe.ImageLayout{DType: dtype, Channels: channels, Planar: planar}
				if all = append(all, l); dtype == tensor.U8 {
					continue
				}
				l.Mean, l.Std = []float64{0.485, 0.456, 0.406, 0.25}[:channels], []float64{0.229, 0.224, 0.225, 0.5}[:channels]
				all = append(all, l)
				l.Mean, l.Std = []float64{0.5}, []float64{0.5}
				all = append(all, l)
				l.Mean, l.Std = nil, []float64{1.0 / 255}
				all = append(all, l)
			}
		}
	}
	return all
}

// at is where a channel of a pixel lies in a tensor of the layout.
func at(l lathe.ImageLayout, w, h, x, y, channel int) int {
	if l.Planar {
		return (channel*h+y)*w + x
	}
	return (y*w+x)*l.Channels + channel
}

// norm is the mean and the deviation of a channel.
func norm(l lathe.ImageLayout, channel int) (mean, std float64) {
	pick := func(list []float64, missing float64) float64 {
		switch len(list) {
		case 0:
			return missing
		case 1:
			return list[0]
		}
		return list[channel]
	}
	return pick(l.Mean, 0), pick(l.Std, 1)
}

// luma is a thousand times that of a pixel.
func luma(c color.NRGBA) int { return 299*int(c.R) + 587*int(c.G) + 114*int(c.B) }

// untied returns m without pixels whose luma lies in the middle of two levels: either may be
// the nearest one.
func untied(m *image.NRGBA) *image.NRGBA {
	for i := 0; i < len(m.Pix); i += 4 {
		if p := m.Pix[i:]; luma(color.NRGBA{p[0], p[1], p[2], p[3]})%1000 == 500 {
			p[2] ^= 1
		}
	}
	return m
}

// channelsOf are the levels that a pixel has in a layout.
func channelsOf(t *testing.T, c color.NRGBA, channels int) []float64 {
	if channels == 1 {
		if luma(c)%1000 == 500 {
			t.Fatalf("the test has a pixel %v, whose luma may be rounded up or down", c)
		}
		return []float64{float64((luma(c) + 500) / 1000)}
	}
	return []float64{float64(c.R), float64(c.G), float64(c.B), float64(c.A)}[:channels]
}

// bits is how far rounding to a dtype may be from a number, relative to it.
var bits = map[tensor.DType]float64{tensor.F32: 0x1p-23, tensor.F16: 0x1p-11, tensor.BF16: 0x1p-8}

// TestFromImage compares tensors of all layouts with levels computed in float64.
func TestFromImage(t *testing.T) {
	dev := open(t)
	ycbcr := image.NewYCbCr(image.Rect(0, 0, 21, 11), image.YCbCrSubsampleRatio420)
	testimg.Fill(4, ycbcr.Y, ycbcr.Cb, ycbcr.Cr)
	for name, m := range map[string]image.Image{
		"a picture":      untied(noise(33, 17)),
		"one pixel":      noise(1, 1),
		"a large one":    untied(noise(301, 130)),
		"a sub-image":    untied(noise(40, 30)).SubImage(image.Rect(3, 2, 30, 29)),
		"opaque RGBA":    premultiplied(untied(opaqueNoise(24, 9))),
		"RGBA":           premultiplied(noise(24, 9)),
		"a gray one":     &image.Gray{Pix: noise(8, 8).Pix, Stride: 16, Rect: image.Rect(-4, -4, 12, 12)},
		"a camera's one": ycbcr,
	} {
		b := m.Bounds()
		w, h := b.Dx(), b.Dy()
		plain := must(dev.Apply(t.Context(), m))(t) // only converted to non-premultiplied bytes
		for _, l := range layouts() {
			x := must(lathe.FromImage(t.Context(), dev, m, l))(t)
			want := []int{h, w, l.Channels}
			if l.Planar {
				want = []int{l.Channels, h, w}
			}
			if x.DType() != l.DType || !slices.Equal(x.Shape(), want) || !x.Desc().IsContiguous() {
				t.Fatalf("%s, %+v: a tensor %v", name, l, x)
			}
			got := must(lathe.ToFloats[float64](t.Context(), x))(t)
			bad := 0
			for y := range h {
				for x := range w {
					for channel, level := range channelsOf(t, plain.NRGBAAt(x, y), l.Channels) {
						mean, std := norm(l, channel)
						want, slack := level, 0.0
						if l.DType != tensor.U8 {
							want = (level/255 - mean) / std
							slack = bits[l.DType]*math.Abs(want) + 4*0x1p-24*(1+mean)/std
						}
						if v := got[at(l, w, h, x, y, channel)]; math.Abs(v-want) > slack {
							if bad++; bad < 3 {
								t.Errorf("%s, %+v: channel %d of (%d,%d) is %v, want %v", name, l, channel, x, y, v, want)
							}
						}
					}
				}
			}
		}
	}
}

// TestImageRoundTrip makes tensors of images and images of tensors.
func TestImageRoundTrip(t *testing.T) {
	dev := open(t)
	for _, m := range []*image.NRGBA{untied(noise(37, 19)), untied(noise(64, 64)), untied(noise(1, 5))} {
		for _, l := range layouts() {
			got := must(lathe.ToImage(t.Context(), must(lathe.FromImage(t.Context(), dev, m, l))(t), l))(t)
			if got.Rect != m.Rect {
				t.Fatalf("%+v: an image of %v, want %v", l, got.Rect, m.Rect)
			}
			slack := 0.0
			if l.DType == tensor.BF16 {
				slack = 1 // it has 8 bits, and one less between two powers of two
			}
			bad := 0
			for y := range m.Rect.Dy() {
				for x := range m.Rect.Dx() {
					want := channelsOf(t, m.NRGBAAt(x, y), l.Channels)
					if l.Channels == 1 {
						want = []float64{want[0], want[0], want[0]}
					}
					if want = append(want, 255)[:4]; l.Channels == 4 {
						want[3] = float64(m.NRGBAAt(x, y).A)
					}
					c := got.NRGBAAt(x, y)
					for i, v := range []uint8{c.R, c.G, c.B, c.A} {
						allowed := slack
						if i == 3 && l.Channels != 4 {
							allowed = 0
						}
						if math.Abs(float64(v)-want[i]) > allowed {
							if bad++; bad < 3 {
								t.Errorf("%+v: component %d of (%d,%d) is %d, want %v", l, i, x, y, v, want[i])
							}
						}
					}
				}
			}
		}
	}
}

// TestToImageRounds makes images of any numbers: they are rounded to nearest, and those out
// of range become the nearest ones in range.
func TestToImageRounds(t *testing.T) {
	dev := open(t)
	const w, h = 29, 13
	r := rand.New(rand.NewPCG(1, 2))
	for _, l := range layouts() {
		if l.DType == tensor.U8 {
			continue
		}
		values := make([]float64, w*h*l.Channels)
		for i := range values {
			mean, std := norm(l, 0)
			values[i] = (r.Float64()*2 - 0.5 - mean) / std // about half of them in range
		}
		copy(values, []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e30, -1e30, 0, 1})
		shape := []int{h, w, l.Channels}
		if l.Planar {
			shape = []int{l.Channels, h, w}
		}
		x := must(lathe.FromFloats(t.Context(), dev, l.DType, values, shape...))(t)
		values = must(lathe.ToFloats[float64](t.Context(), x))(t) // rounded to the dtype
		m := must(lathe.ToImage(t.Context(), x, l))(t)
		bad := 0
		for y := range h {
			for x := range w {
				c := m.NRGBAAt(x, y)
				for i, got := range []uint8{c.R, c.G, c.B, c.A} {
					channel := i
					if l.Channels == 1 && i < 3 {
						channel = 0
					}
					exact := 255.0
					if channel < l.Channels {
						mean, std := norm(l, channel)
						exact = 255 * (values[at(l, w, h, x, y, channel)]*std + mean)
					}
					if exact = math.Max(0, math.Min(exact, 255)); math.IsNaN(exact) {
						exact = 0
					}
					if math.Abs(float64(got)-exact) > 0.5001 {
						if bad++; bad < 3 {
							t.Errorf("%+v: component %d of (%d,%d) is %d of %v", l, i, x, y, got, exact)
						}
					}
				}
			}
		}
		after := must(lathe.ToFloats[float64](t.Context(), x))(t)
		if fmt.Sprint(after) != fmt.Sprint(values) {
			t.Errorf("%+v: ToImage changed the tensor", l)
		}
	}
}

// TestToImageViews reads views, a batch of one, a picture without a dimension of channels, and
// takes what the layout leaves open from the tensor.
func TestToImageViews(t *testing.T) {
	dev := open(t)
	ctx := t.Context()
	m := opaqueNoise(20, 12)
	flat := must(lathe.FromImage(ctx, dev, m, lathe.ImageLayout{}))(t)
	if flat.String() != "f32[12,20,3]" {
		t.Errorf("the zero layout makes %v", flat)
	}
	planar := must(lathe.FromImage(ctx, dev, m, lathe.ImageLayout{DType: tensor.F16, Planar: true}))(t)
	bytesOnly := must(lathe.FromImage(ctx, dev, m, lathe.ImageLayout{DType: tensor.U8, Channels: 4}))(t)
	gray := must(lathe.FromImage(ctx, dev, m, lathe.ImageLayout{Channels: 1, Planar: true}))(t)
	grey := must(lathe.ToImage(ctx, gray, lathe.ImageLayout{Planar: true}))(t)
	part := m.SubImage(image.Rect(5, 2, 15, 9))
	for name, c := range map[string]struct {
		t    *lathe.Tensor
		l    lathe.ImageLayout
		want image.Image
	}{
		"as it is":             {flat, lathe.ImageLayout{}, m},
		"halves in planes":     {planar, lathe.ImageLayout{Planar: true}, m},
		"bytes":                {bytesOnly, lathe.ImageLayout{}, m},
		"a batch of one":       {must(flat.Reshape(1, 12, 20, 3))(t), lathe.ImageLayout{}, m},
		"a batch in planes":    {must(planar.Reshape(1, 3, 12, 20))(t), lathe.ImageLayout{Planar: true}, m},
		"planes of a flat one": {must(flat.Transpose(2, 0, 1))(t), lathe.ImageLayout{Planar: true}, m},
		"pixels of planes":     {must(planar.Transpose(1, 2, 0))(t), lathe.ImageLayout{}, m},
		"a part":               {must(must(flat.Narrow(0, 2, 7))(t).Narrow(1, 5, 10))(t), lathe.ImageLayout{}, part},
		"a part of bytes":      {must(must(bytesOnly.Narrow(0, 2, 7))(t).Narrow(1, 5, 10))(t), lathe.ImageLayout{}, part},
		"no channels":          {must(gray.Reshape(12, 20))(t), lathe.ImageLayout{}, grey},
		"no channels, planar":  {must(gray.Reshape(12, 20))(t), lathe.ImageLayout{Planar: true}, grey},
		"columns as rows":      {must(must(gray.Reshape(12, 20))(t).Transpose())(t), lathe.ImageLayout{}, transposed(grey)},
	} {
		got := must(lathe.ToImage(ctx, c.t, c.l))(t)
		want := must(dev.Apply(ctx, c.want))(t)
		if got.Rect != want.Rect || !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%s, %v: another picture", name, c.t)
		}
	}
	for _, size := range []image.Point{{0, 3}, {3, 0}, {0, 0}} {
		for _, l := range layouts() {
			x := must(lathe.FromImage(ctx, dev, image.NewGray(image.Rectangle{Max: size}), l))(t)
			if m := must(lathe.ToImage(ctx, x, l))(t); m.Rect.Size() != size || x.Desc().Elems() != 0 {
				t.Errorf("an image of %v became %v and an image of %v", size, x, m.Rect)
			}
		}
	}
}

func transposed(m *image.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, m.Rect.Dy(), m.Rect.Dx()))
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			out.SetNRGBA(y, x, m.NRGBAAt(x, y))
		}
	}
	return out
}

// TestImageLayoutRefuses returns errors for layouts that there are not, and for tensors that
// do not have the layout.
func TestImageLayoutRefuses(t *testing.T) {
	dev, closed := open(t), open(t)
	ctx := t.Context()
	m := noise(4, 4)
	for name, l := range map[string]lathe.ImageLayout{
		"2 channels": {Channels: 2}, "negative channels": {Channels: -1}, "f64": {DType: tensor.F64}, "bool": {DType: tensor.Bool},
		"an unknown dtype": {DType: 99}, "a mean of bytes": {DType: tensor.U8, Mean: []float64{0.5}}, "a deviation of bytes": {DType: tensor.U8, Std: []float64{1}},
		"two means": {Mean: []float64{0, 0}}, "three means for luma": {Channels: 1, Mean: []float64{0, 0, 0}}, "a Std of 0": {Std: []float64{1, 0, 1}},
		"a Std that is 0 in f32": {Std: []float64{1e-60}}, "no number": {Mean: []float64{math.NaN()}}, "an infinite Std": {Std: []float64{math.Inf(1)}},
		"a mean that is infinite in f32": {Mean: []float64{1e40}},
	} {
		if x, err := lathe.FromImage(ctx, dev, m, l); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("from image, %s: got %v, %v, want ErrInvalidArgument", name, x, err)
		}
	}
	x := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 3, 5, 7)))(t)
	for name, c := range map[string]struct {
		shape []int
		dtype tensor.DType
		l     lathe.ImageLayout
		say   string
	}{
		"not planar":    {[]int{3, 5, 7}, tensor.F32, lathe.ImageLayout{}, "got 7, want 1, 3 or 4; Planar"},
		"planar":        {[]int{5, 7, 3}, tensor.F32, lathe.ImageLayout{Planar: true}, "got 5, want 1, 3 or 4"},
		"channels":      {[]int{5, 7, 3}, tensor.F32, lathe.ImageLayout{Channels: 4}, "got 3, want 4"},
		"dtype":         {[]int{5, 7, 3}, tensor.F32, lathe.ImageLayout{DType: tensor.F16}, "want f16"},
		"integers":      {[]int{5, 7, 3}, tensor.I32, lathe.ImageLayout{}, "got i32"},
		"a batch":       {[]int{2, 3, 5, 7}, tensor.F32, lathe.ImageLayout{Planar: true}, "Narrow"},
		"a vector":      {[]int{5}, tensor.F32, lathe.ImageLayout{}, "want [H,W,C]"},
		"5 dimensions":  {[]int{1, 1, 3, 5, 7}, tensor.F32, lathe.ImageLayout{Planar: true}, "want [C,H,W]"},
		"a mean of u8":  {[]int{5, 7, 3}, tensor.U8, lathe.ImageLayout{Mean: []float64{1}}, "u8"},
		"means":         {[]int{5, 7, 3}, tensor.F32, lathe.ImageLayout{Mean: []float64{1, 2, 3, 4}}, "want 1 or 3"},
		"two channels":  {[]int{5, 7, 2}, tensor.F32, lathe.ImageLayout{Channels: 2}, "got 2, want 1, 3 or 4"},
		"empty batches": {[]int{0, 3, 5, 7}, tensor.F32, lathe.ImageLayout{Planar: true}, "0 images"},
	} {
		x := must(dev.NewTensor(tensor.Contiguous(c.dtype, c.shape...)))(t)
		if _, err := lathe.ToImage(ctx, x, c.l); !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("to image, %s: got %v, want ErrInvalidArgument that says %q", name, err, c.say)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	freed := must(dev.NewTensor(tensor.Contiguous(tensor.F32, 2, 2, 3)))(t)
	old, oldEmpty := must(closed.NewTensor(tensor.Contiguous(tensor.F32, 3, 2, 2)))(t), must(closed.NewTensor(tensor.Contiguous(tensor.U8, 0, 2, 3)))(t)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := dev.Free(freed); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ err, want error }{
		"no image":                {second(lathe.FromImage(ctx, dev, nil, lathe.ImageLayout{})), lathe.ErrInvalidArgument},
		"a nil image":             {second(lathe.FromImage(ctx, dev, (*image.Gray)(nil), lathe.ImageLayout{})), lathe.ErrInvalidArgument},
		"an endless image":        {second(lathe.FromImage(ctx, dev, image.NewUniform(color.White), lathe.ImageLayout{})), lathe.ErrInvalidArgument},
		"a short image":           {second(lathe.FromImage(ctx, dev, &image.Gray{Rect: m.Rect, Stride: 4}, lathe.ImageLayout{})), lathe.ErrInvalidArgument},
		"no device for an image":  {second(lathe.FromImage(ctx, nil, m, lathe.ImageLayout{})), lathe.ErrNotInitialized},
		"a cancelled image":       {second(lathe.FromImage(stopped, dev, m, lathe.ImageLayout{})), context.Canceled},
		"no tensor":               {second(lathe.ToImage(ctx, nil, lathe.ImageLayout{})), lathe.ErrInvalidHandle},
		"an empty tensor":         {second(lathe.ToImage(ctx, &lathe.Tensor{}, lathe.ImageLayout{})), lathe.ErrInvalidHandle},
		"a freed tensor":          {second(lathe.ToImage(ctx, freed, lathe.ImageLayout{})), lathe.ErrInvalidHandle},
		"a closed device":         {second(lathe.ToImage(ctx, old, lathe.ImageLayout{Planar: true})), lathe.ErrClosed},
		"a closed device, empty":  {second(lathe.ToImage(ctx, oldEmpty, lathe.ImageLayout{})), lathe.ErrClosed},
		"an image, closed device": {second(lathe.FromImage(ctx, closed, m, lathe.ImageLayout{})), lathe.ErrClosed},
		"a cancelled tensor":      {second(lathe.ToImage(stopped, x, lathe.ImageLayout{Planar: true})), context.Canceled},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.err, c.want)
		}
	}
}

// TestImageLayoutFrees keeps no memory but that of the result, also after an error half-way.
// The executor keeps some for the next call, so the second call must need no more than the
// first.
func TestImageLayoutFrees(t *testing.T) {
	m := noise(64, 64)
	for i, l := range layouts() {
		for memory := int64(1 << 20); memory > 20<<10; memory -= 17 << 10 {
			if memory < 1<<20 && (i%4 != 0 || memory > 180<<10) {
				continue // at first all has room
			}
			info := null.DefaultInfo()
			info.Memory = memory
			dev := null.NewRecorder(&info)
			d := must(lathe.Open(t.Context(), lathe.WithGPU(dev), lathe.WithoutCache()))(t)
			var held int64
			for round := range 3 {
				x, err := lathe.FromImage(t.Context(), d, m, l)
				if err == nil {
					_, err = lathe.ToImage(t.Context(), x, l)
					must(0, d.Free(x))(t)
				}
				if err != nil && (memory == 1<<20 || !errors.Is(err, lathe.ErrOutOfMemory)) {
					t.Errorf("%+v with %d bytes: %v", l, memory, err)
				}
				if n := dev.Allocated(); round == 0 {
					held = n
				} else if n > held {
					t.Errorf("%+v with %d bytes: %d bytes are held after round %d, %d after round 0 (error: %v)", l, memory, n, round, held, err)
				}
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFromImageBits wants the bits of f32 arithmetic, which are the same on every device.
func TestFromImageBits(t *testing.T) {
	dev := open(t)
	m := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		copy(m.Pix[4*i:], []byte{byte(i), byte(255 - i), byte(i * 7), 255})
	}
	l := lathe.ImageLayout{Mean: []float64{0.485, 0.456, 0.406}, Std: []float64{0.229, 0.224, 0.225}}
	x := must(lathe.FromImage(t.Context(), dev, m, l))(t)
	for i, got := range must(lathe.ToSlice[float32](t.Context(), x))(t) {
		mean, std := norm(l, i%3)
		if want := (float32(m.Pix[i/3*4+i%3]) - float32(255*mean)) / float32(255*std); got != want {
			t.Fatalf("element %d: got %v, want %v", i, got, want)
		}
	}
	if back := must(lathe.ToImage(t.Context(), x, l))(t); !bytes.Equal(back.Pix, m.Pix) {
		t.Error("ToImage does not undo FromImage")
	}
}

// BenchmarkImageLayout is a frame of 1920×1080 pixels as a network takes it, and back.
func BenchmarkImageLayout(b *testing.B) {
	dev, err := lathe.Open(b.Context(), quiet)
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	m := opaqueNoise(1920, 1080)
	for _, l := range []lathe.ImageLayout{{DType: tensor.U8}, {}, {Planar: true}, {Planar: true, Mean: []float64{0.485, 0.456, 0.406}, Std: []float64{0.229, 0.224, 0.225}}} {
		b.Run(fmt.Sprintf("from/%+v", l), func(b *testing.B) {
			for b.Loop() {
				x := must(lathe.FromImage(b.Context(), dev, m, l))(b)
				must(0, dev.Sync(b.Context()))(b)
				must(0, dev.Free(x))(b)
			}
		})
		x := must(lathe.FromImage(b.Context(), dev, m, l))(b)
		b.Run(fmt.Sprintf("to/%+v", l), func(b *testing.B) {
			for b.Loop() {
				must(lathe.ToImage(b.Context(), x, l))(b)
			}
		})
	}
}
