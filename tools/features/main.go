// Features asks Lathe, libvips, ImageMagick and sharp what they have: it tries a command for each
// task on small pictures, and writes a table of those that work.
//
//	go run ./tools/features [-o docs/features.md] [-sharp folder] [-v]
//
// A tool that is not installed has no column. vips is in the Debian package libvips-tools, and ImageMagick
// in imagemagick. sharp is a package of npm: -sharp is the folder in which `npm install sharp` was called.
// With -v it says why commands have failed.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lathe-gpu/lathe/internal/testimg"
)

func main() {
	out := flag.String("o", "", "file to write; empty = standard output")
	folder := flag.String("sharp", ".", "the folder with node_modules/sharp")
	verbose := flag.Bool("v", false, "say why commands have failed")
	flag.Parse()
	if err := run(context.Background(), *out, *folder, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "features:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, folder string, verbose bool) error {
	dir, err := os.MkdirTemp("", "lathe-features")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "bin", "lathe"), "github.com/lathe-gpu/lathe/cmd/lathe")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	os.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	l := &lab{dir: dir}
	if err := l.fill(ctx); err != nil {
		return err
	}
	var tools []*tool
	for _, t := range []*tool{l.lathe(ctx), l.vips(ctx), l.magick(ctx), l.sharp(ctx, folder)} {
		if t.version == "" {
			fmt.Fprintf(os.Stderr, "features: %s is not installed\n", t.name)
			continue
		}
		tools = append(tools, t)
	}
	found := ask(ctx, tools, func(format string, args ...any) {
		if verbose {
			fmt.Fprintf(os.Stderr, format+"\n", args...)
		}
	})
	page := render(tools, found)
	if out == "" {
		_, err := os.Stdout.Write(page)
		return err
	}
	return os.WriteFile(out, page, 0o666)
}

