package conformance

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// occur returns the pairs of levels that the rows contain.
func occur(rows [][]int) map[pairOf]bool {
	seen := map[pairOf]bool{}
	for _, r := range rows {
		for a := range r {
			for b := a + 1; b < len(r); b++ {
				seen[pairOf{a, r[a], b, r[b]}] = true
			}
		}
	}
	return seen
}

// TestCovering checks that every possible pair occurs, in far fewer rows than there are
// combinations.
func TestCovering(t *testing.T) {
	for _, c := range []struct {
		name  string
		c     covering
		pairs int // number of possible pairs
		most  int // largest number of rows
	}{
		{"free", covering{levels: []int{6, 8, 5, 10, 18, 18}}, 6*(8+5+10+36) + 8*(5+10+36) + 5*46 + 10*36 + 324, 450},
		{"some pairs", covering{levels: []int{6, 8, 5, 10, 18, 18}, want: func(a, b int) bool { return b < 4 }}, 6*23 + 8*15 + 50, 110},
		{"excluded", covering{levels: []int{4, 4, 4}, ok: func(r []int) bool { return r[0] != r[1] && r[2] <= r[0] }}, 12 + 10 + 15, 40},
		{"rare", covering{levels: []int{5, 5, 5, 2}, ok: func(r []int) bool { return r[3] == 0 || r[0] == 3 && r[1] != 3 }}, 75 + 15 + 1 + 4 + 5, 60},
		{"one factor", covering{levels: []int{7}}, 0, 7},
	} {
		for seed := range uint64(5) {
			rows, impossible := c.c.chooseRows(rand.New(rand.NewPCG(seed, 1)))
			seen := 0
			for p := range occur(rows) {
				if c.c.want == nil || c.c.want(p.a, p.b) {
					seen++
				}
			}
			if seen != c.pairs || len(rows) > c.most {
				t.Errorf("%s, seed %d: %d pairs in %d rows, want %d in %d at most (%d impossible)", c.name, seed, seen, len(rows), c.pairs, c.most, impossible)
			}
			for _, r := range rows {
				if c.c.ok != nil && !c.c.ok(r) {
					t.Errorf("%s, seed %d: there is no row %v", c.name, seed, r)
				}
			}
		}
	}
}

// TestCoveringRepeats checks that the same seed gives the same rows, that another seed
// gives other rows, and that given rows count.
func TestCoveringRepeats(t *testing.T) {
	c := covering{levels: []int{3, 4, 5}}
	rows := func(seed uint64, first ...[]int) [][]int {
		r, _ := c.chooseRows(rand.New(rand.NewPCG(seed, 1)), first...)
		return r
	}
	equal := func(a, b [][]int) bool { return slices.EqualFunc(a, b, slices.Equal) }
	a := rows(1)
	if !equal(a, rows(1)) || equal(a, rows(2)) {
		t.Error("the seed does not decide the rows")
	}
	if again := rows(3, a...); !equal(a, again) {
		t.Errorf("%d rows that cover all became %d", len(a), len(again))
	}
	if got := c.sampleRows(rand.New(rand.NewPCG(1, 1)), 9); len(got) != 9 {
		t.Errorf("a sample of 9 has %d rows", len(got))
	}
}

// TestCoveringHides checks that a row with a level that hides the others only counts for
// pairs with that level. All other pairs occur in rows without it.
func TestCoveringHides(t *testing.T) {
	c := covering{levels: []int{4, 5, 6}, hides: func(a, i int) bool { return a > 0 && i == 0 }}
	for seed := range uint64(5) {
		rows, _ := c.chooseRows(rand.New(rand.NewPCG(seed, 1)))
		var seen [][]int
		for _, r := range rows {
			if r[1] > 0 && r[2] > 0 {
				seen = append(seen, r)
			}
		}
		if got, want := len(occur(seen)), 4*4+4*5+4*5; got != want {
			t.Errorf("seed %d: %d pairs occur without a level that hides them, want %d", seed, got, want)
		}
		if got, want := len(occur(rows)), 4*5+4*6+5*6; got < want-1 { // Two levels that hide need not occur together.
			t.Errorf("seed %d: %d pairs occur, want %d", seed, got, want)
		}
	}
}
