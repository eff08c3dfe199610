package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	measure "github.com/lathe-gpu/lathe/internal/bench"
)

// thumbnails compares `lathe image`, with and without the decoding of smaller pictures, with vipsthumbnail
// and with ImageMagick, where they are installed.
func (b *bench) thumbnails() (*table, error) {
	w, h, n, repeats := 6000, 4000, 8, 3
	if b.quick {
		w, h, n, repeats = 2000, 1500, 4, 1
	}
	in := filepath.Join(b.dir, "large")
	if _, err := b.makePhotos(in, filepath.Join(b.dir, "none"), w, h, n, 0); err != nil {
		return nil, err
	}
	lathe, err := b.buildCLI()
	if err != nil {
		return nil, err
	}
	const box = "320x320>"
	ours := func(more ...string) func(out string, files []string) []string {
		return func(out string, files []string) []string {
			return append(append([]string{"image", "--op", "resize " + box, "--format", "jpeg", "--quality", "80", "--strip", "--out", out}, more...), in)
		}
	}
	programs := []struct {
		name, key, command string
		args               func(out string, files []string) []string
	}{
		{"lathe image", "", lathe, ours()},
		{"lathe image --no-shrink-on-load", "full", lathe, ours("--no-shrink-on-load")},
		{"vipsthumbnail", "libvips", "vipsthumbnail", func(out string, files []string) []string {
			return append([]string{"--size", box, "-o", filepath.Join(out, "%s.jpg[Q=80,strip]")}, files...)
		}},
		{"convert -define jpeg:size", "magick", "convert", func(out string, files []string) []string {
			return append(append([]string{"-define", "jpeg:size=640x640"}, files...), "-thumbnail", box, "-quality", "80", filepath.Join(out, "%02d.jpg"))
		}},
	}
	files, err := filepath.Glob(filepath.Join(in, "*.jpg"))
	if err != nil {
		return nil, err
	}
	took := make([][]usage, len(programs))
	for range repeats { // in turns, for what else the machine does
		for i, p := range programs {
			if _, err := exec.LookPath(p.command); err != nil {
				continue
			}
			out := filepath.Join(b.dir, "thumbs")
			if err := os.MkdirAll(out, 0o755); err != nil {
				return nil, err
			}
			u, err := b.measure(nil, p.command, p.args(out, files)...)
			if err != nil {
				return nil, err
			}
			if err := countJPEG(out, in); err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			if err := os.RemoveAll(out); err != nil {
				return nil, err
			}
			took[i] = append(took[i], u)
		}
	}
	t := &table{
		Title:  fmt.Sprintf("Thumbnails of %d JPEG photographs of %.0f megapixels", n, float64(w*h)/1e6),
		Header: []string{"program", "wall time", "processor time", "peak memory", "wall time / lathe's", "processor time / lathe's"},
	}
	ourWall, ourCPU, _ := summary(took[0])
	for i, p := range programs {
		if took[i] == nil {
			t.note("%s is not in the table: the command was not found on this machine.", p.name)
			continue
		}
		wall, cpu, peak := summary(took[i])
		ratios := [2]string{}
		if i > 0 {
			ratios = [2]string{fmt.Sprintf("**%.2f**", ratio(wall, ourWall)), fmt.Sprintf("%.2f", ratio(cpu, ourCPU))}
			t.value(p.key+"/wall_ratio", ratio(wall, ourWall))
			t.value(p.key+"/cpu_ratio", ratio(cpu, ourCPU))
		}
		t.row(p.name, wall, measure.Format(cpu.Median()), mib(peak), ratios[0], ratios[1])
	}
	t.note("Into a box of %s, JPEG of quality 80. The start of the process is included, and for Lathe that of the device. A ratio above 1 means Lathe is faster.", box)
	return t, nil
}
