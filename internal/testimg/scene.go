package testimg

import "math"

// scene is all of a picture that does not change from row to row. Lengths are
// in pixels; unit is the longer side of the picture.
type scene struct {
	w, h   int
	seed   uint64
	unit   float32
	clouds []octave
	detail []octave
	ridges [3][]float32 // the skyline of each range of hills: y by column
	houses []house
	sunX   float32
	sunY   float32
	sunR   float32
	sky    [2]vec // colour at the top and at the horizon
	land   [3]vec // colour of each range, far to near
}

type vec struct{ r, g, b float32 }

func mix(a, b vec, t float32) vec {
	return vec{a.r + (b.r-a.r)*t, a.g + (b.g-a.g)*t, a.b + (b.b-a.b)*t}
}

func (a vec) scale(t float32) vec { return vec{a.r * t, a.g * t, a.b * t} }

type house struct {
	x0, x1, y0, y1 float32 // walls
	roof           float32 // height of the gable
	wall, tile     vec
	cell           float32 // pitch of the windows
}

// hash turns a seed and a lattice point into 32 evenly distributed bits.
func hash(seed uint64, x, y int32) uint32 {
	v := seed ^ uint64(uint32(x))*0x9e3779b97f4a7c15 ^ uint64(uint32(y))*0xc2b2ae3d27d4eb4f
	v ^= v >> 29
	v *= 0xbf58476d1ce4e5b9
	v ^= v >> 32
	v *= 0x94d049bb133111eb
	return uint32(v >> 32)
}

// unitHash is hash as a number in 0..1.
func unitHash(seed uint64, x, y int32) float32 { return float32(hash(seed, x, y)>>8) / (1 << 24) }

func smooth(t float32) float32 { return t * t * (3 - 2*t) }

func clamp01(t float32) float32 { return min(max(t, 0), 1) }

// octave is one frequency of smooth noise: random values at the points of a
// grid, blended in between. The columns' weights are the same in every row.
type octave struct {
	seed   uint64
	cell   float32
	amp    float32
	column []int32
	weight []float32
}

// newOctaves returns n octaves, the first with cells of the given size, each
// next one with half of it and half the strength. Cells below two pixels end
// the series; the strengths add up to 1.
func newOctaves(w int, seed uint64, cell float32, n int) []octave {
	var os []octave
	var sum float32
	for k := range n {
		if k > 0 && cell < 2 {
			break
		}
		cell = max(cell, 1)
		o := octave{seed: seed + uint64(k)*7919, cell: cell, amp: 1 / float32(int(1)<<k),
			column: make([]int32, w), weight: make([]float32, w)}
		for x := range w {
			f := float32(x) / cell
			i := int32(f)
			o.column[x], o.weight[x] = i, smooth(f-float32(i))
		}
		sum += o.amp
		os = append(os, o)
		cell /= 2
	}
	for k := range os {
		os[k].amp /= sum
	}
	return os
}

// add adds the octave's values of row y to dst; grid is scratch.
func (o *octave) add(y int, dst, grid []float32) []float32 {
	fy := float32(y) / o.cell
	j := int32(fy)
	ty := smooth(fy - float32(j))
	n := int(o.column[len(o.column)-1]) + 2
	if cap(grid) < n {
		grid = make([]float32, n)
	}
	grid = grid[:n]
	for i := range grid {
		a, b := unitHash(o.seed, int32(i), j), unitHash(o.seed, int32(i), j+1)
		grid[i] = o.amp * (a + (b-a)*ty)
	}
	for x := range dst {
		i := o.column[x]
		a, b := grid[i], grid[i+1]
		dst[x] += a + (b-a)*o.weight[x]
	}
	return grid
}

