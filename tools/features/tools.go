package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A way to do something is the part of a command that differs, with $in and the other files of
// the folder as variables. It stands for:
//
//	Lathe        blur 3                   lathe image $in -o $out.png --op 'blur 3'
//	vips         gaussblur $in $out 3     vips gaussblur $in $out 3
//	ImageMagick  -blur 0x3                convert $in -blur 0x3 $out
//	sharp        .blur(3)                 sharp($in).blur(3).toFile($out)
//
// A way that begins with ! is the whole command. After ?? there may be a command for the shell that
// looks at the output. A way works if the command says so, by its exit code or by that one, and if
// it has written a file or, as lathe compare does, printed something.

// ways divides a list of ways.
func ways(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, " ;; ")
}

// tool is a program that is asked.
type tool struct {
	name    string
	version string // "" if it is not installed
	of      func(r row) []string
	try     func(ctx context.Context, way string) error
	brief   func(way string) string
}

// lab has the files that commands work on.
type lab struct {
	dir  string
	vars []string // NAME=value
	n    int
}

// out is a name for the next output.
func (l *lab) out() string {
	l.n++
	return filepath.Join(l.dir, fmt.Sprintf("out%03d", l.n))
}

// sh runs a command for the shell. It is an error if the command writes nothing.
func (l *lab) sh(ctx context.Context, command string) error {
	command, look, looks := strings.Cut(command, " ?? ")
	if looks {
		command = "(" + command + "); " + look
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out := l.out()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = l.dir
	cmd.Env = append(append(os.Environ(), l.vars...), "out="+out)
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(text)))
	}
	if made, _ := filepath.Glob(out + "*"); len(made) == 0 && len(text) == 0 {
		return fmt.Errorf("no output")
	}
	return nil
}

// expand puts the names of files into a way of sharp.
func (l *lab) expand(code string) string {
	return os.Expand(code, func(name string) string {
		for _, v := range l.vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return "\"" + value + "\""
			}
		}
		return "$" + name
	})
}

// plain is a way without the names of files.
func plain(way string) string {
	way, _, _ = strings.Cut(way, " ?? ")
	for _, name := range []string{"$in", "$jpg", "$deep", "$rgb", "-o $out", "$out"} {
		way = strings.ReplaceAll(way, " "+name+" ", " ")
		way = strings.TrimSuffix(way, " "+name)
	}
	way = strings.TrimSuffix(way, " || test $? = 1")
	return strings.ReplaceAll(strings.ReplaceAll(strings.TrimPrefix(way, "!"), "$dir/folder", "FOLDER"), "-o $out", "-o OUT")
}

func (l *lab) lathe(ctx context.Context) *tool {
	t := &tool{name: "Lathe", of: func(r row) []string { return r.lathe }, brief: plain}
	t.version = version(ctx, "lathe", "version")
	t.try = func(ctx context.Context, way string) error {
		command, whole := strings.CutPrefix(way, "!")
		if !whole {
			command = `lathe image $in -o $out.png --op "` + way + `"`
		}
		return l.sh(ctx, command)
	}
	return t
}

func (l *lab) vips(ctx context.Context) *tool {
	t := &tool{name: "vips", of: func(r row) []string { return r.vips }, brief: plain}
	t.version = version(ctx, "vips", "--version")
	t.try = func(ctx context.Context, way string) error {
		command, whole := strings.CutPrefix(way, "!")
		if !whole {
			command = "vips " + command
		}
		// A name without an extension has no format for vips.
		if !strings.Contains(command, "$out.") {
			command = strings.ReplaceAll(command, "$out", "$out.png")
		}
		return l.sh(ctx, command)
	}
	return t
}

func (l *lab) magick(ctx context.Context) *tool {
	t := &tool{name: "ImageMagick", of: func(r row) []string { return r.magick }, brief: plain}
	if v := version(ctx, "convert", "-version"); strings.Contains(v, "ImageMagick") {
		t.version = v
	}
	t.try = func(ctx context.Context, way string) error {
		command, whole := strings.CutPrefix(way, "!")
		if !whole {
			command = "convert $in " + command + " $out"
		}
		if !strings.Contains(command, "$out.") {
			command = strings.ReplaceAll(command, "$out", "$out.png")
		}
		return l.sh(ctx, command)
	}
	return t
}

// sharp is asked by Node in the folder where npm has installed it.
func (l *lab) sharp(ctx context.Context, folder string) *tool {
	t := &tool{name: "sharp", of: func(r row) []string { return r.sharp }, brief: plain}
	run := func(ctx context.Context, code string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "node", "-e", `const sharp=require("sharp");(async()=>{`+code+`})().catch(e=>{console.error(String(e));process.exit(1)})`)
		cmd.Dir = folder
		text, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(text)))
		}
		return strings.TrimSpace(string(text)), nil
	}
	if v, err := run(ctx, `console.log("sharp "+sharp.versions.sharp+", libvips "+sharp.versions.vips)`); err == nil {
		t.version = v
	}
	t.try = func(ctx context.Context, way string) error {
		code, whole := strings.CutPrefix(way, "!")
		if !whole {
			code = "sharp($in)" + code + ".toFile($out)"
		}
		code, look, looks := strings.Cut(code, " ?? ")
		out := l.out() + ".png" // A format that the way names counts more.
		name, err := json.Marshal(out)
		if err != nil {
			return err
		}
		if _, err = run(ctx, "await "+strings.ReplaceAll(l.expand(code), "$out", string(name))); err == nil && looks {
			err = l.sh(ctx, "echo looked; "+strings.ReplaceAll(look, "$out", out))
		}
		return err
	}
	return t
}

// version is the first line that a command prints, or "" if there is no such command.
func version(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}
