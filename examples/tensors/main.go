// Command tensors computes attention step by step and in one call: the scores
// of queries and keys, their softmax, and the mix of values.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/tensor"
)

func main() {
	ctx := context.Background()
	dev, err := lathe.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	if err := attend(ctx, dev); err != nil {
		log.Fatal(err)
	}
}

func attend(ctx context.Context, dev *lathe.Device) error {
	const queries, keys, d = 2, 3, 4
	q, err := lathe.FromSlice(dev, []float32{1, 0, 1, 0, 0, 2, 0, 2}, queries, d)
	if err != nil {
		return err
	}
	k, err := lathe.FromSlice(dev, []float32{1, 1, 1, 1, 0, 2, 0, 2, 2, 0, 2, 0}, keys, d)
	if err != nil {
		return err
	}
	v, err := lathe.FromSlice(dev, []float32{1, 0, 0, 1, 0, 2, 2, 0, 3, 3, 0, 0}, keys, d)
	if err != nil {
		return err
	}

	// Views cost nothing: the transpose of k is k, read in another order.
	kt, err := k.Transpose()
	if err != nil {
		return err
	}
	scores, err := dev.MatMul(q, kt)
	if err != nil {
		return err
	}
	scale, err := lathe.FromFloats(dev, tensor.F32, []float64{1 / math.Sqrt(d)})
	if err != nil {
		return err
	}
	if scores, err = dev.Mul(scores, scale); err != nil {
		return err
	}
	weights, err := dev.Softmax(scores, -1)
	if err != nil {
		return err
	}
	steps, err := dev.MatMul(weights, v)
	if err != nil {
		return err
	}

	// The same in one call, which never holds the scores.
	whole, err := dev.Attention(q, k, v, nil, 1/math.Sqrt(d))
	if err != nil {
		return err
	}
	for _, t := range []*lathe.Tensor{weights, steps, whole} {
		data, err := lathe.ToSlice[float32](ctx, dev, t) // waits for the work
		if err != nil {
			return err
		}
		fmt.Printf("%v %.3f\n", t, data)
	}
	return nil
}
