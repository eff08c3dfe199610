package contraction

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/planner"
)

// label names a dimension. A letter is itself. Dimensions of an ellipsis are -1, -2 and so on, counted from the last one.
type label rune

// String returns the label for an error.
func (l label) String() string {
	if l < 0 {
		return fmt.Sprintf("dimension %d of the ellipsis", int(l))
	}
	return "label " + string(rune(l))
}

// subscripts are the labels of an operand or of the result.
type subscripts struct {
	// letters are the labels without those of the ellipsis.
	letters []label
	// ellipsis is the number of letters before the ellipsis. It is -1 if there is none.
	ellipsis int
}

// String writes the subscripts as in an equation.
func (s subscripts) String() string {
	letters := make([]rune, len(s.letters))
	for i, l := range s.letters {
		letters[i] = rune(l)
	}
	if s.ellipsis < 0 {
		return string(letters)
	}
	return string(letters[:s.ellipsis]) + "..." + string(letters[s.ellipsis:])
}

// labels returns all labels if the ellipsis stands for n dimensions.
func (s subscripts) labels(n int) []label {
	if s.ellipsis < 0 {
		return s.letters
	}
	list := slices.Clone(s.letters[:s.ellipsis])
	for i := n; i > 0; i-- {
		list = append(list, label(-i))
	}
	return append(list, s.letters[s.ellipsis:]...)
}

// equation is an equation of a call.
type equation struct {
	in  []subscripts
	out subscripts
}

// parse reads an equation. Without "->", the result has the ellipsis, and then the labels that occur once, in the
// order of their codes.
// Errors: ErrInvalidArgument.
func parse(text string) (*equation, error) {
	left, right, explicit := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	e := &equation{}
	count := map[label]int{}
	ellipsis := -1
	for _, part := range strings.Split(left, ",") {
		s, err := parseSubscripts(text, part)
		if err != nil {
			return nil, err
		}
		for _, l := range s.letters {
			count[l]++
		}
		if s.ellipsis >= 0 {
			ellipsis = 0
		}
		e.in = append(e.in, s)
	}
	if !explicit {
		e.out.ellipsis = ellipsis
		for l, n := range count {
			if n == 1 {
				e.out.letters = append(e.out.letters, l)
			}
		}
		slices.Sort(e.out.letters)
		return e, nil
	}
	out, err := parseSubscripts(text, right)
	if err != nil {
		return nil, err
	}
	for i, l := range out.letters {
		switch {
		case count[l] == 0:
			return nil, planner.Invalid("equation %q: no operand has %v of the result", text, l)
		case slices.Contains(out.letters[:i], l):
			return nil, planner.Invalid("equation %q: the result has %v twice", text, l)
		}
	}
	e.out = out
	return e, nil
}

// parseSubscripts reads a part of an equation.
// Errors: ErrInvalidArgument.
func parseSubscripts(text, part string) (subscripts, error) {
	s := subscripts{ellipsis: -1}
	for part != "" {
		if rest, ok := strings.CutPrefix(part, "..."); ok {
			if s.ellipsis >= 0 {
				return s, planner.Invalid("equation %q: two ellipses of one operand or of the result", text)
			}
			s.ellipsis, part = len(s.letters), rest
			continue
		}
		c := []rune(part)[0]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return s, planner.Invalid("equation %q: %q (want letters, spaces, commas, \"...\", and \"->\" once)", text, string(c))
		}
		s.letters, part = append(s.letters, label(c)), part[1:]
	}
	return s, nil
}
