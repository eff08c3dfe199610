package main

import (
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	measure "github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

func TestWriteSectionKeepsTheRest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "performance.md")
	section := func(device, cell string, names ...string) *results {
		r := &results{Device: device}
		for _, name := range append(names, "ops") {
			tb := &table{Section: name, Title: "T", Header: []string{"a"}}
			tb.row(cell)
			tb.note("of %s", name)
			r.Tables = append(r.Tables, tb)
		}
		return r
	}
	write := func(r *results) string {
		if err := writeSection(file, r); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	write(section("gpu one", "first", "matmul"))
	if err := os.WriteFile(file, []byte("by hand\n\n"+write(section("gpu two", "second"))+"\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := write(section("gpu one", "third"))
	for text, want := range map[string]int{"by hand": 1, "after": 1, "| first": 1, "of matmul": 1, "of ops": 2, "| second": 1, "| third": 1, "## gpu one": 1, "## gpu two": 1} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("%q is there %d times, want %d:\n%s", text, n, want, got)
		}
	}
}

// The pictures that are timed are compared too; the comparison must see a
// difference, and peers that claim to be near must be near each other.
func TestPeersAgree(t *testing.T) {
	src := testimg.Photo(160, 120, 1)
	if d := distance(src, testimg.Photo(160, 120, 2)); d < 2 {
		t.Errorf("two scenes are %.2f apart", d)
	}
	for _, c := range comparisons(src) {
		var first image.Image
		for _, p := range c.peers {
			got := p.run()
			if p.near < 0 {
				continue
			}
			n := toNRGBA(got)
			if first == nil {
				first = n
			} else if d := distance(n, first); d > 2*p.near+0.01 {
				t.Errorf("%s: %s is %.3f from the first peer", c.name, p.name, d)
			}
			if d := distance(n, src); d < 0.5 {
				t.Errorf("%s: %s returned the source", c.name, p.name)
			}
		}
	}
}

// toNRGBA is an opaque picture as NRGBA.
func toNRGBA(img image.Image) *image.NRGBA {
	if m, ok := img.(*image.RGBA); ok {
		return &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
	}
	return img.(*image.NRGBA)
}

func TestStatusBytes(t *testing.T) {
	_, err := os.Stat("/proc/self/status")
	testkit.System(t, "/proc", err)
	if n := statusBytes("/proc/self/status", "VmRSS"); n < 1<<20 || n > 1<<34 {
		t.Errorf("resident size %d", n)
	}
	if n := statusBytes("/nowhere", "VmRSS"); n != 0 {
		t.Errorf("a missing file gave %d", n)
	}
}

// Every target is that of a call the bench makes, and says when it is missed.
func TestTargets(t *testing.T) {
	keys := map[string]bool{}
	for _, w := range new(measure.Options).BenchCases(&gpu.Info{Kind: gpu.CPU}) {
		keys[measure.Key(w)] = true
	}
	for key := range targets {
		if !keys[key] {
			t.Errorf("no call %q is measured", key)
		}
	}
	x := &measure.Row{Memcpy: 0.5, GFlops: 10, Peak: 100, Time: measure.Timing{Median: 24e6}} // 1000 MP/s
	for g, want := range map[target]string{
		{memcpy: 0.4}: "≥ 0.4 of memcpy", {memcpy: 0.6}: "≥ 0.6 of memcpy, missed", {peak: 0.2}: "≥ 0.2 of the multiply-adds, missed",
		{gflops: 9}: "≥ 9 GFLOP/s", {pixels: 800}: "≥ 800 MP/s, has 1000", {}: "",
	} {
		if got := g.of(x); got != want {
			t.Errorf("%+v: %q, want %q", g, got, want)
		}
	}
}

// gonum's products are those of the definition, in each form that is timed.
func TestMatmulPeers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = rng.Float32() - 0.5
		}
		return v
	}
	for _, c := range []matmulCase{{batch: 2, m: 3, n: 4, k: 5}, {batch: 1, m: 3, n: 4, k: 5, transB: true}, {batch: 1, m: 70, n: 1, k: 80}} {
		a, b := random(c.batch*c.m*c.k), random(c.batch*c.k*c.n)
		got, want := make([]float32, c.batch*c.m*c.n), make([]float32, c.batch*c.m*c.n)
		if err := c.gonum(a, b, got)(); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			batch, row, column := i/(c.m*c.n), i/c.n%c.m, i%c.n
			for k := range c.k {
				at := k*c.n + column
				if c.transB {
					at = column*c.k + k
				}
				want[i] += a[(batch*c.m+row)*c.k+k] * b[batch*c.k*c.n+at]
			}
		}
		if err := sameFloats(got, want, float64(c.k)); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		want[len(want)-1] += 0.1
		if sameFloats(got, want, float64(c.k)) == nil {
			t.Errorf("%+v: a wrong element passes", c)
		}
	}
}
