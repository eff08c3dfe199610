package imageio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/lathe-gpu/lathe/imageio"
)

// photo returns a PNG file of 300×200 pixels.
func photo() []byte {
	m := image.NewGray(image.Rect(0, 0, 300, 200))
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		log.Fatal(err)
	}
	return b.Bytes()
}

func ExampleDecode() {
	img, info, err := imageio.Decode(context.Background(), bytes.NewReader(photo()), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%T of %v, from %s\n", img, img.Bounds().Size(), info.Format)
	// Output: *image.NRGBA of (300,200), from png
}

// A server says how much it takes.
func ExampleDecode_limits() {
	o := &imageio.DecodeOptions{MaxBytes: 20 << 20, MaxPixels: 50_000}
	_, _, err := imageio.Decode(context.Background(), bytes.NewReader(photo()), o)
	fmt.Println(errors.Is(err, imageio.ErrTooLarge))
	fmt.Println(err)
	// Output:
	// true
	// imageio: decode: picture too large: 300×200 is 0.06 MP, the limit is 0.05 MP (raise MaxPixels if you trust it)
}

// A thumbnail needs few of the pixels of a photograph. The decoder of JPEG leaves most of them out.
func ExampleDecode_thumbnail() {
	upload := new(bytes.Buffer) // a body of a request
	if err := jpeg.Encode(upload, image.NewGray(image.Rect(0, 0, 4000, 3000)), nil); err != nil {
		log.Fatal(err)
	}
	// For 200×150 pixels: twice as many are enough for a good filter.
	o := &imageio.DecodeOptions{AtLeast: image.Pt(2*200, 2*150)}
	img, info, err := imageio.Decode(context.Background(), upload, o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(img.Bounds().Size(), "of", info.Full)
	// Output: (500,375) of (4000,3000)
}

// A program that counts memory decides when it knows the header.
func ExampleDecoder_AtLeast() {
	dec, err := imageio.NewDecoder(context.Background(), bytes.NewReader(photo()), nil)
	if err != nil {
		log.Fatal(err)
	}
	small := dec.AtLeast(40, 40)
	fmt.Println(small.Info().Width, small.Info().Height, small == dec) // a PNG has no smaller pictures
	// Output: 300 200 true
}

func ExampleDecodeConfig() {
	info, err := imageio.DecodeConfig(context.Background(), bytes.NewReader(photo()), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Format, info.Width, info.Height, info.Orientation)
	// Output: png 300 200 1
}

func ExampleNewDecoder() {
	dec, err := imageio.NewDecoder(context.Background(), bytes.NewReader(photo()), nil)
	if err != nil {
		log.Fatal(err)
	}
	// A program with many pictures at once waits here until there is room for this one.
	fmt.Println("takes about", dec.Info().Memory>>20, "MiB")
	frame := image.NewRGBA(image.Rect(0, 0, dec.Info().Width, dec.Info().Height))
	if err := dec.DecodeTo(context.Background(), frame); err != nil {
		log.Fatal(err)
	}
	fmt.Println(frame.At(0, 0))
	// Output:
	// takes about 1 MiB
	// {0 0 0 255}
}

func ExampleDecoder_Info() {
	dec, err := imageio.NewDecoder(context.Background(), bytes.NewReader(photo()), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dec.Info().Width, dec.Info().Height)
	// Output: 300 200
}

// Bytes of one's own are an image with a stride: here the left half of a wider one.
func ExampleDecoder_DecodeTo() {
	dec, err := imageio.NewDecoder(context.Background(), bytes.NewReader(photo()), nil)
	if err != nil {
		log.Fatal(err)
	}
	wide := image.NewNRGBA(image.Rect(0, 0, 600, 200))
	left := wide.SubImage(image.Rect(0, 0, 300, 200)).(*image.NRGBA)
	if err := dec.DecodeTo(context.Background(), left); err != nil {
		log.Fatal(err)
	}
	fmt.Println(wide.At(299, 0), wide.At(300, 0))
	// Output: {0 0 0 255} {0 0 0 0}
}

func ExampleEncode() {
	img := image.NewNRGBA(image.Rect(0, 0, 64, 48))
	img.Set(0, 0, color.Black)
	var file bytes.Buffer
	if err := imageio.Encode(context.Background(), &file, img, imageio.JPEG, &imageio.EncodeOptions{Quality: 80}); err != nil {
		log.Fatal(err)
	}
	format, ok := imageio.DetectFormat(file.Bytes())
	fmt.Println(format, ok)
	// Output: jpeg true
}

// The extension of a file decides the format.
func ExampleParseFormat() {
	name := filepath.Join(os.TempDir(), "Soft.JPG")
	format, ok := imageio.ParseFormat(filepath.Ext(name))
	fmt.Println(format, ok, format.Extension(), format.MediaType(), format.CanEncode())
	// Output: jpeg true .jpg image/jpeg true
}

func ExampleDetectFormat() {
	format, ok := imageio.DetectFormat([]byte("GIF89a"))
	fmt.Println(format, ok)
	_, ok = imageio.DetectFormat([]byte("a text"))
	fmt.Println(ok)
	// Output:
	// gif true
	// false
}

func ExampleFormat_CanEncode() {
	for _, f := range []imageio.Format{imageio.TIFF, imageio.BMP} {
		if !f.CanEncode() {
			f = imageio.PNG // what a BMP becomes
		}
		fmt.Println(f)
	}
	// Output:
	// tiff
	// png
}

func ExampleFormat_Extension() {
	fmt.Println("soft" + imageio.TIFF.Extension())
	// Output: soft.tiff
}

func ExampleFormat_MediaType() {
	fmt.Println(imageio.WebP.MediaType())
	// Output: image/webp
}

// An animation is read, processed and written one frame at a time. A program with a device calls its method Apply where this one
// calls negative.
func ExampleEncodeFrames() {
	ctx := context.Background()
	dec, err := imageio.NewDecoder(ctx, bytes.NewReader(blinking()), nil)
	if err != nil {
		log.Fatal(err)
	}
	frames := func(yield func(imageio.Frame, error) bool) {
		for f, err := range dec.Frames(ctx) {
			if err == nil {
				f.Image = negative(f.Image)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
	info := dec.Info() // the new file is shown as many times
	var file bytes.Buffer
	if err := imageio.EncodeFrames(ctx, &file, frames, imageio.WebP, &imageio.EncodeOptions{Source: &info}); err != nil {
		log.Fatal(err)
	}
	info, err = imageio.DecodeConfig(ctx, &file, nil)
	fmt.Println(info.Format, info.Frames, info.Plays, err)
	// Output: webp 2 3 <nil>
}

func ExampleDecoder_Frames() {
	dec, err := imageio.NewDecoder(context.Background(), bytes.NewReader(blinking()), nil)
	if err != nil {
		log.Fatal(err)
	}
	for f, err := range dec.Frames(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(f.Image.At(0, 0), f.Delay)
	}
	// Output:
	// {0 0 0 255} 200ms
	// {255 255 255 255} 500ms
}

func ExampleFormat_CanAnimate() {
	fmt.Println(imageio.GIF.CanAnimate(), imageio.JPEG.CanAnimate())
	// Output: true false
}

// blinking returns a GIF file of two frames, black and white, that is shown three times.
func blinking() []byte {
	frames := func(yield func(imageio.Frame, error) bool) {
		m := image.NewNRGBA(image.Rect(0, 0, 8, 8))
		draw.Draw(m, m.Rect, image.Black, image.Point{}, draw.Src)
		if yield(imageio.Frame{Image: m, Delay: 200 * time.Millisecond}, nil) {
			draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
			yield(imageio.Frame{Image: m, Delay: 500 * time.Millisecond}, nil)
		}
	}
	var file bytes.Buffer
	if err := imageio.EncodeFrames(context.Background(), &file, frames, imageio.GIF, &imageio.EncodeOptions{Source: &imageio.Info{Plays: 3}}); err != nil {
		log.Fatal(err)
	}
	return file.Bytes()
}

// negative returns the negative of an image.
func negative(m image.Image) image.Image {
	out := image.NewNRGBA(m.Bounds())
	draw.Draw(out, out.Rect, m, m.Bounds().Min, draw.Src)
	for i := range out.Pix {
		if i%4 != 3 {
			out.Pix[i] = 255 - out.Pix[i]
		}
	}
	return out
}
