package conformance

import (
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// String returns the list as text. It has a line for each hash.
func (h Hashes) String() string {
	var b strings.Builder
	for _, e := range h {
		fmt.Fprintf(&b, "%s %s %s\n", e.Op, e.DType, e.Sum)
	}
	return b.String()
}

// ParseHashes reads a list that String has written. It skips empty lines and lines that
// begin with "#".
// Errors: ErrInvalidArgument.
func ParseHashes(text string) (Hashes, error) {
	var list Hashes
	n := 0
	for line := range strings.Lines(text) {
		n++
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) != 3 {
			return nil, fmt.Errorf("conformance: hashes: %w: line %d (want an operation, an element type and a hash)", errs.ErrInvalidArgument, n)
		}
		list = append(list, Hash{f[0], f[1], f[2]})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("conformance: hashes: %w: no hash in the list", errs.ErrInvalidArgument)
	}
	return list, nil
}

// Differences compares a list with the one that is wanted. It returns a line for each hash
// that is another one, and for each that want lacks. If h is a list of all operations,
// hashes that it lacks differ too. The hashes of whole lists are not compared: they differ
// if a line does.
func (h Hashes) Differences(want Hashes) []string {
	type key struct{ op, dtype string }
	wanted, whole := map[key]string{}, false
	for _, e := range want {
		wanted[key{e.Op, e.DType}] = e.Sum
	}
	var lines []string
	for _, e := range h {
		k := key{e.Op, e.DType}
		sum, known := wanted[k]
		delete(wanted, k)
		switch {
		case e.Op == hashAll:
			whole = true
		case !known:
			lines = append(lines, fmt.Sprintf("%s %s: not in the list (got %s)", e.Op, e.DType, e.Sum))
		case sum != e.Sum:
			lines = append(lines, fmt.Sprintf("%s %s: other results (got %s, want %s)", e.Op, e.DType, e.Sum, sum))
		}
	}
	for _, e := range want {
		if _, left := wanted[key{e.Op, e.DType}]; whole && left && e.Op != hashAll {
			lines = append(lines, fmt.Sprintf("%s %s: no results (want %s)", e.Op, e.DType, e.Sum))
		}
	}
	return lines
}
