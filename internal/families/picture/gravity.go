package picture

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/internal/planner"
)

// MaxSide bounds attributes that are numbers of pixels. No image is that wide or high.
const MaxSide = 1 << 24

// Gravities lists the places at which a rectangle may lie in another.
var Gravities = []string{"top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"}

// smartGravities are names of other programs for a gravity that depends on the pixels.
var smartGravities = []string{"smart", "attention", "entropy"}

// Gravity returns where a rectangle lies across and down: -1 at the left or top, 0 in the
// middle, 1 at the right or bottom.
// Errors: ErrInvalidArgument.
func Gravity(name string) (across, down int, err error) {
	for i, g := range Gravities {
		if g == name {
			return i%3 - 1, i/3 - 1, nil
		}
	}
	if slices.Contains(smartGravities, name) {
		return 0, 0, planner.Invalid("gravity %q (the operation smart_crop chooses by edges; here want one of %s)", name, strings.Join(Gravities, ", "))
	}
	return 0, 0, planner.Invalid("gravity %q (want one of %s)", name, strings.Join(Gravities, ", "))
}

// Align returns where a range of size pixels begins in one of n pixels. offset is its distance
// from the edge that gravity names, or from the middle.
func Align(gravity, offset, size, n int) int {
	switch gravity {
	case -1:
		return offset
	case 1:
		return n - size - offset
	}
	return (n-size)/2 + offset
}

// Aspect reads a ratio of width to height, such as 16:9.
// Errors: ErrInvalidArgument.
func Aspect(text string) (width, height float64, err error) {
	a, b, ok := strings.Cut(text, ":")
	width, errA := strconv.ParseFloat(a, 64)
	height, errB := strconv.ParseFloat(b, 64)
	if !ok || errA != nil || errB != nil || !(width > 0 && height > 0 && width <= MaxSide && height <= MaxSide) {
		return 0, 0, planner.Invalid("aspect %q (want two numbers above 0, such as 16:9)", text)
	}
	return width, height, nil
}
