// Scene renders a landscape with a compute shader (shaders/demo/scene.comp),
// filters it with others, and writes the pictures of the documentation:
//
//	go run ./examples/scene [-out folder] [-size 960x540]
package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// The build compiles the shader. This is a copy of its module beside the program, which
// embeds it.
//
//go:generate cp ../../internal/extra/demo/scene.u8.spv scene.spv
//go:embed scene.spv
var sceneCode []byte

func main() {
	log.SetFlags(0)
	out := flag.String("out", "out", "folder to write to")
	size := flag.String("size", "960x540", "pixels of the scene")
	flag.Parse()
	var w, h int
	if n, err := fmt.Sscanf(*size, "%dx%d", &w, &h); n != 2 || err != nil || w < 1 || h < 1 || w > 1<<14 || h > 1<<14 {
		log.Fatalf("scene: -size %q is not WIDTHxHEIGHT within 1..16384", *size)
	}
	if err := run(context.Background(), *out, w, h); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out string, w, h int) error {
	dev, err := lathe.Open(ctx)
	if err != nil {
		return err
	}
	defer dev.Close()
	begin := time.Now()
	scene, err := render(ctx, dev, w, h)
	if err != nil {
		return err
	}
	fmt.Printf("rendered %d×%d on %s in %v\n", w, h, dev.Info().Name, time.Since(begin).Round(time.Millisecond))

	// Before and after: the picture's left part as it is, then bands of it
	// through each filter.
	filters := [][]spec.Call{
		nil,
		{imageops.GaussianBlur{Sigma: 8}},
		{imageops.SobelEdges{Magnitude: true}, imageops.Brightness{Factor: 2}},
		{imageops.InvertColors{}},
	}
	after := image.NewNRGBA(scene.Rect)
	for i, calls := range filters {
		filtered := scene
		if calls != nil {
			if filtered, err = dev.Apply(ctx, scene, calls...); err != nil {
				return err
			}
		}
		band := image.Rect(i*w/len(filters), 0, (i+1)*w/len(filters), h)
		draw.Draw(after, band, filtered, band.Min, draw.Src)
		if i > 0 {
			draw.Draw(after, image.Rect(band.Min.X-1, 0, band.Min.X+1, h), image.White, image.Point{}, draw.Src)
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for name, img := range map[string]image.Image{"scene.png": scene, "filters.png": after} {
		if err := save(filepath.Join(out, name), img); err != nil {
			return err
		}
	}
	return nil
}

// render paints the scene with one invocation a pixel.
func render(ctx context.Context, dev *lathe.Device, w, h int) (*image.NRGBA, error) {
	pixels, err := dev.NewTensor(tensor.Contiguous(tensor.U8, h, w, 4))
	if err != nil {
		return nil, err
	}
	defer dev.Free(pixels)

	// The push constants: uint width, uint height.
	push := binary.LittleEndian.AppendUint32(nil, uint32(w))
	push = binary.LittleEndian.AppendUint32(push, uint32(h))
	groups := [3]uint32{uint32(w+7) / 8, uint32(h+7) / 8, 1}
	if err := dev.DispatchCompute(ctx, sceneCode, []*lathe.Tensor{pixels}, push, groups); err != nil {
		return nil, err
	}
	pix, err := dev.Read(ctx, pixels)
	if err != nil {
		return nil, err
	}
	return &image.NRGBA{Pix: pix, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}, nil
}

// save writes a PNG file.
func save(path string, img image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(f, img); err != nil {
		f.Close()
		return err
	}
	fmt.Println("wrote", path)
	return f.Close()
}
