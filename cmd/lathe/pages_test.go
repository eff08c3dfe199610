package main

import (
	"os"
	"strings"
	"testing"
)

// TestPages checks that a script of testdata runs each command of a page of docs.
func TestPages(t *testing.T) {
	for _, name := range []string{"archive", "frames", "thumbnails", "watermark"} {
		script, err := os.ReadFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		commands := commandsOf(t, "../../docs/"+name+".md", "")
		if len(commands) < 5 {
			t.Errorf("docs/%s.md has %d commands", name, len(commands))
		}
		for _, line := range commands {
			command, file, redirected := strings.Cut(line, " > ")
			want := "exec " + strings.ReplaceAll(command, `"`, "'") + "\n"
			if redirected {
				want += "cp stdout " + file + "\n"
			}
			if !strings.Contains(string(script), want) {
				t.Errorf("testdata/%s.txtar lacks the line %q", name, want)
			}
		}
	}
}
