// Digits trains a small network to read handwriting, on the device: a step of it, forwards, backwards
// and the new weights, is one compiled graph.
//
//	go run ./examples/digits [-conv] [-steps 400] [-seed 1]
//
// The network has a hidden layer (layers.go), or with -conv two convolutions
// (convolutions.go). The digits are drawn by the program (draw.go), so there is nothing to
// download. The tests train the same networks in float64 and compare.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/lathe-gpu/lathe"
)

func main() {
	log.SetFlags(0)
	steps := flag.Int("steps", 400, "steps of training, of 64 digits each")
	seed := flag.Uint64("seed", 1, "seed of the digits, the first weights and their order")
	conv := flag.Bool("conv", false, "a convolutional network instead of one with a hidden layer")
	flag.Parse()
	if *steps < 1 || flag.NArg() > 0 {
		log.Fatal("usage: digits [-conv] [-steps N] [-seed N], with N from 1 on")
	}
	m := layers
	if *conv {
		m = convolutions
	}
	if err := run(context.Background(), m, *steps, *seed); err != nil {
		log.Fatal("digits: ", err)
	}
}

const (
	trained = 4000 // digits to learn from
	tested  = 1000 // others, to be tested with
)

func run(ctx context.Context, m model, steps int, seed uint64) error {
	dev, err := lathe.Open(ctx)
	if err != nil {
		return err
	}
	defer dev.Close()
	train, test := write(trained, 2*seed), write(tested, 2*seed+1)
	fmt.Printf("%d digits to learn from, such as\n\n%s\n", train.len(), show(train, 0, 1, 2, 3, 4))
	net, err := newNetwork(ctx, dev, m, newWeights(m, seed), train, test)
	if err != nil {
		return err
	}
	fmt.Printf("training on %s\n", dev.Info().Name)
	begin := time.Now()
	var guess [][]float32
	for i, digits := range batches(train.len(), steps, seed) {
		if err := net.learn(ctx, digits); err != nil {
			return err
		}
		// The device works on its own until it is asked for a result.
		if done := i + 1; done%50 == 0 || done == 1 || done == steps {
			loss, err := net.loss(ctx)
			if err != nil {
				return err
			}
			if guess, err = net.recognise(ctx); err != nil {
				return err
			}
			fmt.Printf("step %4d  loss %.4f  reads %.1f %% of %d digits it has not seen\n", done, loss, 100*float64(right(test, guess))/float64(test.len()), test.len())
		}
	}
	fmt.Printf("%d steps in %v\n", steps, time.Since(begin).Round(time.Millisecond))
	fmt.Printf("\n%s\n%s", confusion(test, guess), mistakes(test, guess))
	return nil
}

// batches gives the digits of each step: every epoch takes them in a new order.
func batches(n, steps int, seed uint64) [][]int {
	rng := rand.New(rand.NewPCG(seed, 0x0bde))
	var out [][]int
	var order []int
	for range steps {
		if len(order) < batch {
			order = rng.Perm(n)
		}
		out = append(out, order[:batch])
		order = order[batch:]
	}
	return out
}

// right counts the digits that were recognised.
func right(d dataset, guess [][]float32) int {
	n := 0
	for i, p := range guess {
		if best(p) == int(d.labels[i]) {
			n++
		}
	}
	return n
}

// best is the index of the largest value.
func best[T float32 | float64](v []T) int {
	at := 0
	for i, x := range v {
		if x > v[at] {
			at = i
		}
	}
	return at
}

// confusion is the table of what was written and what was read.
func confusion(d dataset, guess [][]float32) string {
	var count [classes][classes]int
	for i, p := range guess {
		count[d.labels[i]][best(p)]++
	}
	var b strings.Builder
	b.WriteString("written \\ read")
	for c := range classes {
		fmt.Fprintf(&b, "%5d", c)
	}
	b.WriteByte('\n')
	for l, row := range count {
		fmt.Fprintf(&b, "%14d", l)
		for _, n := range row {
			if n == 0 {
				b.WriteString("    ·")
			} else {
				fmt.Fprintf(&b, "%5d", n)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// mistakes shows a few digits that were read wrongly.
func mistakes(d dataset, guess [][]float32) string {
	var wrong []int
	var said []string
	for i, p := range guess {
		if g := best(p); g != int(d.labels[i]) && len(wrong) < 4 {
			wrong = append(wrong, i)
			said = append(said, fmt.Sprintf("a %d read as %d (%.0f %%)", d.labels[i], g, 100*p[g]))
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return strings.Join(said, ", ") + ":\n\n" + show(d, wrong...)
}

// show draws digits side by side in characters, two pixels high each.
func show(d dataset, digits ...int) string {
	const shades = " .:-=+*#%@"
	var b strings.Builder
	for y := 0; y < side; y += 2 {
		for _, i := range digits {
			img := d.image(i)
			for x := range side {
				v := (int(img[y*side+x]) + int(img[(y+1)*side+x])) / 2
				b.WriteByte(shades[v*len(shades)/256])
			}
			b.WriteString("  ")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
