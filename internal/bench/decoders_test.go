package bench

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDecoders measures three functions that take different times, and looks for the rates in the report.
func TestDecoders(t *testing.T) {
	wait := func(d time.Duration) func() error { return func() error { time.Sleep(d); return nil } }
	broken := errors.New("broken")
	d := Decoder{Name: "tiny", Tokens: 2, Calls: 7}
	if err := d.Measure(&Options{Quick: true}, wait(9*time.Millisecond), wait(3*time.Millisecond), wait(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if d.Eager.Fastest < int64(4500*time.Microsecond) || d.Compiled.Fastest < int64(1500*time.Microsecond) || d.Replayed.Fastest < int64(500*time.Microsecond) {
		t.Errorf("got %+v, want the times of a token", d)
	}
	for at := range 3 {
		fs := []func() error{wait(0), wait(0), wait(0)}
		fs[at] = func() error { return broken }
		if err := (&Decoder{Tokens: 1}).Measure(&Options{Quick: true}, fs[0], fs[1], fs[2]); !errors.Is(err, broken) {
			t.Errorf("function %d: got %v", at, err)
		}
	}
	d.Eager.Median, d.Compiled.Median, d.Replayed.Median = 4e6, 2e6, 1e6
	r := report()
	if r.DecoderTable() != nil {
		t.Error("a report without decoders has a table of them")
	}
	var without, with, page strings.Builder
	if err := r.WriteText(&without); err != nil {
		t.Fatal(err)
	}
	r.Decoders = []Decoder{d}
	if err := errors.Join(r.WriteText(&with), r.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	text := strings.Fields(strings.TrimPrefix(with.String(), without.String()))
	want := strings.Fields("tiny 250 tokens/s 500 tokens/s 2.00 1000 tokens/s 4.00 7")
	if len(text) < len(want) || !slices.Equal(text[len(text)-len(want):], want) {
		t.Errorf("the report ends with %q, want %q", text, want)
	}
	if !strings.Contains(page.String(), "<td>tiny") {
		t.Error("the page lacks the decoder")
	}
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Parse(data); err != nil || len(again.Decoders) != 1 || again.Decoders[0] != d {
		t.Errorf("it came back as %+v, %v", again.Decoders, err)
	}
}
