// Command tensors computes attention step by step and in one call: the scores
// of queries and keys, their softmax, and the mix of values.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/lathe-gpu/lathe"
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
	s := dev.Scope(ctx) // collects errors, and frees all tensors at the end
	defer s.Close()
	const d = 4
	q := s.Take(lathe.FromRows(ctx, dev, [][]float32{{1, 0, 1, 0}, {0, 2, 0, 2}}))
	k := s.Take(lathe.FromRows(ctx, dev, [][]float32{{1, 1, 1, 1}, {0, 2, 0, 2}, {2, 0, 2, 0}}))
	v := s.Take(lathe.FromRows(ctx, dev, [][]float32{{1, 0, 0, 1}, {0, 2, 2, 0}, {3, 3, 0, 0}}))

	// Views cost nothing: the transpose of k is k, read in another order.
	scores := s.Mul(s.MatMul(q, s.Take(k.Transpose())), lathe.Scalar(1/math.Sqrt(d)))
	weights := s.Softmax(scores, -1)
	steps := s.MatMul(weights, v)

	// The same in one call, which never holds the scores.
	whole := s.Attention(q, k, v, nil, 1/math.Sqrt(d))

	for _, t := range []*lathe.Tensor{weights, steps, whole} {
		rows, err := lathe.ToRows[float32](ctx, t) // waits for the work; an error of s comes here too
		if err != nil {
			return err
		}
		fmt.Printf("%v %.3f\n", t, rows)
	}
	return nil
}
