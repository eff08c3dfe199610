package main

import (
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/batch"
)

// formatFlag is a flag that only some formats use.
type formatFlag struct {
	name    string
	given   bool
	formats []imageio.Format
	what    string // the formats in words, if there is more to say
}

// unused returns the error of usage for a flag that no output can obey. It is better than a file that
// is not what was asked for. Outputs of several formats are fine if one of them uses the flag.
func unused(outputs []imageio.Format, flags ...formatFlag) error {
	outputs = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(outputs))), func(f imageio.Format) bool { return f == "" })
	if len(outputs) == 0 {
		return nil // Every picture has an error of its own.
	}
	for _, x := range flags {
		if !x.given || slices.ContainsFunc(outputs, func(f imageio.Format) bool { return slices.Contains(x.formats, f) }) {
			continue
		}
		if x.what == "" {
			x.what = titles(x.formats)
		}
		verb := "the output is "
		if len(outputs) > 1 {
			verb = "the outputs are "
		}
		return usage("--%s is for %s, and %s%s: leave it out, or choose another format with --format or --out", x.name, x.what, verb, titles(outputs))
	}
	return nil
}

// titles are the names of formats in a sentence.
func titles(list []imageio.Format) string {
	var names []string
	for _, f := range list {
		if f == imageio.WebP {
			names = append(names, "WebP")
		} else {
			names = append(names, strings.ToUpper(string(f)))
		}
	}
	if n := len(names); n > 2 {
		names = []string{strings.Join(names[:n-1], ", "), names[n-1]}
	}
	return strings.Join(names, " and ")
}

// checkFormats finds flags that have no effect on any of the outputs.
func (c *imageCmd) checkFormats(a *app, jobs []batch.Job) error {
	var outputs []imageio.Format
	for i := range jobs {
		outputs = append(outputs, jobs[i].Written())
	}
	quality := formatFlag{"quality", a.given["quality"], []imageio.Format{imageio.JPEG, imageio.AVIF, imageio.WebP}, "JPEG, AVIF and lossy WebP"}
	if c.WebP == "lossless" {
		quality.formats = quality.formats[:2]
	}
	holders := []imageio.Format{imageio.JPEG, imageio.PNG, imageio.TIFF, imageio.WebP, imageio.AVIF}
	return unused(outputs, quality,
		formatFlag{"profile " + c.Profile, c.Profile != "" && !strings.EqualFold(c.Profile, "srgb"), holders, ""},
		formatFlag{"subsampling", c.Subsampling != "", []imageio.Format{imageio.JPEG, imageio.AVIF}, ""},
		formatFlag{"progressive", c.Progressive, []imageio.Format{imageio.JPEG}, ""},
		formatFlag{"webp", c.WebP != "", []imageio.Format{imageio.WebP}, ""},
		formatFlag{"depth 16", c.Depth == 16, []imageio.Format{imageio.PNG, imageio.TIFF}, ""},
		formatFlag{"compression", a.given["compression"], []imageio.Format{imageio.PNG, imageio.TIFF}, ""},
	)
}
