package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/batch"
)

// comparedPair is two pictures to compare.
type comparedPair struct {
	name string // below the folders; that of the first file, for two files
	a, b string // the files
	diff string // the file for the picture of differences, or ""
	form imageio.Format
	err  error // why they cannot be compared
}

// comparedPairs are what two arguments name.
type comparedPairs struct {
	pairs        []comparedPair
	onlyA, onlyB []string // files without a partner, below the folders
}

// pair finds what to compare. Files of two folders belong together if they have the same name
// below them, or else the name that lathe image gives an output, or else the same name up to the extension.
func (c *compareCmd) pair(a *app) (comparedPairs, error) {
	var dirs [2]bool
	for i, name := range []string{c.A, c.B} {
		info, err := os.Stat(name)
		if err != nil {
			return comparedPairs{}, usage("%s: %v", name, reason(err))
		}
		dirs[i] = info.IsDir()
	}
	if dirs[0] != dirs[1] {
		folder, file := c.A, c.B
		if dirs[1] {
			folder, file = file, folder
		}
		return comparedPairs{}, usage("%s is a folder and %s is a file: give two pictures or two folders", folder, file)
	}
	if !dirs[0] {
		p := comparedPair{name: filepath.Base(c.A), a: c.A, b: c.B}
		return comparedPairs{pairs: []comparedPair{p}}, nil
	}
	var found [2][]batch.Found
	for i, name := range []string{c.A, c.B} {
		list, err := batch.Find(a.ctx, []string{name}, batch.FindOptions{Recursive: c.Recursive, Skip: c.Diff})
		if err != nil {
			return comparedPairs{}, err
		}
		found[i] = slices.DeleteFunc(list, func(f batch.Found) bool { return errors.Is(f.Err, batch.ErrNoMatch) || a.foreign(f) })
	}
	if len(found[0])+len(found[1]) == 0 {
		hint := ""
		if !c.Recursive {
			hint = " (folders inside them are searched with -r)"
		}
		return comparedPairs{}, coded{exitNothing, fmt.Errorf("nothing to do: no picture in %s or %s%s", c.A, c.B, hint)}
	}
	return partners(found[0], found[1]), nil
}

// partners makes the pairs of two folders, in order of name.
func partners(a, b []batch.Found) (out comparedPairs) {
	used := map[int]bool{}
	with := map[int]int{} // numbers in a → numbers in b
	// match pairs files whose keys are the same, where each folder has one such file.
	match := func(keyA, keyB func(rel string) string) {
		byKey, count := map[string]int{}, map[string]int{}
		for j, f := range b {
			if !used[j] && f.Err == nil {
				byKey[keyB(f.Rel)] = j
				count["b"+keyB(f.Rel)]++
			}
		}
		for i, f := range a {
			if _, done := with[i]; !done && f.Err == nil {
				count["a"+keyA(f.Rel)]++
			}
		}
		for i, f := range a {
			k := keyA(f.Rel)
			if _, done := with[i]; !done && f.Err == nil && count["a"+k] == 1 && count["b"+k] == 1 {
				with[i], used[byKey[k]] = byKey[k], true
			}
		}
	}
	whole := func(rel string) string { return rel }
	stem := func(rel string) string { return strings.TrimSuffix(rel, filepath.Ext(rel)) }
	match(whole, whole)
	match(whole, stem) // photo.gif and photo.gif.png, as batch.Plan names it beside another photo.png
	match(stem, whole)
	match(stem, stem)
	for i, f := range a {
		j, ok := with[i]
		switch {
		case f.Err != nil:
			out.pairs = append(out.pairs, comparedPair{name: f.Path, a: f.Path, err: f.Err})
		case ok:
			out.pairs = append(out.pairs, comparedPair{name: f.Rel, a: f.Path, b: b[j].Path})
		default:
			out.onlyA = append(out.onlyA, f.Rel)
		}
	}
	for j, f := range b {
		switch {
		case f.Err != nil:
			out.pairs = append(out.pairs, comparedPair{name: f.Path, b: f.Path, err: f.Err})
		case !used[j]:
			out.onlyB = append(out.onlyB, f.Rel)
		}
	}
	return out
}

// outputs decides where the pictures of differences go.
func (c *compareCmd) outputs(folders bool, p *comparedPairs) error {
	if c.Diff == "" {
		return nil
	}
	info, statErr := os.Stat(c.Diff)
	for _, name := range []string{c.A, c.B} {
		in, err := os.Stat(name)
		if err == nil && statErr == nil && os.SameFile(in, info) {
			return usage("--diff %s would replace %s", c.Diff, name)
		}
	}
	if err := unwritten("--diff", c.Diff, extension(c.Diff)); err != nil {
		return err
	}
	format, ok := batch.ParseFormat(extension(c.Diff))
	switch isFolder := statErr == nil && info.IsDir(); {
	case !folders && (isFolder || !ok):
		return usage("--diff %s: for two pictures it is the name of a picture; Lathe writes .png, .jpg, .jpeg, .tif, .tiff, .gif, .webp and .avif", c.Diff)
	case !folders:
		p.pairs[0].diff, p.pairs[0].form = c.Diff, format
		return nil
	case ok && !isFolder || statErr == nil && !isFolder:
		return usage("--diff %s: for two folders it is a folder", c.Diff)
	}
	var found []batch.Found
	for _, x := range p.pairs {
		found = append(found, batch.Found{Path: x.a, Rel: x.name, Err: x.err})
	}
	jobs, err := batch.Plan(found, batch.Naming{Format: imageio.PNG})
	if err != nil {
		return coded{exitUsage, err}
	}
	for i, j := range jobs {
		x := &p.pairs[i]
		if x.err = j.Err; x.err == nil {
			x.diff, x.form = filepath.Join(c.Diff, j.Output), imageio.PNG
		}
	}
	return nil
}
