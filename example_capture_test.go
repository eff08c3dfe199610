package lathe_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/ops"
)

// Work that is recorded once is replayed with other data in the same tensors.
func ExampleDevice_NewCapture() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend("cpu"))
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3}, 3)
	if err != nil {
		log.Fatal(err)
	}
	c, err := dev.NewCapture(4)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	if err := c.Begin(ctx); err != nil {
		log.Fatal(err)
	}
	y, err := c.Device().Mul(x, lathe.Scalar(10)) // recorded, and not run
	if err != nil {
		log.Fatal(err)
	}
	if err := c.End(ctx, 1); err != nil {
		log.Fatal(err)
	}
	for _, v := range []float32{1, 5} {
		data, err := lathe.FromSlice(ctx, dev, []float32{v, v, v}, 3)
		if err != nil {
			log.Fatal(err)
		}
		if err := dev.Run(ctx, ops.Copy{}, []*lathe.Tensor{data}, []*lathe.Tensor{x}); err != nil {
			log.Fatal(err)
		}
		ok, err := c.Replay(ctx, 1)
		if err != nil {
			log.Fatal(err)
		}
		got, err := lathe.ToSlice[float32](ctx, y)
		fmt.Println(ok, got, err)
	}
	// Output:
	// true [10 10 10] <nil>
	// true [50 50 50] <nil>
}

// A replay computes with other tensors in place of those that were recorded.
func ExampleCapture_ReplayWith() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithBackend("cpu"))
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	c, err := dev.NewCapture(1)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	x, err := lathe.FromSlice(ctx, dev, []float32{1, 2, 3}, 3)
	if err != nil {
		log.Fatal(err)
	}
	other, err := lathe.FromSlice(ctx, dev, []float32{7, 8, 9}, 3)
	if err != nil {
		log.Fatal(err)
	}
	var y *lathe.Tensor
	err = c.Record(ctx, 1, func() (err error) {
		if y, err = c.Device().Mul(x, lathe.Scalar(10)); err != nil {
			return err
		}
		return c.Bindable(x)
	})
	if err != nil {
		log.Fatal(err)
	}
	ok, err := c.ReplayWith(ctx, 1, lathe.Rebind{From: x, To: other})
	if err != nil {
		log.Fatal(err)
	}
	got, err := lathe.ToSlice[float32](ctx, y)
	fmt.Println(ok, got, err)
	// Output:
	// true [70 80 90] <nil>
}
