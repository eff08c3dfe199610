package planview

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/units"
)

//go:embed style.css
var style string

// margin is the space around the picture.
const margin = 28.0

// drawing is a picture in the making.
type drawing struct {
	b strings.Builder
}

func (d *drawing) f(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

// text writes a text at a place. class is a class of the style, with more attributes behind it.
func (d *drawing) text(x, y float64, class, text string) {
	d.f(`<text x="%.1f" y="%.1f" class="%s">%s</text>`, x, y, class, escape(text))
}

// escape is a text for XML.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder returns no errors
	return b.String()
}

// tip writes what a reader sees who points at the element that is open.
func (d *drawing) tip(text string) { d.f("<title>%s</title>", escape(text)) }

// WriteSVG writes the picture of a plan. It needs no network, and follows the colours, light or dark, that the reader prefers.
// Errors: ErrInvalidArgument for no plan and for more than 3000 calls; those of w.
func WriteSVG(w io.Writer, p *graph.Plan, title string) error {
	if err := check(p); err != nil {
		return err
	}
	_, err := io.WriteString(w, picture(p, title))
	return err
}

// mostCalls is how many calls are drawn. Nobody finds anything in a larger picture.
const mostCalls = 3000

func check(p *graph.Plan) error {
	if p == nil || p.Program == nil || p.Graph == nil {
		return fmt.Errorf("planview: %w: no plan", errs.ErrInvalidArgument)
	}
	if n := len(p.Steps()); n > mostCalls {
		return fmt.Errorf("planview: %w: %d calls are too many to draw (at most %d)", errs.ErrInvalidArgument, n, mostCalls)
	}
	return nil
}

