package lathe_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"log"
	"math"
	"os"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/tensor"
)

// quiet keeps the remark about CPU drivers out of the examples' output.
var quiet = lathe.WithWarnings(func(string) {})

// square is a white square in the middle of a black picture.
func square() *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for i := range m.Pix {
		m.Pix[i] = 255 * byte(i%4/3) // opaque black
	}
	for y := 16; y < 48; y++ {
		for x := 16; x < 48; x++ {
			m.SetNRGBA(x, y, color.NRGBA{255, 255, 255, 255})
		}
	}
	return m
}

func ExampleDevice_Apply() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	out, err := dev.Apply(ctx, square(), imageops.GaussianBlur{Sigma: 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("middle:", out.NRGBAAt(32, 32).R, " far away:", out.NRGBAAt(2, 2).R)
	soft := out.NRGBAAt(16, 32).R
	fmt.Println("the edge is soft:", soft > 100 && soft < 160)
	// Output:
	// middle: 255  far away: 0
	// the edge is soft: true
}

func ExampleDevice_ApplyTo() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// In place, and in one pass: both operations are pointwise.
	m := square()
	err = dev.ApplyTo(ctx, m, m, imageops.InvertColors{}, imageops.Brightness{Factor: 0.5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.NRGBAAt(0, 0), m.NRGBAAt(32, 32))
	// Output:
	// {128 128 128 255} {0 0 0 255}
}

func ExampleDevice_Run() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// A float image of two grey pixels, which stays on the device.
	t, err := dev.NewTensor(tensor.Contiguous(tensor.F32, 1, 2, 1))
	if err != nil {
		log.Fatal(err)
	}
	data := binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.25))
	data = binary.LittleEndian.AppendUint32(data, math.Float32bits(0.75))
	if err := dev.Write(ctx, t, data); err != nil {
		log.Fatal(err)
	}
	if err := dev.Run(ctx, imageops.Contrast{Factor: 2}, []*lathe.Tensor{t}, []*lathe.Tensor{t}); err != nil {
		log.Fatal(err)
	}
	data, err = dev.Read(ctx, t)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 2 {
		fmt.Println(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	// Output:
	// 0
	// 1
}

func ExampleDevice_DispatchCompute() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// Any SPIR-V will do; this is checked before a driver sees it.
	err = dev.DispatchCompute(ctx, []byte("not a shader"), nil, nil, [3]uint32{1, 1, 1})
	fmt.Println(errors.Is(err, lathe.ErrInvalidShader))
	// Output:
	// true
}

func ExampleOpen_noDevice() {
	// Where there is no device the error says what was looked for, and a
	// program can go on without one.
	_, err := lathe.Open(context.Background(), quiet, lathe.WithDevice("a device nobody has"))
	if errors.Is(err, lathe.ErrNoDevice) {
		fmt.Fprintln(os.Stdout, "no device of that name")
	}
	// Output:
	// no device of that name
}
