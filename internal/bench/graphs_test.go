package bench

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestGraphs measures two functions of which one takes three times as long, and looks for both in the report.
func TestGraphs(t *testing.T) {
	g := Graph{Name: "net", Launches: 3, EagerLaunches: 9, Bytes: 1500000, EagerBytes: 3000000, Flops: 7}
	wait := func(d time.Duration) func() error { return func() error { time.Sleep(d); return nil } }
	if err := g.Measure(&Options{Quick: true}, wait(2*time.Millisecond), wait(6*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if g.Ratio < 1.5 || g.Ratio > 4.5 || g.Compiled.Median < int64(2*time.Millisecond) {
		t.Errorf("got %+v, want a ratio of about 3", g)
	}
	broken := errors.New("broken")
	if err := g.Measure(&Options{Quick: true}, wait(0), func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	r := report()
	var without, with strings.Builder
	if err := r.WriteText(&without); err != nil {
		t.Fatal(err)
	}
	r.Graphs = []Graph{g}
	if err := r.WriteText(&with); err != nil {
		t.Fatal(err)
	}
	if text := strings.TrimPrefix(with.String(), without.String()); !strings.Contains(text, "net ") || !strings.Contains(text, "1.5 MB  3 MB") {
		t.Errorf("the report ends with\n%s", text)
	}
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Parse(data); err != nil || len(again.Graphs) != 1 || again.Graphs[0] != g {
		t.Errorf("it came back as %+v, %v", again.Graphs, err)
	}
	var page strings.Builder
	if err := r.WriteHTML(&page); err != nil || !strings.Contains(page.String(), "<td>net") {
		t.Errorf("the page lacks the graph: %v", err)
	}
}
