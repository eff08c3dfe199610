package lathe_test

import (
	"errors"
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// framed returns a picture whose pixels outside of keep are a border.
func framed(w, h int, keep image.Rectangle, border color.NRGBA) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := border
			if image.Pt(x, y).In(keep) {
				c = color.NRGBA{uint8(x), uint8(y), 77, 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	return m
}

// samePart checks that got is part want of src.
func samePart(t *testing.T, name string, got, src image.Image, want image.Rectangle) {
	t.Helper()
	if got.Bounds() != image.Rect(0, 0, want.Dx(), want.Dy()) {
		t.Errorf("%s: got %v, want the size of %v", name, got.Bounds(), want)
		return
	}
	for y := range want.Dy() {
		for x := range want.Dx() {
			if v, w := got.At(x, y), src.At(src.Bounds().Min.X+want.Min.X+x, src.Bounds().Min.Y+want.Min.Y+y); v != w {
				t.Fatalf("%s: pixel (%d,%d) is %v, want %v", name, x, y, v, w)
			}
		}
	}
}

// TestTrim cuts off borders: first, between other operations, and where the rest goes in strips.
func TestTrim(t *testing.T) {
	white, hidden := color.NRGBA{255, 255, 255, 255}, color.NRGBA{9, 99, 3, 0}
	keep, all := image.Rect(3, 11, 90, 40), image.Rect(0, 0, 100, 60)
	plain := framed(100, 60, keep, white)
	near := framed(100, 60, keep, white)
	near.SetNRGBA(97, 58, color.NRGBA{250, 255, 255, 255})
	transparent := framed(100, 60, keep, hidden)
	transparent.SetNRGBA(0, 0, color.NRGBA{}) // another hidden colour
	two := framed(100, 60, keep, white)
	draw.Draw(two, image.Rect(0, 50, 100, 60), image.NewUniform(color.Black), image.Point{}, draw.Src)
	stands := image.NewRGBA(image.Rect(7, 8, 107, 68))
	draw.Draw(stands, stands.Rect, plain, image.Point{}, draw.Src)
	for _, dev := range []*lathe.Device{open(t), open(t, lathe.WithStrip(1000))} {
		for name, c := range map[string]struct {
			src   image.Image
			calls []spec.Call
			want  image.Rectangle // of src
		}{
			"white":         {plain, []spec.Call{imageops.Trim{}}, keep},
			"by pointer":    {plain, []spec.Call{&imageops.Trim{Color: "white"}}, keep},
			"elsewhere":     {stands, []spec.Call{imageops.Trim{}}, keep},
			"one pixel":     {framed(100, 60, image.Rect(99, 59, 100, 60), white), []spec.Call{imageops.Trim{}}, image.Rect(99, 59, 100, 60)},
			"no border":     {framed(100, 60, all, white), []spec.Call{imageops.Trim{}}, all},
			"one colour":    {framed(100, 60, image.Rectangle{}, white), []spec.Call{imageops.Trim{}}, all},
			"other colour":  {plain, []spec.Call{imageops.Trim{Color: "black"}}, all},
			"no fuzz":       {near, []spec.Call{imageops.Trim{}}, image.Rect(3, 11, 98, 59)},
			"less fuzz":     {near, []spec.Call{imageops.Trim{Fuzz: 1.9}}, image.Rect(3, 11, 98, 59)},
			"fuzz":          {near, []spec.Call{imageops.Trim{Fuzz: 500. / 255}}, keep},
			"transparent":   {transparent, []spec.Call{imageops.Trim{}}, keep},
			"alpha":         {transparent, []spec.Call{imageops.Trim{Color: "transparent"}}, keep},
			"top":           {two, []spec.Call{imageops.Trim{}}, image.Rect(0, 11, 100, 60)},
			"bottom":        {two, []spec.Call{imageops.Trim{Color: "bottom-right"}}, image.Rect(0, 0, 100, 50)},
			"both":          {two, []spec.Call{imageops.Trim{Color: "bottom-left"}, imageops.Trim{Color: "top-right"}}, keep},
			"view":          {plain.SubImage(image.Rect(1, 2, 99, 55)), []spec.Call{imageops.Trim{}}, keep.Sub(image.Pt(1, 2))},
			"after a turn":  {plain, []spec.Call{imageops.Rotate{Degrees: 180}, imageops.Trim{}, imageops.Rotate{Degrees: 180}}, keep},
			"with filters":  {near, []spec.Call{imageops.Median{Radius: 1}, imageops.Trim{}, imageops.Brightness{Factor: 2}}, keep},
			"of one column": {framed(1, 60, image.Rect(0, 5, 1, 9), white), []spec.Call{imageops.Trim{}}, image.Rect(0, 5, 1, 9)},
			"of one row":    {framed(61, 1, image.Rect(5, 0, 60, 1), white), []spec.Call{imageops.Trim{}}, image.Rect(5, 0, 60, 1)},
		} {
			got, err := dev.Apply(t.Context(), c.src, c.calls...)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if name == "with filters" { // The median removes the speck outside.
				if got.Rect.Size() != keep.Size() {
					t.Errorf("%s: got %v", name, got.Rect)
				}
				continue
			}
			src := c.src
			if name == "elsewhere" {
				src = plain
			}
			samePart(t, name, got, src, c.want)
		}
	}
}

// TestTrimInto trims into images of the caller, of 8 and 16 bits, and over the source.
func TestTrimInto(t *testing.T) {
	dev := open(t)
	white := color.NRGBA{255, 255, 255, 255}
	keep := image.Rect(3, 11, 90, 40)
	src := framed(100, 60, keep, white)
	calls, err := dev.FindCrops(t.Context(), src, imageops.InvertColors{}, imageops.Trim{}, imageops.InvertColors{})
	if err != nil || len(calls) != 3 || calls[1] != (imageops.Crop{X: 3, Y: 11, Width: 87, Height: 29, Gravity: "top-left"}) {
		t.Fatalf("FindCrops: %v, %v", calls, err)
	}
	size, err := imageops.Size(src.Rect.Size(), calls...)
	if err != nil || size != keep.Size() {
		t.Fatalf("Size: %v, %v", size, err)
	}
	rgba := image.NewRGBA(image.Rectangle{Max: size})
	if err := dev.ApplyTo(t.Context(), rgba, src, imageops.Trim{}); err != nil {
		t.Error(err)
	}
	for _, p := range []image.Point{{}, {86, 28}, {40, 3}} {
		if got, want := color.NRGBAModel.Convert(rgba.At(p.X, p.Y)), src.At(3+p.X, 11+p.Y); got != want {
			t.Errorf("at %v: got %v, want %v", p, got, want)
		}
	}
	if err := dev.ApplyTo(t.Context(), src, src, imageops.Trim{}); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("into an image of the size of the source: got %v", err)
	}
	own := framed(100, 60, keep, white)
	if err := dev.ApplyTo(t.Context(), own.SubImage(image.Rectangle{Max: size}).(*image.NRGBA), own, imageops.Trim{}); err != nil {
		t.Error(err)
	}
	samePart(t, "over the source", own.SubImage(image.Rectangle{Max: size}), framed(100, 60, keep, white), keep)

	// A border that differs by one level of 16 bits is none.
	deep := image.NewNRGBA64(image.Rect(0, 0, 9, 7))
	draw.Draw(deep, deep.Rect, image.White, image.Point{}, draw.Src)
	deep.SetNRGBA64(2, 1, color.NRGBA64{0xfffe, 0xffff, 0xffff, 0xffff})
	deep.SetNRGBA64(5, 4, color.NRGBA64{1, 2, 3, 0xffff})
	for name, want := range map[string]image.Rectangle{"deep": image.Rect(2, 1, 6, 5), "fuzz": image.Rect(5, 4, 6, 5)} {
		trim := imageops.Trim{}
		if name == "fuzz" {
			trim.Fuzz = 0.01
		}
		dst := image.NewNRGBA64(image.Rectangle{Max: want.Size()})
		if err := dev.ApplyTo(t.Context(), dst, deep, trim); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		samePart(t, name, dst, deep, want)
		found, err := dev.FindCrops(t.Context(), deep, trim)
		if err != nil || found[0].(imageops.Crop).X != want.Min.X {
			t.Errorf("%s: FindCrops: %v, %v", name, found, err)
		}
	}
}

// TestTrimErrors trims what cannot be trimmed, and prepares.
func TestTrimErrors(t *testing.T) {
	dev := open(t)
	m := framed(9, 9, image.Rect(2, 3, 5, 6), color.NRGBA{255, 255, 255, 255})
	for _, size := range []image.Point{{}, {5, 0}, {0, 5}} {
		got, err := dev.Apply(t.Context(), image.NewNRGBA(image.Rectangle{Max: size}), imageops.Trim{})
		if err != nil || got.Rect.Size() != size {
			t.Errorf("an empty picture of %v: %v, %v", size, got, err)
		}
	}
	for name, calls := range map[string][]spec.Call{
		"a colour that is none": {imageops.Trim{Color: "grey"}},
		"fuzz":                  {imageops.Trim{Fuzz: 101}},
		"too small afterwards":  {imageops.Trim{}, imageops.Crop{Width: 4}},
		"a nil call":            {imageops.Trim{}, nil},
	} {
		if _, err := dev.Apply(t.Context(), m, calls...); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("%s: Apply: got %v", name, err)
		}
		if _, err := dev.FindCrops(t.Context(), m, calls[0]); name != "too small afterwards" && name != "a nil call" && !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("%s: FindCrops: got %v", name, err)
		}
	}
	for _, size := range []image.Point{{90, 90}, {1, 1}, {0, 7}} {
		if err := dev.Prepare(t.Context(), size, imageops.GaussianBlur{Sigma: 1}, imageops.Trim{}, imageops.Resize{Percent: 50}); err != nil && size.X > 0 {
			t.Errorf("Prepare %v: %v", size, err)
		}
	}
	x, err := lathe.FromImage(t.Context(), dev, m, lathe.ImageLayout{DType: tensor.U8, Channels: 4})
	if err != nil {
		t.Fatal(err)
	}
	out, err := dev.Call(t.Context(), imageops.Trim{}, x)
	if err != nil {
		t.Fatal(err)
	}
	v, err := lathe.ToSlice[int32](t.Context(), out[0])
	if err != nil || len(v) != 4 || [4]int32(v) != [4]int32{2, 3, 3, 3} {
		t.Errorf("on a tensor: %v, %v", v, err)
	}
}

