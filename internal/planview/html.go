package planview

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/units"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// row is a call in the table of the page.
type row struct {
	Number string
	graph.Step
	FlopsText, BytesText string
	Share                float64 // of the largest cost, in percent
}

// ports is a row of the table of what a run is given and gives.
type ports struct {
	Kind, Name, Tensor, Bytes string
}

// WriteHTML writes a page with the picture of a plan and the tables behind it. It needs no network and has no scripts.
// Errors: as WriteSVG.
func WriteHTML(w io.Writer, p *graph.Plan, title, device string) error {
	if err := check(p); err != nil {
		return err
	}
	most := 1.0
	steps := p.Steps()
	cost := func(s *graph.Step) float64 { return float64(s.Moved) + float64(s.Flops)/flopsPerByte }
	for i := range steps {
		most = max(most, cost(&steps[i]))
	}
	var rows []row
	number := 0
	for i := range steps {
		s := &steps[i]
		r := row{Number: "once", Step: *s, FlopsText: units.Count(s.Flops), BytesText: units.Bytes(s.Moved), Share: 100 * cost(s) / most}
		switch {
		case s.Body != "":
			r.Number = s.Body
		case !s.Once && !s.Prepare:
			number++
			r.Number = fmt.Sprint(number)
		}
		rows = append(rows, r)
	}
	var given []ports
	for _, list := range []struct {
		kind string
		list []lir.Port
	}{{"input", p.Program.Inputs}, {"param", p.Program.Params}, {"output", p.Program.Outputs}} {
		for _, l := range list.list {
			given = append(given, ports{list.kind, l.Name, l.Desc.String(), units.Bytes(l.Desc.Bytes())})
		}
	}
	return page.Execute(w, struct {
		Title, Device, Summary string
		Picture                template.HTML
		Rows                   []row
		Ports                  []ports
		Missed                 []graph.Missed
	}{title, device, summary(p), template.HTML(picture(p, title)), rows, given, p.Report.Fusion.Missed})
}
