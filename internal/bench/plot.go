package bench

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Parse(page))

// WriteHTML writes the report as a page that needs no network. The page has the roofline
// plot, labelled by operation, and the tables.
// Errors: those of w.
func (r *Report) WriteHTML(w io.Writer) error {
	type row struct {
		Cells []string
		Bar   float64 // per cent of the roofline
		Text  string
	}
	data := struct {
		Heading  string
		Plot     *plot
		Ceilings [][]string
		Graphs   [][]string
		Decoders [][]string
		Header   []string
		Rows     []row
	}{Heading: r.heading(), Plot: newPlot(r), Ceilings: r.Ceilings.Table(), Graphs: r.GraphTable(), Decoders: r.DecoderTable(), Header: r.header()}
	for i := range r.Rows {
		x := &r.Rows[i]
		data.Rows = append(data.Rows, row{r.cells(x), min(100*x.Roofline, 100), x.Key()})
	}
	return pageTemplate.Execute(w, data)
}

// plot is a roofline in pixels: arithmetic intensity to the right, rate upwards,
// both logarithmic.
type plot struct {
	Width, Height            float64
	Left, Right, Top, Bottom float64
	XTicks, YTicks           []tick
	Roofs                    []roof
	Points                   []point

	x0, x1, y0, y1 float64 // decades at the edges
}

type tick struct {
	At   float64
	Text string
}

// roof is a ceiling, as a line.
type roof struct {
	X1, Y1, X2, Y2 float64
	Text           string
	Level          bool // arithmetic: it does not depend on the intensity
	TX, TY         float64
}

// point is a call.
type point struct {
	X, Y   float64
	Title  string // shown under the mouse pointer
	Memory bool   // bound by memory
	// Label is at LX, LY, of the largest call of each operation.
	Label          string
	LX, LY         float64
	AnchorX        float64 // where the line to the label ends
	Begins, Leader bool    // the text begins at LX, or else ends there; a line leads there
}

// newPlot lays out the calls that have arithmetic.
func newPlot(r *Report) *plot {
	p := &plot{Width: 1100, Height: 640, Left: 70, Right: 1080, Top: 20, Bottom: 590}
	var rows []*Row
	x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i := range r.Rows {
		x := &r.Rows[i]
		if x.Flops == 0 || x.Bytes == 0 || x.GFlops == 0 {
			continue
		}
		rows = append(rows, x)
		x0, x1 = min(x0, x.intensity()), max(x1, x.intensity())
		y0, y1 = min(y0, x.GFlops), max(y1, x.GFlops)
	}
	for _, m := range r.Ceilings.MultiplyAdd {
		y1 = max(y1, m.GFlops)
	}
	if len(rows) == 0 {
		x0, x1, y0 = 0.1, 100, 0.1
		y1 = max(y1, 100)
	}
	p.x0, p.x1 = math.Floor(math.Log10(x0)), math.Ceil(math.Log10(x1)+0.3)
	p.y0, p.y1 = math.Floor(math.Log10(y0)), math.Ceil(math.Log10(y1)+0.1)
	for e := p.x0; e <= p.x1; e++ {
		p.XTicks = append(p.XTicks, tick{p.x(math.Pow(10, e)), power(e)})
	}
	for e := p.y0; e <= p.y1; e++ {
		p.YTicks = append(p.YTicks, tick{p.y(math.Pow(10, e)), power(e)})
	}
	p.addRoofs(&r.Ceilings)
	p.addPoints(rows)
	return p
}

func (x *Row) intensity() float64 { return float64(x.Flops) / float64(x.Bytes) }

func power(e float64) string { return fmt.Sprintf("%g", math.Pow(10, e)) }

// x and y are the pixels of an intensity and of a rate.
func (p *plot) x(v float64) float64 {
	return round(p.Left + (math.Log10(v)-p.x0)/(p.x1-p.x0)*(p.Right-p.Left))
}

