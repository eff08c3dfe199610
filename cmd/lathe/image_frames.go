package main

import (
	"image"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/spec"
)

// unionCrop returns the crop of the smallest rectangle that has those of two crops of a Device's FindCrops.
func unionCrop(a, b spec.Call) (spec.Call, error) {
	var all image.Rectangle
	for _, call := range []spec.Call{a, b} {
		c, err := spec.As[*imageops.Crop](call)
		if err != nil {
			return nil, err
		}
		all = all.Union(image.Rect(c.X, c.Y, c.X+c.Width, c.Y+c.Height))
	}
	return imageops.Crop{X: all.Min.X, Y: all.Min.Y, Width: all.Dx(), Height: all.Dy()}, nil
}
