package exec

import (
	"context"
	"errors"
	"testing"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/spec"
)

// TestTrace checks that every Run is traced with its error, and that its dispatches are
// tagged.
func TestTrace(t *testing.T) {
	type told struct {
		name, call, in, out string
		err                 error
		ended               int
	}
	var calls []*told
	begin := func(name string, args map[string]string) (uint64, func(error)) {
		c := &told{name: name, call: args["call"], in: args["in"], out: args["out"]}
		calls = append(calls, c)
		return uint64(100 + len(calls)), func(err error) { c.err, c.ended = err, c.ended+1 }
	}
	chain := imageops.Fuse([]spec.Call{imageops.InvertColors{}, imageops.Brightness{Factor: 2}})
	r, dev := recorder(t, WithTrace(begin))
	a, b := picture(t, dev, 8, 16), picture(t, dev, 8, 16)
	ctx := context.Background()
	if err := r.Run(ctx, imageops.GaussianBlur{Sigma: 2}, []Operand{a}, []Operand{b}); err != nil {
		t.Fatal(err)
	}
	wrong := r.Run(ctx, imageops.Sharpen{}, []Operand{a}, nil)
	none := r.Run(ctx, nil, nil, nil)
	list := dev.Recorded()
	if err := r.Run(ctx, chain[0], []Operand{a}, []Operand{b}); err != nil {
		t.Fatal(err)
	}
	if wrong == nil || none == nil {
		t.Fatal("no error of a call without output, or of no call")
	}
	if len(calls) != 4 {
		t.Fatalf("%d calls told, want 4", len(calls))
	}
	want := []told{
		{"gaussian_blur", "gaussian_blur sigma=2 ignore_alpha=false", "u8[8,16,4]", "u8[8,16,4]", nil, 1},
		{"sharpen", calls[1].call, "u8[8,16,4]", "", wrong, 1},
		{"no operation", "", "", "", none, 1},
		{"pointwise", "invert_colors | brightness factor=2 offset=0", "u8[8,16,4]", "u8[8,16,4]", nil, 1},
	}
	for i, w := range want {
		if g := *calls[i]; g.name != w.name || g.call != w.call || g.in != w.in || g.out != w.out || !errors.Is(g.err, w.err) || g.ended != w.ended {
			t.Errorf("call %d: told %+v, want %+v", i, g, w)
		}
	}
	if len(list) == 0 {
		t.Fatal("nothing was dispatched")
	}
	for i, d := range list {
		if d.Tag != 101 {
			t.Errorf("dispatch %d has tag %d, want 101", i, d.Tag)
		}
	}
}
