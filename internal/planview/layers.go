package planview

import (
	"cmp"
	"slices"
)

// layered puts nodes into layers and orders them, as Sugiyama, Tagawa and Toda do (Methods for visual understanding of hierarchical system structures,
// 1981): a node lies below all that it reads, long lines pass the layers between by points, and each layer is sorted by the middles of what
// its nodes are joined to, so that few lines cross.
func layered(nodes []*node) [][]*node {
	// nodes stand after those that they read.
	for _, n := range nodes {
		for _, l := range n.to {
			l.to.layer = max(l.to.layer, n.layer+1)
		}
	}
	for _, n := range slices.Backward(nodes) { // what reads nothing stands close above its first reader
		if n.kind == inputs || n.layer == 0 {
			for i, l := range n.to {
				if i == 0 || l.to.layer-1 < n.layer {
					n.layer = l.to.layer - 1
				}
			}
		}
	}
	depth := 0
	for _, n := range nodes {
		depth = max(depth, n.layer+1)
	}
	layers := make([][]*node, depth)
	for _, n := range nodes {
		layers[n.layer] = append(layers[n.layer], n)
	}
	for _, n := range nodes {
		addPoints(n, layers)
	}
	up := readers(layers)
	for i := range layers {
		number(layers[i])
	}
	best, kept := crossings(layers), snapshot(layers)
	for range 12 {
		for i := 1; i < depth; i++ {
			sortLayer(layers[i], func(n *node) []*node { return up[n] })
		}
		for i := depth - 2; i >= 0; i-- {
			sortLayer(layers[i], func(n *node) []*node { return below(n) })
		}
		if c := crossings(layers); c < best {
			best, kept = c, snapshot(layers)
		}
	}
	for i := range kept {
		number(kept[i])
	}
	return kept
}

// addPoints divides the long lines of a node at a point in each layer that they pass. Lines of one node share their points.
func addPoints(n *node, layers [][]*node) {
	passed := []*node{n}
	direct := n.to
	n.to = nil
	for _, l := range direct {
		for len(passed) < l.to.layer-n.layer {
			last := passed[len(passed)-1]
			p := &node{kind: point, layer: last.layer + 1, w: 10}
			last.to = append(last.to, &line{p, l.viewed, l.tip})
			passed = append(passed, p)
			layers[p.layer] = append(layers[p.layer], p)
		}
		from := passed[l.to.layer-n.layer-1]
		from.to = append(from.to, l)
	}
	c := &chain{points: passed[1:]}
	for _, p := range c.points {
		p.chain = c
	}
}

// readers lists for each node those that it has lines from.
func readers(layers [][]*node) map[*node][]*node {
	up := map[*node][]*node{}
	for _, layer := range layers {
		for _, n := range layer {
			for _, l := range n.to {
				up[l.to] = append(up[l.to], n)
			}
		}
	}
	return up
}

func below(n *node) []*node {
	list := make([]*node, len(n.to))
	for i, l := range n.to {
		list[i] = l.to
	}
	return list
}

func number(layer []*node) {
	for i, n := range layer {
		n.order = float64(i)
	}
}

// sortLayer sorts a layer by the mean of the places of what each node is joined to. Nodes that are joined to nothing stay where they are.
func sortLayer(layer []*node, joined func(n *node) []*node) {
	mean := map[*node]float64{}
	for _, n := range layer {
		mean[n] = n.order
		if list := joined(n); len(list) > 0 {
			sum := 0.0
			for _, o := range list {
				sum += o.order
			}
			mean[n] = sum / float64(len(list))
		}
	}
	slices.SortStableFunc(layer, func(a, b *node) int { return cmp.Compare(mean[a], mean[b]) })
	number(layer)
}

// crossings counts the pairs of lines between neighbouring layers that cross.
func crossings(layers [][]*node) (sum int) {
	for _, layer := range layers {
		var ends []float64 // of the lines, by their beginnings
		for _, n := range layer {
			var own []float64
			for _, l := range n.to {
				own = append(own, l.to.order)
			}
			slices.Sort(own)
			ends = append(ends, own...)
		}
		sum += inversions(ends)
	}
	return sum
}

// inversions counts the pairs of which the first one is larger, by a merge sort. It sorts the numbers.
func inversions(v []float64) (sum int) {
	if len(v) < 2 {
		return 0
	}
	a, b := slices.Clone(v[:len(v)/2]), slices.Clone(v[len(v)/2:])
	sum = inversions(a) + inversions(b)
	for i := range v {
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			v[i], a = a[0], a[1:]
			continue
		}
		v[i], b = b[0], b[1:]
		sum += len(a)
	}
	return sum
}

func snapshot(layers [][]*node) [][]*node {
	copied := make([][]*node, len(layers))
	for i := range layers {
		copied[i] = slices.Clone(layers[i])
	}
	return copied
}
