package picture

import (
	"strconv"

	"github.com/lathe-gpu/lathe/tensor"
)

// shortRadii are RADIUS of the .short variants. A blur takes the first one that is not less than its radius.
var shortRadii = []int{3, 6, 9}

// shortPhase is the end of the name of a .short variant.
func shortPhase(radius int) string { return ".short" + strconv.Itoa(radius) }

// shortReach returns the RADIUS of the .short variant for a radius, or 0 if there is none.
func shortReach(radius int) int {
	for _, r := range shortRadii {
		if radius <= r {
			return r
		}
	}
	return 0
}

// shortFits reports whether the short kernels can blur src.
func shortFits(src layout, call Blur, texel bool) bool {
	return texel && src.dtype == tensor.U8 && src.w%4 == 0 && shortReach(call.Radius()) > 0
}
