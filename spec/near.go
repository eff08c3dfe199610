package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func opNames(groups []string) []string {
	var names []string
	for _, op := range All() {
		if op.Offered() && op.in(groups) {
			names = append(names, op.Name)
		}
	}
	return names
}

func opAliases(groups []string) []string {
	var names []string
	for _, op := range All() {
		if op.Offered() && op.in(groups) {
			names = append(names, op.Aliases...)
		}
	}
	return names
}

// listAttrs lists names of attributes in brackets, for errors.
func listAttrs(names []string) string {
	if len(names) == 0 {
		return " (it has none)"
	}
	return " (it has: " + strings.Join(names, ", ") + ")"
}

// mistakes is how many letters of a name may be wrong: one of four, two of five to eight, and a
// third of a longer name.
func mistakes(name string) int {
	if len(name) <= 4 {
		return 1
	}
	return max(2, len(name)/3)
}

// didYouMean suggests the nearest name, if one is similar.
func didYouMean(name string, names []string) string {
	name = strings.ToLower(name)
	best, least := "", mistakes(name)+1
	for _, n := range names {
		if d := editDistance(name, n); d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// importAll is the import by which a program knows the operations of Lathe by name.
const importAll = `import _ "github.com/lathe-gpu/lathe/ops/all"`

// known lists the operations of the groups for errors, unless there are many.
func known(groups []string) string {
	if names := opNames(groups); len(names) <= 20 {
		text := "known: " + strings.Join(names, ", ")
		switch lathes := slices.ContainsFunc(All(), func(op *Op) bool { return len(op.Kernels) > 0 }); { // Those of the program have none.
		case !lathes && len(names) == 0:
			return importAll + " makes those of Lathe known"
		case !lathes:
			text += "; " + importAll + " for those of Lathe"
		case len(names) == 0:
			text = "none is known"
		}
		return text
	}
	return `"lathe ops" and docs/OPS.md list all`
}

// nearNames is didYouMean with the names that are equally near, up to three. Names that contain
// name are near too.
func nearNames(name string, names []string) string {
	name = strings.ToLower(name)
	most := mistakes(name)
	var near []string
	for _, n := range names {
		d := editDistance(name, n)
		if d > most && len(name) > 2 && strings.Contains(n, name) {
			d = most
		}
		switch {
		case n == "" || d > most:
			continue
		case d < most:
			near, most = nil, d
		}
		near = append(near, n)
	}
	near = near[:min(len(near), 3)]
	for i := range near {
		near[i] = strconv.Quote(near[i])
	}
	switch n := len(near); n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(": did you mean %s?", near[0])
	default:
		return fmt.Sprintf(": did you mean %s or %s?", strings.Join(near[:n-1], ", "), near[n-1])
	}
}

// editDistance returns how many characters must be inserted, deleted or changed to turn a
// into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