// fill makes the pictures that the commands work on.
func (l *lab) fill(ctx context.Context) error {
	photo := testimg.Photo(120, 90, 1)
	deep := image.NewNRGBA64(photo.Rect)
	draw.Draw(deep, deep.Rect, photo, image.Point{}, draw.Src)
	mask := image.NewGray(photo.Rect)
	testimg.Fill(1, mask.Pix)
	files := map[string]image.Image{"in.png": photo, "jpg.jpg": photo, "deep.png": deep, "mask.png": mask, "logo.png": testimg.Noise(40, 30, 2), "folder/a.png": photo}
	for name, m := range files {
		data, err := testimg.Encode(m, filepath.Ext(name))
		if err != nil {
			return err
		}
		if name == "jpg.jpg" {
			data = testimg.WithSegments(data, "Exif\x00\x00"+string(testimg.Camera(6, binary.BigEndian)))
		}
		if err := l.write(name, data); err != nil {
			return err
		}
	}
	cube := "LUT_3D_SIZE 2\n"
	for i := range 8 {
		cube += fmt.Sprintf("%d %d %d\n", i&1, i>>1&1, i>>2&1)
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><circle cx="15" cy="15" r="9" fill="red"/></svg>`
	for name, text := range map[string]string{"webp.webp": testimg.WebP, "lut.cube": cube, "svg.svg": svg, "folder/bad.png": "no picture"} {
		if err := l.write(name, []byte(text)); err != nil {
			return err
		}
	}
	at := func(name string) string { return filepath.Join(l.dir, name) }
	l.vars = []string{
		"dir=" + l.dir, "in=" + at("in.png"), "rgb=" + at("in.png"), "jpg=" + at("jpg.jpg"), "deep=" + at("deep.png"), "mask=" + at("mask.png"),
		"logo=" + at("logo.png"), "cube=" + at("lut.cube"), "svg=" + at("svg.svg"), "webp=" + at("webp.webp"), "gif=" + at("gif.gif"),
		"avif=" + at("avif.avif"), "icc=" + at("icc.jpg"), "tagged=" + at("tagged.jpg"),
		"p3=" + at("p3.icc"), "srgb=" + at("srgb.icc"),
	}
	// What Go has no encoder for, other tools make. Where they are missing, nobody reads it.
	for _, commands := range [][]string{
		{"vips copy $in $avif", "convert $in $avif"},
		{"convert -delay 10 $in \\( $in -negate \\) $gif"},
		{"vips copy $in $icc'[profile=p3]'"},
		{"vips copy $in $tagged'[profile=srgb]'"},
		{"convert $icc $p3"},
		{"convert $tagged $srgb"},
	} {
		for _, c := range commands {
			if l.sh(ctx, c+" && echo made") == nil {
				break
			}
		}
	}
	return nil
}

func (l *lab) write(name string, data []byte) error {
	name = filepath.Join(l.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o666)
}

// ask tries the ways of all rows. It returns the one that works, by tool and row.
func ask(ctx context.Context, tools []*tool, say func(format string, args ...any)) map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, t := range tools {
		found[t.name] = map[string]string{}
		for _, g := range groups {
			for _, r := range g.rows {
				for _, way := range t.of(r) {
					err := t.try(ctx, way)
					if err == nil {
						found[t.name][r.name] = way
						break
					}
					say("%s: %s: %s: %v", t.name, r.name, way, err)
				}
			}
		}
	}
	return found
}

// behind lists the rows that all tools have but the first. Rows that are not for every day do not count.
func behind(tools []*tool, found map[string]map[string]string) (list []string) {
	for _, g := range groups {
		for _, r := range g.rows {
			others := 0
			for _, t := range tools[1:] {
				if found[t.name][r.name] != "" {
					others++
				}
			}
			if found[tools[0].name][r.name] == "" && !r.rare && others > 0 && others == len(tools)-1 {
				list = append(list, r.name)
			}
		}
	}
	return list
}

const intro = `<!-- Made by tools/features: go run ./tools/features -sharp FOLDER -o docs/features.md. Do not edit. -->

# What Lathe has, beside other tools

A program has tried each command of these tables on small pictures. A cell has what works, and a dash means that
the tool has no operation of its own for the task. Tools can do more by several commands or by a program that calls
their library. The command that a cell stands for is ` + "`lathe image IN --op \"…\" -o OUT`" + `, ` + "`vips …`" + ` with the
files after the name of the operation, ` + "`convert IN … OUT`" + `, and ` + "`sharp(IN)….toFile(OUT)`" + `. Names in italics are
not for every day. Speed is another matter: see [performance-log.md](performance-log.md).

To measure again, run ` + "`go run ./tools/features -sharp FOLDER`" + `, where FOLDER is one in which
` + "`npm install sharp`" + ` was called.

`

// render is the page.
func render(tools []*tool, found map[string]map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString(intro)
	for _, t := range tools {
		fmt.Fprintf(&b, "- %s: %s\n", t.name, t.version)
	}
	if list := behind(tools, found); len(tools) > 1 {
		text := "There is no task of every day that all the others have and Lathe lacks."
		if len(list) > 0 {
			text = "All the others have these tasks of every day, and Lathe lacks them: " + strings.Join(list, ", ") + "."
		}
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n|", g.name)
		for _, t := range tools {
			b.WriteString(" | " + t.name)
		}
		b.WriteString(" |\n|" + strings.Repeat("---|", len(tools)+1) + "\n")
		for _, r := range g.rows {
			name := r.name
			if r.rare {
				name = "*" + name + "*"
			}
			b.WriteString("| " + name)
			for _, t := range tools {
				cell := "–"
				if way := found[t.name][r.name]; way != "" {
					cell = "`" + strings.ReplaceAll(t.brief(way), "|", `\|`) + "`"
				}
				b.WriteString(" | " + cell)
			}
			b.WriteString(" |\n")
		}
		counts := make([]string, len(tools))
		for i, t := range tools {
			n := 0
			for _, r := range g.rows {
				if found[t.name][r.name] != "" {
					n++
				}
			}
			counts[i] = fmt.Sprint(n)
		}
		fmt.Fprintf(&b, "| of %d | %s |\n", len(g.rows), strings.Join(counts, " | "))
	}
	return b.Bytes()
}
