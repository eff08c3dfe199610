package jpeg

import (
	"cmp"
	"slices"
)

// plane has the coefficients of a component, block by block, row by row.
type plane struct {
	id, table int
	// wide and high count the blocks of whole units of a scan of all components, and columns and
	// rows those that the picture needs.
	wide, high, columns, rows int
	values                    []int16
}

func (p *plane) block(x, y int) []int16 {
	at := 64 * (y*p.wide + x)
	return p.values[at : at+64]
}

// newPlanes returns planes for a picture.
func newPlanes(p *Picture) []plane {
	up := func(a, b int) int { return (a + b - 1) / b }
	across, down := up(p.Width, 8*p.Across), up(p.Height, 8*p.Down) // units
	list := []plane{{id: 1, wide: across * p.Across, high: down * p.Down, columns: up(p.Width, 8), rows: up(p.Height, 8)}}
	for id := 2; id < 4 && !p.Grey; id++ {
		list = append(list, plane{id: id, table: 1, wide: across, high: down, columns: up(up(p.Width, p.Across), 8), rows: up(up(p.Height, p.Down), 8)})
	}
	for i := range list {
		list[i].values = make([]int16, 64*list[i].wide*list[i].high)
	}
	return list
}

// scans writes the scans: the means, then the coarse details of the brightness, the colours, and
// the fine details.
func (e *encoder) scans() {
	e.scan(e.planes, 0, 0)
	e.scan(e.planes[:1], 1, 5)
	for i := 1; i < len(e.planes); i++ {
		e.scan(e.planes[i:i+1], 1, 63)
	}
	e.scan(e.planes[:1], 6, 63)
}

// symbols takes what a scan consists of: a symbol of one of two codes, and n bits after it.
type symbols func(table, symbol int, bits uint32, n uint)

// scan writes coefficients first to last of some planes, with codes that suit them.
func (e *encoder) scan(planes []plane, first, last int) {
	walk := e.walkMeans
	if first > 0 {
		walk = func(planes []plane, f symbols) { walkDetails(&planes[0], first, last, f) }
	}
	var often [2][256]int
	walk(planes, func(table, symbol int, _ uint32, _ uint) { often[table][symbol]++ })
	kind := byte(0)
	if first > 0 {
		kind = 1
	}
	var made [2]*code
	for table := range often {
		if c := suited(&often[table]); c != nil {
			made[table] = c
			e.segment(0xc4, append(append([]byte{kind<<4 | byte(table)}, c.counts[:]...), c.symbols...)...)
		}
	}
	head := []byte{byte(len(planes))}
	for _, p := range planes {
		code := byte(p.table)
		if first == 0 {
			code <<= 4
		}
		head = append(head, byte(p.id), code)
	}
	e.segment(0xda, append(head, byte(first), byte(last), 0)...)
	walk(planes, func(table, symbol int, bits uint32, n uint) {
		c := made[table]
		e.put(c.bits[symbol], c.length[symbol])
		e.put(bits, n)
	})
	e.align()
}

// walkMeans calls f with the means of blocks, as distances from block to block of a component. With
// several components, a unit has as many blocks of each as the same pixels have.
func (e *encoder) walkMeans(planes []plane, f symbols) {
	var before [3]int
	mean := func(i, x, y int) {
		v := int(planes[i].block(x, y)[0])
		size, bits := sized(v - before[i])
		before[i] = v
		f(planes[i].table, int(size), bits, size)
	}
	if len(planes) == 1 {
		for y := range planes[0].rows {
			for x := range planes[0].columns {
				mean(0, x, y)
			}
		}
		return
	}
	for y := range planes[1].high {
		for x := range planes[1].wide {
			for dy := range e.Down {
				for dx := range e.Across {
					mean(0, x*e.Across+dx, y*e.Down+dy)
				}
			}
			mean(1, x, y)
			mean(2, x, y)
		}
	}
}

// mostEnds is the largest number of blocks without more numbers that one symbol stands for.
const mostEnds = 1<<15 - 1

// walkDetails calls f with coefficients first to last of the blocks of a plane.
func walkDetails(p *plane, first, last int, f symbols) {
	ends := 0 // blocks that have no more numbers
	end := func() {
		if ends == 0 {
			return
		}
		n, _ := sized(ends)
		f(p.table, int(n-1)<<4, uint32(ends)&(1<<(n-1)-1), n-1)
		ends = 0
	}
	for y := range p.rows {
		for x := range p.columns {
			zeros := 0
			for _, v := range p.block(x, y)[first : last+1] {
				if v == 0 {
					zeros++
					continue
				}
				end()
				for ; zeros > 15; zeros -= 16 {
					f(p.table, 0xf0, 0, 0)
				}
				size, bits := sized(int(v))
				f(p.table, zeros<<4|int(size), bits, size)
				zeros = 0
			}
			if zeros > 0 {
				if ends++; ends == mostEnds {
					end()
				}
			}
		}
	}
	end()
}

// suited returns the Huffman code that makes symbols of these frequencies the shortest, of at most
// 16 bits, or nil if there are none (ISO/IEC 10918-1, annex K.2). No symbol has a code of ones only.
func suited(often *[256]int) *code {
	type node struct{ weight, symbol, a, b int } // symbol is -1 for two nodes, a and b
	var nodes []node
	for s, n := range often {
		if n > 0 {
			nodes = append(nodes, node{weight: n, symbol: s})
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	nodes = append(nodes, node{symbol: 256}) // It takes the code of ones: the rarest symbol has one of the longest codes.
	open := make([]int, len(nodes))
	for i := range open {
		open[i] = i
	}
	for len(open) > 1 {
		slices.SortFunc(open, func(a, b int) int {
			return cmp.Or(cmp.Compare(nodes[b].weight, nodes[a].weight), cmp.Compare(nodes[a].symbol, nodes[b].symbol))
		})
		a, b := open[len(open)-1], open[len(open)-2]
		nodes = append(nodes, node{nodes[a].weight + nodes[b].weight, -1, a, b})
		open = append(open[:len(open)-2], len(nodes)-1)
	}
	var counts [257]int // of the codes of a length
	length := map[int]int{}
	var measure func(i, depth int)
	measure = func(i, depth int) {
		if n := nodes[i]; n.symbol < 0 {
			measure(n.a, depth+1)
			measure(n.b, depth+1)
		} else {
			counts[depth]++
			length[n.symbol] = depth
		}
	}
	measure(open[0], 0)
	// Two codes that are too long become one that is a bit shorter, and one that is a bit longer than
	// some shorter code, which becomes longer too.
	for i := 256; i > 16; i-- {
		for counts[i] > 0 {
			j := i - 2
			for counts[j] == 0 {
				j--
			}
			counts[i] -= 2
			counts[i-1]++
			counts[j+1] += 2
			counts[j]--
		}
	}
	longest := 16
	for counts[longest] == 0 {
		longest--
	}
	counts[longest]--
	var known []byte
	for s := range 256 {
		if often[s] > 0 {
			known = append(known, byte(s))
		}
	}
	slices.SortStableFunc(known, func(a, b byte) int {
		return cmp.Or(cmp.Compare(length[int(a)], length[int(b)]), cmp.Compare(often[b], often[a]))
	})
	var sizes [16]byte
	for i := range sizes {
		sizes[i] = byte(counts[i+1])
	}
	return newCode(sizes, string(known))
}
