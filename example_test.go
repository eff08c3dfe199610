package lathe_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"log"
	"os"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/ops"
)

// quiet keeps the remark about CPU drivers out of the examples' output.
var quiet = lathe.WithLogger(nil)

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

func ExampleDevice_ApplyTo_bytes() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// A frame of 2×2 pixels in memory of the program's own. Each row has 8 bytes of pixels and
	// 4 more. The picture is only a header: no byte is copied.
	frame := []byte{
		10, 20, 30, 255, 40, 50, 60, 255, 0, 0, 0, 0,
		70, 80, 90, 255, 99, 99, 99, 255, 0, 0, 0, 0,
	}
	m := &image.RGBA{Pix: frame, Stride: 12, Rect: image.Rect(0, 0, 2, 2)}
	if err := dev.ApplyTo(ctx, m, m, imageops.InvertColors{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(frame[:12])
	fmt.Println(frame[12:])
	// Output:
	// [245 235 225 255 215 205 195 255 0 0 0 0]
	// [185 175 165 255 156 156 156 255 0 0 0 0]
}

func ExampleDevice_Prepare() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// When the program starts; the first frame then takes no longer than the others.
	filter := imageops.GaussianBlur{Sigma: 3}
	if err := dev.Prepare(ctx, image.Pt(64, 64), filter); err != nil {
		log.Fatal(err)
	}
	out, err := dev.Apply(ctx, square(), filter)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.NRGBAAt(32, 32))
	// Output:
	// {255 255 255 255}
}

func ExampleFromSlice() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	a, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4}, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	b, err := dev.MatMul(a, a)
	if err != nil {
		log.Fatal(err)
	}
	sums, err := dev.ReduceSum(b, -1)
	if err != nil {
		log.Fatal(err)
	}
	got, err := lathe.ToSlice[float32](ctx, sums)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b, sums, got)

	// Wrong shapes are errors at once.
	_, err = dev.MatMul(a, sums)
	fmt.Println(errors.Is(err, lathe.ErrInvalidArgument))
	// Output:
	// f32[2,2] f32[2] [17 37]
	// true
}

func ExampleFromRows() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	a, err := lathe.FromRows(ctx, dev, [][]float32{{1, 2}, {3, 4}, {5, 6}})
	if err != nil {
		log.Fatal(err)
	}
	turned, err := a.Transpose()
	if err != nil {
		log.Fatal(err)
	}
	rows, err := lathe.ToRows[float32](ctx, turned)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a, rows)
	// Output:
	// f32[3,2] [[1 3 5] [2 4 6]]
}

func ExampleFromImage() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// A red and a white pixel as a network takes them: planes of numbers from −1 to 1.
	m := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	m.SetNRGBA(0, 0, color.NRGBA{255, 0, 0, 255})
	m.SetNRGBA(1, 0, color.NRGBA{255, 255, 255, 255})
	layout := lathe.ImageLayout{Planar: true, Mean: []float64{0.5}, Std: []float64{0.5}}
	x, err := lathe.FromImage(ctx, dev, m, layout)
	if err != nil {
		log.Fatal(err)
	}
	planes, err := lathe.ToSlice[float32](ctx, x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x, planes)
	// Output:
	// f32[3,1,2] [1 1 -1 1 -1 1]
}

func ExampleToImage() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// Numbers out of 0 to 1 become the nearest level that there is.
	x, err := lathe.FromRows(ctx, dev, [][]float32{{-0.5, 0.2, 1, 7}})
	if err != nil {
		log.Fatal(err)
	}
	m, err := lathe.ToImage(ctx, x, lathe.ImageLayout{}) // [H,W] is luma
	if err != nil {
		log.Fatal(err)
	}
	for x := range 4 {
		fmt.Print(m.NRGBAAt(x, 0).R, " ")
	}
	fmt.Println("opaque:", m.Opaque())
	// Output:
	// 0 51 255 255 opaque: true
}

func ExampleReadInto() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	result := make([]float32, 3) // for all rounds
	for round := range 2 {
		x, err := lathe.FromSlice(ctx, dev, []float32{-1, 2, float32(round)})
		if err != nil {
			log.Fatal(err)
		}
		if err := dev.Run(ctx, ops.Abs{}, []*lathe.Tensor{x}, []*lathe.Tensor{x}); err != nil {
			log.Fatal(err)
		}
		if err := lathe.ReadInto(ctx, x, result); err != nil {
			log.Fatal(err)
		}
		fmt.Println(result)
	}
	// Output:
	// [1 2 0]
	// [1 2 1]
}

