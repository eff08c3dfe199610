package rawptr_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"

	"github.com/lathe-gpu/lathe/rawptr"
)

// words are the bytes of numbers.
func words(xs ...float32) []byte {
	var b []byte
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// floats are the numbers of bytes.
func floats(b []byte) []float32 {
	xs := make([]float32, len(b)/4)
	for i := range xs {
		xs[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return xs
}

// upload allocates memory for numbers and copies them there.
func upload(ctx context.Context, d rawptr.Backend, xs ...float32) rawptr.Ptr {
	p, err := d.Alloc(int64(4 * len(xs)))
	if err != nil {
		log.Fatal(err)
	}
	if err := d.CopyHtoD(ctx, p, words(xs...)); err != nil {
		log.Fatal(err)
	}
	return p
}

func Example() {
	ctx := context.Background()
	dev := rawptr.New()
	if err := dev.Init(ctx); err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	x := upload(ctx, dev, -1, 2, -3, 4)
	// The last three elements: an address inside an allocation is as good as its first one.
	if err := dev.Unary(rawptr.ReLU, x+4, x+4, 3); err != nil {
		log.Fatal(err)
	}
	out := make([]byte, 16)
	if err := dev.CopyDtoH(ctx, out, x); err != nil {
		log.Fatal(err)
	}
	fmt.Println(floats(out))
	// Output: [-1 2 0 4]
}

func ExampleDevice_Reduce() {
	ctx := context.Background()
	dev := rawptr.New()
	if err := dev.Init(ctx); err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	in, out := upload(ctx, dev, 1, 2, 3, 10, 20, 30), upload(ctx, dev, 0, 0)
	if err := dev.Reduce(rawptr.ReduceMean, in, out, []int{2, 3}, 1); err != nil {
		log.Fatal(err)
	}
	means := make([]byte, 8)
	if err := dev.CopyDtoH(ctx, means, out); err != nil {
		log.Fatal(err)
	}
	fmt.Println(floats(means))
	// Output: [2 20]
}

func ExampleDevice_GemmF32() {
	ctx := context.Background()
	dev := rawptr.New()
	if err := dev.Init(ctx); err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// In column-major order, A = [1 3; 2 4] and B = [1 1; 0 1].
	a, b, c := upload(ctx, dev, 1, 2, 3, 4), upload(ctx, dev, 1, 0, 1, 1), upload(ctx, dev, 1, 1, 1, 1)
	// C = 2·A·B − C
	if err := dev.GemmF32(rawptr.NoTrans, rawptr.NoTrans, 2, 2, 2, 2, a, 2, b, 2, -1, c, 2); err != nil {
		log.Fatal(err)
	}
	out := make([]byte, 16)
	if err := dev.CopyDtoH(ctx, out, c); err != nil {
		log.Fatal(err)
	}
	fmt.Println(floats(out))
	// Output: [1 3 7 11]
}

func ExampleDevice_Conv2DForward() {
	ctx := context.Background()
	dev := rawptr.New()
	if err := dev.Init(ctx); err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	// The differences of neighbours in one row of four pixels.
	input, filter, output := upload(ctx, dev, 1, 4, 9, 16), upload(ctx, dev, -1, 1), upload(ctx, dev, 0, 0, 0)
	err := dev.Conv2DForward(input, [4]int{1, 1, 1, 4}, filter, [4]int{1, 1, 1, 2}, output, [4]int{1, 1, 1, 3},
		[2]int{1, 1}, [2]int{0, 0}, rawptr.Conv2DOptions{})
	if err != nil {
		log.Fatal(err)
	}
	out := make([]byte, 12)
	if err := dev.CopyDtoH(ctx, out, output); err != nil {
		log.Fatal(err)
	}
	fmt.Println(floats(out))
	// Output: [3 5 7]
}

func ExampleRegistry() {
	ctx := context.Background()
	r := rawptr.NewRegistry()
	if err := r.Register("mine", 200, func() rawptr.Backend { return rawptr.New(rawptr.WithBackend("missing")) }); err != nil {
		log.Fatal(err)
	}
	// A chain: the first of these that can be opened.
	b, err := r.Open(ctx, "mine", rawptr.NullName)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	fmt.Println(b.Name(), b.IsInitialized())
	// Output: null true
}
