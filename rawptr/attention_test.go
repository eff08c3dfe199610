package rawptr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/rawptr"
)

// attend is attention of one head in float64. seen says how many keys a query sees.
func attend(q, k, v []float32, d int, scale float64, seen func(i int) int) []float64 {
	out := make([]float64, len(q))
	for i := range len(q) / d {
		n := max(min(seen(i), len(k)/d), 0)
		weights, most, sum := make([]float64, n), math.Inf(-1), 0.0
		for j := range weights {
			for c := range d {
				weights[j] += float64(q[i*d+c]) * float64(k[j*d+c]) * scale
			}
			most = max(most, weights[j])
		}
		for j := range weights {
			weights[j] = math.Exp(weights[j] - most)
			sum += weights[j]
		}
		for j, w := range weights {
			for c := range d {
				out[i*d+c] += w / sum * float64(v[j*d+c])
			}
		}
	}
	return out
}

func TestAttention(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(23, 24))
	for round := range 200 {
		batch, heads, seqQ, seqKV, dim := 1+r.IntN(2), 1+r.IntN(3), 1+r.IntN(20), r.IntN(40), 1+r.IntN(20)
		if round%5 == 0 {
			seqQ, seqKV = 1+r.IntN(3), 100+r.IntN(100)
		}
		scale, causal := float32(0.1+r.Float64()), round%2 == 0
		what := fmt.Sprintf("%d×%d of %d queries and %d keys of %d, causal: %v", batch, heads, seqQ, seqKV, dim, causal)
		qs, ks, vs := random(r, batch*heads*seqQ*dim, -1, 1), random(r, batch*heads*seqKV*dim, -1, 1), random(r, batch*heads*seqKV*dim, -1, 1)
		q, k, v, o := put(t, d, qs), put(t, d, ks), put(t, d, vs), put(t, d, random(r, len(qs), 5, 6))
		if err := d.Attention(q, k, v, o, batch, heads, seqQ, seqKV, dim, scale, causal); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		seen := func(i int) int {
			if causal {
				return i + seqKV - seqQ + 1
			}
			return seqKV
		}
		got := get[float32](t, d, o, len(qs))
		for head := range batch * heads {
			a, b := head*seqQ*dim, head*seqKV*dim
			want := attend(qs[a:a+seqQ*dim], ks[b:b+seqKV*dim], vs[b:b+seqKV*dim], dim, float64(scale), seen)
			for i, x := range want {
				if !near(got[a+i], x, 4) {
					t.Fatalf("%s: head %d, element %d is %v (want %v)", what, head, i, got[a+i], x)
				}
			}
		}
		free(t, d, q, k, v, o)
	}
}

// NaN and infinities in keys and values that a query does not see do not reach its row.
func TestAttentionLaterKeys(t *testing.T) {
	d := open(t)
	const seq, dim = 6, 4
	r := rand.New(rand.NewPCG(25, 26))
	qs, ks, vs := random(r, seq*dim, -1, 1), random(r, seq*dim, -1, 1), random(r, seq*dim, -1, 1)
	for i, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		ks[3*dim+i], vs[4*dim+i] = float32(bad), float32(bad) // the last three
	}
	q, k, v, o := put(t, d, qs), put(t, d, ks), put(t, d, vs), alloc(t, d, 4*seq*dim)
	if err := d.Attention(q, k, v, o, 1, 1, seq, seq, dim, 0.5, true); err != nil {
		t.Fatal(err)
	}
	want := attend(qs, ks, vs, dim, 0.5, func(i int) int { return i + 1 })
	for i, x := range get[float32](t, d, o, 3*dim) {
		if !near(x, want[i], 4) {
			t.Errorf("element %d of the first rows is %v (want %v)", i, x, want[i])
		}
	}
	// The row of a query that sees the NaN has it.
	if x := get[float32](t, d, o+rawptr.Ptr(4*3*dim), 1)[0]; x == x {
		t.Errorf("row 3 begins with %v (want NaN)", x)
	}
}

func TestAttentionErrors(t *testing.T) {
	rec := recorder(t)
	d := rec.Device
	p, o := alloc(t, d, 4*2*3*5*4), alloc(t, d, 4*2*3*5*4)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	rec.quiet(t, func() {
		for name, err := range map[string]error{
			"batch": d.Attention(p, p, p, o, -1, 3, 5, 5, 4, 1, false), "heads": d.Attention(p, p, p, o, 2, -3, 5, 5, 4, 1, false),
			"queries": d.Attention(p, p, p, o, 2, 3, -5, 5, 4, 1, false), "keys": d.Attention(p, p, p, o, 2, 3, 5, -5, 4, 1, true),
			"columns": d.Attention(p, p, p, o, 2, 3, 5, 5, -4, 1, false), "no scale": d.Attention(p, p, p, o, 2, 3, 5, 5, 4, 0, false),
			"a negative scale": d.Attention(p, p, p, o, 2, 3, 5, 5, 4, -1, false), "NaN": d.Attention(p, p, p, o, 2, 3, 5, 5, 4, nan, false), "∞": d.Attention(p, p, p, o, 2, 3, 5, 5, 4, inf, true),
			"range of q": d.Attention(p+4, p, p, o, 2, 3, 5, 5, 4, 1, false), "range of k": d.Attention(p, p+4, p, o, 2, 3, 5, 5, 4, 1, false), "range of v": d.Attention(p, p, p+4, o, 2, 3, 5, 5, 4, 1, false),
			"range of o": d.Attention(p, p, p, o+4, 2, 3, 5, 5, 4, 1, false), "o over q": d.Attention(p, o, o, p, 2, 3, 5, 5, 4, 1, false), "more keys": d.Attention(p, p, p, o, 2, 3, 5, 6, 4, 1, false),
			"overflow": d.Attention(p, p, p, o, math.MaxInt, math.MaxInt, 5, 6, 4, 1, false), "a foreign address": d.Attention(p, 3, p, o, 2, 3, 5, 5, 4, 1, false),
		} {
			wantInvalid(t, name, err)
		}
		for _, n := range [][5]int{{0, 3, 5, 5, 4}, {2, 0, 5, 5, 4}, {2, 3, 5, 5, 0}} {
			if err := d.Attention(1, 2, 3, 4, n[0], n[1], n[2], n[3], n[4], 1, false); err != nil {
				t.Errorf("%v: %v", n, err)
			}
		}
	})
}
