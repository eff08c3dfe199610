package imageops

import "github.com/lathe-gpu/lathe/spec"

// weigher is a call that weighs colours by alpha.
type weigher interface {
	// ignoring is the call that does not, which gives the same bits where all pixels
	// are opaque.
	ignoring() spec.Call
}

func (c GaussianBlur) ignoring() spec.Call { c.IgnoreAlpha = true; return c }
func (c Sharpen) ignoring() spec.Call      { c.IgnoreAlpha = true; return c }
func (c SobelEdges) ignoring() spec.Call   { c.IgnoreAlpha = true; return c }

// ForOpaque returns calls that compute of an opaque 8-bit picture what the given
// ones compute of it, to the bit, with fewer kernels: nothing is weighed by alpha.
// From the first call on that is not of this package, and so might change
// alpha, they stay as they are.
func ForOpaque(calls []spec.Call) []spec.Call {
	out := make([]spec.Call, len(calls))
	copy(out, calls)
	for i, c := range out {
		c, err := spec.Resolve(c)
		if err != nil {
			return out
		}
		if w, ok := c.(weigher); ok {
			out[i] = w.ignoring()
			continue
		}
		_, one := c.(pointwise)
		if _, many := c.(Pointwise); !one && !many {
			return out
		}
	}
	return out
}
