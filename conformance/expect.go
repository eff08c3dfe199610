package conformance

import (
	_ "embed" // for expect.txt
	"fmt"
	"io"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
)

//go:embed expect.txt
var known string

// Expectations are the known bugs of drivers that conformance/expect.txt lists. Each line
// has four columns, separated by "|". "#" begins a comment.
//
//	device pattern | op/dtype/case pattern | reason | behaviour
//
// The patterns match whole names. "*" matches any characters. If a case fails that a row
// matches, that is expected. If a row matches the device and only cases that pass, the
// row is stale, and the run fails.
type Expectations struct{ rows []expectation }

type expectation struct {
	line                            int
	device, cases, reason, behavior string
}

// Known returns the known bugs in conformance/expect.txt.
// Errors: ErrInvalidArgument, which names the line.
func Known() (*Expectations, error) { return ParseExpectations(strings.NewReader(known)) }

// ParseExpectations parses the table.
// Errors: ErrInvalidArgument, which names the line, or says that r is nil; those of r.
func ParseExpectations(r io.Reader) (*Expectations, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, fmt.Errorf("conformance: expectations: %w", err)
	}
	e, n := &Expectations{}, 0
	for line := range strings.Lines(string(data)) {
		n++
		text, _, _ := strings.Cut(line, "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		cols := strings.Split(text, "|")
		if len(cols) != 4 {
			return nil, fmt.Errorf("conformance: expectations: %w: line %d (got %d columns, want device | case | reason | behaviour)",
				errs.ErrInvalidArgument, n, len(cols))
		}
		for i := range cols {
			if cols[i] = strings.TrimSpace(cols[i]); cols[i] == "" {
				return nil, fmt.Errorf("conformance: expectations: %w: line %d: column %d is empty", errs.ErrInvalidArgument, n, i+1)
			}
		}
		e.rows = append(e.rows, expectation{n, cols[0], cols[1], cols[2], cols[3]})
	}
	return e, nil
}

// apply marks the expected failures of the report, and returns the stale rows.
func (e *Expectations) apply(r *Report) (stale []string) {
	for _, x := range e.rows {
		if !glob(x.device, r.Device) && !glob(x.device, r.Driver) {
			continue
		}
		matched, failed := 0, 0
		for i := range r.Rows {
			row := &r.Rows[i]
			if !glob(x.cases, row.Op+"/"+row.DType+"/"+row.Case) {
				continue
			}
			matched++
			if row.Status == Fail || row.Status == Expected {
				failed++
				row.Status = Expected
				row.Message += " (expected: " + x.reason + "; " + x.behavior + ")"
			}
		}
		// A quick or filtered run may not have the case.
		if matched > 0 && failed == 0 {
			stale = append(stale, fmt.Sprintf("line %d: %s | %s", x.line, x.device, x.cases))
		}
	}
	return stale
}

// glob reports whether the pattern matches all of s. * matches any characters.
func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, last)
}
