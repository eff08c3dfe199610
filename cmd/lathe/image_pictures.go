package main

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/batch"
	"github.com/lathe-gpu/lathe/spec"
)

// ownPictures are the pictures that operations name, such as a watermark. Each is read once.
type ownPictures struct {
	read  map[string]image.Image
	bytes int64 // of their pixels
}

// names lists the files.
func (p *ownPictures) names() []string { return slices.Sorted(maps.Keys(p.read)) }

// parseCalls reads the operations of the command line, and the pictures that they name. It finds
// wrong attributes before any other picture is read.
func (c *imageCmd) parseCalls(a *app) (calls []spec.Call, own *ownPictures, err error) {
	own = &ownPictures{read: map[string]image.Image{}}
	for _, text := range c.Op {
		more, err := spec.ParseCalls(text, "image")
		if err != nil {
			return nil, nil, coded{exitUsage, err}
		}
		for _, call := range more {
			name := call.Spec().Name
			call, err := spec.ReadPictures(call, func(file string) (image.Image, error) {
				m, err := own.open(a, file, c)
				if p, ok := m.(*imageops.Profile); ok && makesProfile(call) {
					m, err = p.From(nil)
				}
				if err != nil {
					return nil, fmt.Errorf("%s: the picture %s: %w", name, file, err)
				}
				return m, nil
			})
			if err != nil {
				return nil, nil, coded{cmp.Or(interruptedCode(a), exitFailed), err}
			}
			if err := checkCall(call); err != nil {
				return nil, nil, coded{exitUsage, err}
			}
			calls = append(calls, call)
		}
	}
	return calls, own, nil
}

// makesProfile reports whether a call makes colours of a profile, of which the text has the name.
func makesProfile(c spec.Call) bool {
	_, err := spec.As[*imageops.ToProfile](c)
	return err == nil
}

// checkCall finds wrong attributes before any picture is processed. A call is right if it fits some
// picture: whether it fits a certain one is an error of that picture. Calls that enlarge fit
// the smallest one, and calls that cut fit the largest one.
func checkCall(c spec.Call) (err error) {
	if r, err := spec.As[*imageops.Resize](c); err == nil && r.Width == 0 && r.Height == 0 && r.Percent == 0 {
		if math.Signbit(r.Percent) { // A form has given it.
			return errors.New("resize: percent (got 0, want above 0 and up to 10000, as in \"resize 50%\")")
		}
		return errors.New("resize: a size is missing: give a width, height or percent above 0, as in \"resize width=800\"")
	}
	for _, side := range []int{1, largestSide} {
		if _, err = imageops.Size(image.Pt(side, side), c); err == nil {
			return nil
		}
	}
	return err
}

// largestSide is a width and height above those of all pictures that Lathe reads.
const largestSide = 1 << 24

// interruptedCode is the exit code after an interrupt, or 0.
func interruptedCode(a *app) int {
	if a.ctx.Err() != nil {
		return exitInterrupted
	}
	return 0
}

// open returns a picture, which it reads if that has not been done before. All of them together
// must leave memory for the pictures that are processed.
func (p *ownPictures) open(a *app, file string, c *imageCmd) (image.Image, error) {
	if m := p.read[file]; m != nil {
		return m, nil
	}
	var memory int64
	if c.Memory != nil {
		if memory = int64(*c.Memory)<<20 - p.bytes; memory <= 0 {
			return nil, fmt.Errorf("the pictures of operations take all of --memory %d MiB", *c.Memory)
		}
	}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".cube":
		return p.openTable(file, memory, func(f io.Reader) (spec.Numbers, error) { return imageops.ParseCube(f) })
	case ".icc", ".icm":
		return p.openTable(file, memory, func(f io.Reader) (spec.Numbers, error) {
			data, err := io.ReadAll(io.LimitReader(f, maxProfile))
			if err != nil {
				return nil, err
			}
			return imageops.ParseProfile(data)
		})
	}
	m, err := batch.ReadPicture(a.ctx, file, c.MaxPixels, memory, c.First || c.Page != nil)
	if err != nil {
		return nil, err
	}
	p.read[file] = m
	pixel := int64(4)
	if _, deep := m.(*image.NRGBA64); deep {
		pixel = 8
	}
	p.bytes += pixel * int64(m.Bounds().Dx()) * int64(m.Bounds().Dy())
	return m, nil
}

// maxProfile is one byte more than a colour profile may have.
const maxProfile = 16<<20 + 1

// openTable returns a look-up table or a colour profile. A file of a few bytes does not take much memory:
// the size that it names costs nothing before its numbers are there.
func (p *ownPictures) openTable(file string, memory int64, parse func(f io.Reader) (spec.Numbers, error)) (image.Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := parse(f)
	if err != nil {
		return nil, err
	}
	size := m.Tensor().Bytes()
	if memory > 0 && size > memory {
		return nil, fmt.Errorf("the table takes %d MiB, more than --memory leaves", size>>20)
	}
	p.read[file] = m
	p.bytes += size
	return m, nil
}
