package foreign_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/testspv/generate"
	"github.com/lathe-gpu/lathe/internal/testspv/interp"
)

// options are the constructs that the module of a seed may have. Every second
// one keeps to what all devices run.
func options(seed uint64) generate.Options {
	if seed%2 == 0 {
		return generate.Options{Mixed: seed%4 == 0, SMod: seed%4 == 0}
	}
	b := seed / 2
	return generate.Options{Wide: b%2 == 0, Carries: b/2%2 == 0, Atomics: b/4%4 == 0, Subgroups: b/16%4 == 0, Texels: b/64%4 == 0, Mixed: b/256%2 == 0, SMod: true}
}

// generated is the module of a seed, with what it must compute.
func generated(t *testing.T, seed uint64) (trial, bool) {
	o := options(seed)
	m := generate.New(seed, o)
	l := &interp.Launch{Buffers: map[uint32][]byte{}, Push: m.Push, Groups: m.Groups}
	for i, b := range m.Buffers {
		l.Buffers[uint32(i)] = slices.Clone(b)
	}
	res, err := interp.Run(m.Code, l)
	if err != nil || res.Undefined != "" {
		t.Errorf("seed %d: the suite's own mistake: %v, undefined: %q", seed, err, res.Undefined)
		return trial{}, false
	}
	return trial{
		name: strconv.FormatUint(seed, 10), what: fmt.Sprintf("%+v", o),
		job: launch.Job{Code: m.Code, Buffers: m.Buffers, Push: m.Push, Groups: m.Groups},
		check: func(got [][]byte) error {
			for i := range m.Buffers {
				if err := compare(got[i], l.Buffers[uint32(i)], m.Floats[i], m.Near[i]); err != nil {
					return fmt.Errorf("binding %d: %w", i, err)
				}
			}
			return nil
		},
	}, true
}

// compare compares words, or floats as numbers, exactly or nearly.
func compare(got, want []byte, floats, near bool) error {
	if !floats && bytes.Equal(got, want) {
		return nil
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d bytes (want %d)", len(got), len(want))
	}
	bad, first := 0, ""
	for i := 0; i+4 <= len(want); i += 4 {
		g, w := binary.LittleEndian.Uint32(got[i:]), binary.LittleEndian.Uint32(want[i:])
		fg, fw := float64(math.Float32frombits(g)), float64(math.Float32frombits(w))
		ok := g == w
		if floats {
			ok = fg == fw || near && math.Abs(fg-fw) <= 1e-3*max(1, math.Abs(fw))
		}
		if ok {
			continue
		}
		if bad++; bad == 1 {
			first = fmt.Sprintf("word %d is %#x (want %#x)", i/4, g, w)
			if floats {
				first = fmt.Sprintf("element %d is %g (want %g)", i/4, fg, fw)
			}
		}
	}
	if bad == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d words differ, the first: %s", bad, len(want)/4, first)
}

// Modules made at random compute the same on every driver as the interpreter does.
func TestGenerated(t *testing.T) {
	s := chosen(t, 150, 25*time.Second)
	rng := rand.New(rand.NewPCG(s.seed, 2))
	if s.all {
		s.count, s.bound = 100_000/s.shard[1], 0
	}
	tallies := try(t, s.bound, func(give func(trial) bool) {
		if s.only != "" {
			seed, err := strconv.ParseUint(s.only, 10, 64)
			if err != nil {
				t.Fatalf("LATHE_FUZZ_ONLY: %v", err)
			}
			if x, ok := generated(t, seed); ok {
				give(x)
			}
			return
		}
		for i := range s.count {
			seed := uint64(rng.Uint32())
			if s.all {
				seed = uint64(i*s.shard[1] + s.shard[0] - 1)
			}
			if x, ok := generated(t, seed); ok && !give(x) {
				return
			}
		}
	})
	for _, d := range tallies {
		if s.only == "" && d.ran == 0 {
			t.Errorf("%s ran no module", d.driver)
		}
	}
}