func (p *plot) y(v float64) float64 {
	return round(p.Bottom - (math.Log10(v)-p.y0)/(p.y1-p.y0)*(p.Bottom-p.Top))
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

// addRoofs draws the copies of the smallest and the largest size, and the multiply-adds.
func (p *plot) addRoofs(c *Ceilings) {
	top := 0.0
	for _, m := range c.MultiplyAdd {
		top = max(top, m.GFlops)
		y := p.y(m.GFlops)
		p.Roofs = append(p.Roofs, roof{X1: p.Left, Y1: y, X2: p.Right, Y2: y, Level: true, TX: p.Right - 6, TY: y - 5,
			Text: fmt.Sprintf("multiply-adds, %s: %.3g GFLOP/s", m.DType, m.GFlops)})
	}
	if top == 0 {
		top = math.Pow(10, p.y1)
	}
	for i, m := range c.Copy {
		if i != 0 && i != len(c.Copy)-1 || m.GBps == 0 {
			continue
		}
		// From the left or the lower edge to where arithmetic takes over.
		xa := max(math.Pow(10, p.x0), math.Pow(10, p.y0)/m.GBps)
		xb := min(math.Pow(10, p.x1), top/m.GBps)
		below := -8.0 // the label of the slower one stands below its line
		if m.GBps <= min(c.Copy[0].GBps, c.Copy[len(c.Copy)-1].GBps) {
			below = 14
		}
		p.Roofs = append(p.Roofs, roof{X1: p.x(xa), Y1: p.y(xa * m.GBps), X2: p.x(xb), Y2: p.y(xb * m.GBps), TX: round(p.x(xa) + 24), TY: round(p.y(xa*m.GBps) + below),
			Text: fmt.Sprintf("copies of %s: %.3g GB/s", sizeName(m.Bytes), m.GBps)})
	}
}

// addPoints places the calls, and the label of the largest of each operation
// where there is room.
func (p *plot) addPoints(rows []*Row) {
	largest := map[string]*Row{}
	for _, x := range rows {
		if l := largest[x.Op+x.DType]; l == nil || x.Flops+x.Bytes > l.Flops+l.Bytes {
			largest[x.Op+x.DType] = x
		}
	}
	var taken []box
	for _, r := range p.Roofs {
		b := box{r.TX, r.TY - letter, r.TX + textWidth(r.Text), r.TY + 3}
		if r.Level {
			b.x0, b.x1 = r.TX-textWidth(r.Text), r.TX
		}
		taken = append(taken, b)
	}
	for _, x := range rows {
		at := point{X: p.x(x.intensity()), Y: p.y(x.GFlops), Memory: x.Bound == "memory",
			Title: fmt.Sprintf("%s: %s, %.3g GFLOP/s, %.3g GB/s, %.2f of the roofline", x.Key(), x.Time, x.GFlops, x.GBps, x.Roofline)}
		p.Points = append(p.Points, at)
		taken = append(taken, box{at.X - 4, at.Y - 4, at.X + 4, at.Y + 4})
	}
	for i, x := range rows {
		if largest[x.Op+x.DType] == x {
			taken = append(taken, p.label(&p.Points[i], strings.ReplaceAll(x.Op, "_", " "), taken))
		}
	}
}

// letter is the height of a line of text in pixels.
const letter = 11.0

// textWidth is the approximate width of a text in pixels.
func textWidth(s string) float64 { return 0.56 * letter * float64(len([]rune(s))) }

type box struct{ x0, y0, x1, y1 float64 }

func (b box) meets(c box) bool { return b.x0 < c.x1 && c.x0 < b.x1 && b.y0 < c.y1 && c.y0 < b.y1 }

// label finds the nearest free place for a point's label, and returns the area of the label.
func (p *plot) label(at *point, text string, taken []box) box {
	const size = letter
	width := textWidth(text)
	var first box
	for try := range 400 { // nearer places first, in four columns to either side
		step, column := try%100, try/100
		dy := float64((step+1)/2) * size / 2
		if step%2 == 1 {
			dy = -dy
		}
		for _, begins := range []bool{true, false} {
			gap := 7 + math.Abs(dy)/2 + float64(column)*120
			b := box{at.X + gap, at.Y + dy - size/2, at.X + gap + width, at.Y + dy + size/2}
			if !begins {
				b.x0, b.x1 = at.X-gap-width, at.X-gap
			}
			if try == 0 && begins {
				first = b
			}
			if b.x0 < p.Left || b.x1 > p.Right || b.y0 < p.Top || b.y1 > p.Bottom || meetsAny(b, taken) {
				continue
			}
			at.set(text, b, begins, try > 0)
			return b
		}
	}
	at.set(text, first, true, false) // no place is free: the label covers another one
	return first
}

func (at *point) set(text string, b box, begins, leader bool) {
	at.Label, at.Begins, at.Leader = text, begins, leader
	at.LX, at.LY, at.AnchorX = round(b.x0), round(b.y1-2.5), round(b.x0-2)
	if !begins {
		at.LX, at.AnchorX = round(b.x1), round(b.x1+2)
	}
}

// LabelY is the middle of the label.
func (at point) LabelY() float64 { return round(at.LY - 3) }

func meetsAny(b box, taken []box) bool {
	for _, t := range taken {
		if b.meets(t) {
			return true
		}
	}
	return false
}
