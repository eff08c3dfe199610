package picture

import (
	"math/bits"

	"github.com/lathe-gpu/lathe/tensor"
)

// EnergyReference searches for the rectangle of width by height pixels with the most energy of edges.
func EnergyReference(in *tensor.Host, width, height int) [4]int {
	h, w, channels := in.Shape[0], in.Shape[1], in.Shape[2]
	if h == 0 || w == 0 {
		return [4]int{0, 0, width, height}
	}
	level := func(y, x int) int {
		var c [4]int
		for i := range c {
			switch {
			case i < channels && in.DType == tensor.U8:
				c[i] = int(in.At(y, x, i))
			case i < channels: // A level is found in f32, so that each device has the same.
				c[i] = int(min(max(float32(float32(in.At(y, x, i))*255)+0.5, 0), 255))
			case i < 3:
				c[i] = c[0]
			default:
				c[i] = 255
			}
		}
		return (c[0]*77 + c[1]*150 + c[2]*29) / 256 * c[3] / 256
	}
	apart := func(a, b int) uint64 { return uint64(max(a-b, b-a)) }
	// A cell has at most so many pixels that count along an axis.
	cells := func(n, most int) (cell, step int) {
		cell, step = (n+63)/64, 1
		for step*most < cell {
			step++
		}
		if step > 1 {
			cell = step * most
		}
		return cell, step
	}
	cw, sx := cells(w, 64)
	ch, sy := cells(h, 32)
	energy := make([][64]uint64, 64)
	for y := 0; y < h; y += sy {
		for x := 0; x < w; x += sx {
			here := level(y, x)
			energy[y/ch][x/cw] += apart(here, level(y, min(x+sx, w-1))) + apart(here, level(min(y+sy, h-1), x))
		}
	}
	shift := max(bits.Len(uint((w+cw-1)/cw*((h+ch-1)/ch)*((cw+sx-1)/sx)*((ch+sy-1)/sy)*510))-24, 0)
	// weight is how many sixteenths of a cell are in a window, times 16 in its middle and 8 at
	// its ends.
	weight := func(i, cell, n, from, size int) uint64 {
		begin, end := i*cell, min((i+1)*cell, n)
		aside := max(begin+end-2*from-size, 2*from+size-begin-end)
		return uint64(max(min(end, from+size)-max(begin, from), 0) * 16 / (end - begin) * (16 - min(8*aside/size, 8)))
	}
	places := func(n, size int) int { return min(32, (n-size+1)/2) } // on either side of the middle
	best, found, nearest := uint64(0), [4]int{0, 0, width, height}, -1
	across, down := places(w, width), places(h, height)
	for i := range 2*across + 1 {
		x := (w - width) * i / max(2*across, 1)
		var rows [64]uint64
		for row := range rows {
			for column := x / cw; column*cw < x+width; column++ {
				rows[row] += energy[row][column] >> shift * weight(column, cw, w, x, width)
			}
		}
		for j := range 2*down + 1 {
			y := (h - height) * j / max(2*down, 1)
			var sum uint64
			for row := y / ch; row*ch < y+height; row++ {
				sum += rows[row] >> 8 * weight(row, ch, h, y, height)
			}
			distance := max(2*(i-across), 2*(across-i)) + max(2*(j-down), 2*(down-j))
			if nearest < 0 || sum > best || sum == best && distance < nearest {
				best, found, nearest = sum, [4]int{x, y, width, height}, distance
			}
		}
	}
	return found
}
