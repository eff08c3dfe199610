package conformance

import (
	"math/rand/v2"
	"slices"
)

// covering chooses rows. A row has one level of every factor. Any two levels of two
// factors occur together in some row. Most mistakes show where one or two levels come
// together, and far fewer rows than all combinations are needed for that.
type covering struct {
	// levels is the number of levels of each factor. Levels count from 0.
	levels []int
	// want reports whether the pairs of the factors a < b matter. Nil means that all do.
	// Each level of every factor matters by itself.
	want func(a, b int) bool
	// ok reports whether such a row exists. Nil means that all rows exist.
	ok func(row []int) bool
	// hides reports whether level i of factor a hides the effect of the others, as a size
	// of 0 does. Nil means that none does. A row with such a level only counts for pairs
	// that contain one.
	hides func(a, i int) bool
}

// hidden reports whether a level of the pair hides the rest of a row.
func (c *covering) hidden(p pairOf) bool {
	return c.hides != nil && (c.hides(p.a, p.i) || c.hides(p.b, p.j))
}

// hidesNothing reports whether no level of a row hides the rest.
func (c *covering) hidesNothing(row []int) bool {
	for a, i := range row {
		if c.hides != nil && c.hides(a, i) {
			return false
		}
	}
	return true
}

// triesEach is how many rows are tried for a pair of levels before the pair counts as
// impossible.
const triesEach = 24

// pairOf is two levels of two factors, or one level of one factor if a == b.
type pairOf struct{ a, i, b, j int }

// chooseRows chooses the rows. It is greedy: each row starts with the uncovered pair that
// is first in a shuffled list, and its other levels cover as many pairs as possible. The
// rows in first are part of the result already. impossible is the number of pairs for
// which no row was found.
func (c *covering) chooseRows(rng *rand.Rand, first ...[]int) (rows [][]int, impossible int) {
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
		clear := c.hidesNothing(row)
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
		if row := c.rowWith(p, open, rows, rng); row != nil {
			take(row)
		} else {
			impossible++
		}
	}
	return rows, impossible
}

// rowWith returns a row that contains the pair, or nil.
func (c *covering) rowWith(p pairOf, open map[pairOf]bool, rows [][]int, rng *rand.Rand) []int {
	for try := range triesEach {
		var row []int
		switch {
		case try%3 == 1 && len(rows) > 0: // This changes a row that exists.
			row = slices.Clone(rows[rng.IntN(len(rows))])
			row[p.a], row[p.b] = p.i, p.j
		case try%3 == 2:
			row = c.randomRow(rng)
			row[p.a], row[p.b] = p.i, p.j
		default:
			row = c.completeRow(p, open, rng)
		}
		if (c.hidden(p) || c.hidesNothing(row)) && (c.ok == nil || c.ok(row)) {
			return row
		}
	}
	return nil
}

// completeRow returns a row with the pair. Each further level covers as many open pairs
// with the levels before it as possible.
func (c *covering) completeRow(p pairOf, open map[pairOf]bool, rng *rand.Rand) []int {
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

// randomRow returns a random row.
func (c *covering) randomRow(rng *rand.Rand) []int {
	row := make([]int, len(c.levels))
	for k, n := range c.levels {
		row[k] = rng.IntN(n)
	}
	return row
}

// sampleRows returns up to n random rows that exist.
func (c *covering) sampleRows(rng *rand.Rand, n int) (rows [][]int) {
	for range n * triesEach {
		if len(rows) == n {
			break
		}
		if row := c.randomRow(rng); c.ok == nil || c.ok(row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// pairs returns combinations that contain every pair of values of every two dimensions,
// in an order that spreads the values.
func pairs(values [][]int) [][]int {
	c := covering{}
	for _, v := range values {
		c.levels = append(c.levels, len(v))
	}
	if len(values) == 0 {
		return [][]int{{}}
	}
	rows, _ := c.chooseRows(rand.New(rand.NewPCG(1, 2)))
	for _, row := range rows {
		for k, i := range row {
			row[k] = values[k][i]
		}
	}
	return rows
}
