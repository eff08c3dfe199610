// Decode draws a text from a small decoder, a network as those of language models, and replays its step: the step is recorded once, and each further
// letter is one submission.
//
//	go run ./examples/decode [-letters 200] [-seed 1]
//
// The weights are random (decoder.go), so the text means nothing. The program draws it call by call and by replays, and compares the two.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/lathe-gpu/lathe"
)

func main() {
	log.SetFlags(0)
	letters := flag.Int("letters", 200, "length of the text")
	seed := flag.Uint64("seed", 1, "seed of the weights")
	flag.Parse()
	if *letters < 2 || *letters > positions || flag.NArg() > 0 {
		log.Fatalf("usage: decode [-letters N] [-seed N], with 2 to %d letters", positions)
	}
	if err := run(context.Background(), *letters, *seed); err != nil {
		log.Fatal("decode: ", err)
	}
}

func run(ctx context.Context, letters int, seed uint64) error {
	dev, err := lathe.Open(ctx)
	if err != nil {
		return err
	}
	defer dev.Close()
	c, err := dev.NewCapture(1)
	if err != nil {
		return err
	}
	defer c.Close()
	d, err := newDecoder(ctx, c, seed)
	if err != nil {
		return err
	}
	calls, slow, err := decode(ctx, c, letters, d.callStep)
	if err != nil {
		return err
	}
	replays, fast, err := decode(ctx, c, letters, d.replayStep)
	if err != nil {
		return err
	}
	if !slices.Equal(calls, replays) {
		return fmt.Errorf("replays drew %q, calls %q", spell(replays), spell(calls))
	}
	fmt.Println(spell(replays))
	rate := func(t time.Duration) float64 { return float64(letters-1) / t.Seconds() }
	fmt.Printf("%d letters: %.0f a second call by call, %.0f by replays\n", letters, rate(slow), rate(fast))
	return nil
}

// decode draws a text of n tokens that follow token 0. A token must be known before the next step, so there is one read for each.
// The first step compiles kernels, and it may record, so the time leaves it out.
func decode(ctx context.Context, c *lathe.Capture, n int, next func(context.Context) (uint32, error)) (tokens []uint32, took time.Duration, err error) {
	var begin time.Time
	token := uint32(0)
	for step := range uint32(n) {
		// Token, position and valid length are words on the device. To write them is never recorded.
		if err := c.SetDecodeState(ctx, token, step); err != nil {
			return nil, 0, err
		}
		if token, err = next(ctx); err != nil {
			return nil, 0, fmt.Errorf("step %d: %w", step, err)
		}
		tokens = append(tokens, token)
		if step == 0 {
			begin = time.Now()
		}
	}
	return tokens, time.Since(begin), nil
}

// callStep makes the calls of a step, and returns the token that it draws.
func (d *decoder) callStep(ctx context.Context) (uint32, error) {
	next, err := d.forward(ctx)
	if err != nil {
		return 0, err
	}
	defer d.capture.Device().Free(next)
	return read(ctx, next)
}

// stepKey is the key of the recorded step.
const stepKey = 1

// replayStep replays the step, and records it if there is nothing to replay: at first, or after a tensor of it was freed.
func (d *decoder) replayStep(ctx context.Context) (uint32, error) {
	ok, err := d.capture.Replay(ctx, stepKey)
	if err == nil && !ok {
		// The calls are recorded, and not run. The next replay computes this step.
		err = d.capture.Record(ctx, stepKey, func() (err error) {
			d.next, err = d.forward(ctx)
			return err
		})
		if err == nil {
			ok, err = d.capture.Replay(ctx, stepKey)
		}
	}
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, errors.New("a tensor of the step was freed")
	}
	return read(ctx, d.next) // the same tensor each time
}

// read waits for a token.
func read(ctx context.Context, token *lathe.Tensor) (uint32, error) {
	v, err := lathe.ToSlice[int32](ctx, token)
	if err != nil {
		return 0, err
	}
	return uint32(v[0]), nil
}

// spell writes tokens as letters.
func spell(tokens []uint32) string {
	text := make([]byte, len(tokens))
	for i, t := range tokens {
		text[i] = alphabet[t]
	}
	return string(text)
}
