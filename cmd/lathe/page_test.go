package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// commandsOf returns the command lines of a page, or of one section of it: the indented lines
// that begin with the name of the command.
func commandsOf(t *testing.T, page, section string) (list []string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if section != "" {
		_, text, _ = strings.Cut(text, "\n## "+section+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
	}
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "    "); ok && strings.HasPrefix(command, "lathe ") {
			list = append(list, strings.TrimSpace(command))
		}
	}
	return list
}

// TestComparePage runs the commands of docs/compare.md, one after the other.
func TestComparePage(t *testing.T) {
	if !hasDevice() {
		testkit.NoDevice(t, "needs any device")
	}
	list := commandsOf(t, "../../docs/compare.md", "")
	folder := t.TempDir()
	for i, name := range []string{"lake.png", "hill.png"} {
		data, err := testimg.Encode(testimg.Photo(160, 120, uint64(i)), ".png")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(folder, "before"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "before", name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{ // what the output of some commands has
		"lathe compare before after":                                             "  lake.png\n",
		"lathe compare before after --psnr 30 --ssim 0.9":                        "-",
		`lathe compare before after --max 0 || echo "the pictures have changed"`: "the pictures have changed",
	}
	for _, line := range list {
		command := exec.CommandContext(t.Context(), "sh", "-c", line)
		command.Dir = folder
		out, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want[line]) {
			t.Errorf("%s: %v, it says:\n%s", line, err, out)
		}
		delete(want, line)
	}
	for line := range want {
		t.Errorf("docs/compare.md has no %s", line)
	}
	for _, name := range []string{"after/lake.jpg", "differences/lake.png", "differences/hill.png", "differences.png", "report.json"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGuideCommands runs the commands of some sections of docs/guide.md.
func TestGuideCommands(t *testing.T) {
	if !hasDevice() {
		testkit.NoDevice(t, "needs any device")
	}
	folder := t.TempDir()
	for i, name := range []string{"before.png", "before/a.png", "before/in/b.png", "holiday/a.jpg", "photos/a.png", "photos/in/b.jpg", "scans/a.tif", "scans/b.tif"} {
		m := testimg.Photo(90, 60, uint64(i))
		write := func(name string) {
			name = filepath.Join(folder, name)
			data, err := testimg.Encode(m, strings.Replace(filepath.Ext(name), ".tif", ".tiff", 1))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		write(name)
		if after := strings.Replace(name, "before", "after", 1); after != name {
			for k := range m.Pix {
				if k%4 < 3 {
					m.Pix[k] ^= 1
				}
			}
			write(after)
		}
	}
	for _, section := range []string{"compare", "sheet"} {
		list := commandsOf(t, "../../docs/guide.md", section)
		if len(list) < 3 {
			t.Errorf("the section %s of docs/guide.md has %d commands", section, len(list))
		}
		for _, line := range list {
			command := exec.CommandContext(t.Context(), "sh", "-c", line)
			command.Dir = folder
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%s: %v, it says:\n%s", line, err, out)
			}
		}
	}
	for _, name := range []string{"differences/a.png", "differences/in/b.png", "sheet.png", "index.jpg", "all.png"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