func ExampleDevice_Call() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	x, err := lathe.FromSlice(ctx, dev, []float32{1, 5, 2, 4, 3, 6}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	// The struct of an operation has all its attributes.
	most, err := dev.Call(ctx, ops.ReduceMax{Dims: []int{1}, KeepDims: true}, x)
	if err != nil {
		log.Fatal(err)
	}
	got, err := lathe.ToSlice[float32](ctx, most[0])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(most[0], got)
	// Output:
	// f32[2,1] [5 6]
}

func ExampleDevice_Scope() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	s := dev.Scope(ctx)
	defer s.Close() // frees a and the product
	a := s.Take(lathe.FromRows(ctx, dev, [][]float32{{1, 2}, {3, 4}}))
	half := s.Mul(s.MatMul(a, a), lathe.Scalar(0.5))
	rows, err := lathe.ToRows[float32](ctx, half) // an error of the Scope comes here too
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows)
	// Output:
	// [[3.5 5] [7.5 11]]
}

func ExampleScope_Err() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	s := dev.Scope(ctx)
	defer s.Close()
	a := s.Take(lathe.FromSlice(ctx, dev, []uint8{1, 2, 3}))
	b := s.Concat(0, a, s.Add(a, lathe.Scalar(300)))
	s.Keep(b)
	fmt.Println(errors.Is(s.Err(), lathe.ErrInvalidArgument))
	fmt.Println(s.Err())
	// Output:
	// true
	// lathe: scope: add at example_test.go:315: lathe: add: invalid argument: scalar as u8 (got 300, want a whole number from 0 to 255)
}

func ExampleTensor_Transpose() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	x, err := lathe.FromSlice(ctx, dev, []int32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	turned, err := x.Transpose()
	if err != nil {
		log.Fatal(err)
	}
	got, err := lathe.ToSlice[int32](ctx, turned)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(turned.Shape(), got)
	// Output:
	// [3 2] [1 4 2 5 3 6]
}

func ExampleDevice_Sync() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	table, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4}, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	index, err := lathe.FromSlice(ctx, dev, []int32{0, 2})
	if err != nil {
		log.Fatal(err)
	}
	// There is no row 2, which only the device can see.
	_, err = dev.Embedding(index, table)
	fmt.Println("at once:", err)
	err = dev.Sync(ctx)
	fmt.Println("later:", errors.Is(err, lathe.ErrInvalidArgument))
	// Output:
	// at once: <nil>
	// later: true
}

func ExampleDevice_Run() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// A float image of two grey pixels, which stays on the device.
	t, err := lathe.FromSlice(ctx, dev, []float32{0.25, 0.75}, 1, 2, 1)
	if err != nil {
		log.Fatal(err)
	}
	if err := dev.Run(ctx, imageops.Contrast{Factor: 2}, []*lathe.Tensor{t}, []*lathe.Tensor{t}); err != nil {
		log.Fatal(err)
	}
	grey, err := lathe.ToSlice[float32](ctx, t)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(grey)
	// Output:
	// [0 1]
}

// saxpy.comp computes y = a·x + y, see docs/own-shaders.md. A program has it by //go:embed.
func ExampleKernel_Run() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, quiet)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	code, err := os.ReadFile("examples/dispatch/saxpy.spv")
	if err != nil {
		log.Fatal(err)
	}
	kernel, err := dev.LoadKernel(code)
	if err != nil {
		log.Fatal(err)
	}
	x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3, 4})
	if err != nil {
		log.Fatal(err)
	}
	y, err := lathe.FromSlice(ctx, dev, []float32{10, 20, 30, 40})
	if err != nil {
		log.Fatal(err)
	}
	type params struct { // the shader's block
		n uint32
		a float32
	}
	if err := kernel.Run(ctx, []int{4}, params{n: 4, a: 2}, x, y); err != nil {
		log.Fatal(err)
	}
	got, err := lathe.ToSlice[float32](ctx, y)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(got)

	// Wrong arguments are errors that say what the shader has.
	fmt.Println(kernel.Run(ctx, []int{4}, params{}, x))
	// Output:
	// [12 24 36 48]
	// lathe: run kernel: invalid argument: tensors (got 1, want 2): the shader has binding 0 (X): f32, read; binding 1 (Y): f32, read-write
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
