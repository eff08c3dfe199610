package conformance

import (
	"math/rand/v2"
	"slices"
)

// covering is the task of choosing rows, each with one level of every factor, so
// that any two levels of two factors occur together in some row. Most mistakes need
// one or two things to come together, and far fewer rows do that than all
// combinations are.
type covering struct {
	levels []int // how many levels each factor has, from 0 on
	// want reports whether the pairs of the factors a < b matter; nil: all do. Every
	// level of every factor matters by itself.
	want func(a, b int) bool
	// ok reports whether there is such a row; nil: any is.
	ok func(row []int) bool
	// hides reports whether level i of factor a keeps what the others do from being
	// seen, as a size of 0 does; nil: none does. A row with such a level counts for the
	// pairs with one only.
	hides func(a, i int) bool
}

// hidden reports whether a level of the pair hides the rest of a row.
func (c *covering) hidden(p pairOf) bool {
	return c.hides != nil && (c.hides(p.a, p.i) || c.hides(p.b, p.j))
}

// clear reports whether no level of a row hides the rest.
func (c *covering) clear(row []int) bool {
	for a, i := range row {
		if c.hides != nil && c.hides(a, i) {
			return false
		}
	}
	return true
}

// triesEach is how many ways to fill a row up are tried for two levels before they
// are taken to exclude each other.
const triesEach = 24

// pairOf are two levels of two factors, of one factor if a == b.
type pairOf struct{ a, i, b, j int }

// rows chooses them: greedily, each takes the uncovered pair that is first in a
// shuffled list, and fills in what covers most. The rows first are part of the
// choice already. impossible counts pairs for which no row was found.
func (c *covering) rows(rng *rand.Rand, first ...[]int) (rows [][]int, impossible int) {
	open := map[pairOf]bool{}
	var pending []pairOf
	for a := range c.levels {
		for b := a; b < len(c.levels); b++ {
			if a != b && c.want != nil && !c.want(a, b) {
				continue
			}
			for i := range c.levels[a] {
				for j := range c.levels[b] {
					if a == b && i != j {
						continue
					}
					p := pairOf{a, i, b, j}
					pending, open[p] = append(pending, p), true
				}
			}
		}
	}
	rng.Shuffle(len(pending), func(i, j int) { pending[i], pending[j] = pending[j], pending[i] })
	take := func(row []int) {
		rows = append(rows, row)
		clear := c.clear(row)
		for a := range row {
			for b := a; b < len(row); b++ {
				if p := (pairOf{a, row[a], b, row[b]}); clear || c.hidden(p) {
					delete(open, p)
				}
			}
		}
	}
	for _, row := range first {
		take(row)
	}
	for _, p := range pending {
		if !open[p] {
			continue
		}
		if row := c.with(p, open, rows, rng); row != nil {
			take(row)
		} else {
			impossible++
		}
	}
	return rows, impossible
}

// with is a row that has the pair, or nil.
func (c *covering) with(p pairOf, open map[pairOf]bool, rows [][]int, rng *rand.Rand) []int {
	for try := range triesEach {
		var row []int
		switch {
		case try%3 == 1 && len(rows) > 0: // one that is known to exist, with the pair
			row = slices.Clone(rows[rng.IntN(len(rows))])
			row[p.a], row[p.b] = p.i, p.j
		case try%3 == 2:
			row = c.any(rng)
			row[p.a], row[p.b] = p.i, p.j
		default:
			row = c.fill(p, open, rng)
		}
		if (c.hidden(p) || c.clear(row)) && (c.ok == nil || c.ok(row)) {
			return row
		}
	}
	return nil
}

// fill is a row with the pair in which each further level covers the most open pairs
// with those before it.
func (c *covering) fill(p pairOf, open map[pairOf]bool, rng *rand.Rand) []int {
	row := make([]int, len(c.levels))
	for k := range row {
		row[k] = -1
	}
	row[p.a], row[p.b] = p.i, p.j
	for _, k := range rng.Perm(len(row)) {
		if row[k] >= 0 {
			continue
		}
		best, most := 0, -1
		for _, i := range rng.Perm(c.levels[k]) {
			if c.hides != nil && c.hides(k, i) {
				continue
			}
			fresh := 0
			for o, j := range row {
				if j >= 0 && (o < k && open[pairOf{o, j, k, i}] || o > k && open[pairOf{k, i, o, j}]) {
					fresh++
				}
			}
			if fresh > most {
				best, most = i, fresh
			}
		}
		row[k] = best
	}
	return row
}

// any is a row made at random.
func (c *covering) any(rng *rand.Rand) []int {
	row := make([]int, len(c.levels))
	for k, n := range c.levels {
		row[k] = rng.IntN(n)
	}
	return row
}

// sample is up to n more rows made at random.
func (c *covering) sample(rng *rand.Rand, n int) (rows [][]int) {
	for range n * triesEach {
		if len(rows) == n {
			break
		}
		if row := c.any(rng); c.ok == nil || c.ok(row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// pairs returns combinations that contain every pair of values of every two
// dimensions, in an order that spreads the values.
func pairs(values [][]int) [][]int {
	c := covering{}
	for _, v := range values {
		c.levels = append(c.levels, len(v))
	}
	if len(values) == 0 {
		return [][]int{{}}
	}
	rows, _ := c.rows(rand.New(rand.NewPCG(1, 2)))
	for _, row := range rows {
		for k, i := range row {
			row[k] = values[k][i]
		}
	}
	return rows
}
