package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// The Markdown file keeps what people write around the part that is generated,
// one part for each device, and in it the tables of sections that did not run.
func writeSection(file string, r *results) error {
	begin := fmt.Sprintf("<!-- bench begin: %s -->\n", r.Device)
	end := fmt.Sprintf("<!-- bench end: %s -->\n", r.Device)
	old, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	text := string(old)
	i, j := strings.Index(text, begin), strings.Index(text, end)
	there := i >= 0 && j > i
	blocks := map[string]string{}
	if there {
		blocks = tablesOf(text[i+len(begin) : j])
	}
	for _, t := range r.Tables {
		var b bytes.Buffer
		t.writeMarkdown(&b)
		blocks[t.Section] = b.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s## %s\n\n%s", begin, r.Device, r.heading())
	for _, s := range sections {
		if block := blocks[s.name]; block != "" {
			b.WriteString(tableMark(s.name) + block)
		}
	}
	b.WriteString(end)
	switch {
	case there:
		text = text[:i] + b.String() + text[j+len(end):]
	case text == "":
		text = "# Performance\n\n" + b.String()
	default:
		text = strings.TrimRight(text, "\n") + "\n\n" + b.String()
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// tableMark stands before a section's table.
func tableMark(section string) string { return "<!-- " + section + " -->\n" }

// tablesOf finds the tables of a device's part by section.
func tablesOf(part string) map[string]string {
	blocks := map[string]string{}
	at := "" // the section whose table the lines belong to
	for line := range strings.Lines(part) {
		if name, ok := strings.CutPrefix(line, "<!-- "); ok {
			at = strings.TrimSuffix(name, " -->\n")
		} else if at != "" {
			blocks[at] += line
		}
	}
	return blocks
}
