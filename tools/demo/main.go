// Demo shows what Lathe does: it puts photographs through several pipelines
// with the lathe command, and lays the results out on a contact sheet.
//
//	go run ./tools/demo [-in folder] [-out folder] [-lathe command]
//
// Without -in the photographs are the test data of two Go image libraries,
// which the module cache holds or fetches. Without -lathe the command is built first. The
// demo runs on the device that the command chooses, and needs nothing but Go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/imageio"
)

// pipeline is a run of `lathe image` over all photographs.
type pipeline struct {
	name string // of the folder below -out
	ops  []string
}

var pipelines = []pipeline{
	{"blur", []string{"blur sigma=8"}},
	{"sharpen", []string{"sharpen", "sharpen"}},
	{"edges", []string{"edges magnitude=true"}},
	{"pencil", []string{"grayscale", "blur sigma=1.2", "edges magnitude=true", "brightness 2", "invert"}},
	{"grayscale", []string{"grayscale"}},
	{"poster", []string{"contrast 1.8", "brightness 1.15", "threshold 0.5"}},
	{"punch", []string{"brightness 1.1", "contrast 1.5"}},
	{"negative", []string{"invert"}},
}

// sheetPhotos is how many photographs the contact sheet shows.
const sheetPhotos = 4

func main() {
	in := flag.String("in", "", "folder of photographs; empty = some from the module cache")
	out := flag.String("out", "out", "folder to write to")
	lathe := flag.String("lathe", "", "the lathe command; empty = build bin/lathe")
	flag.Parse()
	if err := run(*lathe, *in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(lathe, in, out string) error {
	inputs := []string{in}
	if in == "" {
		var err error
		if inputs, err = cachedPhotos(); err != nil {
			return err
		}
	}
	if lathe == "" {
		lathe = filepath.Join("bin", "lathe")
		build := exec.Command("go", "build", "-o", lathe, "./cmd/lathe")
		build.Stdout, build.Stderr = os.Stdout, os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("%v: %w", build, err)
		}
	}
	fmt.Printf("Photographs: %s\n", strings.Join(inputs, "\n             "))

	// Without operations lathe only turns pictures upright: that is what the
	// sheet shows as the original.
	d := demo{lathe: lathe, inputs: inputs, out: out}
	runs, err := d.runAll(append([]pipeline{{name: "original"}}, pipelines...))
	if err != nil {
		return err
	}
	path := filepath.Join(out, "contact-sheet.png")
	if err := writeSheet(path, runs); err != nil {
		return err
	}
	var pixels int64
	var seconds float64
	for _, r := range runs[1:] {
		pixels += r.Totals.Pixels
		seconds += r.Totals.Seconds
	}
	megapixels := float64(pixels) / 1e6
	fmt.Printf("\n%d pipelines, %.1f megapixels in %.2f s: %.1f MP/s, files read and written included, on %s\n",
		len(pipelines), megapixels, seconds, megapixels/seconds, runs[1].Device)
	fmt.Printf("Look at %s; the pictures themselves are in the folders beside it.\n", path)
	return nil
}

// cachedPhotos are the photographs among the test data of disintegration's
// imaging and gift, at the versions that tests/peers requires.
func cachedPhotos() ([]string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", "github.com/disintegration/imaging", "github.com/disintegration/gift")
	cmd.Dir = filepath.Join("tests", "peers")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("fetching the photographs (or name a folder of your own with IN=): %v: %w", cmd, err)
	}
	wanted := map[string][]string{
		"github.com/disintegration/imaging": {"branches.jpg", "flowers.png"},
		"github.com/disintegration/gift":    {"src.jpg"},
	}
	var photos []string
	for d := json.NewDecoder(strings.NewReader(string(text))); ; {
		var m struct{ Path, Dir, Error string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%v: %w", cmd, err)
		}
		if m.Error != "" {
			return nil, fmt.Errorf("fetching the photographs (or name a folder of your own with IN=): %s", m.Error)
		}
		for _, name := range wanted[m.Path] {
			photos = append(photos, filepath.Join(m.Dir, "testdata", name))
		}
	}
	slices.Sort(photos)
	return photos, nil
}

// writeSheet lays the results on a sheet: runs[0] holds the originals.
func writeSheet(path string, runs []report) error {
	var bands []band
	for i, original := range runs[0].Files {
		if len(bands) == sheetPhotos {
			break
		}
		var b band
		for _, r := range runs {
			f := r.Files[i]
			if f.Status != "ok" {
				break // lathe has said why
			}
			m, err := load(f.Output)
			if err != nil {
				return err
			}
			b.results = append(b.results, tile{r.name, m})
		}
		if len(b.results) < len(runs) {
			continue
		}
		b.original, b.results = b.results[0], b.results[1:]
		b.original.caption = filepath.Base(original.Input)
		bands = append(bands, b)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	sheet := contactSheet("Lathe", "photographs through compute shaders, on "+runs[1].Device.String(), bands)
	if err := png.Encode(f, sheet); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func load(path string) (image.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, _, err := imageio.Decode(context.Background(), f, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
