// Roofline draws docs/img/roofline.svg from the tables of docs/performance-log.md, which `make
// bench-peers` writes: the rate of the largest call of each operation over its arithmetic
// intensity, below what the device can do. `make pictures` runs it.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// point is an operation in the plot.
type point struct {
	name            string
	intensity, rate float64 // FLOP a byte, GFLOP/s
	memory          bool    // bounds it
}

func main() {
	text, err := os.ReadFile("docs/performance-log.md")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("docs/img/roofline.svg", plot(string(text)), 0o666); err != nil {
		log.Fatal(err)
	}
}

// cells are those of a line of a table.
func cells(line string) []string {
	list := strings.Split(strings.Trim(line, "|"), "|")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// read returns the points, and the most bytes and arithmetic of the device in 10⁹ a second.
func read(text string) (points []point, bytes, flops float64) {
	at := map[string]int{}
	_, text, _ = strings.Cut(text, "| ceiling ")
	for line := range strings.Lines(text) {
		c := cells(strings.TrimSpace(line))
		if len(c) < 5 {
			continue
		}
		gb, _ := strconv.ParseFloat(c[3], 64)
		gf, _ := strconv.ParseFloat(c[4], 64)
		switch {
		case strings.HasPrefix(c[0], "device copy"):
			bytes = gb // of the largest one, which is the last
		case c[0] == "multiply-add, f32":
			flops = gf
		case len(c) > 6 && gb > 0 && gf > 0 && (c[6] == "memory" || c[6] == "arithmetic"):
			name, _, _ := strings.Cut(c[0], " ")
			p := point{name, gf / gb, gf, c[6] == "memory"}
			if i, ok := at[name]; ok {
				points[i] = p // The largest call is the last one.
			} else {
				at[name] = len(points)
				points = append(points, p)
			}
		}
	}
	return points, bytes, flops
}

// plot draws the points and the roof.
func plot(text string) []byte {
	const left, right, top, bottom = 60, 880, 20, 470
	points, bw, fl := read(text)
	x := func(v float64) float64 { return left + (math.Log10(v)+1.3)/3.7*(right-left) }
	y := func(v float64) float64 { return bottom - (math.Log10(v)+1.2)/3.2*(bottom-top) }
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 520" font-family="sans-serif" font-size="11">
<title>Roofline: rate over arithmetic intensity</title>
<rect width="900" height="520" fill="#fff"/>
`)
	for _, v := range []float64{0.1, 1, 10, 100} {
		fmt.Fprintf(&b, `<path d="M%.0f %dV%d" stroke="#e4e4e4"/><path d="M%d %.0fH%d" stroke="#e4e4e4"/>`, x(v), top, bottom, left, y(v), right)
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" fill="#555" text-anchor="middle">%g</text><text x="%d" y="%.0f" fill="#555" text-anchor="end">%g</text>`+"\n", x(v), bottom+16, v, left-6, y(v)+4, v)
	}
	fmt.Fprintf(&b, `<text x="470" y="%d" fill="#555" text-anchor="middle">arithmetic intensity, FLOP a byte</text>
<text transform="translate(16 245) rotate(-90)" fill="#555" text-anchor="middle">GFLOP/s</text>
`, bottom+36)
	low := math.Pow(10, -1.3)
	fmt.Fprintf(&b, `<path d="M%.1f %.1fL%.1f %.1fH%d" fill="none" stroke="#2f6fb0" stroke-width="1.5" stroke-dasharray="6 4"/>
<text x="%d" y="%.0f" fill="#2f6fb0">large copies, %.3g GB/s</text><text x="%d" y="%.0f" fill="#2f6fb0" text-anchor="end">multiply-adds, %.3g GFLOP/s</text>
`, x(low), y(low*bw), x(fl/bw), y(fl), right, left+8, y(0.1*bw)-70, bw, right-4, y(fl)-6, fl)
	slices.SortFunc(points, func(a, b point) int { return cmp.Or(cmp.Compare(b.rate, a.rate), cmp.Compare(a.name, b.name)) })
	var labels [][2]float64
	for _, p := range points {
		colour := "#b3541e"
		if p.memory {
			colour = "#2f6fb0"
		}
		px, py := x(p.intensity), y(p.rate)
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%s: %.3g GFLOP/s</title></circle>`+"\n", px, py, colour, p.name, p.rate)
		near := func(l [2]float64) bool { return math.Abs(l[0]-px) < 90 && math.Abs(l[1]-py) < 12 }
		if !slices.ContainsFunc(labels, near) {
			labels = append(labels, [2]float64{px, py})
			fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" fill="#222">%s</text>`+"\n", px+6, py+4, p.name)
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
