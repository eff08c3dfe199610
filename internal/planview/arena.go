package planview

import (
	"fmt"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/units"
)

// live is memory of the arena that something is in from one call to another.
type live struct {
	first, last  int
	offset, size int64
	kind         kind
	name, tip    string
	scratch      bool
}

// lives lists what lies in the arena while the calls run.
func lives(p *graph.Plan) []*live {
	var list []*live
	starts := make([]int64, len(p.Program.Arena)) // of the buffers, one behind the other
	for i := 1; i < len(starts); i++ {
		starts[i] = starts[i-1] + p.Program.Arena[i-1]
	}
	of := map[mir.Value]*live{}
	for i, s := range p.Program.Steps {
		for _, r := range s.Scratch {
			list = append(list, &live{first: i, last: i, offset: starts[r.Buffer] + r.Offset, size: r.Size, scratch: true, tip: fmt.Sprintf("scratch memory of %s: %s", nameOf(&s), units.Bytes(r.Size))})
		}
		for _, o := range s.In {
			if root, _ := p.Graph.Root(o.Value); of[root] != nil {
				of[root].last = i
			}
		}
		for _, o := range s.Out {
			if o.Memory != lir.Arena {
				continue
			}
			for _, in := range s.In { // a call that works in place ends the life of what it overwrites
				if l := of[in.Value]; l != nil && in.Memory == lir.Arena && in.Buffer == o.Buffer && in.Offset == o.Offset {
					l.last = i - 1
				}
			}
			name := titleOf(&s)
			l := &live{first: i, last: i, offset: starts[o.Buffer] + o.Offset, size: o.Desc.Bytes(), kind: kindOf(&s), name: name, tip: fmt.Sprintf("%v %v, made by %s: %s", o.Value, o.Desc, name, units.Bytes(o.Desc.Bytes()))}
			of[o.Value], list = l, append(list, l)
		}
	}
	return list
}

// arena draws the arena over the calls, and returns where the picture ends.
func arena(d *drawing, p *graph.Plan, x, y, width float64) float64 {
	bytes := p.Program.Bytes
	d.text(x, y, "head", "Memory")
	d.text(x, y+20, "note", fmt.Sprintf("The arena has %s, at least %s in this order of the calls. All intermediate values together are %s, constants %s.",
		units.Bytes(bytes.Arena), units.Bytes(bytes.Lower), units.Bytes(bytes.Values), units.Bytes(bytes.Kept)))
	n := len(p.Program.Steps)
	if n == 0 || bytes.Arena == 0 {
		return y + 24
	}
	const height, left = 260.0, 66.0
	top := y + 44
	across, down := (width-left)/float64(n), height/float64(bytes.Arena)
	x += left
	for i := range 5 {
		at := top + height - height*float64(i)/4
		d.f(`<path class="axis" d="M%.1f %.1fh%.1f"/>`, x, at, width-left)
		d.text(x-8, at+3.5, "tick end", units.Bytes(bytes.Arena*int64(i)/4))
	}
	for _, l := range lives(p) {
		w, h := across*float64(l.last-l.first+1), max(down*float64(l.size), 0.6)
		x0, y0 := x+across*float64(l.first), top+height-down*float64(l.offset)-h
		class := "scratch"
		if !l.scratch {
			d.f(`<g class="node %s">`, kinds[l.kind].class)
			class = "value"
		}
		d.f(`<rect class="%s" x="%.2f" y="%.2f" width="%.2f" height="%.2f" rx="%.1f"><title>%s</title></rect>`, class, x0+0.5, y0, max(w-1, 0.5), h, min(2, h/3), escape(l.tip))
		if text := short(l.name, int(w/6.6)); !l.scratch && h > 12 && len([]rune(text)) > 2 {
			d.text(x0+w/2, y0+h/2+3.5, "in", text)
		}
		if !l.scratch {
			d.f(`</g>`)
		}
	}
	d.f(`<path class="peak" d="M%.1f %.1fh%.1f"/>`, x, top, width-left)
	d.text(x+width-left, top-6, "peaktext end", "peak "+units.Bytes(bytes.Arena))
	each := 1
	for across*float64(each) < 26 {
		each *= 2
	}
	for i := 0; i < n; i += each {
		d.text(x+across*(float64(i)+0.5), top+height+15, "tick middle", fmt.Sprint(i+1))
	}
	d.text(x+(width-left)/2, top+height+32, "note middle", "the calls in their order; hatched: scratch memory of a call")
	return top + height + 36
}