// TestSmartCrop keeps what has edges, or the middle if there are none.
func TestSmartCrop(t *testing.T) {
	flat := image.NewNRGBA(image.Rect(0, 0, 300, 200))
	draw.Draw(flat, flat.Rect, image.NewUniform(color.NRGBA{90, 120, 30, 255}), image.Point{}, draw.Src)
	detailed := func(r image.Rectangle) *image.NRGBA {
		m := image.NewNRGBA(flat.Rect)
		copy(m.Pix, flat.Pix)
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				m.SetNRGBA(x, y, color.NRGBA{uint8(x * 71), uint8(y * 53), uint8(x * y), 255})
			}
		}
		return m
	}
	hidden := detailed(image.Rect(20, 30, 60, 70))
	for i := 3; i < len(hidden.Pix); i += 4 {
		hidden.Pix[i] = 0
	}
	spot := image.Rect(220, 120, 260, 160)
	for _, dev := range []*lathe.Device{open(t), open(t, lathe.WithStrip(3000))} {
		for name, c := range map[string]struct {
			src  *image.NRGBA
			call spec.Call
			has  image.Rectangle // what the result must have
			size image.Point
		}{
			"a spot":          {detailed(spot), imageops.SmartCrop{Width: 80, Height: 70}, spot, image.Pt(80, 70)},
			"by pointer":      {detailed(spot), &imageops.SmartCrop{Width: 80}, image.Rect(220, 0, 260, 200), image.Pt(80, 200)},
			"a shape":         {detailed(spot), imageops.SmartCrop{Aspect: "1:1"}, spot, image.Pt(200, 200)},
			"a wide shape":    {detailed(spot), imageops.SmartCrop{Aspect: "3:1"}, spot, image.Pt(300, 100)},
			"the first place": {detailed(image.Rect(0, 0, 30, 30)), imageops.SmartCrop{Width: 40, Height: 40}, image.Rect(0, 0, 30, 30), image.Pt(40, 40)},
			"the last place":  {detailed(image.Rect(270, 170, 300, 200)), imageops.SmartCrop{Width: 40, Height: 40}, image.Rect(270, 170, 300, 200), image.Pt(40, 40)},
			"all":             {detailed(spot), imageops.SmartCrop{}, flat.Rect, image.Pt(300, 200)},
			"no edges":        {flat, imageops.SmartCrop{Width: 101, Height: 51}, image.Rect(99, 74, 200, 125), image.Pt(101, 51)},
			"invisible edges": {hidden, imageops.SmartCrop{Width: 100, Height: 100}, image.Rect(100, 50, 200, 150), image.Pt(100, 100)},
		} {
			found, err := dev.FindCrops(t.Context(), c.src, c.call)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			crop := found[0].(imageops.Crop)
			r := image.Rect(crop.X, crop.Y, crop.X+crop.Width, crop.Y+crop.Height)
			if r.Size() != c.size || !c.has.In(r) {
				t.Errorf("%s: got %v, want %v pixels with %v", name, r, c.size, c.has)
			}
			if size, err := imageops.Size(c.src.Rect.Size(), c.call); err != nil || size != c.size {
				t.Errorf("%s: imageops.Size: %v, %v", name, size, err)
			}
			got, err := dev.Apply(t.Context(), c.src, c.call)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			samePart(t, name, got, c.src, r)
		}
	}
	dev := open(t)
	if err := dev.Prepare(t.Context(), image.Pt(50, 50), imageops.SmartCrop{Aspect: "2:1"}, imageops.Resize{Width: 20, Height: 10, Fit: "cover"}); err != nil {
		t.Error(err)
	}
	for _, c := range []imageops.SmartCrop{{Width: 301}, {Height: 201}, {Width: -1}, {Aspect: "1:1", Width: 5}, {Aspect: "1"}} {
		if _, err := dev.Apply(t.Context(), flat, c); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	deep := image.NewNRGBA64(flat.Rect)
	draw.Draw(deep, deep.Rect, detailed(spot), image.Point{}, draw.Src)
	dst := image.NewNRGBA64(image.Rect(0, 0, 40, 40))
	if err := dev.ApplyTo(t.Context(), dst, deep, imageops.SmartCrop{Width: 100, Height: 80}, imageops.Resize{Width: 40, Height: 40, Fit: "cover"}); err != nil {
		t.Error(err)
	}
}