// picture is the picture of a plan.
func picture(p *graph.Plan, title string) string {
	columns, height := placed(layered(model(p)))
	width := 760.0
	if len(columns) > 0 {
		last := columns[len(columns)-1]
		width = max(width, last.left+last.width)
	}
	d := &drawing{}
	top := 86.0
	d.f(`<g transform="translate(%.1f %.1f)">`, margin, top)
	shift := 0.0
	if len(columns) == 1 { // in the middle
		shift = (width - columns[0].width) / 2
	}
	d.f(`<g transform="translate(%.1f 0)">`, shift)
	for i, c := range columns {
		d.lines(columns, i, c, height)
	}
	for _, c := range columns {
		for _, layer := range c.layers {
			for _, n := range layer {
				d.box(n)
			}
		}
	}
	d.f(`</g></g>`)
	bottom := top + height + 34 + 9*float64(len(columns)-1)
	bottom = legend(d, margin, bottom, width, p)
	bottom = arena(d, p, margin, bottom+46, width)
	out := &drawing{}
	out.f(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">`, width+2*margin, bottom+margin, width+2*margin, bottom+margin)
	out.tip("The plan of " + title)
	out.f("<style>\n%s</style>", style)
	out.f(`<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0.6 8 4 0 7.4Z" class="tip"/></marker>`)
	out.f(`<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V5" class="hatch"/></pattern></defs>`)
	out.f(`<rect class="paper" width="100%%" height="100%%"/>`)
	out.text(margin, 36, "head", title)
	out.text(margin, 56, "note", summary(p))
	out.b.WriteString(d.b.String())
	out.f(`</svg>`)
	return out.b.String()
}

// summary is a plan in a line.
func summary(p *graph.Plan) string {
	cost := p.Cost()
	text := fmt.Sprintf("%s, of %d before the passes, in %s; %s flop and %s of memory traffic at least",
		units.Of(p.Calls(), "call"), p.Report.Calls, units.Of(p.Program.Launches(), "launch"), units.Count(cost.Flops), units.Bytes(cost.Bytes))
	if n := len(p.Program.Once); n > 0 {
		text += fmt.Sprintf("; %s once", units.Of(n, "call"))
	}
	if n := len(p.Program.Prepare); n > 0 {
		text += fmt.Sprintf("; %s once a weight is set", units.Of(n, "call"))
	}
	return text
}

// box draws a node.
func (d *drawing) box(n *node) {
	if n.kind == point {
		return
	}
	x, class := n.x-n.w/2, kinds[n.kind].class
	d.f(`<g class="node %s">`, class)
	d.tip(n.tip)
	round := 7.0
	if n.kind == inputs || n.kind == outputs {
		round = n.h / 2
	}
	if n.fused { // several calls in one
		d.f(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f"/>`, x+4, n.y+4, n.w, n.h, round)
	}
	d.f(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f"/>`, x, n.y, n.w, n.h, round)
	d.text(n.x, n.y+17, "name", n.title)
	for i, l := range n.lines {
		d.text(n.x, n.y+31+14*float64(i), "sub", l)
	}
	if n.step > 0 {
		d.text(x+6, n.y+12, "step", fmt.Sprint(n.step))
		d.f(`<path class="track" d="M%.1f %.1fh%.1f"/>`, x+8, n.y+n.h-3.5, n.w-16)
		if n.cost > 0.004 {
			d.f(`<path class="cost" d="M%.1f %.1fh%.1f"/>`, x+8, n.y+n.h-3.5, (n.w-16)*n.cost)
		}
	}
	d.f(`</g>`)
}

// lines draws the lines that begin in column i.
func (d *drawing) lines(columns []*column, i int, c *column, height float64) {
	for k, layer := range c.layers {
		bottom := 0.0
		for _, n := range layer {
			bottom = max(bottom, n.y+n.h)
		}
		turned := 0
		for _, n := range layer {
			if n.kind == point {
				d.f(`<path class="%s" d="M%.1f %.1fV%.1f"/>`, lineClass(n.to[0]), n.x, n.y, n.y+n.h)
			}
			for _, l := range n.to {
				y := n.y + n.h
				if n.fused {
					y += 4
				}
				path := fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", n.x, y, n.x, y+0.6*(l.to.y-y), l.to.x, l.to.y-0.6*(l.to.y-y), l.to.x, l.to.y)
				if k == len(c.layers)-1 && i+1 < len(columns) { // over to the next column
					path = overTo(n.x, y, l.to.x, l.to.y, height+14+9*float64(turned), c.left+c.width+gutter/2-16+9*float64(turned), -14-9*float64(turned))
					turned++
				}
				d.f(`<path class="%s" d="%s"%s><title>%s</title></path>`, lineClass(l), path, map[bool]string{true: "", false: ` marker-end="url(#end)"`}[l.to.kind == point], escape(l.tip))
			}
		}
	}
}

func lineClass(l *line) string {
	if l.viewed {
		return "line viewed"
	}
	return "line"
}

// overTo is a way from the foot of a column to the head of the next one: down, through the gutter, up and down.
func overTo(x, y, toX, toY, foot, gutter, head float64) string {
	const r = 7
	return fmt.Sprintf("M%.1f %.1fV%.1fQ%.1f %.1f %.1f %.1fH%.1fQ%.1f %.1f %.1f %.1fV%.1fQ%.1f %.1f %.1f %.1fH%.1fQ%.1f %.1f %.1f %.1fV%.1f",
		x, y, foot-r, x, foot, x+r, foot, gutter-r, gutter, foot, gutter, foot-r, head+r, gutter, head, gutter+r, head, toX-r, toX, head, toX, head+r, toY)
}

// legend says what the colours and lines mean, of those that are there, and returns where it ends.
func legend(d *drawing, left, y, width float64, p *graph.Plan) float64 {
	x := left
	item := func(mark, name string) { // mark is drawn about 0, 0, and 22 wide
		if end := x + 34 + 1.1*textWidth(name, false); end > left+width && x > left {
			x, y = left, y+20
		}
		d.f(`<g transform="translate(%.1f %.1f)">%s</g>`, x, y, mark)
		d.text(x+30, y+4, "note", name)
		x += 50 + 1.1*textWidth(name, false)
	}
	there, fused := map[kind]bool{}, false
	for i := range p.Program.Steps {
		s := &p.Program.Steps[i]
		there[kindOf(s)] = true
		fused = fused || isFused(s)
	}
	const box = `<rect x="%d" y="%d" width="20" height="12" rx="3"/>`
	for k := contraction; k < point; k++ {
		if there[k] {
			item(fmt.Sprintf(`<g class="node %s">`+box+`</g>`, kinds[k].class, 0, -6), kinds[k].name)
		}
	}
	if fused {
		item(fmt.Sprintf(`<g class="node ele">`+box+box+`</g>`, 3, -3, 0, -6), "several calls in one launch")
	}
	if slices.ContainsFunc(p.Graph.Nodes(), func(n mir.Node) bool { return n.Kind == mir.View }) {
		item(`<path class="line viewed" d="M0 0h22"/>`, "a view")
	}
	item(`<path class="cost" d="M1 0h20"/>`, fmt.Sprintf("cost, as part of the largest one: bytes, and %d flop count as a byte", flopsPerByte))
	return y + 6
}
