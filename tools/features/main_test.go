package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// page are the rows of docs/features.md: the cells by the name of the row.
func page(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../../docs/features.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.ReplaceAll(strings.TrimSpace(line), `\|`, "¦")
		if cells := strings.Split(strings.Trim(line, "|"), " | "); strings.HasPrefix(line, "| ") && len(cells) == 5 {
			for i := range cells {
				cells[i] = strings.ReplaceAll(strings.Trim(cells[i], " `*"), "¦", "|")
			}
			rows[cells[0]] = cells[1:]
		}
	}
	return rows
}

// The page has all rows, and Lathe has the operations that it says. Run the program again if it does not.
func TestPageIsOfToday(t *testing.T) {
	rows, brief := page(t), (&lab{}).lathe(t.Context()).brief
	for _, g := range groups {
		for _, r := range g.rows {
			cells, ok := rows[r.name]
			if !ok {
				t.Errorf("docs/features.md has no row %q", r.name)
				continue
			}
			works := "–"
			for _, way := range r.lathe {
				if strings.HasPrefix(way, "!") {
					if cells[0] == brief(way) {
						works = cells[0] // What flags do, the program has to try.
					}
					continue
				}
				// Files are not read here.
				if calls, err := spec.ParseCalls(way, "image"); err == nil && !slices.ContainsFunc(calls, func(c spec.Call) bool {
					_, err := c.Spec().Shape(c, c.Spec().TypicalInputs(tensor.U8))
					return err != nil && len(c.Spec().In) == 1
				}) {
					works = brief(way)
					break
				}
			}
			switch {
			case cells[0] == works:
			case cells[0] == "–":
				t.Logf("docs/features.md does not know that Lathe has %q for %q: make it again", works, r.name)
			default:
				t.Errorf("docs/features.md says that %q is %q by Lathe, and it is %q", r.name, cells[0], works)
			}
		}
	}
}

func TestAsk(t *testing.T) {
	refuse := func(context.Context, string) error { return errors.New("no") }
	accept := func(context.Context, string) error { return nil }
	tools := []*tool{
		{name: "Lathe", version: "1", of: func(r row) []string { return r.lathe }, try: refuse, brief: plain},
		{name: "vips", version: "2", of: func(r row) []string { return r.vips }, try: accept, brief: plain},
	}
	said := 0
	found := ask(t.Context(), tools, func(string, ...any) { said++ })
	if len(found["Lathe"]) != 0 || said < 50 || found["vips"]["grey"] != "colourspace $in $out b-w" {
		t.Errorf("found %v, said %d", found, said)
	}
	list := behind(tools, found)
	if !slices.Contains(list, "grey") || slices.Contains(list, "Canny") || slices.Contains(list, "sepia") == (found["vips"]["sepia"] == "") {
		t.Errorf("behind in %v", list)
	}
	text := string(render(tools, found))
	for _, want := range []string{"\n| grey | – | `colourspace b-w` |\n", "\n| *Canny* | – | `canny` |\n", "Lathe lacks them: resize, Lanczos, ", "\n| of 18 | 0 | "} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	tools[0].try = accept
	if text := string(render(tools, ask(t.Context(), tools, func(string, ...any) {}))); !strings.Contains(text, "There is no task of every day that") {
		t.Error("the page says that something is lacking")
	}
}

func TestShell(t *testing.T) {
	l := &lab{dir: t.TempDir(), vars: []string{"in=a picture"}}
	for way, works := range map[string]bool{
		"echo x > $out.png":                                true,
		"echo x > $out.png ?? grep -q x $out.png":          true,
		"echo x > $out.png ?? grep -q y $out.png":          false,
		"echo x > $out.png; exit 1":                        false,
		"true":                                             false,
		`test "$in" = "a picture" && echo yes`:             true,
		"echo x > $out.png; exit 1 ?? test -e $out.png":    true,
		"no-such-program-anywhere $in || exit 3 ?? exit 4": false,
	} {
		if err := l.sh(t.Context(), way); (err == nil) != works {
			t.Errorf("%s: %v", way, err)
		}
	}
	if got := l.expand("sharp($in).toFile($out)"); got != `sharp("a picture").toFile($out)` {
		t.Error(got)
	}
	if got := plain("!lathe image $in -o $out.jpg --strip ?? grep x"); got != "lathe image -o OUT.jpg --strip" {
		t.Error(got)
	}
}
