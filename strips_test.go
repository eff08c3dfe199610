package lathe

import (
	"testing"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/spec"
)

// TestStripsOfTurnedPictures checks that a picture which every strip needs whole is not sent
// hundreds of times, and that other pictures keep to the size of a strip.
func TestStripsOfTurnedPictures(t *testing.T) {
	const n, size = 16384, 256 << 20
	for _, c := range []struct {
		call  spec.Call
		least int // rows of a strip but for the last one
		most  int64
	}{
		{imageops.Rotate{Degrees: 90}, 4000, 1 << 30},
		{imageops.Rotate{Degrees: 45}, 2000, 1 << 30},
		{imageops.Rotate{Degrees: 1, Canvas: "keep"}, 2000, size},
		{imageops.Flip{}, 4000, size},
		{imageops.GaussianBlur{Sigma: 20}, 3000, size},
	} {
		chain, err := newImageChain([]spec.Call{c.call}, n, n)
		if err != nil {
			t.Fatal(err)
		}
		list, next := chain.strips(size), 0
		for i, s := range list {
			if s.want.From != next || s.want.To <= next || i < len(list)-1 && s.want.To-next < c.least {
				t.Fatalf("%s: strip %d of %d has rows %v", spec.FormatCall(c.call), i, len(list), s.want)
			}
			next = s.want.To
		}
		if h := chain.pictures[1].Shape[0]; next != h || chain.largest(list) > c.most {
			t.Errorf("%s: %d of %d rows, a picture of %d bytes", spec.FormatCall(c.call), next, h, chain.largest(list))
		}
	}
}
