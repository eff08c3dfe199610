package bench

import "fmt"

// Decoder is a step of a decoder measured in three ways, in turns: call by call, as a compiled graph, and as a recorded list that is replayed. The
// bench does not measure it itself, as a Graph.
type Decoder struct {
	Name string `json:"name"`
	// Tokens is the length of a text, and Calls those of a step.
	Tokens int `json:"tokens"`
	Calls  int `json:"calls"`
	// Eager, Compiled and Replayed are times of a token.
	Eager    Timing `json:"eager"`
	Compiled Timing `json:"compiled"`
	Replayed Timing `json:"replayed"`
}

// Measure times three functions, which draw a text of Tokens tokens each, in turns.
// Errors: those of the functions.
func (d *Decoder) Measure(o *Options, eager, compiled, replayed func() error) error {
	s, err := Interleave(4*o.budget(), 40, eager, compiled, replayed)
	if err != nil {
		return err
	}
	for i, t := range []*Timing{&d.Eager, &d.Compiled, &d.Replayed} {
		*t = timing(s[i].Over(d.Tokens))
	}
	return nil
}

// DecoderTable returns the decoders as cells of text, in tokens a second. The first line is the header. It is nil if no decoder was measured.
func (r *Report) DecoderTable() [][]string {
	if len(r.Decoders) == 0 {
		return nil
	}
	ls := [][]string{{"decoder", "call by call", "as a graph", "ratio", "replayed", "ratio", "calls"}}
	for i := range r.Decoders {
		d := &r.Decoders[i]
		rate := func(t Timing) string { return digits(1e9/float64(max(t.Median, 1))) + " tokens/s" }
		ratio := func(t Timing) string { return fmt.Sprintf("%.2f", float64(d.Eager.Median)/float64(max(t.Median, 1))) }
		ls = append(ls, []string{d.Name, rate(d.Eager), rate(d.Compiled), ratio(d.Compiled), rate(d.Replayed), ratio(d.Replayed), fmt.Sprint(d.Calls)})
	}
	return ls
}
