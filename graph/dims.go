package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Dims says which sizes the named dims of a graph have, such as {"BATCH": 64}. A size may be 0.
type Dims map[string]int

// String returns the dims in the order of their names, as "BATCH=64 SEQ=128".
func (d Dims) String() string {
	list := make([]string, 0, len(d))
	for _, name := range slices.Sorted(maps.Keys(d)) {
		list = append(list, fmt.Sprintf("%s=%d", name, d[name]))
	}
	return strings.Join(list, " ")
}

// NewWithDims returns an empty Graph whose named dims have such sizes. The function that builds it asks for them by Graph.Dim, and
// so builds graphs of many sizes. Device.Model of package lathe calls such a function for each size that a program needs.
// A dim that the function does not ask for is a mistake.
func NewWithDims(dims Dims) *Graph {
	g := New()
	g.dims, g.asked = maps.Clone(dims), map[string]bool{}
	return g
}

// Dim returns the size of a named dim, to use in shapes. If the dim has no size, or a negative one, that is a mistake, which the graph
// collects, and Dim returns 1.
func (g *Graph) Dim(name string) int {
	if err := g.made(); err != nil {
		g.fail(err)
		return 1
	}
	n, ok := g.dims[name]
	switch {
	case !ok:
		g.fail(fmt.Errorf("graph: dim %q: %w: it has no size (the dims are %q)", name, errs.ErrInvalidArgument, slices.Sorted(maps.Keys(g.dims))))
		return 1
	case n < 0:
		g.asked[name] = true
		g.fail(fmt.Errorf("graph: dim %q: %w: size %d (want at least 0)", name, errs.ErrInvalidArgument, n))
		return 1
	}
	g.asked[name] = true
	return n
}

// allAsked returns an error for dims that have sizes and that nobody has asked for.
func (g *Graph) allAsked() error {
	var rest []string
	for _, name := range slices.Sorted(maps.Keys(g.dims)) {
		if !g.asked[name] {
			rest = append(rest, name)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return fmt.Errorf("graph: %w: %w: the graph has no dim named %q (its dims are %q)", errs.ErrGraph, errs.ErrInvalidArgument, rest, slices.Sorted(maps.Keys(g.asked)))
}