// Crops of large pictures, which a CPU driver may compute in the memory of the caller: the chain has
// then only the rows of the source that it needs.
func TestCropsOfLargePictures(t *testing.T) {
	dev := open(t)
	const w, h = 640, 480
	src := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			src.SetNRGBA(x, y, color.NRGBA{uint8(x), uint8(y), uint8(x>>8<<4 | y>>8), 255})
		}
	}
	border := framed(w, h, image.Rect(40, 96, 600, 400), color.NRGBA{250, 250, 250, 255})
	for _, c := range []struct {
		name  string
		src   *image.NRGBA
		part  image.Rectangle
		calls []spec.Call
	}{
		{"crop", src, image.Rect(0, 100, w, h), []spec.Call{imageops.Crop{X: 0, Y: 100}}},
		{"a small crop", src, image.Rect(64, 75, 64+320, 75+240), []spec.Call{imageops.Crop{Width: 320, Height: 240, X: 64, Y: 75}}},
		{"crop at the bottom", src, image.Rect(160, 240, 480, 480), []spec.Call{imageops.Crop{Width: 320, Height: 240, Gravity: "bottom"}}},
		{"crops", src, image.Rect(32, 148, 32+400, 148+256), []spec.Call{imageops.Crop{X: 32, Y: 100}, imageops.Crop{Width: 400, Height: 256, Y: 48, Gravity: "top-left"}}},
		{"invert, crop, invert", src, image.Rect(64, 75, 64+320, 75+240), []spec.Call{imageops.InvertColors{}, imageops.Crop{Width: 320, Height: 240, X: 64, Y: 75}, imageops.InvertColors{}}},
		{"trim", border, image.Rect(40, 96, 600, 400), []spec.Call{imageops.Trim{}}},
		{"flip, crop, flip", src, image.Rect(0, 100, w, h), []spec.Call{imageops.Flip{}, imageops.Crop{Height: h - 100, Gravity: "top-left"}, imageops.Flip{}}},
	} {
		got, err := dev.Apply(t.Context(), c.src, c.calls...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		samePart(t, c.name, got, c.src, c.part)
		size := c.part.Size()
		into := image.NewNRGBA(image.Rectangle{Max: size})
		if c.name == "trim" {
			continue // The size is not known before.
		}
		if err := dev.ApplyTo(t.Context(), into, c.src, c.calls...); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		samePart(t, c.name+" to a picture", into, c.src, c.part)
	}
}
