package main

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/wgpu" // a backend to try
)

// TestReplayedText draws texts by replays and call by call, twice and in turns: the tokens are the same, whatever a text before has left in the caches. Another
// seed has another text. A step whose tensor was freed is recorded anew, and a step that fails is not recorded.
func TestReplayedText(t *testing.T) {
	testlevel.Turn(t, 5)
	for _, backend := range []string{"vk", "cpu", "wgpu"} {
		t.Run(backend, func(t *testing.T) {
			testkit.Built(t, drivers.Built(), backend)
			ctx := t.Context()
			dev, err := lathe.Open(ctx, lathe.WithBackend(backend), lathe.WithLogger(nil))
			testkit.Opened(t, err)
			defer dev.Close()
			c, err := dev.NewCapture(1)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			newOf := func(seed uint64) *decoder {
				d, err := newDecoder(ctx, c, seed)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			text := func(d *decoder, replays bool, n int) []uint32 {
				next := d.callStep
				if replays {
					next = d.replayStep
				}
				tokens, _, err := decode(ctx, c, n, next)
				if err != nil {
					t.Fatal(err)
				}
				return tokens
			}
			const n = 29
			d := newOf(1)
			want := text(d, false, n)
			if len(c.Keys()) > 0 {
				t.Errorf("calls recorded %v", c.Keys())
			}
			for round, n := range []int{n, 17, n} {
				if got := text(d, true, n); !slices.Equal(got, want[:n]) {
					t.Errorf("round %d: replays drew %q, calls %q", round, spell(got), spell(want[:n]))
				}
				if got := text(d, false, n); !slices.Equal(got, want[:n]) {
					t.Errorf("round %d: calls drew %q, at first %q", round, spell(got), spell(want[:n]))
				}
				if !slices.Equal(c.Keys(), []uint64{stepKey}) {
					t.Errorf("round %d: recorded %v", round, c.Keys())
				}
			}
			if kinds := len(slices.Compact(slices.Sorted(slices.Values(want)))); kinds < 8 {
				t.Errorf("only %d letters in %q", kinds, spell(want))
			}
			if err := dev.Free(d.norm); err != nil {
				t.Fatal(err)
			}
			d.norm = newOf(1).norm
			if got := text(d, true, n); !slices.Equal(got, want) {
				t.Errorf("with another tensor replays drew %q, want %q", spell(got), spell(want))
			}
			if other := text(newOf(2), false, n); slices.Equal(other, want) {
				t.Error("another seed has the same text")
			}
			if err := dev.Free(d.logits); err != nil {
				t.Fatal(err)
			}
			for _, next := range []func(context.Context) (uint32, error){d.callStep, d.replayStep} {
				if _, _, err := decode(ctx, c, n, next); !errors.Is(err, lathe.ErrInvalidHandle) {
					t.Errorf("without logits: got %v, want ErrInvalidHandle", err)
				}
			}
			if c.Recording() {
				t.Error("after an error it still records")
			}
		})
	}
}
