package graph

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/units"
)

// The columns of a plan as text: at most 120 characters in all.
const (
	textWidth = 120
	callWidth = 38
	callAt    = 6                      // after the number of the node
	costAt    = callAt + callWidth + 1 // launches, arithmetic and bytes, 27 characters
	placeAt   = costAt + 29
)

// String returns the plan as text of at most 120 columns where names allow it: what a run is given and gives, a row for each call with its kernels,
// its cost and its operands, and a summary.
func (p *Plan) String() string {
	if p == nil || p.Program == nil {
		return "no plan\n"
	}
	var b strings.Builder
	l := p.Program
	for _, ports := range []struct {
		name string
		list []lir.Port
	}{{"inputs", l.Inputs}, {"params", l.Params}, {"outputs", l.Outputs}} {
		var words []string
		var size int64
		for _, port := range ports.list {
			words, size = append(words, fmt.Sprintf("%s %v", port.Name, port.Desc)), size+port.Desc.Bytes()
		}
		for i, line := range wrap(append(separated(words), "("+units.Bytes(size)+")"), textWidth-9) {
			if i > 0 {
				ports.name = ""
			}
			fmt.Fprintf(&b, "%-9s%s\n", ports.name, line)
		}
	}
	fmt.Fprintf(&b, "\n%-*s%-*s %8s %8s %9s  %s\n", callAt, "node", callWidth, "call", "launches", "flop", "bytes", "reads, and makes")
	body := ""
	for _, s := range p.Steps() {
		if s.Body != body && s.Body != "" {
			fmt.Fprintf(&b, "%-*s%s:\n", callAt, "", s.Body)
		} else if s.Body != body {
			fmt.Fprintf(&b, "%-*safter it:\n", callAt, "")
		}
		body = s.Body
		s.write(&b)
	}
	p.summary(&b)
	return b.String()
}

// write writes the row of a call, which may have several lines: the call and its kernels in one column, its operands in another.
func (s *Step) write(b *strings.Builder) {
	call := strings.Fields(s.Call)
	if s.Label != "" {
		call = append(call, strings.Fields("("+s.Label+")")...)
	}
	switch {
	case s.Once:
		call = append(call, "once")
	case s.Prepare:
		call = append(call, "once a weight is set")
	}
	kernels := slices.Clone(s.Kernels)
	for i, fixed := range s.Fixed {
		if fixed {
			kernels[i] += " (once)"
		}
	}
	left := wrap(call, callWidth)
	for i := 0; i < len(kernels); {
		n := 1
		for i+n < len(kernels) && kernels[i+n] == kernels[i] {
			n++
		}
		name := kernels[i]
		if i += n; n > 1 {
			name = fmt.Sprintf("%s ×%d", name, n)
		}
		for _, line := range wrap(strings.Fields(strings.ReplaceAll(name, "+", " +")), callWidth-2) {
			left = append(left, "  "+line)
		}
	}
	right := wrap(separated(s.In), textWidth-placeAt)
	for i, line := range wrap(separated(s.Out), textWidth-placeAt-2) {
		right = append(right, [2]string{"→ ", "  "}[min(i, 1)]+line)
	}
	for i := range max(len(left), len(right)) {
		at := func(list []string) string {
			if i < len(list) {
				return list[i]
			}
			return ""
		}
		node, cost := "", ""
		if i == 0 {
			node, cost = fmt.Sprint(s.Node), fmt.Sprintf("%8d %8s %9s", s.launches(), units.Count(s.Flops), units.Bytes(s.Moved))
		}
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("%-*s%-*s %-27s  %s", callAt, node, callWidth, at(left), cost, at(right)), " "))
	}
}

// joining are the passes of which a FusionReport tells.
var joining = []string{"fuse", "epilogue", "prologue"}

// summary writes what the whole of a run is.
func (p *Plan) summary(b *strings.Builder) {
	bytes, cost := p.Program.Bytes, p.Cost()
	fmt.Fprintf(b, "\n%s of %d, %s", units.Of(p.Calls(), "call"), p.Report.Calls, units.Of(p.Program.Launches(), "launch"))
	for _, pass := range Passes() {
		if n := p.Report.Changes[pass.Name]; n > 0 && !slices.Contains(joining, pass.Name) {
			fmt.Fprintf(b, ", %s %d", pass.Name, n)
		}
	}
	if f := p.Report.Fusion; f.Launches > 0 {
		fmt.Fprintf(b, ", %d fused from %d", f.Launches, f.Calls)
	}
	if f := p.Report.Fusion; f.Epilogues+f.Prologues > 0 {
		fmt.Fprintf(b, ", %s, %s", units.Of(f.Epilogues, "epilogue"), units.Of(f.Prologues, "prologue"))
	}
	fmt.Fprintf(b, "\n%s flop and %s of memory traffic at least\n", units.Count(cost.Flops), units.Bytes(cost.Bytes))
	kept := "constants"
	if len(p.Program.Prepare) > 0 {
		kept = "constants and what is made of weights"
	}
	fmt.Fprintf(b, "arena %d bytes (at least %d; %d without sharing), %s %d bytes", bytes.Arena, bytes.Lower, bytes.Values, kept, bytes.Kept)
	if bytes.Packed > 0 {
		fmt.Fprintf(b, ", packed %d bytes", bytes.Packed)
	}
	fmt.Fprintln(b)
	for _, m := range p.Report.Idioms.Missed {
		fmt.Fprintf(b, "no idiom: node %s before the passes, %s: %s\n", m.where(), m.Call, m.Reason)
	}
	for _, m := range p.Report.Stack.Missed {
		fmt.Fprintf(b, "not joined: node %s before the pass stack, %s: %s\n", m.where(), m.Call, m.Reason)
	}
	for _, m := range p.Report.Fusion.Missed {
		fmt.Fprintf(b, "not fused: node %s before the pass fuse, %s: %s\n", m.where(), m.Call, m.Reason)
	}
}

// separated are words with commas between the texts.
func separated(texts []string) []string {
	var words []string
	for i, t := range texts {
		if i < len(texts)-1 {
			t += ","
		}
		words = append(words, t)
	}
	return words
}

// wrap joins words into lines of at most width characters. A word that is longer is divided, at spaces if it has some.
func wrap(words []string, width int) []string {
	var lines []string
	for _, w := range words {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(w) <= width {
			lines[last] += " " + w
			continue
		}
		if parts := strings.Fields(w); len(parts) > 1 && utf8.RuneCountInString(w) > width {
			lines = append(lines, wrap(parts, width)...)
			continue
		}
		for r := []rune(w); len(r) > 0; r = r[min(len(r), width):] {
			lines = append(lines, string(r[:min(len(r), width)]))
		}
	}
	return lines
}