func newScene(w, h int, seed uint64) *scene {
	unit := float32(max(w, h))
	s := &scene{w: w, h: h, seed: seed, unit: unit}
	s.clouds = newOctaves(w, seed+1, unit/4, 6)
	s.detail = newOctaves(w, seed+2, unit/48, 6)
	pick := func(i int32) float32 { return unitHash(seed, i, -7) }

	warm := pick(1)
	s.sky = [2]vec{
		mix(vec{0.20, 0.38, 0.72}, vec{0.32, 0.30, 0.52}, warm),
		mix(vec{0.74, 0.84, 0.93}, vec{0.98, 0.72, 0.48}, warm),
	}
	s.land = [3]vec{
		mix(vec{0.46, 0.54, 0.62}, vec{0.55, 0.45, 0.50}, warm),
		mix(vec{0.30, 0.42, 0.32}, vec{0.40, 0.36, 0.26}, pick(2)),
		mix(vec{0.26, 0.40, 0.14}, vec{0.44, 0.40, 0.18}, pick(3)),
	}
	s.sunX, s.sunY = unit*(0.15+0.7*pick(4)), float32(h)*(0.08+0.25*pick(5))
	s.sunR = unit * (0.015 + 0.015*pick(6))

	for k := range s.ridges {
		line := make([]float32, w)
		var grid []float32
		for _, o := range newOctaves(w, seed+100+uint64(k), unit/3, 9) {
			grid = o.add(0, line, grid)
		}
		base, rise := 0.62+0.13*float32(k), 0.50-0.14*float32(k)
		for x := range line {
			line[x] = float32(h) * (base - rise*(line[x]-0.35))
		}
		s.ridges[k] = line
	}

	n := 3 + int(pick(7)*6)
	for i := range int32(n) {
		x0 := unit * (0.04 + 0.92*unitHash(seed, i, -11))
		wide, tall := unit*(0.03+0.05*unitHash(seed, i, -12)), unit*(0.025+0.035*unitHash(seed, i, -13))
		foot := s.ridges[2][min(max(int(x0+wide/2), 0), w-1)] + 0.02*unit
		s.houses = append(s.houses, house{
			x0: x0, x1: x0 + wide, y0: foot - tall, y1: foot, roof: tall * 0.6, cell: wide / 5,
			wall: mix(vec{0.92, 0.88, 0.80}, vec{0.72, 0.44, 0.34}, unitHash(seed, i, -14)),
			tile: mix(vec{0.60, 0.24, 0.16}, vec{0.28, 0.28, 0.32}, unitHash(seed, i, -15)),
		})
	}
	return s
}

// painter holds the scratch rows of one goroutine.
type painter struct {
	*scene
	cloud, fine, grid []float32
}

func (s *scene) painter() *painter {
	return &painter{scene: s, cloud: make([]float32, s.w), fine: make([]float32, s.w)}
}

// row paints row y.
func (p *painter) row(y int, dst []rgb) {
	clear(p.cloud)
	clear(p.fine)
	for i := range p.clouds {
		p.grid = p.clouds[i].add(y, p.cloud, p.grid)
	}
	for i := range p.detail {
		p.grid = p.detail[i].add(y, p.fine, p.grid)
	}
	fy := float32(y)
	for x := range dst {
		c := p.ground(float32(x), fy, x)
		// Grain, stronger in the dark, as sensors have it.
		g := (unitHash(p.seed+5, int32(x), int32(y)) - 0.5) * 0.03
		dst[x] = rgb{encode(c.r + g), encode(c.g + g), encode(c.b + g)}
	}
	for i := range p.houses {
		p.houses[i].row(fy, dst, p)
	}
}

// ground is the colour of sky and hills at a pixel.
func (p *painter) ground(fx, fy float32, x int) vec {
	fine := p.fine[x] - 0.5
	for k := len(p.ridges) - 1; k >= 0; k-- {
		depth := fy - p.ridges[k][x]
		if depth < 0 {
			continue
		}
		// Nearer hills show more texture and less haze.
		light := 1 + fine*(0.5+0.7*float32(k)) - 0.35*clamp01(depth/(0.4*p.unit))
		c := p.land[k].scale(light)
		return mix(c, p.sky[1], 0.45-0.2*float32(k))
	}
	c := mix(p.sky[0], p.sky[1], clamp01(fy/(0.7*float32(p.h))))
	c = mix(c, vec{0.97, 0.96, 0.95}, 0.85*smooth(clamp01((p.cloud[x]-0.48)*4)))
	dx, dy := fx-p.sunX, fy-p.sunY
	if d := float32(math.Sqrt(float64(dx*dx + dy*dy))); d < 8*p.sunR {
		glow := 1 - d/(8*p.sunR)
		c = mix(c, vec{1, 0.97, 0.86}, clamp01(glow*glow+(p.sunR-d)/2))
	}
	return c
}

// row paints what row fy shows of the house: hard edges and a grid of windows.
func (b *house) row(fy float32, dst []rgb, p *painter) {
	if fy < b.y0-b.roof || fy >= b.y1 {
		return
	}
	mid := (b.x0 + b.x1) / 2
	half := (b.x1 - b.x0) / 2
	c := b.wall
	onRoof := fy < b.y0
	if onRoof {
		half *= (fy - (b.y0 - b.roof)) / b.roof
		c = b.tile
	}
	for x := max(int(mid-half), 0); x < min(int(mid+half), len(dst)); x++ {
		px := c.scale(0.9 + 0.3*(p.fine[x]-0.5))
		if u, v := (float32(x)-b.x0)/b.cell, (fy-b.y0)/b.cell; !onRoof {
			if fu, fv := u-float32(int(u)), v-float32(int(v)); fu > 0.3 && fu < 0.75 && fv > 0.25 && fv < 0.8 {
				px = vec{0.16, 0.18, 0.22}
			}
		}
		dst[x] = rgb{encode(px.r), encode(px.g), encode(px.b)}
	}
}

func encode(v float32) uint8 { return uint8(255*clamp01(v) + 0.5) }
