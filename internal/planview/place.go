package planview

import (
	"math"
)

// Distances in the picture.
const (
	gapX     = 22.0 // between nodes of a layer
	gapPoint = 6.0  // between long lines
	gapY     = 30.0 // between layers
	gutter   = 90.0 // between columns
)

// column is a part of the layers. A tall picture is folded into several.
type column struct {
	layers      [][]*node
	left, width float64
}

// placed gives the nodes of the layers their places, beginning at 0, 0, and returns the columns and the height.
func placed(layers [][]*node) (columns []*column, height float64) {
	if len(layers) == 0 {
		return nil, 0
	}
	straighten(layers)
	columns = folded(layers)
	left := 0.0
	for _, c := range columns {
		lowest, highest := math.Inf(1), math.Inf(-1)
		for _, layer := range c.layers {
			for _, n := range layer {
				lowest, highest = min(lowest, n.x-n.w/2), max(highest, n.x+n.w/2)
			}
		}
		c.left, c.width = left, highest-lowest
		y := 0.0
		for _, layer := range c.layers {
			h := tallest(layer)
			for _, n := range layer {
				n.x += left - lowest
				n.y = y + (h-n.h)/2
				if n.kind == point {
					n.y, n.h = y, h
				}
			}
			y += h + gapY
		}
		height = max(height, y-gapY)
		left += c.width + gutter
	}
	return columns, height
}

func tallest(layer []*node) (h float64) {
	for _, n := range layer {
		h = max(h, n.h)
	}
	return h
}

// folded divides the layers into columns, so that the picture is not much taller than wide. It divides where few lines pass.
func folded(layers [][]*node) []*column {
	height, lowest, highest := 0.0, 0.0, 0.0
	for _, layer := range layers {
		height += tallest(layer) + gapY
		for _, n := range layer {
			lowest, highest = min(lowest, n.x-n.w/2), max(highest, n.x+n.w/2)
		}
	}
	width, n := highest-lowest+gutter, 1
	for height/float64(n) > 1400 && height/float64(n) > 0.8*width*float64(n) {
		n++
	}
	var columns []*column
	from := 0
	for i := range n {
		to := len(layers)
		if i < n-1 {
			ideal := from + (len(layers)-from)/(n-i)
			room := max((len(layers)-from)/(n-i)/6, 0)
			to = ideal
			for at := max(ideal-room, from+1); at <= min(ideal+room, len(layers)-1); at++ {
				if passing(layers, at) < passing(layers, to) {
					to = at
				}
			}
		}
		columns = append(columns, &column{layers: layers[from:to]})
		from = to
	}
	return columns
}

// passing counts the lines between the layers at-1 and at.
func passing(layers [][]*node, at int) (n int) {
	if at < 1 || at >= len(layers) {
		return 0
	}
	for _, from := range layers[at-1] {
		n += len(from.to)
	}
	return n
}

// straighten gives the nodes of each layer an x, in their order, such that lines are short and long ones straight. It goes up and down, and moves
// each layer as close to what it is joined to as the order and the widths allow.
func straighten(layers [][]*node) {
	for _, layer := range layers {
		x := 0.0
		for _, n := range layer {
			n.x = x + n.w/2
			x += n.w + gapX
		}
	}
	up := readers(layers)
	for round := range 40 {
		for _, c := range chains(layers) {
			c.mean = 0
			for _, p := range c.points {
				c.mean += p.x / float64(len(c.points))
			}
		}
		for i := range layers {
			layer := layers[i]
			if round%2 == 1 {
				layer = layers[len(layers)-1-i]
			}
			want, weight := make([]float64, len(layer)), make([]float64, len(layer))
			for k, n := range layer {
				sum, count := 0.0, 0.0
				add := func(list []*node, factor float64) {
					for _, o := range list {
						sum, count = sum+factor*o.x, count+factor
					}
				}
				if n.chain != nil { // a long line is straight before anything else
					w := 4 * float64(len(n.chain.points))
					sum, count = sum+w*n.chain.mean, count+w
				}
				first, second := up[n], below(n)
				if round%2 == 1 {
					first, second = second, first
				}
				add(first, 1)
				add(second, map[bool]float64{true: 0.4, false: 0.1}[round < 32])
				want[k], weight[k] = n.x, 0.05
				if count > 0 {
					want[k], weight[k] = sum/count, count
				}
			}
			settle(layer, want, weight)
		}
	}
	for _, c := range chains(layers) {
		c.upright(layers)
	}
}

// chains lists the chains of all points.
func chains(layers [][]*node) (list []*chain) {
	for _, layer := range layers {
		for _, n := range layer {
			if n.chain != nil && n == n.chain.points[0] {
				list = append(list, n.chain)
			}
		}
	}
	return list
}

// upright makes a long line straight, if there is room for it in all layers that it passes.
func (c *chain) upright(layers [][]*node) {
	low, high, sum := math.Inf(-1), math.Inf(1), 0.0
	for _, p := range c.points {
		sum += p.x
		layer := layers[p.layer]
		if i := int(p.order); i > 0 {
			o := layer[i-1]
			low = max(low, o.x+o.w/2+p.w/2+gapPoint)
		}
		if i := int(p.order); i+1 < len(layer) {
			o := layer[i+1]
			high = min(high, o.x-o.w/2-p.w/2-gapPoint)
		}
	}
	if low > high {
		return
	}
	x := min(max(sum/float64(len(c.points)), low), high)
	for _, p := range c.points {
		p.x = x
	}
}

// settle moves the nodes of a layer as close to where they want to be, by the sum of weighted squares, as their widths allow: by pooling those that
// are too close (Ayer and others, An empirical distribution function for sampling with incomplete information, 1955).
func settle(layer []*node, want, weight []float64) {
	type pool struct {
		mean, weight float64
		n            int
	}
	var pools []pool
	offset := make([]float64, len(layer)) // of each node, if all touched
	for i, n := range layer {
		if i > 0 {
			gap := gapX
			if n.kind == point && layer[i-1].kind == point {
				gap = gapPoint
			}
			offset[i] = offset[i-1] + layer[i-1].w/2 + gap + n.w/2
		}
		p := pool{want[i] - offset[i], weight[i], 1}
		for len(pools) > 0 && pools[len(pools)-1].mean > p.mean {
			q := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			p = pool{(p.mean*p.weight + q.mean*q.weight) / (p.weight + q.weight), p.weight + q.weight, p.n + q.n}
		}
		pools = append(pools, p)
	}
	i := 0
	for _, p := range pools {
		for range p.n {
			layer[i].x = p.mean + offset[i]
			i++
		}
	}
}
