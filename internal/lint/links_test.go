package lint

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`^#{1,6} +(.*)`)
	inLine  = regexp.MustCompile("`[^`]*`")
)

// proseLines are the lines of a page without its blocks of code, which are left empty.
func proseLines(text string) []string {
	lines, fence := strings.Split(text, "\n"), false
	for i, l := range lines {
		mark := strings.HasPrefix(strings.TrimSpace(l), "```")
		if fence || mark {
			lines[i] = ""
		}
		fence = fence != mark
	}
	return lines
}

// anchors are the names that links to headings of a page have on GitHub and GitLab.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, l := range proseLines(text) {
		m := heading.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(m[1]))] = true
	}
	return names
}

// deadLinks lists the links of the page name that lead to no file or to no heading.
func deadLinks(root fs.FS, name, text string) (dead []string) {
	for _, l := range proseLines(text) {
		for _, m := range link.FindAllStringSubmatch(inLine.ReplaceAllString(l, ""), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			content := text
			if target != name {
				if _, err := fs.Stat(root, target); err != nil {
					dead = append(dead, m[1])
					continue
				}
				data, _ := fs.ReadFile(root, target) // a folder has no content
				content = string(data)
			}
			if anchor != "" && path.Ext(target) == ".md" && !anchors(content)[anchor] {
				dead = append(dead, m[1])
			}
		}
	}
	return dead
}

func TestDeadLinks(t *testing.T) {
	root := os.DirFS(t.TempDir())
	for _, c := range []struct {
		text string
		want int
	}{
		{"[a](https://example.com/x) [b](mailto:a@example.com)", 0},
		{"[a](#here)\n## Here\n", 0},
		{"[a](page.md#blur-σ3-at-1-µs)\n## Blur `σ=3`, at 1 µs\n", 0},
		{"[a](#there)\n## Here\n", 1},
		{"[a](#here)\n```\n## Here\n```\n", 1},
		{"```\n[a](none.md)\n```\nand `[a](none.md)`\n", 0},
		{"[a](none.md), [b](none.go)\n", 2},
	} {
		if got := deadLinks(root, "page.md", c.text); len(got) != c.want {
			t.Errorf("%q: found %q, want %d", c.text, got, c.want)
		}
	}
}

// Links between pages, and from pages to files, lead somewhere.
func TestLinks(t *testing.T) {
	root, count := os.DirFS("../.."), 0
	eachPage(t, func(name, text string) {
		count += len(link.FindAllString(text, -1))
		for _, l := range deadLinks(root, name, text) {
			t.Errorf("%s: the link %s leads to no file, or to no heading of it", name, l)
		}
	})
	if count < 100 {
		t.Errorf("found %d links: the walk saw too little", count)
	}
}
