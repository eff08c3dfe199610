package main

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/wgpu" // a backend to try
)

// The device and a float64 run of the same formulas begin with the same
// weights and see the same digits. Rounding parts them slowly, and a step adds to
// it what one operation does, a few units in 10⁷ (2·10⁻⁶ after 500 steps on
// lavapipe): each step's loss must be within this of the other's, relative to
// the larger of it and 1/10. A gradient that is wrong in one place parts them by
// more within a few steps.
const near = 2e-5

func TestTraining(t *testing.T) {
	testlevel.Need(t, testlevel.Full) // trains for some seconds
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithLogger(nil))
	testkit.Device(t, dev, err)
	const steps, seed = 400, 1
	train, test, w := write(trained, 2*seed), write(tested, 2*seed+1), newWeights(layers, seed)
	net, err := newNetwork(t.Context(), dev, layers, w, train, test)
	if err != nil {
		t.Fatal(err)
	}
	want := newRun64(w)
	worst, last := 0.0, 0.0
	for i, digits := range batches(train.len(), steps, seed) {
		if err := net.learn(t.Context(), digits); err != nil {
			t.Fatal(err)
		}
		got, err := net.loss(ctx)
		if err != nil {
			t.Fatal(err)
		}
		exact := want.train(train, digits)
		if i == 0 && !(exact > 2.2) {
			t.Errorf("the loss begins at %.3f: nothing to learn", exact)
		}
		off := math.Abs(got-exact) / max(exact, 0.1)
		worst = max(worst, off)
		if !(off <= near) {
			t.Fatalf("step %d: loss %.7f, in float64 %.7f: %.2g apart, want at most %g", i+1, got, exact, off, near)
		}
		if i >= steps-20 {
			last += exact / 20
		}
	}
	guess, err := net.recognise(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n, n64 := right(test, guess), want.right(test)
	t.Logf("losses at most %.2g apart, the last ones %.4f; %d of %d digits right, %d in float64", worst, last, n, test.len(), n64)
	if last > 0.05 {
		t.Errorf("the loss falls to %.3f, want at most 0.05", last)
	}
	if n < test.len()*95/100 {
		t.Errorf("%d of %d digits right, want 95 %%", n, test.len())
	}
	if d := n - n64; d > 2 || d < -2 {
		t.Errorf("%d digits right, in float64 %d", n, n64)
	}
}

// The float64 run's gradients are the slopes of its loss.
func TestFloat64Gradients(t *testing.T) {
	d := write(20, 3)
	digits := []int{3, 1, 4, 15, 9, 2, 6}
	r := newRun64(newWeights(layers, 4))
	r.train(d, digits) // away from where gamma is 1 and beta 0
	exact := r.clone()
	exact.train(d, digits)
	for p, q := range exact.params() {
		for i := 0; i < len(q.g); i += 1 + len(q.g)/7 {
			const h = 1e-5
			up, down := r.clone(), r.clone()
			up.params()[p].v[i] += h
			down.params()[p].v[i] -= h
			slope := (up.train(d, digits) - down.train(d, digits)) / (2 * h)
			if math.Abs(slope-q.g[i]) > 1e-7+1e-6*math.Abs(slope) {
				t.Errorf("parameter %d, element %d: gradient %g, slope %g", p, i, q.g[i], slope)
			}
		}
	}
}

// The digits are the same each time, all ten as often, and of two seeds none
// are alike.
func TestDigits(t *testing.T) {
	a, b := write(500, 1), write(500, 2)
	if again := write(500, 1); !slices.Equal(a.images, again.images) || !slices.Equal(a.labels, again.labels) {
		t.Error("one seed gave two sets")
	}
	var count [classes]int
	seen := map[string]int{}
	for i := range a.len() {
		count[a.labels[i]]++
		seen[string(a.image(i))]++
		seen[string(b.image(i))]++
		ink := 0
		for _, v := range a.image(i) {
			ink += int(v)
		}
		if share := float64(ink) / (255 * pixels); share < 0.03 || share > 0.4 {
			t.Errorf("digit %d, a %d: %.1f %% ink", i, a.labels[i], 100*share)
		}
	}
	for digit, n := range count {
		if n != 50 {
			t.Errorf("%d digits are a %d, want 50", n, digit)
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d different digits in two sets of 500", len(seen))
	}
}
