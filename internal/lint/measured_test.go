package lint

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	// measured is a result in a row of a table: a time, a rate, a size or a number of cases.
	measured = regexp.MustCompile(`\d (ns|µs|ms|s|MB|MB/s|GB/s|GFLOP/s|pass)\b|^\|.*\b(GFLOP/s|GB/s|MB)\b`)
	// dated says when a table was measured.
	dated = regexp.MustCompile(`(?i)\b(measured|made)( \w+)?( on)?\s+20\d\d-\d\d-\d\d\b`)
)

// undated lists the headings of the sections of a page that have a table of measurements
// and do not say when it was made. A date before the first table of a page counts for
// all of them if the page says "This page is a measurement".
func undated(text string) (headings []string) {
	heading, table, date, page, fence := "", false, false, false, false
	end := func() {
		if table && !date && !page {
			headings = append(headings, heading)
		}
	}
	before := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fence = !fence
		}
		if !fence && strings.HasPrefix(line, "#") {
			end()
			heading, table, date, before = line, false, false, ""
			continue
		}
		if dated.MatchString(before + " " + line) { // a sentence may go over two lines
			date = true
			page = page || strings.Contains(line, "This page is a measurement")
		}
		before = line
		table = table || strings.HasPrefix(line, "|") && measured.MatchString(line)
	}
	end()
	return headings
}

func TestUndated(t *testing.T) {
	const table = "\n| a | b |\n|---|---|\n| x | 3.5 ms |\n"
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"no date", "# A\n" + table, 1},
		{"date before", "# A\nMeasured on 2026-11-21, twice:\n" + table, 0},
		{"date after", "# A\n" + table + "\n- Measured on 2026-11-21.\n", 0},
		{"date over two lines", "# A\n" + table + "\n- Each row was measured on\n  2026-11-21.\n", 0},
		{"date of another section", "# A\nMeasured on 2026-11-21.\n## B\n" + table, 1},
		{"date of the page", "# A\nThis page is a measurement: made on 2026-11-21.\n## B\n" + table, 0},
		{"rates", "# A\n| a | GFLOP/s |\n|---|---|\n| x | 3.5 |\n", 1},
		{"other table", "# A\n| a | b |\n|---|---|\n| x | 3 |\n", 0},
		{"prose", "# A\nIt takes 3.5 ms.\n", 0},
		{"comment in code", "# A\nMeasured on 2026-11-21.\n```\n# B\n```\n" + table, 0},
	} {
		if got := undated(c.text); len(got) != c.want {
			t.Errorf("%s: found %q, want %d", c.name, got, c.want)
		}
	}
}

// Whatever the pages show is either checked by `make check`, as docs/OPS.md is, or says
// when it was measured. Pictures are named beside the command that makes them.
func TestMeasurementsAreDated(t *testing.T) {
	root := os.DirFS("../..")
	tables, pictures, pages := 0, 0, ""
	eachPage(t, func(name, text string) {
		if name == "CHANGELOG.md" || name == "docs/OPS.md" {
			return
		}
		pages += text
		if measured.MatchString(text) {
			tables++
		}
		for _, h := range undated(text) {
			t.Errorf("%s: the section %q has a table of measurements: say \"Measured on YEAR-MM-DD\", with the commit and the machine if they are not those of the page", name, h)
		}
	})
	files, err := fs.ReadDir(root, "docs/img")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		pictures++
		if !regexp.MustCompile(`docs/img/` + regexp.QuoteMeta(f.Name()) + "[^#]*`make pictures`").MatchString(pages) {
			t.Errorf("docs/img/%s: no page shows it and says in the same section that `make pictures` renders it", f.Name())
		}
	}
	if tables < 3 || pictures < 2 {
		t.Errorf("found %d pages of measurements and %d pictures: the walk saw too little", tables, pictures)
	}
}
