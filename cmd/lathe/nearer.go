package main

import (
	"fmt"
	"regexp"
	"strings"
)

// nearer is an error of the parser without names that are too far. The parser takes a name for
// near if two letters differ, which are half of a short word. Of those it keeps the names with the
// same first letter.
type nearer struct{ error }

var guess = regexp.MustCompile(`^(.* (\S+)), did you mean (?:one of )?(".*")\?$`)

// Error is the text.
func (n nearer) Error() string {
	text := n.error.Error()
	m := guess.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	word := strings.TrimLeft(m[2], "-")
	if len(word) > 4 || word == "" {
		return text
	}
	var near []string
	for name := range strings.SplitSeq(m[3], ", ") {
		if strings.HasPrefix(strings.Trim(name, `"-`), word[:1]) {
			near = append(near, name)
		}
	}
	switch len(near) {
	case 0:
		return m[1]
	case 1:
		return fmt.Sprintf("%s, did you mean %s?", m[1], near[0])
	}
	return fmt.Sprintf("%s, did you mean one of %s?", m[1], strings.Join(near, ", "))
}

// Unwrap returns the parser's error.
func (n nearer) Unwrap() error { return n.error }
